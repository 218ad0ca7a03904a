import { known, UnreadMembers } from '../unread-members.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { definedTools } from './tools-in-effect.ts'

/** What a Messages request asks for inside its members and nothing neutral stands for. */
export function unreadIn(body: JsonObject): { unread?: readonly string[] } {
  const unread = new UnreadMembers()
  unread.note('output_config', body.output_config, outputConfig)
  unread.note('thinking', body.thinking, thinking)
  unread.note('tool_choice', body.tool_choice, toolChoice)
  unread.note('metadata', body.metadata, metadata)
  unread.each('system', body.system, () => textBlock)
  unread.each('tools', definedTools(body).map(withoutDirectCaller), membersOfTool)
  for (const message of arrayAt(body, 'messages')) {
    if (!isObject(message)) continue
    unread.note('messages', message, messageMembers)
    unread.each('messages.content', message.content, membersOfBlock)
    for (const block of arrayAt(message, 'content')) {
      if (isObject(block) && block.type === 'tool_result') unread.each('messages.content.content', block.content, membersOfBlock)
    }
  }
  return unread.names
}

const outputConfig = known('effort format')
const thinking = known('type budget_tokens display')
const toolChoice = known('type name disable_parallel_tool_use')
const metadata = known('user_id')
const messageMembers = known('role content')

/** How soon the input of a tool is streamed changes nothing in it. */
const customTool = known('type name description input_schema strict cache_control defer_loading eager_input_streaming')
const searchTool = known('type name max_uses user_location allowed_domains blocked_domains cache_control defer_loading')

function membersOfTool(tool: JsonObject) {
  const type = textAt(tool, 'type')
  if (type === '' || type === 'custom') return customTool
  return type.startsWith('web_search_') ? searchTool : undefined
}

/** That the model itself may call a tool is what every tool is for. */
function withoutDirectCaller(tool: unknown): unknown {
  if (!isObject(tool) || !arrayAt(tool, 'allowed_callers').every((caller) => caller === 'direct')) return tool
  const { allowed_callers: _, ...others } = tool
  return others
}

/** What an earlier answer cited, and who called a tool then, asks for nothing. */
const textBlock = known('type text cache_control citations')
const blocks: Readonly<Partial<Record<string, ReturnType<typeof known>>>> = {
  text: textBlock,
  image: known('type source cache_control'),
  document: known('type source title context citations cache_control'),
  search_result: known('type title source content citations cache_control'),
  tool_use: known('type id name input cache_control caller'),
  tool_result: known('type tool_use_id content is_error cache_control'),
  thinking: known('type thinking signature cache_control'),
}

function membersOfBlock(block: JsonObject) {
  const type = textAt(block, 'type')
  return Object.hasOwn(blocks, type) ? blocks[type] : undefined
}
