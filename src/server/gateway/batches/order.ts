import { AppError, fail } from '../../base/lib/failure.ts'
import { ConnectionClosed } from '../../base/lib/net/upstream-http/connection.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { BudgetWindow } from '../../money/ledger/budget-window.ts'
import { endDurable, makeDurable } from '../../money/ledger/durable-holds.ts'
import { type Hold, isQuotaRefusal } from '../../money/ledger/ledger.ts'
import type { RelayCaller } from '../../people/tokens/authenticate.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { resolveModel } from '../channels/select/select.ts'
import { explainRefusedHold } from '../relay/admission/limits.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { callUpstream, type UpstreamAnswer } from '../relay/upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import { callerHeaders } from '../relay/upstream/request-target.ts'
import { type ArrivedLine, LineJudge } from './admit-lines.ts'
import { batchForms, formOf, type RefusedLine } from './batch-form.ts'
import {
  type AdmittedLine,
  type AskedBatch,
  addBatch,
  addLines,
  forgetBatch,
  type KeptBatch,
  readAgain,
  updateBatch,
} from './batch-table.ts'

/** A batch whose caller and channel are known. */
export interface Ordering {
  readonly call: ClientExchange
  readonly caller: RelayCaller
  readonly channel: RunningChannel
  readonly batch: KeptBatch
}

/** Rows of requests are written together. */
const rowsTogether = 100
/** A batch may be judged for so long, and stand still for so long before its order, until a job forgets it. */
const judgingSeconds = 4 * 3600
const preparingSeconds = 900
/** The answer to an order is waited for so long, and then looked for at the vendor. */
const orderMs = 120_000
const lookAfterSeconds = 300
const firstAskSeconds = 20

/** Begins a batch: its requests follow. */
export async function beginBatch(
  app: Pick<RelayParts, 'db' | 'now'>,
  asked: AskedBatch,
  { call, caller, channel }: Omit<Ordering, 'batch'>,
): Promise<Ordering> {
  const { dialect, newId } = formOf(call)
  const now = seconds(app.now())
  const batch: KeptBatch = {
    ...{ id: newId(), userId: caller.userId, tokenId: caller.tokenId, dialect, asked, vendorId: '' },
    ...{ channelId: channel.id, keyId: channel.keyId, state: 'checking', prices: {}, vendorObject: {}, requests: 0, held: 0 },
    ...{ caller: { username: caller.username, tokenName: caller.tokenName, address: call.client.address } },
    ...{ charged: 0, outputFile: '', errorFile: '', createdAt: now, sentAt: 0, endedAt: 0 },
  }
  await addBatch(app, batch, now + judgingSeconds)
  return { call, caller, channel, batch }
}

/** What the judgement of all requests of a batch has found. */
interface Judgement {
  readonly judge: LineJudge
  readonly refused: readonly RefusedLine[]
  /** Whether the vendor gets other bytes than those of the caller. */
  readonly isChanged: boolean
}

/** Judges the requests as they arrive, and keeps those that are admitted until one is not. Throws `batch_too_large`. */
export async function judgeLines(
  app: RelayParts,
  { call, caller, channel, batch }: Ordering,
  lines: AsyncIterable<ArrivedLine> | Iterable<ArrivedLine>,
): Promise<Judgement> {
  const limit = app.options.current['batches.requests_max']
  const { format, model } = batch.asked
  const judge = new LineJudge(app, { call, caller, channel, format, model })
  const refused: RefusedLine[] = []
  let isChanged = false
  let waiting: AdmittedLine[] = []
  for await (const arrived of lines) {
    if (arrived.line > limit) fail('batch_too_large', { limit })
    try {
      const judged = await judge.judge(arrived)
      isChanged ||= judged.isChanged
      if (refused.length === 0) waiting.push(judged.admitted)
    } catch (error) {
      if (!(error instanceof AppError) || error.kind.status >= 500) throw error
      refused.push({ code: error.code, line: arrived.line, message: error.text('en') })
    }
    if (waiting.length < rowsTogether) continue
    await addLines(app, batch.id, waiting)
    waiting = []
  }
  await addLines(app, batch.id, waiting)
  return { judge, refused, isChanged }
}

/**
 * Holds the greatest cost of the batch: in the balance, the token and every budget, or throws `batch_unaffordable`, `budget_exceeded` or
 * `database_unavailable`. From its commit on, the hold stands until the batch is charged, whatever becomes of this node.
 */
export async function holdBatch(app: RelayParts, { call, batch }: Ordering, { judge }: Judgement): Promise<void> {
  const { held, prices } = judge
  const amount = held.reduce((sum, each) => sum + each, 0)
  const budgets: readonly BudgetWindow[] = [...judge.budgets, ...(app.budgets.windowsOfChannel(batch.channelId) ?? [])]
  const hold: Hold = { requestId: call.id, userId: batch.userId, tokenId: batch.tokenId, amount, budgets }
  try {
    await app.ledger.hold(hold)
  } catch (error) {
    throw explainRefusedHold(app, call, withLine(error, held))
  }
  try {
    await app.db.transaction().execute(async (within) => {
      const at = seconds(app.now())
      await makeDurable(app.database, within, { hold, id: batch.id, at })
      const change = { state: 'held' as const, held: amount, requests: held.length, prices: JSON.stringify(prices) }
      if (!(await updateBatch(within, { id: batch.id, from: ['checking'] }, { ...change, ask_at: at + preparingSeconds })))
        fail('batch_unknown', { id: batch.id })
    })
  } catch (error) {
    await app.ledger.release(hold)
    throw error
  }
  await app.ledger.handOver(hold)
}

/** Notes that the batch is still on its way to its order. Throws `batch_unknown` when it was given up. */
export async function stillPreparing(app: Pick<RelayParts, 'db' | 'now'>, { id }: Pick<KeptBatch, 'id'>): Promise<void> {
  const later = { ask_at: seconds(app.now()) + preparingSeconds }
  if (!(await updateBatch(app.db, { id, from: ['held'] }, later))) fail('batch_unknown', { id })
}

/** Names the first request that the balance does not cover. */
function withLine(error: unknown, held: readonly number[]): unknown {
  if (!isQuotaRefusal(error) || error.code === 'budget_exceeded') return error
  const { have, need } = error.params
  let sum = 0
  const at = held.findIndex((each) => {
    sum += each
    return sum > have
  })
  return new AppError('batch_unaffordable', { need, have, line: at + 1 }, { cause: error })
}

/**
 * Orders a batch whose hold stands at its vendor. An order that the vendor has certainly not taken is withdrawn, with its hold, and the
 * failure returned; one whose answer was lost stays, and is looked for there by a job.
 */
export async function placeBatch(
  app: RelayParts,
  { call, channel, batch }: Ordering,
  body: Buffer,
): Promise<KeptBatch | UpstreamFailure> {
  const form = batchForms[batch.dialect]
  // Whoever looks for the order from now on waits until it has certainly arrived, or not.
  const sentAt = seconds(app.now())
  const sending = { state: 'creating' as const, sent_at: sentAt, ask_at: sentAt + lookAfterSeconds }
  if (!(await updateBatch(app.db, { id: batch.id, from: ['held'] }, sending))) fail('batch_unknown', { id: batch.id })
  const caller = callerHeaders({ call }, channel)
  const { model } = batch.asked
  const upstreamModel = model === undefined ? '' : resolveModel(channel, model)
  const answer = await callUpstream(app, channel, {
    ...{ format: form.format, model: upstreamModel, method: 'POST', caller, timeoutMs: orderMs },
    streamed: { pieces: once(body), length: body.length, contentType: 'application/json' },
  })
  if (answer instanceof UpstreamFailure && isRefusal(answer)) {
    await withdrawBatch(app, batch)
    return answer
  }
  if (!(answer instanceof UpstreamFailure)) await adopt(app, batch, answer)
  return (await readAgain(app, batch)) ?? fail('batch_unknown', { id: batch.id })
}

/** A streamed body is never sent again, where another would be on a connection that has closed: an order must not arrive twice. */
async function* once(body: Buffer): AsyncGenerator<Buffer> {
  yield body
}

/** The vendor has answered that it does not take the order, or was not reached. */
function isRefusal({ kind, status, cause }: UpstreamFailure): boolean {
  if (kind === 'unreachable') return !(cause instanceof ConnectionClosed)
  return status >= 400 && status < 500 && status !== 408
}

async function adopt(app: RelayParts, batch: KeptBatch, answer: UpstreamAnswer): Promise<void> {
  const { vendorId, vendorObject } = batchForms[batch.dialect].readObject(parseObject(answer.body))
  if (vendorId === '') return
  await adoptOrder(app, batch, { vendorId, vendorObject })
}

/** Notes that the vendor has the batch. */
export async function adoptOrder(
  app: Pick<RelayParts, 'db' | 'now'>,
  batch: KeptBatch,
  { vendorId, vendorObject }: Pick<KeptBatch, 'vendorId' | 'vendorObject'>,
): Promise<void> {
  const change = { state: 'running' as const, vendor_id: vendorId, vendor_object: JSON.stringify(vendorObject) }
  await updateBatch(app.db, { id: batch.id, from: ['creating'] }, { ...change, ask_at: seconds(app.now()) + firstAskSeconds })
}

/** Forgets a batch that its vendor does not have, and frees what it held. */
export async function withdrawBatch(app: RelayParts, { id }: Pick<KeptBatch, 'id'>): Promise<void> {
  const ended = await app.db.transaction().execute(async (within) => {
    // Only an order that nobody has found at its vendor meanwhile.
    if (!(await updateBatch(within, { id, from: ['checking', 'held', 'creating'] }, { state: 'failed', ask_at: 0 })))
      return undefined
    const freed = await endDurable(app.database, within, id, [])
    await forgetBatch(within, id)
    return freed
  })
  if (ended) refreshAfter(app, ended)
}

/** Has this node and the others read the balances that the end of a durable hold has changed. */
export function refreshAfter(
  { bus, ledger }: Pick<RelayParts, 'bus' | 'ledger'>,
  ended: { readonly userId: number; readonly tokenId: number },
): void {
  ledger.refresh({ ...ended, budgets: true })
  bus.publish('user', ended.userId)
  if (ended.tokenId !== 0) bus.publish('token', ended.tokenId)
}
