import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { type DatabaseKind, freshDatabase } from '../../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome, type TestLedger } from '../../../../../test/helpers/ledger.ts'
import { interruptDatabase, lockTables, refuseRows } from '../../../../../test/helpers/outage.ts'
import { scaledByLoad } from '../../../../../test/helpers/scaled-by-load.ts'
import { migrate } from '../../../base/db/migrate.ts'
import { databaseFile, openSqliteDatabase } from '../../../base/db/open.ts'
import { openReader } from '../../../base/db/reader.ts'
import { openSqlite } from '../../../base/db/sqlite-file.ts'
import { reconcile } from '../reconcile.ts'
import { refundCharge } from '../refund.ts'
import { drainJournal } from './drain-journal.ts'

const kind: DatabaseKind = 'sqlite'

async function stage() {
  const node = await ledgerOf(await freshDatabase(kind))
  const { database } = node.core
  if (database.dialect !== 'sqlite') throw new Error('not a file')
  const userId = await node.user(1_000_000)
  const tokenId = await node.token(userId, 1_000_000)
  const charge = async (count: number, amount = 7) => {
    const holds = Array.from({ length: count }, () => aHold(userId, tokenId, 10))
    for (const hold of holds) await node.ledger.hold(hold)
    await Promise.all(holds.map((hold) => node.ledger.settle(hold, aCharge(hold, amount))))
    return holds
  }
  return { node, database, userId, tokenId, charge }
}

/** Log rows that another program sees in the file. */
function rowsIn(file: string): number {
  const other = openSqlite(file)
  const [row] = other.prepare('select count(*) as count from logs').all()
  other.close()
  return Number(row?.count)
}

it('a charge is durable before it is in the tables, and other programs see it within a second', async () => {
  const { database, charge } = await stage()
  await charge(20)
  expect(rowsIn(database.file)).toBe(0)
  await expect.poll(() => rowsIn(database.file), { interval: 10, timeout: scaledByLoad(1000) }).toBe(20)
})

it('queries of the server, of its transactions and of its reading process see every charge that is durable', async () => {
  const { node, database, userId, charge } = await stage()
  const { db } = node.core
  const reader = await openReader(database)
  const readings = {
    query: async () => (await node.userRow(userId)).request_count,
    transaction: () =>
      db.transaction().execute(async (within) => (await within.selectFrom('logs').select('id').execute()).length),
    reader: async () => (await reader.queries().selectFrom('ledger').select('id').where('kind', '=', 'charge').execute()).length,
  }
  let charged = 0
  for (let rounds = 0; rounds < 10; rounds++)
    for (const [name, read] of Object.entries(readings)) {
      await charge(3)
      charged += 3
      expect([name, await read()]).toEqual([name, charged])
    }
  await reader.close()
})

it('a request is charged once, whether it is settled again before or after its charge is in the tables', async () => {
  const { node, userId, tokenId, charge } = await stage()
  const holds = await charge(5)
  await Promise.all(holds.map((hold) => node.ledger.settle(hold, aCharge(hold, 9))))
  expect(await node.userRow(userId)).toMatchObject({ quota: 1_000_000 - 35, request_count: 5 })
  await Promise.all(holds.map((hold) => node.ledger.settle(hold, aCharge(hold, 9))))
  expect(await node.tokenRow(tokenId)).toMatchObject({ remain_quota: 1_000_000 - 35, used_quota: 35 })
  expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 1_000_000 - 34)))).toBe('quota_insufficient')
  expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 1_000_000 - 35)))).toBe('ok')
  expect(await reconcile(node.core)).toEqual([])
})

it('balances count charges in the journal, also when rows are read again', async () => {
  const { node, database, userId, charge } = await stage()
  const unlock = await lockTables(database)
  await charge(10, 100)
  node.ledger.refresh({ userId })
  expect(await outcome(() => node.ledger.hold(aHold(userId, 0, 999_001)))).toBe('quota_insufficient')
  const whole = aHold(userId, 0, 999_000)
  expect(await outcome(() => node.ledger.hold(whole))).toBe('ok')
  await node.ledger.release(whole)
  await unlock()
  await expect.poll(async () => (await node.userRow(userId)).quota, { timeout: 5000 }).toBe(999_000)
})

it('charges while the tables are locked are durable; new requests are refused after two seconds, until the lock is gone', async () => {
  const { node, database, userId, charge } = await stage()
  const unlock = await lockTables(database)
  const holds = await charge(5)
  expect(await Promise.all(holds.map(({ requestId }) => node.ledger.charged(requestId)))).toEqual(Array(5).fill(7))
  const refusal = () => outcome(async () => node.ledger.release(await heldOf(node, userId)))
  await expect.poll(refusal, { timeout: 5000 }).toBe('database_unavailable')

  await unlock()
  expect(await node.userRow(userId)).toMatchObject({ quota: 1_000_000 - 35, request_count: 5 })
  expect(await refusal()).toBe('ok')
  expect(await reconcile(node.core)).toEqual([])
})

it('calls are served again after a lock that only a refused charge has met', async () => {
  const { node, database, userId, charge } = await stage()
  const accept = await refuseRows(node.core.database, 'ledger', "new.kind = 'charge'")
  await charge(1)
  expect((await node.userRow(userId)).request_count).toBe(0)
  const unlock = await lockTables(database)
  const refusal = () => outcome(async () => node.ledger.release(await heldOf(node, userId)))
  await expect.poll(refusal, { timeout: 30_000 }).toBe('database_unavailable')
  await unlock()
  await expect.poll(refusal, { timeout: 10_000 }).toBe('ok')
  await accept()
  await expect.poll(async () => (await node.userRow(userId)).request_count, { timeout: 20_000 }).toBe(1)
  expect(await reconcile(node.core)).toEqual([])
}, 90_000)

it('charges that are in the journal alone when the server stops are written by the next start, or by a command before', async () => {
  const { node, database, userId, charge } = await stage()
  const unlock = await lockTables(database)
  await charge(5)
  await node.close()
  await unlock()
  expect(rowsIn(database.file)).toBe(0)

  const next = await node.database.open()
  await drainJournal(next, expect.unreachable)
  expect(rowsIn(database.file)).toBe(5)
  await drainJournal(next, expect.unreachable)
  await next.close()
  const again = await ledgerOf(node.database)
  expect(await again.userRow(userId)).toMatchObject({ quota: 1_000_000 - 35, request_count: 5 })
  expect(await reconcile(again.core)).toEqual([])
})

it('a charge that the tables do not have yet is not refunded, and later it is', async () => {
  const { node, userId, charge } = await stage()
  const accept = await refuseRows(node.core.database, 'ledger', "new.kind = 'charge'")
  const [hold] = await charge(1, 70)
  const charged = { requestId: hold?.requestId ?? '', channelId: 0, model: '', group: '', at: 1, detail: '' }
  const refund = () => node.core.db.transaction().execute((within) => refundCharge(node.ledger, within, charged))
  expect(await outcome(refund)).toBe('database_unavailable')
  await accept()
  await expect.poll(() => outcome(refund), { timeout: 20_000 }).toBe('ok')
  expect(await node.userRow(userId)).toMatchObject({ quota: 1_000_000, used_quota: 0, request_count: 1 })
  expect(await reconcile(node.core)).toEqual([])
})

it('a stop ends although neither tables nor journal can be written', async () => {
  const { node, charge } = await stage()
  await charge(3)
  const bringBack = await interruptDatabase(node.core.database)
  await node.close()
  await bringBack()
  expect((await ledgerOf(node.database)).ledger.openHolds).toBe(0)
})

it('the files of a power failure have every durable charge once, after any number of applied batches', async () => {
  const { node, database, userId, charge } = await stage()
  for (let rounds = 1; rounds <= 5; rounds++) {
    await charge(3)
    expect((await node.userRow(userId)).request_count).toBe(3 * rounds)
  }
  const unlock = await lockTables(database)
  await charge(4)
  const copy = await freshDatabase(kind, 'empty')
  for (const end of ['', '-wal', '-charges-1', '-charges-2'])
    copyFileSync(database.file + end, join(copy.env.DATA_DIR, databaseFile + end))
  await unlock()

  const after = await ledgerOf(copy)
  expect(await after.userRow(userId)).toMatchObject({ quota: 1_000_000 - 7 * 19, request_count: 19 })
  expect(await after.core.db.selectFrom('logs').select('id').execute()).toHaveLength(19)
  expect(await reconcile(after.core)).toEqual([])
})

it('a second server does not start on the same file', async () => {
  const { node, charge } = await stage()
  await charge(1)
  await expect(ledgerOf(node.database, { commitWaitMs: 100 })).rejects.toThrow('Another server uses')
  await node.close()
  expect((await ledgerOf(node.database)).ledger.openHolds).toBe(0)
})

it('a newer version does not migrate the file of a running server', async () => {
  const { database } = await stage()
  await sql`delete from kysely_migration where name = (select max(name) from kysely_migration)`.execute(database.db)
  const other = openSqliteDatabase(database.file)
  await expect(migrate(other, { lockWaitMs: 100 })).rejects.toThrow('Another server uses')
  await other.close()
})

it('a journal that cannot be written makes settlements fail, and they are durable when it can be', async () => {
  const node = await ledgerOf(await freshDatabase(kind), { commitWaitMs: 300 })
  const userId = await node.user(1000)
  const hold = aHold(userId, 0, 100)
  await node.ledger.hold(hold)
  const bringBack = await interruptDatabase(node.core.database)
  const settled = () => outcome(() => node.ledger.settle(hold, aCharge(hold, 70)))
  expect(await settled()).toBe('database_unavailable')
  expect(await node.ledger.charged(hold.requestId)).toBeUndefined()
  await bringBack()
  await expect.poll(settled, { timeout: 10_000 }).toBe('ok')
  expect(await node.userRow(userId)).toMatchObject({ quota: 930, request_count: 1 })
})

async function heldOf(node: TestLedger, userId: number) {
  const hold = aHold(userId, 0, 1)
  await node.ledger.hold(hold)
  return hold
}
