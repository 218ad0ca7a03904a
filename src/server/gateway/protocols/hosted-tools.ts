import type { JsonObject, RequestFacts } from './wire-format.ts'

/**
 * The tools of a request that its vendor runs: those billed by the call, by their names in the option `ToolPrice`, and those that only
 * cost input tokens. Tools that the caller runs are left out: functions, free-text tools, a shell or a browser.
 */
export type VendorTools = Pick<RequestFacts, 'hostedTools' | 'freeTools' | 'otherModels'>

/** The declaration of a format, as far as it is about such tools. */
interface HostingTools {
  readonly hostedTools?: (body: JsonObject) => VendorTools
}

/** The tools of a body in an upstream's format; none for formats without such tools. */
export function vendorTools({ hostedTools }: HostingTools, body: JsonObject): VendorTools {
  return hostedTools?.(body) ?? {}
}

/** The billed tools that are still present in the upstream's request after translation, by their names in the caller's request. */
export function carriedTools(asked: readonly string[], format: HostingTools, body: JsonObject): string[] {
  if (asked.length === 0) return []
  const { hostedTools: sent = [] } = vendorTools(format, body)
  return asked.filter((name) => sent.includes(name) || (isWebSearch(name) && sent.some(isWebSearch)))
}

/** Whether web searches are billed under this name. */
export function isWebSearch(name: string): boolean {
  return webSearches.has(name)
}

const webSearches: ReadonlySet<string> = new Set([
  'web_search',
  'web_search_preview',
  'enterprise_web_search',
  'live_search',
  '$web_search',
])

/** Types of tools that the caller runs, or that only declare such tools. */
export const runByCallers: ReadonlySet<string> = new Set([
  'function',
  'custom',
  'namespace',
  'apply_patch',
  'bash',
  'browser_toolset',
  'computer',
  'computer_toolset',
  'computer_use',
  'computer_use_preview',
  'local_shell',
  'memory',
  'text_editor',
  'tool_search',
  'tool_search_tool_bm25',
  'tool_search_tool_regex',
])

/** The type of a tool without the date of its version. */
export function plainType(type: string): string {
  return type.replace(/_\d{4}_?\d{2}_?\d{2}$/, '')
}

/** Tools by name: those in `free`, and `more`, are not billed by the call. */
export function named(
  names: readonly string[],
  { free = none, more = [] }: { free?: ReadonlySet<string>; more?: readonly string[] } = {},
): VendorTools {
  if (names.length === 0 && more.length === 0) return {}
  const all = [...new Set(names.map((name) => name.slice(0, nameLengthMax)))]
  const hostedTools = all.filter((name) => !free.has(name))
  const freeTools = [...all.filter((name) => free.has(name)), ...more]
  return { ...(hostedTools.length > 0 ? { hostedTools } : {}), ...(freeTools.length > 0 ? { freeTools } : {}) }
}

/** Names from callers are truncated in messages and logs. */
const nameLengthMax = 64

const none: ReadonlySet<string> = new Set()
