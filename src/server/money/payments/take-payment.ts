import { logType } from '../../../contract/entities/log.ts'
import { type PaymentProvider, topUpStatus } from '../../../contract/entities/top-up.ts'
import { moneyText } from '../../../contract/money.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change, type Report } from '../../base/options/change.ts'
import type { Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import { recordEventOf } from '../../usage/log/record-event.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { quotaText } from '../ledger/quota-text.ts'
import { amountOfGoods, goodsName } from './epay.ts'

/**
 * The only place where a provider's authenticated report becomes a credit, besides the audited action of an admin (manage-top-ups.ts).
 * Order and credit change in one transaction, so that any number of reports on any number of nodes credit once.
 */
export interface Paid {
  readonly provider: PaymentProvider
  readonly tradeNo: string
  readonly method: string
  readonly moneyMinor: number | undefined
  readonly currency: string
  /** The product, as the gateway names it; undefined where names are not compared. */
  readonly goods: string | undefined
  /** The provider's ids of the order and its payment. */
  readonly providerId: string
  readonly paymentId: string
}

export type WithLedger = Core & { readonly ledger: Ledger }

/**
 * Credits the order if the payment matches it exactly, no matter how late. True means that it is credited, now or before, durably. A
 * payment that differs from the order flags the order, and so does one that was refunded before it was reported. Throws when the
 * database does not answer, and then nothing is credited.
 */
export async function takePayment(core: WithLedger, paid: Paid): Promise<boolean> {
  const credited = await change(core, undefined, async (within, audit) => {
    const order = await matching(openOrder(within, paid), paid)
      .where('refunded_minor', '=', 0)
      .set({ ...creditedColumns(core), provider_id: paid.providerId, payment_id: paid.paymentId })
      .returningAll()
      .executeTakeFirst()
    if (order) await creditOrder(core, within, order)
    else await flagOrder(within, paid, audit)
    return order
  })
  if (credited) core.ledger.refresh({ userId: credited.user_id })
  return credited !== undefined || (await isCredited(core, paid))
}

/** Writes the ledger row and the log row of an order that was just set to credited. Returns the reference of the ledger row. */
export async function creditOrder(core: WithLedger, within: Within, order: Row<'top_ups'>): Promise<string> {
  const { user_id: userId, quota, money_minor, currency, trade_no, completed_time: at } = order
  const user = await within.selectFrom('users').select('username').where('id', '=', userId).executeTakeFirst()
  const money = moneyText(money_minor, currency)
  const [zh, en] = [`${money} ${currency === 'CNY' ? '元' : currency}`, `${money} ${currency}`]
  const reference = `top_up:${trade_no}`
  await core.ledger.credit(within, { userId, kind: 'top_up', amount: quota, reference, at, detail: en })
  const units = quotaText(core, quota)
  const content = `在线充值 ${units}，支付 ${zh} / Topped up ${units} for ${en}`
  const username = user?.username ?? ''
  await recordLog(within, { type: logType.topUp, at, userId, username, content, quota })
  const { provider, method, id: order_id } = order
  const data = { order_id, trade_no, user_id: userId, username, quota, money_minor, currency, provider, method }
  await recordEventOf(core, within, { account: userId, type: 'order.paid', data })
  return reference
}

export function creditedColumns({ now }: Core) {
  return { status: topUpStatus.success, completed_time: seconds(now()) }
}

/** Flags an order whose authentic payment differs from it: an admin has to look at it. An exact report still credits the order. */
async function flagOrder(within: Within, paid: Paid, audit: Report): Promise<void> {
  const { tradeNo, method, moneyMinor: money_minor, currency, goods } = paid
  const flagged = await openOrder(within, paid)
    .set({ status: topUpStatus.flagged })
    .where('status', '<>', topUpStatus.flagged)
    .returningAll()
    .executeTakeFirst()
  if (!flagged) return
  audit({
    action: 'top-up.flag',
    target: `top_up:${tradeNo}`,
    before: toldOf({ ...flagged, goods: goods === undefined ? undefined : goodsName(flagged.amount) }),
    after: toldOf({ method, money_minor, currency, goods, refunded_minor: flagged.refunded_minor }),
  })
}

interface Told {
  readonly method: string
  readonly money_minor: number | undefined
  readonly currency: string
  readonly goods: string | undefined
  readonly refunded_minor: number
}

function toldOf({ method, money_minor, currency, goods, refunded_minor }: Told): object {
  return { method, money_minor, currency, goods, ...(refunded_minor > 0 ? { refunded_minor } : {}) }
}

/** An order that is not credited yet, in any other state. */
export function openOrder(db: Queries, { tradeNo, provider }: Pick<Paid, 'tradeNo' | 'provider'>) {
  return db
    .updateTable('top_ups')
    .where('trade_no', '=', tradeNo)
    .where('provider', '=', provider)
    .where('status', '<>', topUpStatus.success)
}

function matching(order: ReturnType<typeof openOrder>, paid: Paid) {
  return (
    order
      .where((row) => row.and(termsOf(paid)))
      // '' while it is unknown, as when the process died before the provider's answer was stored.
      .where('provider_id', 'in', ['', paid.providerId])
  )
}

async function isCredited({ db }: Core, paid: Paid): Promise<boolean> {
  const order = await db
    .selectFrom('top_ups')
    .select('id')
    .where('trade_no', '=', paid.tradeNo)
    .where('provider', '=', paid.provider)
    .where('status', '=', topUpStatus.success)
    .where((row) => row.and(termsOf(paid)))
    .executeTakeFirst()
  return order !== undefined
}

/** The condition that the order matches the payment. */
function termsOf({ method, moneyMinor, currency, goods }: Paid) {
  const amount = goods === undefined ? {} : { amount: amountOfGoods(goods) }
  return { method, money_minor: moneyMinor ?? -1, currency, ...amount }
}
