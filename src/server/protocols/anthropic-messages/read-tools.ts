import { fail } from '../../lib/failure.ts'
import type { CacheMark, Dialogue, Search, Tool } from '../dialogue.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { usesBySize } from './write-tools.ts'

/**
 * Tools of a Messages request. The vendor's web search becomes a wish for any vendor's; its other tools exist nowhere else, so they are
 * refused by name. Throws `untranslatable` for those. Source: protocols notes 3.3 and 3.9.
 */
export function readTools(body: JsonObject): Pick<Dialogue, 'tools' | 'search'> {
  const tools: Tool[] = []
  let search: Search | undefined
  for (const [at, tool] of arrayAt(body, 'tools').entries()) {
    const field = `tools[${at}]`
    if (!isObject(tool)) fail('field_invalid', { field, reason: { zh: '必须是对象', en: 'must be an object' } })
    if (!isServerTool(tool)) tools.push(readTool(tool, field))
    else if (textAt(tool, 'type').startsWith('web_search_')) search = readSearch(tool, field)
    else refuseTool(tool, field)
  }
  return { tools, search }
}

/** The choice among tools, and whether several may be called; nothing when there are none to choose. Throws for a choice of none. */
export function readToolChoice(
  body: JsonObject,
  { hasTools }: { readonly hasTools: boolean },
): Pick<Dialogue, 'toolChoice' | 'parallelTools'> {
  const choice = objectAt(body, 'tool_choice')
  const name = textAt(choice ?? {}, 'name')
  if (choice?.type === 'tool' && arrayAt(body, 'tools').some((tool) => isServerTool(tool) && tool.name === name)) {
    refuseTool(choice, 'tool_choice')
  }
  if (!choice || !hasTools) return { toolChoice: undefined, parallelTools: undefined }
  const parallelTools = typeof choice.disable_parallel_tool_use === 'boolean' ? !choice.disable_parallel_tool_use : undefined
  switch (choice.type) {
    case 'auto':
    case 'none':
      return { toolChoice: { kind: choice.type }, parallelTools }
    case 'any':
      return { toolChoice: { kind: 'required' }, parallelTools }
    case 'tool':
      return { toolChoice: { kind: 'tool', name }, parallelTools }
    default:
      return fail('field_invalid', { field: 'tool_choice.type', reason: { zh: '未知的取值', en: 'this value is not known' } })
  }
}

/** A breakpoint behind a block. */
export function readCacheMark(block: JsonObject): { cache?: CacheMark } {
  const mark = objectAt(block, 'cache_control')
  return mark ? { cache: { ttl: mark.ttl === '1h' ? '1h' : '5m' } } : {}
}

function readTool(tool: JsonObject, field: string): Tool {
  const name = textAt(tool, 'name')
  if (name === '') fail('field_invalid', { field: `${field}.name`, reason: { zh: '不能为空', en: 'must not be empty' } })
  return {
    name,
    description: textAt(tool, 'description') || undefined,
    schema: objectAt(tool, 'input_schema'),
    strict: typeof tool.strict === 'boolean' ? tool.strict : undefined,
    custom: undefined,
    ...readCacheMark(tool),
  }
}

/** Which pages may be read is part of the question; how often it is searched is only told by its size elsewhere. */
function readSearch(tool: JsonObject, field: string): Search {
  for (const limit of ['allowed_domains', 'blocked_domains']) {
    if (arrayAt(tool, limit).length === 0) continue
    const reason = { zh: '其他协议不能限定网站', en: 'other protocols cannot be held to sites' }
    fail('untranslatable', { field: `${field}.${limit}`, reason })
  }
  const uses = tool.max_uses
  const { type: _, ...location } = objectAt(tool, 'user_location') ?? {}
  return {
    contextSize: typeof uses === 'number' ? sizeOfUses(uses) : undefined,
    location: Object.keys(location).length > 0 ? location : undefined,
  }
}

function sizeOfUses(uses: number): Search['contextSize'] {
  if (uses <= usesBySize.low) return 'low'
  return uses <= usesBySize.medium ? 'medium' : 'high'
}

function isServerTool(tool: unknown): tool is JsonObject {
  return isObject(tool) && typeof tool.type === 'string' && tool.type !== 'custom'
}

function refuseTool(tool: JsonObject, field: string): never {
  const name = textAt(tool, 'name') || textAt(tool, 'type')
  fail('untranslatable', {
    field,
    reason: { zh: `工具 ${name} 只有 Anthropic 的模型提供`, en: `only models of Anthropic have the tool ${name}` },
  })
}
