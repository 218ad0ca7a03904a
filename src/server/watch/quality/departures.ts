import { sql } from 'kysely'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { departedStates, isDeparted } from '../../../contract/entities/quality-check.ts'
import type { App } from '../parts.ts'
import { type SavedCheck, savedCheck } from './checks.ts'
import { baselineRunsMax, type RunScore, standingOf } from './standing.ts'

/** Channels that depart in quality checks: the subjects of an alert rule. */

export interface Departure {
  readonly channelId: number
  /** The name of the channel, with the checks in which it departs. */
  readonly name: string
  /** The number of checks in which it departs. */
  readonly count: number
}

/** Enabled channels that depart in a check whose schedule is enabled. */
export async function departedChannels({ db }: App): Promise<Departure[]> {
  const rows = await db
    .selectFrom('quality_standings')
    .innerJoin('quality_checks', 'quality_checks.id', 'quality_standings.check_id')
    .innerJoin('channels', 'channels.id', 'quality_standings.channel_id')
    .select(['channels.id', 'channels.name', 'quality_checks.name as check', 'quality_standings.state'])
    .where('quality_checks.enabled', '=', 1)
    .where('channels.status', '=', channelStatus.enabled)
    .where('quality_standings.state', 'in', departedStates)
    .orderBy('channels.id')
    .orderBy('quality_checks.id')
    .execute()
  const checks = new Map<number, { name: string; checks: Set<string> }>()
  for (const { id, name, check } of rows) {
    const found = checks.get(id) ?? { name, checks: new Set<string>() }
    checks.set(id, { name, checks: found.checks.add(check) })
  }
  return [...checks].map(([channelId, { name, checks: found }]) => departure(channelId, name, found))
}

interface PastDeparture extends Departure {
  readonly from: number
  readonly to: number
}

/** Departures over a span of time, computed from the stored results with the current questions and thresholds. */
export async function pastDepartures(app: App, { from, to }: { from: number; to: number }): Promise<PastDeparture[]> {
  const rows = await app.db.selectFrom('quality_checks').selectAll().where('enabled', '=', 1).orderBy('id').execute()
  const turns = (await Promise.all(rows.map((row) => turnsOf(app, savedCheck(row), { from, to })))).flat()
  const channels = await app.db.selectFrom('channels').select(['id', 'name']).execute()
  return channels.flatMap(({ id, name }) => {
    const own = turns.filter(({ channelId }) => channelId === id).sort((one, other) => one.at - other.at)
    const departed = new Map<string, string>()
    return own.map(({ at, key, check, isAway }, index) => {
      if (isAway) departed.set(key, check)
      else departed.delete(key)
      return { ...departure(id, name, new Set(departed.values())), from: at, to: own[index + 1]?.at ?? to }
    })
  })
}

/** A run of a channel and model, and whether it departed after that. */
interface Turn {
  readonly channelId: number
  readonly at: number
  readonly key: string
  readonly check: string
  readonly isAway: boolean
}

async function turnsOf({ db }: App, check: SavedCheck, { from, to }: { from: number; to: number }): Promise<Turn[]> {
  const lead = (check.window_runs + baselineRunsMax) * check.interval_minutes * 60
  const rows = await db
    .selectFrom('quality_results')
    .select(['channel_id', 'model', 'run_at'])
    .select(({ fn }) => [
      fn.countAll<number>().as('total'),
      fn.sum<number>(sql<number>`case when outcome = 'passed' then 1 else 0 end`).as('passed'),
    ])
    .where('check_id', '=', check.id)
    .where('revision', '=', check.revision)
    .where('created_at', '>=', from - lead)
    .groupBy(['channel_id', 'model', 'run_at'])
    .orderBy('run_at', 'desc')
    .execute()
  const series = new Map<string, { channelId: number; runs: RunScore[] }>()
  for (const { channel_id: channelId, model, run_at, total, passed } of rows) {
    const key = `${check.id}/${channelId}/${model}`
    const one = series.get(key) ?? { channelId, runs: [] }
    one.runs.push({ run_at, total: Number(total), passed: Number(passed) })
    series.set(key, one)
  }
  return [...series].flatMap(([key, { channelId, runs }]) =>
    runs.flatMap(({ run_at: at }, index) => {
      if (at < from || at > to) return []
      const isAway = isDeparted(standingOf(runs.slice(index, index + check.window_runs + baselineRunsMax), check).state)
      return [{ channelId, at, key, check: check.name, isAway }]
    }),
  )
}

function departure(channelId: number, channel: string, checks: ReadonlySet<string>): Departure {
  const named = checks.size === 0 ? '' : `: ${[...checks].join(', ')}`
  return { channelId, name: `${channel} (#${channelId})${named}`.slice(0, 200), count: checks.size }
}
