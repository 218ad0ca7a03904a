import { known, UnreadMembers } from '../unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { toolLists } from './tool-lists.ts'

/** What a request in Responses asks for inside its members and nothing neutral stands for. */
export function unreadIn(body: JsonObject): { unread?: readonly string[] } {
  const unread = new UnreadMembers()
  unread.note('text', body.text, textMembers)
  unread.note('text.format', objectAt(body, 'text')?.format, formatMembers)
  unread.note('reasoning', body.reasoning, reasoningMembers)
  unread.note('stream_options', body.stream_options, streamOptions)
  for (const { tools } of toolLists(body)) noteTools(tools, unread)
  for (const item of arrayAt(body, 'input')) {
    if (!isObject(item)) continue
    const type = textAt(item, 'type') || 'message'
    const members = Object.hasOwn(itemMembers, type) ? itemMembers[type] : undefined
    if (members) unread.note('input', item, members)
    unread.each('input.content', item.content, () => partMembers)
    unread.each('input.output', item.output, () => partMembers)
  }
  return unread.names
}

function noteTools(tools: readonly unknown[], unread: UnreadMembers): void {
  unread.each('tools', tools, (tool) => {
    const type = textAt(tool, 'type')
    if (type.startsWith('web_search')) return searchMembers
    return Object.hasOwn(toolMembers, type) ? toolMembers[type] : undefined
  })
  for (const tool of tools) if (isObject(tool) && tool.type === 'namespace') noteTools(arrayAt(tool, 'tools'), unread)
}

type Members = Readonly<Partial<Record<string, ReturnType<typeof known>>>>

const textMembers = known('format verbosity')
const formatMembers = known('type name description schema strict')
const reasoningMembers = known('effort summary generate_summary context mode')
/** Padding of a stream is no part of the answer. */
const streamOptions = known('include_obfuscation')
const searchMembers = known('type search_context_size user_location filters')
const toolMembers: Members = {
  function: known('type name description parameters strict defer_loading'),
  custom: known('type name description format defer_loading'),
  namespace: known('type name description tools defer_loading'),
}
const call = 'type id status call_id'
const itemMembers: Members = {
  message: known('type id status role content'),
  function_call: known(`${call} name namespace arguments`),
  custom_tool_call: known(`${call} name namespace input`),
  function_call_output: known(`${call} output`),
  custom_tool_call_output: known(`${call} output`),
  reasoning: known('type id status summary content encrypted_content'),
}
/** What an earlier answer cited, and how likely its words were, asks for nothing. */
const partMembers = known(
  'type text refusal annotations logprobs image_url detail file_id file_data file_url filename input_audio data format ' +
    'prompt_cache_breakpoint',
)
