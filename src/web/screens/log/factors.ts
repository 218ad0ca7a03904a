import { type Log, type LogFailure, logType } from '../../../contract/entities/log.ts'
import { siteCostReasonLabels, siteCostReasons } from '../../../contract/entities/site-cost.ts'
import { type Factors, readFactors, readFailure } from '../../../contract/log-factors.ts'
import type { Text } from '../../../contract/text.ts'

/** Names of channels, by id. */
export type ChannelNames = Readonly<Record<string, string>>

/** A log row with its parsed `other`. */
export interface LogRow extends Log {
  readonly factors: Factors
  /** The details of a failed call. */
  readonly failure?: Partial<LogFailure>
  /** The names of the channels in `factors`; empty for owners of rows. */
  readonly channelNames: ChannelNames
}

export function withFactors(log: Log, channelNames: ChannelNames): LogRow {
  const failure = log.type === logType.error ? { failure: readFailure(log.other) } : {}
  return { ...log, factors: readFactors(log.other), ...failure, channelNames }
}

/** The site's cost, and its reason. */
export function siteCostOf({ admin_info: info }: Factors): { units: number; label: Text } | undefined {
  const { amount, reason } = info?.site_cost ?? {}
  const label = siteCostReasons.find((known) => known === reason)
  return label && typeof amount === 'number' ? { units: amount, label: siteCostReasonLabels[label] } : undefined
}

/** Fields of the request that the upstream's format could not carry. */
export function droppedFields({ dropped }: Factors): readonly string[] {
  return Array.isArray(dropped) ? dropped.map(String) : []
}

/** Content of the upstream's reply that the caller's format lacks. */
export function droppedOfReply({ reply_dropped: dropped }: Factors): readonly string[] {
  return Array.isArray(dropped) ? dropped.map(String) : []
}

export function durationMs({ use_time, factors }: LogRow): number {
  return factors.use_time_ms ?? use_time * 1000
}
