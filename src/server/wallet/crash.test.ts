import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { eachDatabase } from '../../../test/helpers/databases.ts'
import { ledgerOf } from '../../../test/helpers/ledger.ts'
import { isTorture } from '../../../test/helpers/torture.ts'
import { reconcile } from './reconcile.ts'

const script = new URL('../../../test/helpers/settle-until-killed.mjs', import.meta.url).pathname

/** Runs a process that charges until it has acknowledged `count` requests, kills it, and returns the acknowledged ones. */
async function settleAndKill(env: Record<string, string>, args: readonly string[], count: number): Promise<string[]> {
  const child = spawn(process.execPath, [script, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
    if (printed.split('\n').length > count) child.kill('SIGKILL')
  })
  const signal = await new Promise((resolve) => child.once('close', (_code, by) => resolve(by)))
  expect(signal, said).toBe('SIGKILL')
  // Output after the last line end was not printed whole.
  return printed.split('\n').slice(0, -1)
}

eachDatabase('ledger of a process that is killed', (fresh) => {
  it('[T142] [T220] has every acknowledged charge exactly once', async () => {
    const database = await fresh()
    const before = await ledgerOf(database)
    const userId = await before.user(1_000_000_000)
    const tokenId = await before.token(userId, 1_000_000_000)
    await before.close()

    const acknowledged: string[] = []
    const counts = isTorture ? [1, 40, 300, 1000] : [1, 40, 300]
    for (const [run, count] of counts.entries()) {
      acknowledged.push(...(await settleAndKill(database.env, [`${userId}`, `${tokenId}`, `run${run}`], count)))
    }

    const { core, ledger, userRow, tokenRow } = await ledgerOf(database)
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
})
