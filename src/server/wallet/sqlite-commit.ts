import type { DatabaseSyncInstance } from '@photostructure/sqlite'
import { hourOf, logColumns, siteCostColumns, type Value } from './rows.ts'

/** A batch as rows without column names, which is cheap to pass to a worker thread. */
export interface Batch {
  readonly charges: readonly ChargeRow[]
  /** Rows of `logValues`. */
  readonly logs: readonly (readonly Value[])[]
  /** Rows of `siteCostValues`. */
  readonly siteCosts: readonly (readonly Value[])[]
  /** Request id, user, token, units held, node, time, checkpoint, budgets. */
  readonly checkpoints: readonly (readonly Value[])[]
  /** Request ids whose row in `holds` is deleted. */
  readonly ended: readonly string[]
  /** Request id, budget, start, units. */
  readonly budgetCharges: readonly BudgetChargeRow[]
}

export type BudgetChargeRow = readonly [requestId: string, budgetId: number, start: number, units: number]

export type ChargeRow = readonly [
  requestId: string,
  userId: number,
  tokenId: number,
  units: number,
  at: number,
  channelId: number,
  tokens: number,
  username: string,
  model: string,
  group: string,
]

/**
 * `exhausted`: the batch was written, and these tokens have no quota left. `known`: nothing was written, because these requests
 * were charged before.
 */
export type Outcome = { readonly exhausted: readonly number[] } | { readonly known: readonly string[] }

/**
 * Makes the function that writes a batch in one transaction, ledger first and balances last, with one update for each user, token
 * and channel. All statements are prepared here. Throws when the database refuses or fails; then nothing was written.
 */
export function prepareCommit(database: DatabaseSyncInstance): (batch: Batch) => Outcome {
  const begin = database.prepare('begin immediate')
  const end = database.prepare('commit')
  const isCharged = database.prepare("select 1 from ledger where reference = 'charge:' || ?")
  const write = prepareWrites(database)

  return (batch) => {
    begin.run()
    try {
      const exhausted = write(batch)
      end.run()
      return { exhausted }
    } catch (error) {
      rollBack(database)
      const known = batch.charges.map(([requestId]) => requestId).filter((requestId) => isCharged.get(requestId))
      if (known.length === 0) throw error
      return { known }
    }
  }
}

function prepareWrites(database: DatabaseSyncInstance): (batch: Batch) => number[] {
  const addCharges = rowsWriter(database, {
    head: 'insert into ledger (reference, user_id, token_id, amount, created_at, kind) values',
    row: "('charge:' || ?, ?, ?, -?, ?, 'charge')",
  })
  const addLogs = rowsWriter(database, {
    head: `insert into logs (${logColumns.map((name) => `"${name}"`).join(', ')}) values`,
    row: `(${logColumns.map(() => '?').join(', ')})`,
  })
  const addUsage = rowsWriter(database, {
    head: 'insert into quota_data (created_at, user_id, channel_id, username, model_name, "group", token_used, quota, count) values',
    row: '(?, ?, ?, ?, ?, ?, ?, ?, ?)',
    tail: `on conflict do update set
      token_used = token_used + excluded.token_used, quota = quota + excluded.quota, count = count + excluded.count`,
  })
  const addSiteCosts = rowsWriter(database, {
    head: `insert into site_costs (${siteCostColumns.join(', ')}) values`,
    row: `(${siteCostColumns.map(() => '?').join(', ')})`,
  })
  const setCheckpoints = rowsWriter(database, {
    head: 'insert into holds (request_id, user_id, token_id, amount, node, created_at, checkpoint, budgets, lease_until) values',
    row: '(?, ?, ?, ?, ?, ?, ?, ?, 0)',
    tail: 'on conflict do update set checkpoint = excluded.checkpoint, budgets = excluded.budgets',
  })
  const addBudgetCharges = rowsWriter(database, {
    head: 'insert into budget_charges (request_id, budget_id, start, amount) values',
    row: '(?, ?, ?, ?)',
  })
  const chargeBudget = database.prepare(`insert into budget_sums (budget_id, start, charged) values (?, ?, ?)
    on conflict do update set charged = charged + excluded.charged`)
  const endHold = database.prepare('delete from holds where request_id = ?')
  const chargeUser = database.prepare(
    'update users set quota = quota - ?, used_quota = used_quota + ?, request_count = request_count + ? where id = ?',
  )
  const chargeChannel = database.prepare('update channels set used_quota = used_quota + ? where id = ?')
  // Status 1 is enabled, 4 is exhausted.
  const chargeToken = database.prepare(`update tokens set
      used_quota = used_quota + ?,
      remain_quota = case when unlimited_quota = 0 then remain_quota - ? else remain_quota end,
      status = case when status = 1 and unlimited_quota = 0 and remain_quota - ? <= 0 then 4 else status end
    where id = ?
    returning unlimited_quota = 0 and remain_quota <= 0 as exhausted`)

  return ({ charges, logs, siteCosts, checkpoints, ended, budgetCharges }) => {
    const sums = sumsOf(charges)
    addCharges(charges.map((row) => row.slice(0, 5)))
    addLogs(logs)
    addSiteCosts(siteCosts)
    addUsage([...sums.usage.values()])
    setCheckpoints(checkpoints)
    for (const id of ended) endHold.run(id)
    addBudgetCharges(budgetCharges)
    for (const [, budgetId, start, units] of budgetCharges) chargeBudget.run(budgetId, start, units)
    for (const [id, { units, count }] of sums.users) chargeUser.run(units, units, count, id)
    for (const [id, { units }] of sums.channels) chargeChannel.run(units, id)
    return [...sums.tokens].flatMap(([id, { units }]) => (chargeToken.get(units, units, units, id)?.exhausted === 1 ? [id] : []))
  }
}

interface Sum {
  units: number
  count: number
}

type UsageRow = [
  hour: number,
  userId: number,
  channelId: number,
  name: string,
  model: string,
  group: string,
  tokens: number,
  units: number,
  count: number,
]

/** Sums a batch by hour bucket, user, token and channel. */
function sumsOf(charges: readonly ChargeRow[]) {
  const usage = new Map<string, UsageRow>()
  const users = new Map<number, Sum>()
  const tokens = new Map<number, Sum>()
  const channels = new Map<number, Sum>()

  for (const [, userId, tokenId, units, at, channelId, used, username, model, group] of charges) {
    add(users, userId, units)
    if (tokenId !== 0) add(tokens, tokenId, units)
    if (channelId !== 0) add(channels, channelId, units)

    const hour = hourOf(at)
    const key = `${hour}:${userId}:${channelId}:${group}:${model}`
    const row = usage.get(key)
    if (row) {
      row[6] += used
      row[7] += units
      row[8]++
    } else usage.set(key, [hour, userId, channelId, username, model, group, used, units, 1])
  }
  return { usage, users, tokens, channels }
}

function add(sums: Map<number, Sum>, id: number, units: number): void {
  const sum = sums.get(id)
  if (!sum) {
    sums.set(id, { units, count: 1 })
    return
  }
  sum.units += units
  sum.count++
}

/** Inserts any number of rows by statements of a few fixed sizes, which stay prepared. */
function rowsWriter(database: DatabaseSyncInstance, { head, row, tail = '' }: { head: string; row: string; tail?: string }) {
  const statements = [64, 8, 1].map((size) => {
    return { size, statement: database.prepare(`${head} ${Array(size).fill(row).join(', ')} ${tail}`) }
  })

  return (rows: readonly (readonly Value[])[]): void => {
    let at = 0
    for (const { size, statement } of statements) {
      for (; rows.length - at >= size; at += size) statement.run(...rows.slice(at, at + size).flat())
    }
  }
}

/** A failed commit may have ended the transaction already. */
function rollBack(database: DatabaseSyncInstance): void {
  try {
    database.exec('rollback')
  } catch {
    // Nothing was open.
  }
}
