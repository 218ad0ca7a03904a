import { type LogOther, logType } from '../../../contract/entities/log.ts'
import { completionTokens, noUsage, promptTokens, type Usage } from '../../../contract/usage.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { readWindows } from '../../money/ledger/budget-window.ts'
import { type DurableCharge, endDurable } from '../../money/ledger/durable-holds.ts'
import { recordEvent } from '../../usage/log/record-event.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { fileForms } from '../files/file-form.ts'
import { countTokens } from '../protocols/count-tokens.ts'
import { formats } from '../protocols/index.ts'
import { hasBothSides, withSides } from '../protocols/usage-sides.ts'
import { isObject, type JsonObject } from '../protocols/wire-format.ts'
import { chargeFor, describePrice, type Ending } from '../relay/charge/charge-row.ts'
import { plausibleEnding } from '../relay/charge/settlement.ts'
import { newFileId } from '../relay/conversations/kept-files.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import type { UpstreamCall } from '../relay/upstream/call-upstream.ts'
import { batchForms } from './batch-form.ts'
import { type BatchPrice, type KeptBatch, type LineFacts, updateBatch } from './batch-table.ts'
import { refreshAfter } from './order.ts'
import { linesFrom } from './upstream-lines.ts'

/** Results are priced and written together. */
const resultsTogether = 100
const settlingSeconds = 300
const readMs = 60_000
const totalMs = 3_600_000

/** The vendor's ids of the files with the results, or the results. */
interface ResultFiles {
  readonly outputFile: string
  readonly errorFile: string
  readonly results?: readonly JsonObject[]
}

/**
 * Charges a batch that its vendor has finished: the results are read one by one and priced as calls of their own, what they cost is kept
 * with each, and one transaction writes a charge for each model and frees the rest of the hold. Whoever notices the end first calls it,
 * clients that ask and the job: one of them works at a time, and a node that died is followed after some minutes. Returns whether the
 * batch is charged now. Throws an `UpstreamFailure` where the results cannot be read.
 */
export async function settleBatch(
  app: RelayParts,
  channel: RunningChannel,
  batch: KeptBatch,
  files: ResultFiles,
): Promise<boolean> {
  const fence = await claim(app, batch.id)
  if (fence === undefined) return false
  const mine = { id: batch.id, fence }
  try {
    const pricing = { channel, batch, mine }
    if (files.results) await priceResults(app, pricing, files.results)
    else
      for (const call of resultCalls(batch, files)) await priceResults(app, pricing, objectsFrom(linesFrom(app, channel, call)))
    return await charge(app, { batch, mine, files })
  } finally {
    await letGo(app, mine)
  }
}

/** The claim of one node on the settlement of a batch. */
interface Mine {
  readonly id: string
  readonly fence: number
}

async function claim({ db, now }: RelayParts, id: string): Promise<number | undefined> {
  const at = seconds(now())
  const row = await db
    .updateTable('batches')
    .set((eb) => ({ fence: eb('fence', '+', 1), settling_until: at + settlingSeconds }))
    .where('id', '=', id)
    .where('state', '=', 'ended')
    .where('settling_until', '<=', at)
    .returning('fence')
    .executeTakeFirst()
  return row?.fence
}

/** Returns false when another node has taken over. */
async function renew({ db, now }: RelayParts, { id, fence }: Mine): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('batches')
    .set({ settling_until: seconds(now()) + settlingSeconds })
    .where('id', '=', id)
    .where('fence', '=', fence)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

async function letGo({ db }: RelayParts, { id, fence }: Mine): Promise<void> {
  await db.updateTable('batches').set({ settling_until: 0 }).where('id', '=', id).where('fence', '=', fence).execute()
}

/** The calls that read the results of a batch. */
export function resultCalls(
  { dialect, vendorId }: Pick<KeptBatch, 'dialect' | 'vendorId'>,
  { outputFile }: Pick<ResultFiles, 'outputFile'>,
): Omit<UpstreamCall, 'method' | 'body'>[] {
  const reading = { model: '', caller: {}, timeoutMs: readMs, totalMs, answerBytesMax: fileForms.openai.bytesMax * 4 }
  if (dialect === 'anthropic')
    return [{ ...reading, format: batchForms.anthropic.format, suffix: `/${encodeURIComponent(vendorId)}/results` }]
  const { format, content } = fileForms[dialect]
  return outputFile === '' ? [] : [{ ...reading, format, ...content(outputFile) }]
}

interface Pricing {
  readonly channel: RunningChannel
  readonly batch: KeptBatch
  readonly mine: Mine
}

async function* objectsFrom(lines: AsyncIterable<Buffer>): AsyncGenerator<JsonObject> {
  for await (const line of lines) {
    const read = readJson(line)
    if (isObject(read)) yield read
  }
}

async function priceResults(
  app: RelayParts,
  pricing: Pricing,
  results: AsyncIterable<JsonObject> | Iterable<JsonObject>,
): Promise<void> {
  const { readResult } = batchForms[pricing.batch.dialect]
  let waiting = new Map<string, JsonObject>()
  const write = async () => {
    await priceSome(app, pricing, waiting)
    waiting = new Map()
  }
  for await (const result of results) {
    const { customId, reply } = readResult(result)
    if (reply) waiting.set(customId, reply)
    if (waiting.size >= resultsTogether) await write()
  }
  await write()
}

async function priceSome(
  app: RelayParts,
  { channel, batch, mine }: Pricing,
  replies: ReadonlyMap<string, JsonObject>,
): Promise<void> {
  if (replies.size === 0) return
  if (!(await renew(app, mine))) throw new Error(`Another node settles batch ${batch.id}`)
  const rows = await app.db
    .selectFrom('batch_lines')
    .select(['line', 'custom_id', 'model', 'held', 'facts'])
    .where('batch_id', '=', batch.id)
    .where('custom_id', 'in', [...replies.keys()])
    .execute()
  const priced = await Promise.all(
    rows.map(async ({ line, custom_id, model, held, facts }) => {
      const reply = replies.get(custom_id)
      const price = batch.prices[model]
      // Written with the row that has these texts.
      const kept = JSON.parse(facts) as LineFacts
      return reply && price ? [{ line, ...(await priceLine(app, { channel, batch, price, held, kept }, reply)) }] : []
    }),
  )
  await app.db.transaction().execute(async (within) => {
    for (const { line, ...cost } of priced.flat())
      await within
        .updateTable('batch_lines')
        .set({ state: 'charged', ...cost })
        .where('batch_id', '=', batch.id)
        .where('line', '=', line)
        .execute()
  })
}

interface PricedLine {
  readonly channel: RunningChannel
  readonly batch: KeptBatch
  readonly price: BatchPrice
  readonly held: number
  readonly kept: LineFacts
}

/** What a call with this reply would cost, at the price of batches. */
async function priceLine(app: RelayParts, { channel, batch, price: priced, held, kept }: PricedLine, reply: JsonObject) {
  const { caller, userId, tokenId, asked } = batch
  const ending = plausibleEnding(await endingOf(batch, kept, reply), kept.bound, channel.promptPolicy)
  const { price, otherPrices, group, upstreamModel } = priced
  const bill = {
    call: { id: batch.id, startedMs: app.steady(), firstByteMs: 0, client: { address: caller.address } },
    caller: { userId, tokenId, username: caller.username, tokenName: caller.tokenName },
    ...{ facts: kept.facts, format: formats[asked.format].wire, group, price, otherPrices, attempts: [], hold: { amount: held } },
  }
  const { amount, siteCost } = chargeFor(app, bill, { channel, upstreamModel }, ending)
  return {
    amount,
    borne: siteCost?.amount ?? 0,
    prompt_tokens: promptTokens(ending.usage),
    completion_tokens: completionTokens(ending.usage),
    estimated: ending.isEstimated ? 1 : 0,
  }
}

/** The usage that a reply reports, else a count of prompt and output, as for calls. */
async function endingOf({ asked }: KeptBatch, { facts, inputTokens }: LineFacts, reply: JsonObject): Promise<Ending> {
  const { wire } = formats[asked.format]
  const usage = wire.readUsage(reply, facts)
  if (usage && hasBothSides(usage)) return { usage, isEstimated: false }
  const text = wire.replyText(reply)
  const isWhole = usage && promptTokens(usage) > 0 && text === ''
  if (isWhole) return { usage, isEstimated: false }
  const counted: Usage = facts.uncounted ?? { ...noUsage, input: inputTokens, output: await countTokens(text, facts.model) }
  return { usage: usage ? withSides(usage, counted) : counted, isEstimated: true }
}

interface Charging {
  readonly batch: KeptBatch
  readonly mine: Mine
  readonly files: ResultFiles
}

/** False when the batch was charged, or taken over, by another node. */
async function charge(app: RelayParts, { batch, mine, files }: Charging): Promise<boolean> {
  const at = seconds(app.now())
  const ended = await app.db.transaction().execute(async (within) => {
    const models = await sumsOf(within, batch.id)
    const charged = models.reduce((units, { amount }) => units + amount, 0)
    const shown = { output_file: ownId(batch, files.outputFile), error_file: ownId(batch, files.errorFile) }
    const { numUpdatedRows } = await within
      .updateTable('batches')
      .set({ state: 'settled', charged, ended_at: at, ask_at: 0, ...shown })
      .where('id', '=', batch.id)
      .where('state', '=', 'ended')
      .where('fence', '=', mine.fence)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) return undefined
    await keepResults(within, batch, { at, shown, files })
    const charges = models.flatMap((sums, index) => chargeOf(app, batch, { sums, index, at }))
    const freed = await endDurable(app.database, within, batch.id, charges)
    if (!freed) throw new Error(`Batch ${batch.id} holds no quota`)
    const { id, userId: user_id, requests } = batch
    await recordEvent(app, within, 'batch.completed', { id, user_id, requests, quota: charged })
    return freed
  })
  if (ended) refreshAfter(app, ended)
  return ended !== undefined
}

interface ModelSums {
  readonly model: string
  readonly requests: number
  readonly charged: number
  readonly estimated: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly amount: number
  readonly borne: number
}

async function sumsOf(db: Queries, batchId: string): Promise<ModelSums[]> {
  const rows = await db
    .selectFrom('batch_lines')
    .select((row) => [
      'model',
      row.fn.countAll<number>().as('requests'),
      row.fn.sum<number>(row.case().when('state', '=', 'charged').then(1).else(0).end()).as('charged'),
      row.fn.sum<number>('estimated').as('estimated'),
      row.fn.sum<number>('prompt_tokens').as('promptTokens'),
      row.fn.sum<number>('completion_tokens').as('completionTokens'),
      row.fn.sum<number>('amount').as('amount'),
      row.fn.sum<number>('borne').as('borne'),
    ])
    .where('batch_id', '=', batchId)
    .groupBy('model')
    .orderBy('model')
    .execute()
  // PostgreSQL's sums of integers are decimals, which arrive as texts.
  return rows.map(({ model, ...sums }) => {
    const numbers = Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, Number(sum)]))
    return { model, ...numbers } as unknown as ModelSums
  })
}

/** The charge of one model of the batch; none where nothing of it ran. */
function chargeOf(
  { options, now }: RelayParts,
  batch: KeptBatch,
  { sums, index, at }: { readonly sums: ModelSums; readonly index: number; readonly at: number },
): DurableCharge[] {
  const { model, requests, charged, estimated, amount, borne } = sums
  const priced = batch.prices[model]
  if (!priced || charged === 0) return []
  const { price, group, factor, budgets } = priced
  const { channelId, caller } = batch
  const requestId = `${batch.id}.${index + 1}`
  const siteCost = borne > 0 ? ({ amount: borne, reason: 'usage_implausible' } as const) : undefined
  const info = { use_channel: [String(channelId)], address: caller.address, ...(siteCost ? { site_cost: siteCost } : {}) }
  const other = { batch: { id: batch.id, requests, charged, estimated, factor }, admin_info: info } satisfies Partial<LogOther>
  const log = {
    ...{ user_id: batch.userId, created_at: at, type: logType.consume, username: caller.username, token_id: batch.tokenId },
    ...{ token_name: caller.tokenName, model_name: model, quota: amount, channel_id: channelId, group, request_id: requestId },
    ...{ prompt_tokens: sums.promptTokens, completion_tokens: sums.completionTokens, is_stream: 0 },
    use_time: Math.max(0, seconds(now()) - batch.createdAt),
    content: describePrice(price, [{ zh: `批处理 ${charged} 个请求`, en: `${charged} requests of a batch` }]),
    other: JSON.stringify(other),
  }
  return [
    {
      requestId,
      budgets: readWindows(budgets),
      charge: {
        ...{ amount, at, channelId, siteCost, log: options.current.LogConsumeEnabled ? log : null },
        rollup: { username: caller.username, model, group, tokens: sums.promptTokens + sums.completionTokens },
      },
    },
  ]
}

function ownId({ dialect }: KeptBatch, vendorFile: string): string {
  return vendorFile === '' ? '' : newFileId(dialect)
}

interface Results {
  readonly at: number
  readonly shown: { readonly output_file: string; readonly error_file: string }
  readonly files: ResultFiles
}

/** The vendor's files of results belong to the owner of the batch. */
async function keepResults(within: Within, batch: KeptBatch, { at, shown, files }: Results): Promise<void> {
  const each = [
    { id: shown.output_file, vendorId: files.outputFile, name: 'output' },
    { id: shown.error_file, vendorId: files.errorFile, name: 'error' },
  ]
  for (const { id, vendorId, name } of each.filter(({ vendorId }) => vendorId !== '')) {
    const filename = `${batch.id}_${name}.jsonl`
    const { dialect } = batch
    const ofOpenAi = { object: 'file', bytes: 0, created_at: at, filename, purpose: 'batch_output', status: 'processed' }
    const ofGemini = { displayName: filename, mimeType: 'application/jsonl', state: 'ACTIVE', source: 'GENERATED' }
    const vendorObject = dialect === 'gemini' ? ofGemini : ofOpenAi
    await within
      .insertInto('files')
      .values({
        ...{ id, user_id: batch.userId, token_id: batch.tokenId, channel_id: batch.channelId, key_id: batch.keyId },
        ...{ dialect, vendor_id: vendorId, state: 'kept', filename, purpose: 'batch_output', bytes: 0 },
        ...{ vendor_object: JSON.stringify(vendorObject), created_at: at, expires_at: 0, ask_at: 0 },
      })
      .execute()
  }
}

/** Ends a batch of which nothing can be charged any more. */
export async function releaseBatch(app: RelayParts, batch: KeptBatch, vendorObject: JsonObject): Promise<void> {
  const change = {
    state: 'failed' as const,
    vendor_object: JSON.stringify(vendorObject),
    ended_at: seconds(app.now()),
    ask_at: 0,
  }
  const ended = await app.db.transaction().execute(async (within) => {
    const isMine = await updateBatch(within, { id: batch.id, from: ['held', 'creating', 'running', 'ended'] }, change)
    return isMine ? endDurable(app.database, within, batch.id, []) : undefined
  })
  if (ended) refreshAfter(app, ended)
}
