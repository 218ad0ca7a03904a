import type { Search, Tool, ToolChoice } from '../dialogue.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { mustBeObject, refuse, refuseInvalid, refuseType, unknownValue } from './refusals.ts'

/**
 * The tools of a request: functions and free-text tools, and the vendor's web search, which others have too. Throws `untranslatable` for
 * every other tool that the vendor runs, `field_invalid` for one without a name.
 */
export function readTools(body: JsonObject): { tools: Tool[]; search: Search | undefined } {
  const tools: Tool[] = []
  let search: Search | undefined
  for (const [at, tool] of arrayAt(body, 'tools').entries()) {
    const field = `tools[${at}]`
    if (!isObject(tool)) return refuseInvalid(field, mustBeObject)
    if (tool.type === 'function') tools.push(readFunction(tool, field))
    else if (tool.type === 'custom') tools.push(readCustom(tool, field))
    else if (typeof tool.type === 'string' && searchType.test(tool.type)) search = readSearch(tool, field)
    else return refuseType(field, tool.type)
  }
  return { tools, search }
}

const searchType = /^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/

/** Which tool is to be called. A tool that the vendor runs cannot be demanded: throws `untranslatable`. */
export function readToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === undefined || choice === null) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { kind: choice }
  if (!isObject(choice)) return refuseInvalid('tool_choice', unknownValue)
  if (choice.type === 'function' || choice.type === 'custom') return { kind: 'tool', name: requireName(choice, 'tool_choice') }
  if (choice.type !== 'allowed_tools') return refuseType('tool_choice', choice.type)
  const names = arrayAt(choice, 'tools').flatMap((tool) => (isObject(tool) && tool.name ? [textAt(tool, 'name')] : []))
  return { kind: 'allowed', names, isRequired: choice.mode === 'required' }
}

function readFunction(tool: JsonObject, field: string): Tool {
  return {
    name: requireName(tool, field),
    description: textAt(tool, 'description') || undefined,
    schema: objectAt(tool, 'parameters'),
    strict: typeof tool.strict === 'boolean' ? tool.strict : undefined,
    custom: undefined,
  }
}

function readCustom(tool: JsonObject, field: string): Tool {
  return {
    name: requireName(tool, field),
    description: textAt(tool, 'description') || undefined,
    schema: undefined,
    strict: undefined,
    custom: { format: tool.format },
  }
}

/** Where only some sites may be searched, an answer out of others would not be what was asked for. */
function readSearch(tool: JsonObject, field: string): Search {
  if (arrayAt(objectAt(tool, 'filters') ?? {}, 'allowed_domains').length > 0)
    refuse(`${field}.filters`, { zh: '无法限制搜索的网站', en: 'the sites of a search cannot be limited' })
  const size = tool.search_context_size
  return {
    contextSize: size === 'low' || size === 'medium' || size === 'high' ? size : undefined,
    location: objectAt(tool, 'user_location'),
  }
}

function requireName(tool: JsonObject, field: string): string {
  return textAt(tool, 'name') || refuseInvalid(`${field}.name`, { zh: '不能为空', en: 'must not be empty' })
}
