import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../db/open.ts'
import type { Logger } from '../lib/log/logger.ts'
import { randomText } from '../lib/secrets/ids.ts'
import type { Clock } from '../lib/time/clock.ts'

/**
 * An exclusive right among all nodes, for a limited time. It prevents double work, not double effect: a holder that is suspended for
 * longer than its lease may continue beside the next one, so work under a lease must be idempotent.
 */
interface LeaseParts {
  readonly database: Database
  readonly now: Clock
  readonly logger: Logger
  readonly node: string
}

interface Lease {
  readonly name: string
  readonly holder: string
}

/** Takes the lease for `ms` if it is free, has expired or is already this holder's. One statement; returns whether it was taken. */
export async function takeLease(parts: LeaseParts, { name, holder, ms }: Lease & { ms: number }): Promise<boolean> {
  const now = databaseNow(parts)
  const taken = await parts.database.db
    .insertInto('leases')
    .values({ name, holder, until_ms: sql`${now} + ${ms}` })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((row) => ({ holder: row.ref('excluded.holder'), until_ms: row.ref('excluded.until_ms') }))
        .where((row) => row.or([row('leases.until_ms', '<=', now), row('leases.holder', '=', holder)])),
    )
    .returning('name')
    .executeTakeFirst()
  return taken !== undefined
}

/** Releases the lease, if it is still this holder's. */
export async function releaseLease({ database }: Pick<LeaseParts, 'database'>, { name, holder }: Lease): Promise<void> {
  await database.db.deleteFrom('leases').where('name', '=', name).where('holder', '=', holder).execute()
}

/**
 * Runs `work` under the lease, which is renewed while it runs. Returns undefined, without running it, when another node holds the
 * lease. The signal is aborted when the lease is lost meanwhile.
 */
export async function withLease<Result>(
  parts: LeaseParts,
  { name, ms }: { name: string; ms: number },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const lease = { name, holder: `${parts.node}/${randomText(6)}` }
  const kept = await keepLease(parts, { ...lease, ms })
  if (!kept) return undefined
  try {
    return await work(kept.lost)
  } finally {
    await kept.stop()
    await releaseLease(parts, lease).catch((error: unknown) =>
      parts.logger.warn({ error, lease: name }, 'could not release a lease'),
    )
  }
}

/**
 * Takes the lease and renews it every third of `ms` until it is stopped; undefined when another node holds it. `lost` is aborted when
 * another node has taken it, and when `ms` have passed without a renewal: a process that was suspended for longer reads this before it
 * does anything else.
 */
export async function keepLease(
  parts: LeaseParts,
  lease: Lease & { ms: number },
): Promise<{ readonly lost: AbortSignal; stop(): Promise<void> } | undefined> {
  const { name, ms } = lease
  let renewedMs = performance.now()
  if (!(await takeLease(parts, lease))) return undefined

  const lost = new AbortController()
  const renew = async () => {
    const askedMs = performance.now()
    if (askedMs - renewedMs >= ms) lost.abort(new Error(`The lease ${name} was lost: it was not renewed in time`))
    if (lost.signal.aborted) return
    try {
      if (await takeLease(parts, lease)) renewedMs = askedMs
      else lost.abort(new Error(`The lease ${name} was lost`))
    } catch (error) {
      parts.logger.warn({ error, lease: name }, 'could not renew a lease')
    }
  }
  let renewing = Promise.resolve()
  const timer = setInterval(() => {
    renewing = renew()
  }, ms / 3).unref()
  return {
    lost: lost.signal,
    async stop() {
      clearInterval(timer)
      await renewing
    },
  }
}

/** The clock that all nodes share: the server's on PostgreSQL. SQLite has one machine and one clock. */
function databaseNow({ database, now }: LeaseParts): RawBuilder<number> {
  return database.dialect === 'postgres'
    ? sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`
    : sql<number>`${now()}`
}
