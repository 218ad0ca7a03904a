import { known, UnreadMembers } from '../unread-members.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { calledIn } from './called.ts'

/** What a Chat request asks for inside its members and nothing neutral stands for. */
export function unreadIn(body: JsonObject): { unread?: readonly string[] } {
  const unread = new UnreadMembers()
  unread.note('response_format', body.response_format, responseFormat)
  unread.note('response_format.json_schema', objectAt(body, 'response_format')?.json_schema, jsonSchema)
  unread.note('web_search_options', body.web_search_options, searchOptions)
  unread.note('stream_options', body.stream_options, streamOptions)
  unread.note('reasoning', body.reasoning, reasoning)
  unread.note('thinking', body.thinking, thinking)
  for (const tool of arrayAt(body, 'tools')) if (isObject(tool)) noteTool(tool, unread)
  unread.each('functions', body.functions, () => functionMembers)
  for (const message of arrayAt(body, 'messages')) if (isObject(message)) noteMessage(message, unread)
  return unread.names
}

function noteTool(tool: JsonObject, unread: UnreadMembers): void {
  const { called, isCustom } = calledIn(tool)
  if (!called) return
  unread.note('tools', tool, toolMembers)
  unread.note(isCustom ? 'tools.custom' : 'tools.function', called, isCustom ? customMembers : functionMembers)
}

function noteMessage(message: JsonObject, unread: UnreadMembers): void {
  unread.note('messages', message, messageMembers)
  unread.each('messages.content', message.content, () => partMembers)
  unread.each('messages.tool_calls', message.tool_calls, () => callMembers)
  for (const part of arrayAt(message, 'content')) {
    if (!isObject(part)) continue
    for (const [member, members] of mediaMembers) unread.note(`messages.content.${member}`, part[member], members)
  }
}

const responseFormat = known('type json_schema')
const jsonSchema = known('name description schema strict')
const searchOptions = known('search_context_size user_location')
/** Padding of a stream is no part of the answer. */
const streamOptions = known('include_usage include_obfuscation')
const reasoning = known('effort exclude enabled max_tokens')
const thinking = known('type budget_tokens')
const toolMembers = known('type function custom cache_control prompt_cache_breakpoint')
const functionMembers = known('name description parameters strict')
const customMembers = known('name description format')
/** What an earlier answer cited asks for nothing. */
const messageMembers = known(
  'role content name tool_calls tool_call_id function_call refusal audio images reasoning_content reasoning reasoning_details ' +
    'thinking_blocks extra_content annotations',
)
const partMembers = known(
  'type text refusal thinking image_url detail video_url input_audio file file_id file_data file_url filename cache_control ' +
    'prompt_cache_breakpoint annotations closed',
)
const callMembers = known('id type index function custom extra_content')
const mediaMembers = [
  ['image_url', known('url detail')],
  ['video_url', known('url')],
  ['input_audio', known('data format')],
  ['file', known('file_id file_data file_url filename')],
] as const
