import type { ChannelHealth } from '../../../../contract/entities/call-statistics.ts'
import { type Departure, departedStates, departure } from '../../../../contract/entities/quality-check.ts'
import type { Queries } from '../../../base/db/open.ts'
import type { Snapshot } from '../../../base/lib/collections/snapshot.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import {
  type CallError,
  type CallSums,
  noSums,
  oneDay,
  oneHour,
  readErrors,
  readPoints,
  readSumsByKey,
  successShare,
} from '../../../usage/calls/call-sums.ts'
import type { ChannelIndex, RunningChannel } from '../index/model-index.ts'
import type { Traffic } from '../select/traffic.ts'
import { readOtherAnswers } from './answered-models.ts'

/**
 * The health of channels and keys: statistics of their attempts on all nodes, the circuit breakers of this node, and the quality
 * checks that channels fail.
 */

const hoursShown = 24
const errorsKeptSeconds = 7 * oneDay

type Parts = Pick<Core, 'db' | 'now'> & { readonly channels: Snapshot<ChannelIndex>; readonly traffic: Traffic }

export function readChannelHealth(app: Parts, ids: readonly number[]): Promise<ChannelHealth[]> {
  const { current } = app.channels
  return readHealth(app, 'channel', new Map(ids.map((id) => [id, current.keysOf(id)])))
}

/** The health of all keys of a channel; the breaker of a key that is not in use counts as closed. */
export async function readKeyHealth(app: Parts, channelId: number): Promise<ChannelHealth[]> {
  const rows = await app.db.selectFrom('channel_keys').select('id').where('channel_id', '=', channelId).orderBy('id').execute()
  const running = app.channels.current.keysOf(channelId)
  return readHealth(app, 'key', new Map(rows.map(({ id }) => [id, running.filter(({ keyId }) => keyId === id)])))
}

async function readHealth(
  { db, now, traffic }: Parts,
  side: 'channel' | 'key',
  keysOf: ReadonlyMap<number, readonly RunningChannel[]>,
): Promise<ChannelHealth[]> {
  if (keysOf.size === 0) return []
  const at = seconds(now())
  const keys = [...keysOf.keys()].map(String)
  const firstHour = at - (at % oneHour) - (hoursShown - 1) * oneHour
  const day = await readSumsByKey(db, { side, keys, from: firstHour, to: at + 1 })
  const hours = await readHours(db, { side, keys, from: firstHour, to: at + 1 })
  const errors = await lastErrors(db, { side, keys, from: at - errorsKeptSeconds, to: at + 1 })
  const others = side === 'channel' ? await readOtherModels(db, [...keysOf.keys()], at) : undefined
  const departures = side === 'channel' ? await readDepartures(db, [...keysOf.keys()]) : undefined
  return [...keysOf].map(([id, running]) => {
    const sums = day.get(String(id)) ?? noSums()
    const points = hours.get(String(id))
    return {
      id,
      attempts: sums.count,
      success: successShare(sums) ?? null,
      p95_ms: sums.durations.percentile(0.95) ?? null,
      last_error: errors.get(String(id)) ?? null,
      breaker: breakerOf(traffic, running),
      hours: Array.from({ length: hoursShown }, (_, index) => {
        const { answered = 0, failed = 0 } = points?.get(firstHour + index * oneHour) ?? {}
        return { answered, failed }
      }),
      other_models: others?.get(id) ?? [],
      departures: departures?.get(id) ?? [],
    }
  })
}

interface Asked {
  readonly side: 'channel' | 'key'
  readonly keys: readonly string[]
  readonly from: number
  readonly to: number
}

async function readHours(db: Queries, asked: Asked): Promise<Map<string, Map<number, CallSums>>> {
  const found = new Map<string, Map<number, CallSums>>()
  for (const { key, at, sums } of await readPoints(db, { ...asked, seconds: oneHour })) {
    const ofKey = found.get(key) ?? new Map<number, CallSums>()
    found.set(key, ofKey.set(at, sums))
  }
  return found
}

/** Reads complete days, because those are stored in few rows. */
async function lastErrors(db: Queries, { from, ...asked }: Asked): Promise<Map<string, CallError>> {
  const found = new Map<string, CallError>()
  for (const { key, ...error } of await readErrors(db, { ...asked, from: from - (from % oneDay) })) {
    const known = found.get(key)
    if (!known || error.last_at > known.last_at) found.set(key, error)
  }
  return found
}

/** Replies of the last 24 hours that named another model than was sent, the most calls first. */
async function readOtherModels(
  db: Queries,
  channels: readonly number[],
  at: number,
): Promise<Map<number, ChannelHealth['other_models']>> {
  const found = new Map<number, ChannelHealth['other_models']>()
  const answers = await readOtherAnswers(db, { from: at - oneDay, to: at + 1, channels })
  for (const { channelId, sent, answered, calls } of answers)
    found.set(channelId, [...(found.get(channelId) ?? []), { sent, answered, calls }])
  return found
}

/** The scheduled quality checks that each channel fails. */
async function readDepartures(db: Queries, channelIds: readonly number[]): Promise<Map<number, Departure[]>> {
  const rows = await db
    .selectFrom('quality_standings')
    .innerJoin('quality_checks', 'quality_checks.id', 'quality_standings.check_id')
    .select(['channel_id', 'check_id', 'quality_checks.name as check_name', 'model', 'state'])
    .where('quality_checks.enabled', '=', 1)
    .where('channel_id', 'in', channelIds)
    .where('state', 'in', departedStates)
    .orderBy('check_id')
    .orderBy('model')
    .execute()
  const found = new Map<number, Departure[]>()
  for (const { channel_id: id, ...row } of rows) found.set(id, [...(found.get(id) ?? []), departure.parse(row)])
  return found
}

function breakerOf(traffic: Traffic, running: readonly RunningChannel[]): ChannelHealth['breaker'] {
  const seen = running.map((key) => traffic.breakerFacts(key))
  const open = seen.filter(({ state }) => state === 'open')
  const isAllOpen = seen.length > 0 && open.length === seen.length
  return {
    state: isAllOpen ? 'open' : seen.some(({ state }) => state === 'half-open') ? 'half-open' : 'closed',
    keys: seen.length,
    keys_open: open.length,
    failures: Math.max(0, ...seen.map(({ failures }) => failures)),
    retry_ms: open.length === 0 ? 0 : Math.round(Math.min(...open.map(({ retryMs }) => retryMs))),
  }
}
