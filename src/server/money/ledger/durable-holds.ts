import { type ExpressionBuilder, sql } from 'kysely'
import { endlessLease } from '../../base/db/endless-lease.ts'
import { locked } from '../../base/db/locked.ts'
import type { Database, Within } from '../../base/db/open.ts'
import type { NewRow, Tables } from '../../base/db/schema.ts'
import { type BudgetWindow, readWindows, windowsOfCharge, windowsText } from './budget-window.ts'
import type { Charge, Hold } from './ledger.ts'
import { hourOf } from './rows.ts'
import { requireCharge } from './store.ts'

/**
 * Holds of hours: for orders that a vendor works off after the call that has placed them. The hold of a call belongs to its node and dies
 * with it; a durable one is a row of its own, which the tables count on both databases (`users.held`, `tokens.held`,
 * `budget_sums.held`), so that it outlives processes and nodes until `endDurable`.
 */

interface Durable {
  /** An open hold of this node. */
  readonly hold: Hold
  /** The id under which the hold stands from now on: that of the order. */
  readonly id: string
  /** Unix seconds. */
  readonly at: number
}

/**
 * Makes the hold of a call durable inside the caller's transaction. After the commit call `ledger.handOver`; if the transaction fails,
 * release the hold, which then changes nothing that was committed after all. Throws when the hold has ended.
 */
export async function makeDurable(
  { dialect }: Pick<Database, 'dialect'>,
  within: Within,
  { hold, id, at }: Durable,
): Promise<void> {
  const row = { request_id: id, node: '', lease_until: endlessLease }
  if (dialect === 'postgres') {
    const { numUpdatedRows } = await within
      .updateTable('holds')
      .set(row)
      .where('request_id', '=', hold.requestId)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows !== 1n) throw new Error(`Request ${hold.requestId} holds no quota`)
    return
  }
  const { userId: user_id, tokenId: token_id, amount, budgets } = hold
  await within
    .insertInto('holds')
    .values({ ...row, user_id, token_id, amount, created_at: at, budgets: windowsText(budgets) })
    .execute()
  await addHeld(within, { user_id, token_id, amount, budgets })
}

/** One of the charges of an order: its request id is its own. */
export interface DurableCharge {
  readonly requestId: string
  readonly charge: Charge
  /** The windows of the hold that count the charge, beside those of its channel; all of them when absent. */
  readonly budgets?: readonly BudgetWindow[] | undefined
}

/** Whose balances changed, for `ledger.refresh` after the commit. */
interface EndedHold {
  readonly userId: number
  readonly tokenId: number
}

/**
 * Ends a durable hold inside the caller's transaction: writes its charges, each with its log row and its hour bucket and unique by its
 * request id, counts them in the windows of the hold, and frees the rest. All charges are of one channel. Undefined when the hold has
 * ended before: then nothing changes. After the commit call `ledger.refresh`, and publish topic `token`.
 */
export async function endDurable(
  database: Pick<Database, 'dialect'>,
  within: Within,
  id: string,
  charges: readonly DurableCharge[],
): Promise<EndedHold | undefined> {
  for (const { charge } of charges) requireCharge(charge)
  const open = within.selectFrom('holds').selectAll().where('request_id', '=', id)
  const held = await locked({ database }, open).executeTakeFirst()
  if (!held) return undefined
  const { user_id, token_id, amount } = held
  const budgets = readWindows(held.budgets)
  const sum = charges.reduce((units, { charge }) => units + charge.amount, 0)
  await writeCharges(within, { user_id, token_id }, charges)
  await within.deleteFrom('holds').where('request_id', '=', id).execute()
  await addHeld(within, { user_id, token_id, amount: -amount, charged: sum, calls: charges.length })
  await chargeChannels(within, charges)
  await countInBudgets(within, { budgets, amount }, charges)
  return { userId: user_id, tokenId: token_id }
}

async function writeCharges(
  within: Within,
  { user_id, token_id }: { readonly user_id: number; readonly token_id: number },
  charges: readonly DurableCharge[],
): Promise<void> {
  for (const { requestId, charge } of charges) {
    const { amount, at, channelId, rollup, log, siteCost } = charge
    const row = {
      reference: `charge:${requestId}`,
      user_id,
      token_id,
      kind: 'charge',
      amount: 0 - amount,
      created_at: at,
    } as const
    await within.insertInto('ledger').values(row).execute()
    if (log) await within.insertInto('logs').values(log).execute()
    if (siteCost)
      await within
        .insertInto('site_costs')
        .values({ request_id: requestId, user_id, channel_id: channelId, model: rollup.model, ...siteCost, created_at: at })
        .execute()
  }
  // In one order, because other charges of the hour lock these rows too.
  const sorted = [...charges].sort((one, other) => (one.charge.rollup.model < other.charge.rollup.model ? -1 : 1))
  for (const { charge } of sorted) await countInHour(within, user_id, charge)
}

async function countInHour(within: Within, userId: number, { at, channelId, amount, rollup }: Charge): Promise<void> {
  const { username, model, group, tokens } = rollup
  const hour: NewRow<'quota_data'> = {
    ...{ created_at: hourOf(at), user_id: userId, username, model_name: model, channel_id: channelId, group },
    ...{ token_used: tokens, count: 1, quota: amount },
  }
  await within
    .insertInto('quota_data')
    .values(hour)
    .onConflict((conflict) =>
      conflict.columns(['created_at', 'user_id', 'model_name', 'channel_id', 'group']).doUpdateSet({
        token_used: sql<number>`quota_data.token_used + excluded.token_used`,
        count: sql<number>`quota_data.count + 1`,
        quota: sql<number>`quota_data.quota + excluded.quota`,
      }),
    )
    .execute()
}

interface Move {
  readonly user_id: number
  readonly token_id: number
  /** Added to what is held. */
  readonly amount: number
  readonly charged?: number
  readonly calls?: number
  readonly budgets?: readonly BudgetWindow[] | undefined
}

async function addHeld(within: Within, { user_id, token_id, amount, charged = 0, calls = 0, budgets = [] }: Move): Promise<void> {
  await within
    .updateTable('users')
    .set((eb) => ({
      held: eb('held', '+', amount),
      quota: eb('quota', '-', charged),
      used_quota: eb('used_quota', '+', charged),
      request_count: eb('request_count', '+', calls),
    }))
    .where('id', '=', user_id)
    .execute()
  if (token_id !== 0)
    await within
      .updateTable('tokens')
      .set((eb) => ({
        held: eb('held', '+', amount),
        remain_quota: eb('remain_quota', '-', ofLimited(eb, charged)),
        used_quota: eb('used_quota', '+', charged),
        status: exhaustedBy(eb, charged),
      }))
      .where('id', '=', token_id)
      .execute()
  for (const { budgetId, start } of inOrder(budgets)) await addToWindow(within, { budgetId, start }, { held: amount, charged: 0 })
}

/** A token without a limit has no remainder. */
function ofLimited(eb: ExpressionBuilder<Tables, 'tokens'>, charged: number) {
  return eb.case().when('unlimited_quota', '=', 0).then(charged).else(0).end()
}

/** Status 1 is enabled, 4 is exhausted. */
function exhaustedBy(eb: ExpressionBuilder<Tables, 'tokens'>, charged: number) {
  return eb
    .case()
    .when(
      eb.and([
        eb('status', '=', 1),
        eb('unlimited_quota', '=', 0),
        eb('remain_quota', '<=', charged),
        eb(eb.val(charged), '>', 0),
      ]),
    )
    .then(4)
    .else(eb.ref('status'))
    .end()
}

async function chargeChannels(within: Within, charges: readonly DurableCharge[]): Promise<void> {
  const channelId = charges[0]?.charge.channelId ?? 0
  if (charges.some(({ charge }) => charge.channelId !== channelId)) throw new Error('The charges of a hold are of one channel')
  if (channelId === 0) return
  const sum = charges.reduce((units, { charge }) => units + charge.amount, 0)
  await within
    .updateTable('channels')
    .set((eb) => ({ used_quota: eb('used_quota', '+', sum) }))
    .where('id', '=', channelId)
    .execute()
}

async function countInBudgets(
  within: Within,
  { budgets = [], amount }: Pick<Hold, 'budgets' | 'amount'>,
  charges: readonly DurableCharge[],
): Promise<void> {
  for (const window of inOrder(budgets)) {
    const { budgetId: budget_id, start } = window
    const counted = charges.filter((each) => each.charge.amount > 0 && isCountedIn(window, each))
    for (const { requestId: request_id, charge } of counted)
      await within.insertInto('budget_charges').values({ request_id, budget_id, start, amount: charge.amount }).execute()
    const charged = counted.reduce((units, { charge }) => units + charge.amount, 0)
    await addToWindow(within, window, { held: -amount, charged })
  }
}

function isCountedIn(window: BudgetWindow, { charge, budgets }: DurableCharge): boolean {
  if (
    window.channelId === undefined &&
    budgets &&
    !budgets.some(({ budgetId, start }) => budgetId === window.budgetId && start === window.start)
  )
    return false
  return windowsOfCharge([window], charge.channelId).length > 0
}

async function addToWindow(
  within: Within,
  { budgetId: budget_id, start }: Pick<BudgetWindow, 'budgetId' | 'start'>,
  { held, charged }: { readonly held: number; readonly charged: number },
): Promise<void> {
  await within
    .insertInto('budget_sums')
    .values({ budget_id, start, held, charged })
    .onConflict((conflict) =>
      conflict.columns(['budget_id', 'start']).doUpdateSet({
        held: sql<number>`budget_sums.held + excluded.held`,
        charged: sql<number>`budget_sums.charged + excluded.charged`,
      }),
    )
    .execute()
}

function inOrder(budgets: readonly BudgetWindow[]): BudgetWindow[] {
  return [...budgets].sort((one, other) => one.budgetId - other.budgetId || one.start - other.start)
}
