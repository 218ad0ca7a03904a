import type { SystemJob } from '../../../contract/entities/system.ts'
import type { Core } from '../../base/options/core.ts'
import { type Job, runLease } from './runner.ts'
import { readTally } from './sweep.ts'

const nodeGoneAfterSeconds = 90

/** All jobs with their last result. A run whose node died has failed. */
export async function listJobs(core: Core, jobs: readonly Job[]): Promise<SystemJob[]> {
  const { db, options, now } = core
  const rows = await db.selectFrom('job_runs').selectAll().execute()
  const leases = await db.selectFrom('leases').select('name').where('until_ms', '>', now()).execute()
  const held = new Set(leases.map(({ name }) => name))
  const runs = new Map(rows.map((row) => [row.name, row]))

  return jobs.map((job) => {
    const run = runs.get(job.name)
    const progress = run && readTally(run.detail)
    const isRunning = run?.outcome === 'running' && (held.has(runLease(job.name)) || !isOld(run.started_at, now(), job))
    return {
      name: job.name,
      label: job.label ?? { zh: job.name, en: job.name },
      on: job.on,
      every_seconds: Math.max(0, job.everyMs(options.current) / 1000),
      on_demand: job.onDemand === true,
      outcome: run?.outcome === 'running' && !isRunning ? 'failed' : outcomeOf(run?.outcome),
      started_at: run?.started_at ?? 0,
      finished_at: run?.finished_at ?? 0,
      node: run?.holder ?? '',
      progress: progress ?? null,
      detail: progress ? '' : (run?.detail ?? ''),
    }
  })
}

/** Jobs that cannot be started manually hold no lease for a run: they count as dead some time after their deadline. */
function isOld(startedAt: number, nowMs: number, job: Job): boolean {
  return job.onDemand === true || nowMs / 1000 - startedAt > job.deadlineMs / 1000 + nodeGoneAfterSeconds
}

function outcomeOf(text: string | undefined): SystemJob['outcome'] {
  if (text === undefined) return 'never'
  return text === 'running' || text === 'ok' || text === 'timeout' ? text : 'failed'
}
