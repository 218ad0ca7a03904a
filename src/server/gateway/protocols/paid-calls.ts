import type { Usage } from '../../../contract/usage.ts'

/** A call of a hosted tool that is billed per call. Calls of one tool with the same id are billed once. */
export interface PaidCall {
  /** The tool's name in `ToolPrice`. */
  readonly tool: string
  readonly id: string
}

/** The number of charged calls of each tool. */
export function countCalls(calls: readonly PaidCall[]): Pick<Usage, 'searches' | 'toolCalls'> {
  const idsOf = new Map<string, Set<string>>()
  for (const { tool, id } of calls) idsOf.set(tool, (idsOf.get(tool) ?? new Set()).add(id))
  const searches = idsOf.get('web_search')?.size ?? 0
  idsOf.delete('web_search')
  const counts = [...idsOf].map(([tool, ids]) => [tool, ids.size] as const)
  return { searches, ...(counts.length > 0 ? { toolCalls: Object.fromEntries(counts) } : {}) }
}
