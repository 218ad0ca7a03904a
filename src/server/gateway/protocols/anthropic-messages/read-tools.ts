import type { Text } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { CacheMark, Dialogue, Search, Tool, VendorOnlyTool } from '../dialogue.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { toolsInEffect } from './tools-in-effect.ts'
import { usesBySize } from './write-tools.ts'

/**
 * Tools of a Messages request, as its system messages have changed them. The vendor's web search becomes a neutral search; its
 * other tools, and a search limited to some sites, exist in no other format. Throws `field_invalid` for an invalid tool. Source:
 * protocols notes 3.3 and 3.9.
 */
export function readTools(body: JsonObject): Pick<Dialogue, 'tools' | 'search' | 'vendorOnly'> {
  const tools: Tool[] = []
  const vendorOnly: VendorOnlyTool[] = []
  let search: Search | undefined
  for (const { tool, field, addedBy } of toolsInEffect(body)) {
    if (!isObject(tool)) fail('field_invalid', { field, reason: { zh: '必须是对象', en: 'must be an object' } })
    if (!isServerTool(tool)) {
      tools.push({ ...readTool(tool, field), ...readCacheMark(addedBy ?? tool) })
      continue
    }
    const isSearch = textAt(tool, 'type').startsWith('web_search_')
    const limit = isSearch ? limitOfSites(tool) : undefined
    if (limit) vendorOnly.push({ field: `${field}.${limit}`, name: 'tools.web_search', reason: noSites })
    else if (isSearch) search = readSearch(tool)
    else vendorOnly.push({ field, name: `tools.${nameOf(tool)}`, reason: onlyAnthropic(nameOf(tool)) })
  }
  return { tools, search, ...(vendorOnly.length > 0 ? { vendorOnly } : {}) }
}

/**
 * The tool choice, and whether several tools may be called; both undefined without tools. Throws for a choice of an unknown type or
 * of a hosted tool.
 */
export function readToolChoice(
  body: JsonObject,
  { hasTools }: { readonly hasTools: boolean },
): Pick<Dialogue, 'toolChoice' | 'parallelTools'> {
  const choice = objectAt(body, 'tool_choice')
  const name = textAt(choice ?? {}, 'name')
  if (choice?.type === 'tool' && arrayAt(body, 'tools').some((tool) => isServerTool(tool) && tool.name === name)) {
    fail('untranslatable', { field: 'tool_choice', reason: onlyAnthropic(name) })
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

/** The prompt-cache breakpoint after a block. */
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
  }
}

/** The limit to some sites, which is part of the question: `allowed_domains` or `blocked_domains`. */
function limitOfSites(tool: JsonObject): string | undefined {
  return ['allowed_domains', 'blocked_domains'].find((limit) => arrayAt(tool, limit).length > 0)
}

const noSites: Text = { zh: '其他协议不能限定网站', en: 'other protocols cannot be held to sites' }

/** Other vendors express the number of searches only as a size. */
function readSearch(tool: JsonObject): Search {
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

function nameOf(tool: JsonObject): string {
  return textAt(tool, 'name') || textAt(tool, 'type')
}

function onlyAnthropic(name: string): Text {
  return { zh: `工具 ${name} 只有 Anthropic 的模型提供`, en: `only models of Anthropic have the tool ${name}` }
}
