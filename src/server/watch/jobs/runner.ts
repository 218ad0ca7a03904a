import type { OptionValues } from '../../../contract/options/index.ts'
import type { Text } from '../../../contract/text.ts'
import { keepLease, releaseLease, takeLease, withLease } from '../../base/bus/lease.ts'
import type { NewRow } from '../../base/db/schema.ts'
import { messageOf } from '../../base/lib/failure.ts'
import { background, redact } from '../../base/lib/log/logger.ts'
import { setActiveTimeout } from '../../base/lib/time/active-time.ts'
import { type Clock, seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import type { App } from '../parts.ts'

/**
 * Recurring work, independent of requests. A job is declared as data with a function; this file decides when and on which node it
 * runs, aborts it at its deadline, and records its last result for the admins. Not for work that must happen exactly once: a job may
 * run twice, or late, and must tolerate both.
 */
export interface Job<Parts extends Core = App> {
  readonly name: string
  /** Shown in the list of jobs; the name if absent. */
  readonly label?: Text
  /** `one-node`: on one node at a time, usually the same. */
  readonly on: 'one-node' | 'each-node'
  /** Time from one start to the next. 0 or less disables the job; a changed option takes effect at once. */
  everyMs(options: OptionValues): number
  /** The time from the start of the process to the first run; a few seconds if absent. */
  readonly firstAfterMs?: number
  /** Time after which the signal is aborted; soon afterwards the run is abandoned. */
  readonly deadlineMs: number
  /** Whether an admin may start it on demand. Then no two of its runs overlap, over all nodes. */
  readonly onDemand?: true
  /** Returns a short summary, and may report progress by `tell`. Throws on failure; the next run is scheduled nevertheless. */
  run(parts: Parts, signal: AbortSignal, tell: (detail: string) => void): Promise<string>
}

interface Planned<Parts extends Core> {
  readonly job: Job<Parts>
  /** When it last ran or was refused, by the runner's own clock. */
  lastMs: number
  /** The time to wait since then. */
  waitMs: (everyMs: number) => number
  running: Promise<void> | undefined
}

interface Result {
  readonly outcome: 'ok' | 'failed' | 'timeout'
  readonly detail: string
}

/** The lease that a job which may be started by hand holds while it runs. */
export function runLease(jobName: string): string {
  return `run:${jobName}`
}

const tickMs = 1000
const firstWithinMs = 5000
const takeOverWithinMs = 30_000
/** Lease of a running job, renewed until its end: when its node stops or hangs another takes over within a minute. */
const runningLeaseMs = 24_000
const runLeaseMs = 60_000
const tellEveryMs = 1000

export interface RunnerSettings {
  /** Must not jump: by default the time since the start of the process. */
  readonly now?: Clock
  readonly random?: () => number
  /** The time to wait for an aborted run. */
  readonly graceMs?: number
  /** The time for which a run that is not renewed keeps other nodes from starting. */
  readonly leaseMs?: number
}

export class JobRunner<Parts extends Core> {
  readonly #parts: Parts
  readonly #planned: readonly Planned<Parts>[]
  readonly #now: Clock
  readonly #random: () => number
  readonly #graceMs: number
  readonly #leaseMs: number
  /** One for each run in progress. */
  readonly #endings = new Set<AbortController>()
  #isStopping = false
  #timer: NodeJS.Timeout | undefined

  /** Throws when two jobs have one name. */
  constructor(
    parts: Parts,
    jobs: readonly Job<Parts>[],
    { now = () => performance.now(), random = Math.random, graceMs = 2000, leaseMs = runningLeaseMs }: RunnerSettings = {},
  ) {
    const names = jobs.map((job) => job.name)
    const double = names.find((name, index) => names.indexOf(name) !== index)
    if (double !== undefined) throw new Error(`Two jobs are named ${double}`)

    this.#parts = parts
    this.#now = now
    this.#random = random
    this.#graceMs = graceMs
    this.#leaseMs = leaseMs
    this.#planned = jobs.map((job) => ({ job, lastMs: now(), waitMs: this.#first(job.firstAfterMs), running: undefined }))
  }

  start(): void {
    this.#timer = setInterval(() => this.tick(), tickMs).unref()
  }

  /** Starts the jobs that are due. The timer does this; a test with its own clock does it by hand. */
  tick(): void {
    if (this.#isStopping) return
    for (const planned of this.#planned) {
      if (planned.running || !this.#isDue(planned)) continue
      planned.lastMs = this.#now()
      planned.waitMs = this.#about(Number.POSITIVE_INFINITY)
      planned.running = this.#runIfMine(planned).finally(() => {
        planned.running = undefined
      })
      background(this.#parts.logger, `job ${planned.job.name}`, planned.running)
    }
  }

  /** Starts a job immediately. Resolves with false when it is already running on this node or another. */
  startNow(name: string): Promise<boolean> {
    const planned = this.#planned.find(({ job }) => job.name === name && job.onDemand)
    if (!planned) throw new Error(`There is no job ${name} to be started by hand`)
    if (this.#isStopping || planned.running) return Promise.resolve(false)
    return new Promise((resolve, reject) => {
      planned.running = this.#runAlone(planned.job, undefined, () => resolve(true))
        .then(() => resolve(false), reject)
        .finally(() => {
          planned.running = undefined
        })
    })
  }

  /** Waits for the runs that are in progress now. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#planned.map((planned) => planned.running))
  }

  /** Aborts running jobs, waits for them, and lets another node take over at once. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#isStopping = true
    for (const ending of this.#endings) ending.abort(new Error('The server is stopping'))
    await this.settled()
    const mine = this.#planned.filter(({ job }) => job.on === 'one-node')
    await Promise.allSettled(mine.map(({ job }) => releaseLease(this.#parts, this.#lease(job))))
  }

  #isDue({ job, lastMs, waitMs }: Planned<Parts>): boolean {
    const everyMs = job.everyMs(this.#parts.options.current)
    return everyMs > 0 && this.#now() - lastMs >= waitMs(everyMs)
  }

  async #runIfMine(planned: Planned<Parts>): Promise<void> {
    const { job } = planned
    if (job.on === 'each-node') return this.#run(job)

    const lease = this.#lease(job)
    const kept = await keepLease(this.#parts, { ...lease, ms: this.#leaseMs })
    if (!kept) {
      planned.waitMs = this.#about(takeOverWithinMs)
      return
    }
    const startedMs = this.#now()
    try {
      if (this.#isStopping) return
      await (job.onDemand ? this.#runAlone(job, kept.lost) : this.#run(job, kept.lost))
    } finally {
      await kept.stop()
    }
    if (kept.lost.aborted) return
    // Keeps the lease until after the next start, so that other nodes take over only when this one is dead.
    const restMs = job.everyMs(this.#parts.options.current) * 1.25 - (this.#now() - startedMs)
    if (restMs > 0) await takeLease(this.#parts, { ...lease, ms: Math.ceil(restMs) })
    else await releaseLease(this.#parts, lease)
  }

  /** Does nothing when the job is already running on any node. The console then shows the running state, not the last result. */
  async #runAlone(job: Job<Parts>, lost?: AbortSignal, onStart?: () => void): Promise<void> {
    const { now, node } = this.#parts
    await withLease(this.#parts, { name: runLease(job.name), ms: runLeaseMs }, async (lostRun) => {
      const run = { name: job.name, holder: node, started_at: seconds(now()) }
      if (onStart) await this.#note({ ...run, finished_at: 0, outcome: 'running', detail: '' })
      onStart?.()
      await this.#run(job, lost ? AbortSignal.any([lost, lostRun]) : lostRun)
    })
  }

  async #run(job: Job<Parts>, lost?: AbortSignal): Promise<void> {
    const { now, metrics, logger, node } = this.#parts
    const run = { name: job.name, holder: node, started_at: seconds(now()) }
    let noting = Promise.resolve()
    let toldMs = Number.NEGATIVE_INFINITY
    const tell = (detail: string) => {
      if (this.#now() - toldMs < tellEveryMs) return
      toldMs = this.#now()
      noting = noting
        .then(() => this.#note({ ...run, finished_at: 0, outcome: 'running', detail: shown(detail) }))
        .catch((error: unknown) => logger.warn({ error, job: job.name }, 'could not note how far a job is'))
    }
    const { outcome, detail } = await this.#attempt(job, tell, lost)
    metrics.jobRuns.inc({ job: job.name, outcome })
    if (outcome === 'timeout') logger.error({ job: job.name }, 'a job did not end in time')
    await noting
    await this.#note({ ...run, finished_at: seconds(now()), outcome, detail: shown(detail) })
  }

  /** Never throws, and ends soon after the deadline or the loss of its lease, even if the job ignores the signal. */
  #attempt(job: Job<Parts>, tell: (detail: string) => void, lost: AbortSignal | undefined): Promise<Result> {
    const ending = new AbortController()
    const end = () => ending.abort(lost?.reason)
    lost?.addEventListener('abort', end)
    this.#endings.add(ending)
    let failure: Result['outcome'] = 'failed'
    const cancelDeadline = setActiveTimeout(job.deadlineMs, () => {
      failure = 'timeout'
      ending.abort(new Error('The deadline has passed'))
    })

    const work = async (): Promise<Result> => ({ outcome: 'ok', detail: await job.run(this.#parts, ending.signal, tell) })
    const worked = work().catch((error: unknown): Result => {
      this.#parts.logger.error({ error, job: job.name }, 'a job failed')
      return { outcome: failure, detail: messageOf(error) }
    })
    const givenUp = new Promise<Result>((resolve) => {
      ending.signal.addEventListener('abort', () => {
        setTimeout(() => resolve({ outcome: failure, detail: 'did not end when told to' }), this.#graceMs).unref()
      })
    })
    return Promise.race([worked, givenUp]).finally(() => {
      cancelDeadline()
      lost?.removeEventListener('abort', end)
      this.#endings.delete(ending)
    })
  }

  async #note({ name, ...result }: NewRow<'job_runs'>): Promise<void> {
    await this.#parts.db
      .insertInto('job_runs')
      .values({ name, ...result })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(result))
      .execute()
  }

  #lease(job: Job<Parts>): { name: string; holder: string } {
    return { name: `job:${job.name}`, holder: this.#parts.node }
  }

  /** The wait before the first run, random, so that the jobs are spread over the first seconds. */
  #first(afterMs = 0): (everyMs: number) => number {
    const part = this.#random()
    return (everyMs) => Math.min(everyMs, afterMs) + Math.min(everyMs, firstWithinMs) * part
  }

  /** The interval, or a shorter time, varied by up to a tenth, so that nodes that started together drift apart. */
  #about(atMostMs: number): (everyMs: number) => number {
    const factor = 0.9 + this.#random() * 0.2
    return (everyMs) => Math.min(everyMs, atMostMs) * factor
  }
}

/** Redacts and shortens a text for the list of jobs. */
function shown(detail: string): string {
  return redact(detail).slice(0, 500)
}
