import { noUsage, type Usage } from '../../../contract/usage.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import type { Core } from '../../base/options/core.ts'
import type { BudgetsLeft, Charge, Hold } from '../../money/ledger/ledger.ts'
import { costOf, type Price } from '../../money/pricing/quote.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import type { RateLimitLease } from '../limits/rate-limit-lease.ts'
import { checkPrompt } from '../relay/admission/admit-request.ts'
import { authenticateCall, type CallerParts, checkBeforeBody, readPlaygroundRequest } from '../relay/admission/authenticate.ts'
import { enterLimits, explainRefusedHold, setBudgetHeaders, withinLimits } from '../relay/admission/limits.ts'
import type { Billed } from '../relay/charge/billed.ts'
import { chargeFor, describePrice } from '../relay/charge/charge-row.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { Body } from '../relay/http/read-body.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { errorOf } from '../relay/try-channels/try-channels.ts'
import { type AuthorizedOrder, authorizeOrder, priceOfOrder } from './authorize-order.ts'
import { noticeUrl } from './links.ts'
import { acceptTask, type NewTask, openTask, rejectTask } from './new-task.ts'
import type { Order } from './order.ts'
import { orderAnswer, refuse } from './order-reply.ts'
import { type AcceptedOrder, type Placed, type PlaceParts, placeOrder } from './place-order.ts'
import { hasPaid, withTaskLock } from './repeated-orders.ts'
import { cleanText, cleanTexts } from './text.ts'

/** Request ids of the orders that this process is placing: the poller must not fail their rows yet. */
const placing = new Set<string>()

export function isBeingPlaced(requestId: string): boolean {
  return placing.has(requestId)
}

/** The parts that submitting an order uses. */
type SubmitParts = CallerParts & PlaceParts & Pick<RelayParts, 'catalog' | 'emptyBalances' | 'limits' | 'moderation'>

/**
 * The steps of an order: authenticate, read, admit, price, hold, write the row, call the upstream, settle, store the upstream's id,
 * answer. The charge precedes the id: a process that dies between the two leaves a charged row without an id, which `poll.ts` finds
 * and refunds, and never an unpaid task.
 */
export async function submitOrder(app: SubmitParts, call: ClientExchange, { read, from = 'token' }: Reading): Promise<void> {
  const arrived = await authenticateCall(app, { from }, call)
  const lease = app.limits.leaseOf(arrived, call.id)
  const run = async () => {
    await checkBeforeBody(app, call, { caller: arrived, lease, isFree: false, groupInBody: from === 'session' })
    const sent = await call.readBody()
    const { caller, body } = from === 'session' ? readPlaygroundRequest(app, arrived, sent) : { caller: arrived, body: sent }
    call.notes.caller = caller
    await submit(app, { call, caller, order: read(body), lease })
  }
  if (lease) await withinLimits(app, { call, lease }, run)
  else await run()
}

interface Reading {
  read(body: Body): Order
  readonly from?: 'token' | 'session'
}

interface Asked {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly order: Order
  readonly lease: RateLimitLease | undefined
}

interface Held extends Asked {
  readonly admitted: AuthorizedOrder
  readonly price: Price
  readonly hold: Hold
}

async function submit(app: SubmitParts, asked: Asked): Promise<void> {
  const { call, caller, order, lease } = asked
  call.notes.asked = { model: order.models[0] ?? '' }
  const admitted = await authorizeOrder(app, caller, order)
  call.notes.asked = { model: admitted.model }
  call.notes.group = admitted.group
  if (lease) await enterLimits(app, call, lease, { group: admitted.group, inputTokens: 0, outputTokens: 0 })
  const checking = checkPrompt(app, call, [order.prompt])
  if (checking) await checking
  const price = priceOfOrder(app, caller, order, admitted.group)
  const { userId, tokenId } = caller
  const budgets = app.budgets.windowsOf(caller, admitted.group, [admitted.model, price.model])
  const hold = { requestId: call.id, userId, tokenId, amount: costOf(price, usageOf(order)), budgets }
  let left: BudgetsLeft
  try {
    left = await app.ledger.hold(hold)
  } catch (error) {
    throw explainRefusedHold(app, call, error)
  }
  setBudgetHeaders(app, call, { windows: budgets, left })
  placing.add(call.id)
  try {
    await fill(app, { ...asked, admitted, price, hold })
  } catch (error) {
    await release(app, hold)
    throw error
  } finally {
    placing.delete(call.id)
  }
}

async function fill(app: PlaceParts, held: Held): Promise<void> {
  const { call, caller, order, admitted, price } = held
  const task = await openTask(app, {
    order: { ...order, details: { ...order.details, ...order.priced?.(price) } },
    caller,
    requestId: call.id,
    charged: { model: price.model, group: admitted.group },
  })
  const hook = order.format === 'drawing' ? noticeUrl(app, task.id) : ''
  const placed = await placeOrder(app, { call, caller, order, admitted, hold: held.hold, hook, priced: price.model })
  if ('accepted' in placed) {
    await take(app, held, task, placed)
    return
  }
  await release(app, held.hold)
  const refusal = 'refused' in placed ? placed : undefined
  await rejectTask(app, task, refusal?.refused.answer && keptOf(refusal))
  if ('refused' in placed) refuse(call, placed.refused, placed.channel)
  else call.sendError(errorOf(placed, admitted))
}

/** What the row keeps of a refusal that the caller gets as the upstream's own answer. */
function keptOf({ refused, channel }: Extract<Placed, { readonly refused: unknown }>) {
  return {
    channelId: channel.id,
    reason: cleanText(refused.reason, channel),
    details: cleanTexts(refused.details, channel),
  }
}

async function take(app: Core & Pick<RelayParts, 'ledger'>, held: Held, task: NewTask, taken: AcceptedOrder): Promise<void> {
  const { call, caller, order, hold } = held
  const { channel, accepted: verdict } = taken
  const own = { table: order.table, userId: caller.userId, upstreamId: verdict.upstreamId }
  await withTaskLock(app, own, async () => {
    if (await hasPaid(app, own, { action: order.action, isRepeated: verdict.isRepeated, amount: hold.amount })) {
      await release(app, hold)
      await rejectTask(app, task, undefined)
    } else {
      const charge = chargeOf(app, held, taken)
      held.lease?.noteTokens(0)
      await settle(app, hold, charge)
      const isTaken = await acceptTask(app, task, { channelId: channel.id, keyId: channel.keyId, quota: charge.amount, verdict })
      if (!isTaken) fail('task_not_submitted')
    }
  })
  call.answer('application/json; charset=utf-8', Buffer.from(JSON.stringify(orderAnswer(verdict.answer, channel))))
}

function chargeOf(
  app: Pick<RelayParts, 'now' | 'options' | 'steady'>,
  held: Held,
  { channel, choice, candidates, attempts, accepted }: AcceptedOrder,
): Charge {
  const { call, caller, admitted, price, order } = held
  const facts = { stream: false, reasoningEffort: undefined }
  const billed: Billed = { call, caller, facts, group: admitted.group, price, attempts, choice, candidates }
  const charge = chargeFor(app, billed, { channel, upstreamModel: price.model }, { usage: usageOf(order), isEstimated: false })
  const { log } = charge
  const { action } = order
  const what = [order.sold?.text ?? { zh: `操作 ${action}`, en: `action ${action}` }]
  const id = order.sold?.id ?? accepted.upstreamId
  const name = id === '' ? [] : [{ zh: `ID ${id}`, en: `ID ${id}` }]
  return log ? { ...charge, log: { ...log, content: describePrice(price, [...what, ...name]) } } : charge
}

/** The number of pieces that are sold. */
function usageOf({ sold }: Order): Usage {
  return sold ? { ...noUsage, calls: sold.pieces } : noUsage
}

/** Rejects with `task_not_submitted` when the charge is not durable in time: it stays queued, and its row is refunded once it lands. */
async function settle(app: Pick<RelayParts, 'ledger' | 'logger'>, hold: Hold, charge: Charge): Promise<void> {
  try {
    await app.ledger.settle(hold, charge)
  } catch (cause) {
    background(app.logger, 'charge of an order', keepPlacing(app, hold, charge))
    throw new AppError('task_not_submitted', {}, { cause })
  }
}

/** Keeps the poller from ending the row while its charge may still be committed, which would leave a charge without a refund. */
async function keepPlacing(app: Pick<RelayParts, 'ledger'>, hold: Hold, charge: Charge): Promise<void> {
  // Runs after `submit` has removed the request from `placing`.
  await new Promise((resolve) => setImmediate(resolve))
  placing.add(hold.requestId)
  for (;;) {
    try {
      await app.ledger.settle(hold, charge)
      placing.delete(hold.requestId)
      return
    } catch (error) {
      // Only a stop ends the retries; then the process ends, and its queue with it.
      if (error instanceof AppError && error.code === 'server_stopping') throw error
    }
  }
}

async function release(app: Pick<RelayParts, 'ledger' | 'logger'>, hold: Hold): Promise<void> {
  try {
    await app.ledger.release(hold)
  } catch (error) {
    app.logger.error({ error, request: hold.requestId }, 'a hold is not released yet')
  }
}
