import type { NewRow } from '../../base/db/schema.ts'
import type { Charge, Hold, SiteCost } from './ledger.ts'

/** Statements about tables that a charge changes, and the beginning of a transaction, which may contain some. */
export const mayReadCharges =
  /^begin\b|\b(users|tokens|channels|ledger|logs|quota_data|site_costs|holds|budget_charges|budget_sums|ledger_journal)\b/

/** A value that both databases store unchanged. */
export type Value = number | string

/** The columns of `logs` that a charge writes, in the order of `logValues`. */
export const logColumns = [
  'user_id', 'created_at', 'type', 'content', 'username', 'token_id', 'token_name', 'model_name', 'quota', 'prompt_tokens',
  'completion_tokens', 'use_time', 'is_stream', 'channel_id', 'group', 'request_id', 'other',
] as const // biome-ignore format: one list

/** Members that the row leaves out get the default of their column. */
export function logValues(log: NewRow<'logs'>): Value[] {
  return [
    log.user_id,
    log.created_at,
    log.type,
    log.content ?? '',
    log.username ?? '',
    log.token_id ?? 0,
    log.token_name ?? '',
    log.model_name ?? '',
    log.quota ?? 0,
    log.prompt_tokens ?? 0,
    log.completion_tokens ?? 0,
    log.use_time ?? 0,
    log.is_stream ?? 0,
    log.channel_id ?? 0,
    log.group ?? '',
    log.request_id ?? '',
    log.other ?? '',
  ]
}

/** The row that has these values. */
export function logOfValues(values: readonly Value[]): NewRow<'logs'> {
  // The values of a row that was written by `logValues`.
  return Object.fromEntries(logColumns.map((column, index) => [column, values[index]])) as unknown as NewRow<'logs'>
}

/** The columns of `site_costs`, in the order of `siteCostValues`. */
export const siteCostColumns = ['request_id', 'user_id', 'channel_id', 'model', 'amount', 'reason', 'created_at'] as const

/** `amount` in units. */
export function siteCostValues({ requestId, userId }: Hold, charge: Charge, { amount, reason }: SiteCost): Value[] {
  return [requestId, userId, charge.channelId, charge.rollup.model, amount, reason, charge.at]
}

/** The start of the hour bucket of a time; unix seconds. */
export function hourOf(at: number): number {
  return at - (at % 3600)
}
