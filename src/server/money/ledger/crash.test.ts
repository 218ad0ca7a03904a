import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf } from '../../../../test/helpers/ledger.ts'
import { isTorture } from '../../../../test/helpers/torture.ts'
import type { Queries } from '../../base/db/open.ts'
import { reconcile } from './reconcile.ts'

const script = new URL('../../../../test/helpers/settle-until-killed.mjs', import.meta.url).pathname

type Settling = ChildProcessByStdio<null, Readable, Readable>

/** Starts a process that charges without end until `kill` kills it. Returns the requests that it has acknowledged. */
async function settleUntilKilled(
  env: Record<string, string>,
  args: readonly string[],
  kill: (child: Settling) => void,
): Promise<string[]> {
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  kill(child)
  const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)))
  expect(signal, said).toBe('SIGKILL')
  // The last line may be incomplete.
  return printed.split('\n').slice(0, -1)
}

const killAfter = (count: number) => (child: Settling) => {
  let lines = 0
  child.stdout.on('data', (text: string) => {
    lines += text.split('\n').length - 1
    if (lines >= count) child.kill('SIGKILL')
  })
}

/**
 * Waits until PostgreSQL has ended the connections of dead processes: it finishes a running statement before it notices the death.
 */
async function untilAlone(db: Queries): Promise<void> {
  const others = sql`select query from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
  await expect.poll(async () => (await others.execute(db)).rows).toEqual([])
}

eachDatabase('ledger of a process that is killed', (fresh, kind) => {
  it('[T142] [T220] has every acknowledged charge exactly once', async () => {
    const database = await fresh()
    const before = await ledgerOf(database)
    const userId = await before.user(1_000_000_000)
    const tokenId = await before.token(userId, 1_000_000_000)
    await before.close()

    const acknowledged: string[] = []
    const counts = isTorture ? [1, 40, 300, 1000] : [1, 40, 300]
    for (const [run, count] of counts.entries()) {
      acknowledged.push(...(await settleUntilKilled(database.env, [`${userId}`, `${tokenId}`, `run${run}`], killAfter(count))))
    }

    const { core, ledger, userRow, tokenRow } = await ledgerOf(database)
    if (kind === 'postgres') await untilAlone(core.db)
    await core.db.updateTable('holds').set({ lease_until: 1 }).execute()
    await ledger.expire()
    const rows = await core.db.selectFrom('ledger').select(['reference', 'amount']).where('kind', '=', 'charge').execute()
    const charged = new Set(rows.map(({ reference }) => reference))
    expect(acknowledged.filter((id) => !charged.has(`charge:${id}`))).toEqual([])
    expect(charged.size).toBe(rows.length)
    expect(rows.length).toBeGreaterThanOrEqual(counts.reduce((sum, count) => sum + count))

    const spent = 7 * rows.length
    expect(await userRow(userId)).toEqual({
      quota: 1_000_000_000 - spent,
      held: 0,
      used_quota: spent,
      request_count: rows.length,
    })
    expect(await tokenRow(tokenId)).toMatchObject({ remain_quota: 1_000_000_000 - spent, held: 0, used_quota: spent })
    const borne = await core.db.selectFrom('site_costs').select(['request_id', 'amount']).execute()
    const thirds = [...charged].filter((reference) => Number(reference.split('-').at(-1)) % 3 === 0)
    expect(new Set(borne.map(({ request_id: id }) => `charge:${id}`))).toEqual(new Set(thirds))
    expect(borne.every(({ amount }) => amount === 2)).toBe(true)
    expect((await core.db.selectFrom('logs').select('request_id').execute()).length).toBe(rows.length)
    expect(await core.db.selectFrom('holds').selectAll().execute()).toEqual([])
    expect(await reconcile(core)).toEqual([])
  })
  it.runIf(kind === 'postgres')('releases a hold that PostgreSQL commits after the process has died', async () => {
    const database = await fresh()
    const { core, ledger, user, token, userRow } = await ledgerOf(database)
    const userId = await user(1_000_000_000)
    const tokenId = await token(userId, 'unlimited')
    await sql`create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(1); return null; end'`.execute(
      core.db,
    )
    await sql`create trigger linger after insert on holds for each statement execute function linger()`.execute(core.db)
    const lingering = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`

    await settleUntilKilled(database.env, [`${userId}`, `${tokenId}`, 'run'], async (child) => {
      await expect.poll(async () => (await lingering.execute(core.db)).rows.length).toBeGreaterThan(0)
      child.kill('SIGKILL')
    })
    await untilAlone(core.db)
    expect((await userRow(userId)).held).toBeGreaterThan(0)
    await core.db.updateTable('holds').set({ lease_until: 1 }).execute()
    await ledger.expire()

    expect((await userRow(userId)).held).toBe(0)
    expect(await core.db.selectFrom('holds').selectAll().execute()).toEqual([])
    expect(await reconcile(core)).toEqual([])
  })
})
