import { known, UnreadMembers } from '../unread-members.ts'
import { type JsonObject, textAt } from '../wire-format.ts'

/** Nested members of an interaction without a neutral form. */
export function unreadIn(body: JsonObject): UnreadMembers {
  const unread = new UnreadMembers()
  unread.note('generation_config', body.generation_config, configMembers)
  unread.note('tools', body.tools, toolMembers)
  unread.note('response_format', body.response_format, (form) => (form.type === 'text' ? formMembers : undefined))
  unread.note('input', body.input, entryMembers)
  return unread
}

const configMembers = known('temperature top_p seed stop_sequences max_output_tokens thinking_level thinking_summaries', {
  tool_choice: known('', { allowed_tools: known('mode tools') }),
})
const formMembers = known('type mime_type schema')
const contentMembers = known('type role text data uri mime_type resolution')
const resultMembers = known('type call_id name is_error', { result: contentResult })
const stepMembers = known('type role', { content: contentMembers, summary: contentMembers })

/** Other tools are left out or refused whole. */
function toolMembers(tool: JsonObject) {
  if (tool.type === 'function') return known('type name description parameters')
  return tool.type === 'google_search' ? known('type search_types') : undefined
}

/** An object as the result of a function is read whole. */
function contentResult({ type }: JsonObject) {
  return typeof type === 'string' ? contentMembers : undefined
}

/** A part of content, or a step. Steps of Google's own tools become text. */
function entryMembers(entry: JsonObject) {
  switch (textAt(entry, 'type')) {
    case 'thought':
      return known('type signature', { summary: contentMembers })
    case 'function_call':
      return known('type id name arguments signature')
    case 'function_result':
      return resultMembers
    case '':
    case 'user_input':
    case 'model_output':
      return stepMembers
    default:
      return 'content' in entry || 'arguments' in entry || 'result' in entry ? undefined : contentMembers
  }
}
