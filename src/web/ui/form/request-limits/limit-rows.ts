import {
  limitSecondsMax,
  limitsOfGroupMax,
  type RequestLimit,
  requestCountMax,
} from '../../../../contract/entities/request-limit.ts'
import { isJsonObject, parseJson } from '../../../lib/json.ts'

/** The limits of groups as rows, several of a group below each other, and as the options store them. */
export type LimitRow = { readonly group: string } & { readonly [Member in keyof RequestLimit]: Typed }
/** Text while it is being typed. */
type Typed = number | string

/** Stands for all groups that have no row. */
export const otherGroups = '*'
export const newLimit: LimitRow = { group: otherGroups, seconds: 60, requests: 0, tokens: 0, concurrency: 0 }

export const amounts = ['requests', 'tokens', 'concurrency'] as const
const members: readonly string[] = ['seconds', ...amounts]

/** Undefined when the text does not fit into rows. */
export function readLimits(text: string): readonly LimitRow[] | undefined {
  const groups = readGroups(text)
  const rows = groups?.flatMap(([group, value]) => {
    const limits = Array.isArray(value) ? value : [value]
    // A group without limits has a row, so that the limits of all other groups do not apply to it.
    return limits.length === 0 ? [{ ...newLimit, group }] : limits.map((limit) => rowOf(group, limit))
  })
  const fitting = rows?.filter((row) => row !== undefined)
  return fitting?.length === rows?.length ? fitting : undefined
}

function rowOf(group: string, limit: unknown): LimitRow | undefined {
  if (!isJsonObject(limit)) return undefined
  const isFitting = Object.entries(limit).every(([name, value]) => members.includes(name) && typeof value === 'number')
  return isFitting ? { ...newLimit, ...limit, group } : undefined
}

/** An empty amount is no limit; without a length the schema refuses the limit. */
export function writeLimits(rows: readonly LimitRow[]): string {
  const groups: Record<string, object[]> = {}
  for (const { group, seconds, requests, tokens, concurrency } of rows) {
    const amountsOf = { requests: Number(requests), tokens: Number(tokens), concurrency: Number(concurrency) }
    groups[group] = [...(groups[group] ?? []), { seconds: seconds === '' ? null : Number(seconds), ...amountsOf }]
  }
  return JSON.stringify(groups, null, 2)
}

type LimitFault = 'seconds' | 'amount' | 'tooMany'

/** What is wrong with a row, by field. */
export function faultsOfLimit(
  row: LimitRow,
  { rows, index }: { rows: readonly LimitRow[]; index: number },
): { readonly [Field in keyof LimitRow]?: LimitFault } {
  const isBeyond = rows.slice(0, index).filter(({ group }) => group === row.group).length >= limitsOfGroupMax
  return {
    ...(isBeyond ? { group: 'tooMany' } : {}),
    ...(isWhole(row.seconds, 1, limitSecondsMax) && row.seconds !== '' ? {} : { seconds: 'seconds' }),
    ...Object.fromEntries(amounts.flatMap((name) => (isWhole(row[name], 0, requestCountMax) ? [] : [[name, 'amount']]))),
  }
}

export function limitsNothing(row: LimitRow): boolean {
  return amounts.every((name) => Number(row[name]) === 0)
}

/** The limits of requests and of completed requests by group, one row for each group. */
export interface CountRow {
  /** '' while none is chosen. */
  readonly group: string
  /** 0 is no limit. */
  readonly requests: Typed
  readonly completed: Typed
}

export const newCount: CountRow = { group: '', requests: 0, completed: 1000 }

/** Undefined when the text does not fit into rows. */
export function readCounts(text: string): readonly CountRow[] | undefined {
  const groups = readGroups(text)
  const rows = groups?.flatMap(([group, value]): CountRow[] => {
    const [requests, completed, ...others]: unknown[] = Array.isArray(value) ? value : []
    const isFitting = typeof requests === 'number' && typeof completed === 'number' && others.length === 0
    return isFitting ? [{ group, requests, completed }] : []
  })
  return rows?.length === groups?.length ? rows : undefined
}

/** The schema refuses a group that is missing or repeated. */
export function writeCounts(rows: readonly CountRow[]): string {
  const entries = rows.map(({ group, requests, completed }, index) => {
    const counts = [Number(requests), completed === '' ? null : Number(completed)]
    return [group, isRepeated(rows, index) ? null : counts]
  })
  return JSON.stringify(Object.fromEntries(entries), null, 2)
}

type CountFault = 'missing' | 'repeated' | 'amount' | 'fromOne'

/** What is wrong with a row, by field. */
export function faultsOfCount(
  row: CountRow,
  { rows, index }: { rows: readonly CountRow[]; index: number },
): { readonly [Field in keyof CountRow]?: CountFault } {
  const group = row.group === '' ? 'missing' : isRepeated(rows, index) ? 'repeated' : undefined
  return {
    ...(group ? { group } : {}),
    ...(isWhole(row.requests, 0, requestCountMax) ? {} : { requests: 'amount' }),
    ...(isWhole(row.completed, 1, requestCountMax) ? {} : { completed: 'fromOne' }),
  }
}

function isRepeated(rows: readonly CountRow[], index: number): boolean {
  return rows.some(({ group }, at) => at < index && group === rows[index]?.group)
}

/** Empty is 0. */
function isWhole(typed: Typed, least: number, most: number): boolean {
  const value = Number(typed)
  return Number.isInteger(value) && value >= least && value <= most
}

function readGroups(text: string): readonly (readonly [group: string, value: unknown])[] | undefined {
  if (text.trim() === '') return []
  const groups = parseJson(text)
  return isJsonObject(groups) ? Object.entries(groups) : undefined
}
