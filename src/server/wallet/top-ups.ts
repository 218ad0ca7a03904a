import { logType } from '../../contract/entities/log.ts'
import { paymentMethods, type TopUp, topUpStatus } from '../../contract/entities/top-up.ts'
import type { Within } from '../db/open.ts'
import type { PageOf } from '../db/page.ts'
import type { Row } from '../db/schema.ts'
import { seconds } from '../lib/clock.ts'
import { fail } from '../lib/failure.ts'
import { randomText } from '../lib/ids.ts'
import { recordAudit } from '../options/audit.ts'
import type { Caller, Core } from '../options/core.ts'
import { recordLog } from '../usage/log.ts'
import { type Merchant, type PaymentForm, type PaymentReport, paymentForm, readMerchant, readReport } from './epay.ts'
import type { Ledger } from './ledger.ts'
import { quotaText } from './quota-text.ts'
import { moneyText, topUpPrice } from './top-up-price.ts'

/**
 * Online top-up: orders, and their payment. An order keeps what it credits and what it costs; later changes of prices do not touch it.
 * It is credited when the gateway reports exactly its payment, however late, and never by anything that a browser does.
 */
const provider = 'epay'
const currency = 'CNY'

export interface Ordered {
  /** Dollars, or units where quota is not shown in currency. */
  readonly amount: number
  readonly caller: Caller
}

/** What an amount costs its buyer, as `12.34`. Throws `top_up_disabled` and what `topUpPrice` throws. */
export function priceTopUp(core: Core, { amount, caller }: Ordered): string {
  requireMerchant(core)
  return moneyText(topUpPrice(core.options.current, { amount, group: caller.group }).moneyMinor)
}

/** Makes an order and answers the form that pays it. Throws `payment_method_unknown` and what `priceTopUp` throws. */
export async function orderTopUp(core: Core, { method, ...ordered }: Ordered & { method: string }): Promise<PaymentForm> {
  const merchant = requireMerchant(core)
  const { amount, caller } = ordered
  const { quota, moneyMinor } = topUpPrice(core.options.current, { amount, group: caller.group })
  const type = methodOf(method)
  const at = seconds(core.now())
  const tradeNo = `USR${caller.id}NO${randomText(10)}${at}`

  const order = {
    user_id: caller.id,
    provider,
    method: type,
    trade_no: tradeNo,
    quota,
    amount,
    money_minor: moneyMinor,
    currency,
  }
  await core.db
    .insertInto('top_ups')
    .values({ ...order, status: topUpStatus.pending, created_time: at })
    .execute()
  const { ServerAddress, CustomCallbackAddress } = core.options.current
  return paymentForm(merchant, {
    tradeNo,
    method: type,
    amount,
    money: moneyText(moneyMinor),
    notifyUrl: `${CustomCallbackAddress || ServerAddress}/api/user/epay/notify`,
    returnUrl: `${ServerAddress}/topup`,
  })
}

/**
 * Takes a gateway's report. True means that the order is credited, now or before, durably; the gateway repeats everything else. A signed
 * report of another payment than the ordered one flags the order. Throws when the database cannot be asked, and then nothing is credited.
 */
export async function takeReport(
  core: Core & { readonly ledger: Ledger },
  query: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  const merchant = readMerchant(core.options.current)
  const report = merchant && readReport(merchant, query)
  if (!report) return false

  const credited = await core.db.transaction().execute((within) => creditOrder(core, within, report))
  if (credited) core.ledger.refresh({ userId: credited.user_id })
  return credited !== undefined || (await isCredited(core, report))
}

/** Orders, newest first: of one user, or with the given number. */
export async function listTopUps(core: Core, { userId, tradeNo, page }: { userId?: number; tradeNo?: string; page: PageOf }) {
  const matching = core.db
    .selectFrom('top_ups')
    .$if(userId !== undefined, (query) => query.where('user_id', '=', userId ?? 0))
    .$if((tradeNo ?? '') !== '', (query) => query.where('trade_no', '=', tradeNo ?? ''))
  const rows = await matching.selectAll().orderBy('id', 'desc').offset(page.offset).limit(page.limit).execute()
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { items: rows.map(presentTopUp), total }
}

async function creditOrder(core: Core & { readonly ledger: Ledger }, within: Within, report: PaymentReport) {
  const { tradeNo, method, moneyMinor } = report
  const at = seconds(core.now())
  const order = await openOrder(within, tradeNo)
    .set({ status: topUpStatus.success, completed_time: at })
    .where('method', '=', method)
    .where('money_minor', '=', moneyMinor ?? -1)
    .returningAll()
    .executeTakeFirst()
  if (!order) {
    await flagOrder(core, within, report)
    return undefined
  }

  const { user_id: userId, quota, money_minor } = order
  const user = await within.selectFrom('users').select('username').where('id', '=', userId).executeTakeFirst()
  await core.ledger.credit(within, { userId, kind: 'top_up', amount: quota, reference: `top_up:${tradeNo}`, at })
  const [units, money] = [quotaText(core, quota), moneyText(money_minor)]
  const content = `在线充值 ${units}，支付 ${money} 元 / Topped up ${units} for ${money} CNY`
  await recordLog(within, { type: logType.topUp, at, userId, username: user?.username ?? '', content, quota })
  return order
}

/** Signed by the merchant's key, yet not what was ordered: somebody has to look. An exact report still credits the order. */
async function flagOrder(core: Core, within: Within, { tradeNo, method, moneyMinor }: PaymentReport): Promise<void> {
  const flagged = await openOrder(within, tradeNo)
    .set({ status: topUpStatus.flagged })
    .where('status', '=', topUpStatus.pending)
    .returningAll()
    .executeTakeFirst()
  if (!flagged) return
  const told = (order: { method: string; money_minor: number | undefined }) => JSON.stringify(order)
  await recordAudit(core, within, {
    caller: undefined,
    action: 'top-up.flag',
    target: `top_up:${tradeNo}`,
    before: told({ method: flagged.method, money_minor: flagged.money_minor }),
    after: told({ method, money_minor: moneyMinor }),
  })
}

function openOrder(within: Within, tradeNo: string) {
  return within
    .updateTable('top_ups')
    .where('trade_no', '=', tradeNo)
    .where('provider', '=', provider)
    .where('status', '<>', topUpStatus.success)
}

async function isCredited({ db }: Core, { tradeNo, method, moneyMinor }: PaymentReport): Promise<boolean> {
  const order = await db
    .selectFrom('top_ups')
    .select('id')
    .where('trade_no', '=', tradeNo)
    .where('provider', '=', provider)
    .where('status', '=', topUpStatus.success)
    .where('method', '=', method)
    .where('money_minor', '=', moneyMinor ?? -1)
    .executeTakeFirst()
  return order !== undefined
}

function requireMerchant({ options }: Core): Merchant {
  return readMerchant(options.current) ?? fail('top_up_disabled')
}

function methodOf(given: string) {
  const [, method] = Object.entries(paymentMethods).find(([name]) => name === given) ?? []
  return method ?? fail('payment_method_unknown', { method: given })
}

function presentTopUp({ provider: _provider, ...row }: Row<'top_ups'>): TopUp {
  return row
}
