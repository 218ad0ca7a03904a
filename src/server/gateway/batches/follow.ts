import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import type { CallerHeaders } from '../providers/provider.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { callUpstream, type UpstreamAnswer } from '../relay/upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import { type BatchForm, batchForms } from './batch-form.ts'
import { type BatchState, claimDue, findBatch, forgetBatch, type KeptBatch, readAgain, updateBatch } from './batch-table.ts'
import { adoptOrder, withdrawBatch } from './order.ts'
import { releaseBatch, settleBatch } from './settle.ts'

const timeoutMs = 60_000
const claimedMax = 50
/** A claimed batch is asked for again after this time, also when its node dies. */
const againSeconds = 60
/** A batch whose vendor cannot tell about it for so long is given up. */
const givenUpSeconds = 7 * 86_400
/** Pages of a vendor's list in which a lost order is looked for. */
const pagesMax = 50
/** Clocks of vendors may be behind by this much. */
const slackSeconds = 3600
/** A vendor has made a batch so soon after its order was sent, by its own clock. */
const momentSeconds = 180

/** Asks vendors for the batches that are due, charges those that have ended, and finds out about lost orders. Returns a short summary. */
export async function followBatches(app: RelayParts, signal: AbortSignal): Promise<string> {
  let asked = 0
  for (;;) {
    const due = await claimDue(app, { limit: claimedMax, againSeconds })
    for (const batch of due) {
      if (signal.aborted) return `${asked} asked`
      asked++
      await followOne(app, batch)
    }
    if (due.length < claimedMax) break
  }
  await forgetOld(app)
  return `${asked} asked`
}

/** Never throws: a batch that cannot be asked for must not keep others waiting. */
async function followOne(app: RelayParts, batch: KeptBatch): Promise<void> {
  try {
    if (batch.state === 'checking' || batch.state === 'held') await withdrawBatch(app, batch)
    else if (batch.state === 'creating') await findOrder(app, batch)
    else await askForBatch(app, batch)
  } catch (error) {
    app.logger.warn({ error, batch: batch.id }, 'a batch could not be asked for, and is asked for again')
  }
}

/**
 * Asks the vendor for the state of a batch, and charges it when it has ended. Returns the batch as it is then, or the vendor's failure.
 */
export async function askForBatch(app: RelayParts, batch: KeptBatch): Promise<KeptBatch | UpstreamFailure> {
  if (batch.state !== 'running' && batch.state !== 'ended') return batch
  const channel = await findUsedKey(app, batch)
  if (!channel) {
    await giveUp(app, batch)
    return (await readAgain(app, batch)) ?? batch
  }
  const answer = await ask(app, channel, { batch, suffix: `/${encodeURIComponent(batch.vendorId)}` })
  if (answer instanceof UpstreamFailure) {
    await giveUp(app, batch)
    return answer
  }
  return noteAnswer(app, { channel, batch }, answer)
}

/** Notes what a vendor says about a batch, and charges it when it has ended. */
async function noteAnswer(
  app: RelayParts,
  { channel, batch }: { readonly channel: RunningChannel; readonly batch: KeptBatch },
  answer: UpstreamAnswer,
): Promise<KeptBatch | UpstreamFailure> {
  const seen = batchForms[batch.dialect].readObject(parseObject(answer.body))
  const state: BatchState = seen.isFinal ? 'ended' : 'running'
  const change = { state, vendor_object: JSON.stringify(seen.vendorObject) }
  await updateBatch(app.db, { id: batch.id, from: seen.isFinal ? ['running', 'ended'] : ['running'] }, change)
  const ended: KeptBatch = { ...batch, state, vendorObject: seen.vendorObject }
  if (seen.isFinal) {
    try {
      await settleBatch(app, channel, ended, seen)
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error
      await giveUp(app, batch)
      app.logger.warn({ error, batch: batch.id }, 'the results of a batch could not be read, and are read again later')
    }
  }
  return (await readAgain(app, batch)) ?? ended
}

interface Cancelled {
  /** The channel that was asked; absent for a batch that has ended before. */
  readonly channel?: RunningChannel
  readonly seen: KeptBatch | UpstreamFailure
}

/**
 * Has the vendor stop a batch. What has run by then is charged when the vendor has ended it. Throws `batch_starting` or
 * `batch_channel_gone`.
 */
export async function cancelBatch(
  app: RelayParts,
  batch: KeptBatch,
  headersFor: (channel: RunningChannel) => CallerHeaders,
): Promise<Cancelled> {
  if (batch.state === 'held' || batch.state === 'creating') fail('batch_starting', { id: batch.id })
  if (batch.state !== 'running') return { seen: batch }
  const channel = (await findUsedKey(app, batch)) ?? fail('batch_channel_gone', { id: batch.id })
  const form = batchForms[batch.dialect]
  const suffix = `/${encodeURIComponent(batch.vendorId)}${form.cancels}`
  const call = { format: form.format, model: '', method: 'POST' as const, suffix, caller: headersFor(channel), timeoutMs }
  const answer = await callUpstream(app, channel, call)
  if (answer instanceof UpstreamFailure) return { channel, seen: answer }
  const tells = form.readObject(parseObject(answer.body)).vendorId !== ''
  return { channel, seen: await (tells ? noteAnswer(app, { channel, batch }, answer) : askForBatch(app, batch)) }
}

/** Cancels a batch of a user from the console. Throws `batch_unknown` and `upstream_failed` too. */
export async function cancelOwnBatch(app: RelayParts, { id, userId }: Pick<KeptBatch, 'id' | 'userId'>): Promise<void> {
  const { seen } = await cancelBatch(app, await findBatch(app, userId, { id }), () => ({}))
  if (seen instanceof UpstreamFailure) fail('upstream_failed', { reason: seen.facts.message }, { cause: seen })
}

interface Question {
  readonly batch: KeptBatch
  readonly suffix?: string
  readonly query?: URLSearchParams
}

function ask(
  app: RelayParts,
  channel: RunningChannel,
  { batch, suffix = '', query }: Question,
): Promise<UpstreamAnswer | UpstreamFailure> {
  const { format } = batchForms[batch.dialect]
  const call = { format, model: '', method: 'GET' as const, suffix, caller: {}, timeoutMs }
  return callUpstream(app, channel, query ? { ...call, query } : call)
}

/** A batch whose vendor or channel does not tell about it for a week ends without a charge. */
async function giveUp(app: RelayParts, batch: KeptBatch): Promise<void> {
  if (seconds(app.now()) - batch.createdAt < givenUpSeconds) return
  app.logger.error(
    { batch: batch.id, held: batch.held },
    'a batch was given up: its vendor tells nothing about it, and it is not charged',
  )
  const lost = { code: 'batch_lost', line: null, message: 'The vendor does not tell about the batch any more' }
  await releaseBatch(app, batch, { ...batch.vendorObject, ...batchForms[batch.dialect].failed([lost], seconds(app.now())) })
}

/**
 * Looks for an order whose answer was lost in the vendor's list. A batch there with its mark is the order. A list without one that could
 * be it shows that the vendor has not taken the order, which is withdrawn.
 */
async function findOrder(app: RelayParts, batch: KeptBatch): Promise<void> {
  const channel = await findUsedKey(app, batch)
  if (!channel) return giveUp(app, batch)
  const possible = await possibleOrders(app, channel, batch)
  if (possible instanceof UpstreamFailure) return giveUp(app, batch)
  const marked = possible.find(({ mark }) => mark === batch.id)
  const order = marked ?? (await onlyOrder(app, batch, possible))
  if (order) return adoptOrder(app, batch, order)
  if (possible.length === 0) return withdrawBatch(app, batch)
  await giveUp(app, batch)
}

type SeenOrder = ReturnType<BatchForm['readObject']>

/** The batches in the vendor's list that may be this order. */
async function possibleOrders(
  app: RelayParts,
  channel: RunningChannel,
  batch: KeptBatch,
): Promise<readonly SeenOrder[] | UpstreamFailure> {
  const form = batchForms[batch.dialect]
  const possible: SeenOrder[] = []
  let query: URLSearchParams | undefined = form.listed
  for (let page = 0; query && page < pagesMax; page++) {
    const answer = await ask(app, channel, { batch, query })
    if (answer instanceof UpstreamFailure) return answer
    const { objects, next } = form.readList(parseObject(answer.body))
    const seen = objects.map((object) => form.readObject(object))
    for (const each of seen) if (await isPossible(app, batch, each)) possible.push(each)
    if (seen.some(({ createdAt }) => createdAt < batch.createdAt - slackSeconds)) return possible
    query = next
  }
  return query ? new UpstreamFailure('bad-reply', { facts: { message: 'its list has no end' } }) : possible
}

async function isPossible(
  app: RelayParts,
  batch: KeptBatch,
  { mark, requests, createdAt, vendorId }: SeenOrder,
): Promise<boolean> {
  if (mark !== undefined) return mark === batch.id
  const { sentAt, channelId, keyId } = batch
  if (requests !== batch.requests || createdAt < sentAt - slackSeconds) return false
  const ofKey = { channel_id: channelId, key_id: keyId, vendor_id: vendorId }
  const known = app.db
    .selectFrom('batches')
    .select('id')
    .where((row) => row.and(ofKey))
  return (await known.executeTakeFirst()) === undefined
}

/**
 * Of a vendor without marks, the one batch that can be the order: sent at this moment, and no other order of this size waits for its
 * vendor's answer. Undefined while that is not certain.
 */
async function onlyOrder(app: RelayParts, batch: KeptBatch, possible: readonly SeenOrder[]): Promise<SeenOrder | undefined> {
  const [order, ...others] = possible.filter(({ mark }) => mark === undefined)
  if (!order || others.length > 0 || Math.abs(order.createdAt - batch.sentAt) > momentSeconds) return undefined
  const { channelId, keyId, requests } = batch
  const waiting = await app.db
    .selectFrom('batches')
    .select('id')
    .where((row) => row.and({ channel_id: channelId, key_id: keyId, requests, state: 'creating' }))
    .execute()
  return waiting.length === 1 ? order : undefined
}

/** Deletes ended batches and their requests after the time for which they are kept. */
async function forgetOld(app: RelayParts): Promise<void> {
  const before = seconds(app.now()) - app.options.current['batches.days_kept'] * 86_400
  const old = await app.db
    .selectFrom('batches')
    .select('id')
    .where('state', 'in', ['settled', 'failed'])
    .where('ended_at', '<=', before)
    .limit(claimedMax)
    .execute()
  for (const { id } of old) await forgetBatch(app.db, id)
}
