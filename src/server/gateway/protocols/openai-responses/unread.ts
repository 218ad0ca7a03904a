import { type Inner, type Known, known, UnreadMembers } from '../unread-members.ts'
import { isObject, type JsonObject, textAt } from '../wire-format.ts'
import { toolLists } from './tool-lists.ts'

/** Nested members of a request in Responses without a neutral form. */
export function unreadIn(body: JsonObject): UnreadMembers {
  const unread = new UnreadMembers()
  unread.note('text', body.text, textMembers)
  unread.note('reasoning', body.reasoning, reasoningMembers)
  unread.note('stream_options', body.stream_options, streamOptions)
  for (const { tools } of toolLists(body)) unread.note('tools', tools, membersOfTool)
  unread.note('input', body.input, membersOfItem)
  return unread
}

type ByType = Readonly<Partial<Record<string, Known>>>

const textMembers = known('verbosity', { format: known('type name description schema strict') })
const reasoningMembers = known('effort summary generate_summary context mode')
/** Padding of a stream (`include_obfuscation`) is not part of the answer. */
const streamOptions = known('include_obfuscation')

const searchTool = known('type search_context_size', {
  user_location: known('type city country region timezone'),
  filters: known('allowed_domains'),
})
const toolMembers: ByType = {
  function: known('type name description parameters strict defer_loading'),
  custom: known('type name description format defer_loading'),
  namespace: known('type name description defer_loading', { tools: membersOfTool }),
}

function membersOfTool(tool: JsonObject): Known | undefined {
  const type = textAt(tool, 'type')
  if (type.startsWith('web_search')) return searchTool
  return Object.hasOwn(toolMembers, type) ? toolMembers[type] : undefined
}

/** Past citations and log probabilities have no effect. */
const parts: Inner = known(
  'type text refusal annotations logprobs image_url detail file_id file_data file_url filename data format',
  {
    input_audio: known('data format'),
    prompt_cache_breakpoint: known('mode ttl'),
  },
)
const call = 'type id status call_id'
const outputAsObject = known(`${call} output`)
const itemMembers: ByType = {
  message: known('type id status role', { content: parts }),
  function_call: known(`${call} name namespace arguments`),
  custom_tool_call: known(`${call} name namespace input`),
  function_call_output: known(call, { output: parts }),
  custom_tool_call_output: known(call, { output: parts }),
  reasoning: known('type id status encrypted_content', { summary: known('type text'), content: known('type text') }),
}

function membersOfItem(item: JsonObject): Known | undefined {
  const type = textAt(item, 'type') || 'message'
  // An output that is an object is the result of a tool, which is read entirely.
  if (isObject(item.output)) return outputAsObject
  return Object.hasOwn(itemMembers, type) ? itemMembers[type] : undefined
}
