import type { DatabaseSync } from 'node:sqlite'
import { hourOf, logColumns, siteCostColumns, type Value } from '../rows.ts'

/** A batch as rows without column names: the text of a batch in the journal is its JSON. */
export interface Batch {
  readonly charges: readonly ChargeRow[]
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
  /** `logValues`; null when the charge has no log row. */
  log: readonly Value[] | null,
]

/**
 * Makes the function that writes a batch into the tables in one transaction, ledger first and balances last, with one update for
 * each user, token and channel. Returns the tokens with a limit that have no quota left. Throws when the database refuses or fails;
 * then nothing was written. `applied` is the number of the last batch in the tables, if it changes. `onPause` is called between
 * statements. All statements are prepared here.
 */
export function prepareCommit(
  database: DatabaseSync,
  onPause: () => void = () => {},
): (batch: Batch, applied?: number) => readonly number[] {
  const begin = database.prepare('begin immediate')
  const end = database.prepare('commit')
  const setApplied = database.prepare('update ledger_journal set applied = ?')
  const write = prepareWrites(database, onPause)

  return (batch, applied) => {
    begin.run()
    try {
      const exhausted = write(batch)
      if (applied !== undefined) setApplied.run(applied)
      end.run()
      return exhausted
    } catch (error) {
      rollBack(database)
      throw error
    }
  }
}

function prepareWrites(database: DatabaseSync, onPause: () => void): (batch: Batch) => number[] {
  const inserter = inserters(database, onPause)
  const addCharges = inserter({
    head: 'insert into ledger (reference, user_id, token_id, amount, created_at, kind) values',
    row: "('charge:' || ?, ?, ?, -?, ?, 'charge')",
  })
  const addLogs = inserter({
    head: `insert into logs (${logColumns.map((name) => `"${name}"`).join(', ')}) values`,
    row: `(${logColumns.map(() => '?').join(', ')})`,
  })
  const addUsage = inserter({
    head: 'insert into quota_data (created_at, user_id, channel_id, username, model_name, "group", token_used, quota, count) values',
    row: '(?, ?, ?, ?, ?, ?, ?, ?, ?)',
    tail: `on conflict do update set
      token_used = token_used + excluded.token_used, quota = quota + excluded.quota, count = count + excluded.count`,
  })
  const addSiteCosts = inserter({
    head: `insert into site_costs (${siteCostColumns.join(', ')}) values`,
    row: `(${siteCostColumns.map(() => '?').join(', ')})`,
  })
  const setCheckpoints = inserter({
    head: 'insert into holds (request_id, user_id, token_id, amount, node, created_at, checkpoint, budgets, lease_until) values',
    row: '(?, ?, ?, ?, ?, ?, ?, ?, 0)',
    tail: 'on conflict do update set checkpoint = excluded.checkpoint, budgets = excluded.budgets',
  })
  const addBudgetCharges = inserter({
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

  return ({ charges, siteCosts, checkpoints, ended, budgetCharges }) => {
    const sums = sumsOf(charges)
    addCharges(charges.map(([requestId, userId, tokenId, units, at]) => [requestId, userId, tokenId, units, at]))
    addLogs(logsOf(charges))
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

/** The log rows of charges. */
export function logsOf(charges: readonly ChargeRow[]): (readonly Value[])[] {
  return charges.flatMap(([, , , , , , , , , , log]) => (log ? [log] : []))
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

interface Insertion {
  readonly head: string
  readonly row: string
  readonly tail?: string
}

/** Functions that insert any number of rows by statements of a few fixed sizes, which stay prepared. */
function inserters(database: DatabaseSync, onPause: () => void) {
  return ({ head, row, tail = '' }: Insertion) => {
    const statements = [64, 8, 1].map((size) => {
      return { size, statement: database.prepare(`${head} ${Array(size).fill(row).join(', ')} ${tail}`) }
    })

    return (rows: readonly (readonly Value[])[]): void => {
      let at = 0
      for (const { size, statement } of statements) {
        for (; rows.length - at >= size; at += size) {
          statement.run(...rows.slice(at, at + size).flat())
          onPause()
        }
      }
    }
  }
}

/** A failed commit may have ended the transaction already. */
function rollBack(database: DatabaseSync): void {
  try {
    database.exec('rollback')
  } catch {
    // Nothing was open.
  }
}
