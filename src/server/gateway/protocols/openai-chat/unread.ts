import { type Known, known, UnreadMembers } from '../unread-members.ts'
import type { JsonObject } from '../wire-format.ts'
import { toolMemberOf } from './tool-member.ts'

/** Nested members of a Chat request without a neutral form. */
export function unreadIn(body: JsonObject): { unread?: readonly string[] } {
  const unread = new UnreadMembers()
  unread.note('response_format', body.response_format, responseFormat)
  unread.note('web_search_options', body.web_search_options, searchOptions)
  unread.note('stream_options', body.stream_options, streamOptions)
  unread.note('reasoning', body.reasoning, reasoning)
  unread.note('thinking', body.thinking, thinking)
  unread.note('tools', body.tools, membersOfTool)
  unread.note('functions', body.functions, functionMembers)
  unread.note('tool_choice', body.tool_choice, choiceMembers)
  unread.note('messages', body.messages, membersOfMessage)
  return unread.names
}

const responseFormat = known('type', { json_schema: known('name description schema strict') })
const searchOptions = known('search_context_size', {
  user_location: known('type', { approximate: known('city country region timezone') }),
})
/** Padding of a stream (`include_obfuscation`) is not part of the answer. */
const streamOptions = known('include_usage include_obfuscation')
const reasoning = known('effort exclude enabled max_tokens')
const thinking = known('type budget_tokens')

const cacheMarks = { cache_control: known('type ttl'), prompt_cache_breakpoint: known('mode ttl') }
const functionMembers = known('name description parameters strict')
const functionTool = known('type custom', { function: functionMembers, ...cacheMarks })
const customTool = known('type function', { custom: known('name description format'), ...cacheMarks })

/** Undefined for a tool of another type, which is left out or refused entirely. */
function membersOfTool(tool: JsonObject): Known | undefined {
  const { called, isCustom } = toolMemberOf(tool)
  if (!called) return undefined
  return isCustom ? customTool : functionTool
}

const choiceMembers = known('type name mode tools', {
  function: known('name'),
  custom: known('name'),
  allowed_tools: known('mode tools'),
})

const parts = known(
  'type text refusal thinking detail file_id file_data file_url document_url document_name filename annotations closed',
  {
    image_url: known('url detail'),
    video_url: known('url'),
    input_audio: known('data format'),
    file: known('file_id file_data file_url filename format'),
    ...cacheMarks,
  },
)
const calls = known('id type index extra_content', {
  function: known('name arguments'),
  custom: known('name input'),
})
/** Other formats have no names of instructions. */
const instructionMembers = known('role', { content: parts })

function membersOfMessage({ role }: JsonObject): Known {
  return role === 'system' || role === 'developer' ? instructionMembers : messageMembers
}

/** Past citations have no effect, nor have marks of a beginning on earlier messages. */
const messageMembers = known(
  'role name tool_call_id refusal audio reasoning_content reasoning reasoning_details thinking_blocks extra_content annotations prefix partial',
  {
    content: parts,
    images: known('type index', { image_url: known('url detail') }),
    tool_calls: calls,
    function_call: known('name arguments'),
  },
)
