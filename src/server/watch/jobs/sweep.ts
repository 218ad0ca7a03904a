import { z } from 'zod'
import type { ChannelJob } from '../../../contract/entities/channel.ts'
import { channelStatus } from '../../../contract/entities/channel-status.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import type { Core } from '../../base/options/core.ts'
import { runLease } from './runner.ts'

/** Jobs over many channels, and their progress for admins. */
interface Sweep {
  readonly ids: readonly number[]
  readonly signal: AbortSignal
  /** The progress callback of the job. */
  readonly tell: (detail: string) => void
  /** Returns the outcome as one word; an exception counts as `broken` and is logged. */
  visit(id: number): Promise<string>
}

const atOnce = 4

/** Visits all channels, some at a time, and reports progress. Returns the tally; throws when aborted. */
export async function sweep(core: Pick<Core, 'logger'>, { ids, signal, tell, visit }: Sweep): Promise<string> {
  const waiting = [...ids]
  const counts: Record<string, number> = {}
  const tally = () => JSON.stringify({ done: ids.length - waiting.length - running, total: ids.length, counts })
  let running = 0

  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      running++
      const word = await visit(id).catch((error: unknown) => {
        core.logger.warn({ error, channel: id }, 'a sweep passed over a channel')
        return 'broken'
      })
      running--
      counts[word] = (counts[word] ?? 0) + 1
      tell(tally())
      signal.throwIfAborted()
    }
  }
  tell(tally())
  await Promise.all(Array.from({ length: atOnce }, work))
  return tally()
}

const tallyForm = z.object({ done: z.int(), total: z.int(), counts: z.record(z.string(), z.int()) })

/** The last or current run of each of these jobs. A run whose node died has failed. */
export async function listSweeps(core: Core, jobNames: readonly string[]): Promise<ChannelJob[]> {
  const rows = await core.db.selectFrom('job_runs').selectAll().where('name', 'in', jobNames).orderBy('name').execute()
  const leases = await core.db
    .selectFrom('leases')
    .select('name')
    .where('name', 'in', jobNames.map(runLease))
    .where('until_ms', '>', core.now())
    .execute()
  const held = new Set(leases.map(({ name }) => name))
  return rows.map(({ name, outcome, started_at, finished_at, detail }) => {
    const tally = readTally(detail)
    return {
      name,
      outcome: outcome === 'running' && !held.has(runLease(name)) ? 'failed' : outcomeOf(outcome),
      started_at,
      finished_at,
      ...(tally ?? { done: 0, total: 0, counts: {} }),
      detail: tally ? '' : detail,
    }
  })
}

function outcomeOf(text: string): ChannelJob['outcome'] {
  return text === 'running' || text === 'ok' || text === 'timeout' ? text : 'failed'
}

/** The reported progress of a sweep; undefined for the texts of other jobs. */
export function readTally(detail: string): z.output<typeof tallyForm> | undefined {
  return tallyForm.safeParse(readJson(detail)).data
}

/** The ids of enabled channels, in the order in which they were created. */
export async function enabledChannels({ db }: Pick<Core, 'db'>): Promise<number[]> {
  const rows = await db.selectFrom('channels').select('id').where('status', '=', channelStatus.enabled).orderBy('id').execute()
  return rows.map(({ id }) => id)
}
