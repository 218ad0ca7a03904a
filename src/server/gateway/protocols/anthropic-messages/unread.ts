import { type Known, known, UnreadMembers } from '../unread-members.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../wire-format.ts'
import { definedTools } from './tools-in-effect.ts'

/** Nested members of a Messages request without a neutral form. */
export function unreadIn(body: JsonObject): UnreadMembers {
  const unread = new UnreadMembers()
  unread.note('output_config', body.output_config, outputConfig)
  unread.note('thinking', body.thinking, thinking)
  unread.note('tool_choice', body.tool_choice, toolChoice)
  unread.note('metadata', body.metadata, metadata)
  unread.note('system', body.system, textBlock)
  unread.note('tools', definedTools(body).map(withoutDirectCaller), membersOfTool)
  unread.note('messages', body.messages, messageMembers)
  return unread
}

const outputConfig = known('effort', { format: known('type schema') })
const thinking = known('type budget_tokens display')
const toolChoice = known('type name disable_parallel_tool_use')
const metadata = known('user_id')
const mark = { cache_control: known('type ttl') }

/** Eager input streaming does not change the input of a tool. */
const customTool = known('type name description input_schema strict defer_loading eager_input_streaming', mark)
const searchTool = known('type name max_uses allowed_domains blocked_domains defer_loading', {
  user_location: known('type city country region timezone'),
})

function membersOfTool(tool: JsonObject): Known | undefined {
  const type = textAt(tool, 'type')
  if (type === '' || type === 'custom') return customTool
  return type.startsWith('web_search_') ? searchTool : undefined
}

/** Calls by the model itself are the default for every tool. */
function withoutDirectCaller(tool: unknown): unknown {
  if (!isObject(tool) || !arrayAt(tool, 'allowed_callers').every((caller) => caller === 'direct')) return tool
  const { allowed_callers: _, ...others } = tool
  return others
}

/** Past citations and callers of tools have no effect. */
const textBlock = known('type text citations', mark)
const source = known('type data media_type url file_id', { content: membersOfBlock })
const blocks: Readonly<Partial<Record<string, Known>>> = {
  text: textBlock,
  image: known('type', { source, ...mark }),
  document: known('type title context', { source, citations: known('enabled'), ...mark }),
  search_result: known('type title source', { content: textBlock, citations: known('enabled'), ...mark }),
  tool_use: known('type id name input caller', mark),
  tool_result: known('type tool_use_id is_error', { content: membersOfBlock, ...mark }),
  thinking: known('type thinking signature', mark),
  tool_removal: known('type tool'),
}
const messageMembers = known('role', { content: membersOfBlock })

function membersOfBlock(block: JsonObject): Known | undefined {
  const type = textAt(block, 'type')
  return Object.hasOwn(blocks, type) ? blocks[type] : undefined
}
