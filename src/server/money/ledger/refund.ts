import type { Within } from '../../base/db/open.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Core } from '../../base/options/core.ts'
import type { Ledger } from './ledger.ts'
import { hourOf } from './rows.ts'

/** A refund: its user, its token and its amount. */
export interface Refund {
  readonly userId: number
  readonly tokenId: number
  readonly amount: number
}

interface Refunded {
  readonly requestId: string
  readonly channelId: number
  /** Model and group of the charge's hour bucket; '' when unknown: then no hour bucket changes. */
  readonly model: string
  readonly group: string
  readonly at: number
  readonly detail: string
  /** What stays charged; 0 if absent. */
  readonly kept?: number
}

/**
 * Refunds the charge of a request but for `kept`, as the ledger has it, inside the caller's transaction: credits its user and its token,
 * and subtracts it from the used quota of both and of the channel, and from the hour bucket of the refund's hour. Undefined when
 * nothing is to be refunded; throws `database_unavailable` when the charge is durable, but not in the tables yet. The reference is unique: a second refund of the same request throws the database's unique violation. Call
 * `ledger.refresh` and publish topic `token` after the commit.
 */
export async function refundCharge(
  ledger: Ledger,
  within: Within,
  { requestId, channelId, model, group, at, detail, kept = 0 }: Refunded,
): Promise<Refund | undefined> {
  const charge = await within
    .selectFrom('ledger')
    .select(['user_id', 'token_id', 'amount'])
    .where('reference', '=', `charge:${requestId}`)
    .executeTakeFirst()
  // It is durable, but cannot be refunded before it is in the tables.
  if (!charge && (await ledger.charged(requestId)) !== undefined) fail('database_unavailable')
  if (!charge || -charge.amount <= kept) return undefined
  const { user_id: userId, token_id: tokenId } = charge
  const amount = -charge.amount - kept

  await ledger.credit(within, { userId, kind: 'refund', amount, reference: refundPrefix + requestId, at, detail })
  await within
    .updateTable('users')
    .set((eb) => ({ used_quota: eb('used_quota', '-', amount) }))
    .where('id', '=', userId)
    .execute()
  await giveBack(within, tokenId, amount)
  await within
    .updateTable('channels')
    .set((eb) => ({ used_quota: eb('used_quota', '-', amount) }))
    .where('id', '=', channelId)
    .execute()
  await giveBudgetsBack(within, requestId, kept)
  if (model !== '') await takeOff(within, { userId, channelId, model, group, at, amount })
  return { userId, tokenId, amount }
}

/** Units that were refunded of requests, by the id of the request; those without a refund are absent. */
export async function refundsOf({ db }: Pick<Core, 'db'>, requestIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (requestIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('ledger')
    .select(['reference', 'amount'])
    .where(
      'reference',
      'in',
      requestIds.map((id) => refundPrefix + id),
    )
    .execute()
  return new Map(rows.map(({ reference, amount }) => [reference.slice(refundPrefix.length), amount]))
}

const refundPrefix = 'refund:'

/** Removes the charge, but for `kept`, from the windows that counted it. A part that a reset has forgiven stays forgiven. */
async function giveBudgetsBack(within: Within, requestId: string, kept: number): Promise<void> {
  const counted = await within
    .selectFrom('budget_charges')
    .select(['budget_id', 'start', 'amount'])
    .where('request_id', '=', requestId)
    .orderBy('budget_id')
    .execute()
  if (kept === 0) await within.deleteFrom('budget_charges').where('request_id', '=', requestId).execute()
  else
    await within
      .updateTable('budget_charges')
      .set({ amount: kept })
      .where('request_id', '=', requestId)
      .where('amount', '>', kept)
      .execute()
  for (const { budget_id, start, amount: whole } of counted) {
    const amount = Math.max(0, whole - kept)
    await within
      .updateTable('budget_sums')
      .set((eb) => ({
        charged: eb('charged', '-', amount),
        forgiven: eb
          .case()
          .when('forgiven', '>', eb('charged', '-', amount))
          .then(eb('charged', '-', amount))
          .else(eb.ref('forgiven'))
          .end(),
      }))
      .where('budget_id', '=', budget_id)
      .where('start', '=', start)
      .execute()
  }
}

/** Subtracts the charge from the hour bucket; the call stays counted. */
async function takeOff(
  within: Within,
  charge: { userId: number; channelId: number; model: string; group: string; at: number; amount: number },
): Promise<void> {
  const { userId, channelId, model, group, at, amount } = charge
  const { username } = await within.selectFrom('users').select('username').where('id', '=', userId).executeTakeFirstOrThrow()
  const hour = { created_at: hourOf(at), user_id: userId, username, model_name: model, channel_id: channelId, group }
  await within
    .insertInto('quota_data')
    .values({ ...hour, token_used: 0, count: 0, quota: -amount })
    .onConflict((conflict) =>
      conflict
        .columns(['created_at', 'user_id', 'model_name', 'channel_id', 'group'])
        .doUpdateSet((eb) => ({ quota: eb('quota_data.quota', '-', amount) })),
    )
    .execute()
}

/** Gives the amount back to the token; an exhausted token is enabled again. Status 1 is enabled, 4 is exhausted. */
async function giveBack(within: Within, tokenId: number, amount: number): Promise<void> {
  if (tokenId === 0) return
  await within
    .updateTable('tokens')
    .set((eb) => ({ used_quota: eb('used_quota', '-', amount) }))
    .where('id', '=', tokenId)
    .execute()
  await within
    .updateTable('tokens')
    .set((eb) => ({
      remain_quota: eb('remain_quota', '+', amount),
      status: eb
        .case()
        .when(eb.and([eb('status', '=', 4), eb(eb('remain_quota', '+', amount), '>', 0)]))
        .then(1)
        .else(eb.ref('status'))
        .end(),
    }))
    .where('id', '=', tokenId)
    .where('unlimited_quota', '=', 0)
    .execute()
}
