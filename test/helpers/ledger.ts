import { onTestFinished } from 'vitest'
import { openSqlite } from '../../src/server/base/db/sqlite-file.ts'
import { AppError } from '../../src/server/base/lib/failure.ts'
import type { Core } from '../../src/server/base/options/core.ts'
import type { Charge, Hold, Ledger, SiteCost } from '../../src/server/money/ledger/ledger.ts'
import { openLedger } from '../../src/server/money/ledger/open-ledger.ts'
import { prepareCommit } from '../../src/server/money/ledger/sqlite/sqlite-commit.ts'
import { batchOf } from '../../src/server/money/ledger/sqlite/sqlite-store.ts'
import { testCore } from './core.ts'
import type { TestDatabase } from './databases.ts'

/** A ledger over an empty database, and rows to charge. Closes with the test. */
export interface TestLedger {
  readonly core: Core
  readonly ledger: Ledger
  readonly database: TestDatabase
  /** Adds a user whose quota is a grant in the ledger, and returns the id. */
  user(quota: number): Promise<number>
  token(userId: number, remain: number | 'unlimited'): Promise<number>
  channel(): Promise<number>
  userRow(id: number): Promise<{ quota: number; held: number; used_quota: number; request_count: number }>
  tokenRow(id: number): Promise<{ remain_quota: number; held: number; used_quota: number; status: number }>
  /** Closes the ledger, as a stop of the process would. */
  close(): Promise<void>
}

const dropped = new WeakSet<TestDatabase>()

export async function ledgerOf(
  database: TestDatabase,
  { node, commitWaitMs }: { node?: string; commitWaitMs?: number } = {},
): Promise<TestLedger> {
  if (!dropped.has(database)) onTestFinished(() => database.drop())
  dropped.add(database)
  const open = await database.open()
  const core = await testCore(open, node === undefined ? {} : { node })
  const ledger = await openLedger(core, commitWaitMs)
  const { db } = core
  let closed = false
  const close = async () => {
    if (closed) return
    closed = true
    await ledger.close()
    await open.close()
  }
  onTestFinished(close)

  return {
    core,
    ledger,
    database,
    close,
    async user(quota) {
      const name = newName()
      const row = { username: name, username_key: name, display_name: '', password_hash: '', aff_code: name, created_time: 0 }
      const { id } = await db.insertInto('users').values(row).returning('id').executeTakeFirstOrThrow()
      const grant = { userId: id, kind: 'grant', amount: quota, reference: `grant:${id}`, at: 0 } as const
      await db.transaction().execute((within) => ledger.credit(within, grant))
      return id
    },
    async token(userId, remain) {
      const unlimited = remain === 'unlimited'
      const row = { user_id: userId, key_hash: newName(), key_sealed: '', name: 'test', created_time: 0, accessed_time: 0 }
      const balance = { unlimited_quota: unlimited ? 1 : 0, remain_quota: unlimited ? 0 : remain }
      return (
        await db
          .insertInto('tokens')
          .values({ ...row, ...balance })
          .returning('id')
          .executeTakeFirstOrThrow()
      ).id
    },
    async channel() {
      const row = { type: 1, key_sealed: '', name: 'test', created_time: 0 }
      return (await db.insertInto('channels').values(row).returning('id').executeTakeFirstOrThrow()).id
    },
    userRow: (id) =>
      db
        .selectFrom('users')
        .select(['quota', 'held', 'used_quota', 'request_count'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow(),
    tokenRow: (id) =>
      db
        .selectFrom('tokens')
        .select(['remain_quota', 'held', 'used_quota', 'status'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow(),
  }
}

/** Writes a charge into the tables as another process would, whose outcome this ledger does not learn. */
export async function commitElsewhere(
  { core: { database }, database: test }: TestLedger,
  hold: Hold,
  charge: Charge,
): Promise<void> {
  if (database.dialect === 'sqlite') {
    const connection = openSqlite(database.file)
    prepareCommit(connection)(batchOf([{ kind: 'charge', hold, charge, hasRow: true }], new Set(), { node: 'other', at: 0 }))
    return connection.close()
  }
  const other = await ledgerOf(test, { node: 'other' })
  await other.ledger.settle(hold, charge)
  await other.close()
}

let names = 0

function newName(): string {
  names++
  return `${process.pid}-${names}`
}

export function aHold(userId: number, tokenId: number, amount: number): Hold {
  return { requestId: `request-${newName()}`, userId, tokenId, amount }
}

export function aCharge(
  hold: Hold,
  amount: number,
  more: { channelId?: number; at?: number; model?: string; siteCost?: SiteCost } = {},
): Charge {
  const { channelId = 0, at = 1_760_000_000, model = 'gpt-4.1-mini' } = more
  const { userId, tokenId, requestId } = hold
  return {
    amount,
    at,
    channelId,
    siteCost: more.siteCost,
    log: {
      user_id: userId,
      token_id: tokenId,
      created_at: at,
      type: 2,
      model_name: model,
      quota: amount,
      channel_id: channelId,
      request_id: requestId,
      other: '{"model_ratio":1.5,"note":"\\\\ \\" , {}"}',
    },
    rollup: { username: 'someone', model, group: 'default', tokens: 7 },
  }
}

/** 'ok', or the code of the failure. */
export async function outcome(move: () => unknown): Promise<string> {
  try {
    await move()
    return 'ok'
  } catch (error) {
    return error instanceof AppError ? error.code : String(error)
  }
}

/** The number of occurrences of each text. */
export function tally(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1
  return counts
}
