import { randomBytes } from 'node:crypto'
import { batchEndpoints } from '../../../contract/entities/batch.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { groupsToTry } from '../../money/pricing/groups.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { resolveModel } from '../channels/select/select.ts'
import { type Asked, answerJson, channelOf, siteOf, tellFailure } from '../files/asked.ts'
import { fileForms } from '../files/file-form.ts'
import type { CallerFormat } from '../protocols/format.ts'
import { isObject, type JsonObject, textAt } from '../protocols/wire-format.ts'
import { nameFiles } from '../relay/conversations/named-files.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { callUpstream, type UpstreamCall } from '../relay/upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import type { ArrivedLine } from './admit-lines.ts'
import { batchForms, batchMark, formOf, type RefusedLine } from './batch-form.ts'
import { type KeptBatch, readAgain, updateBatch } from './batch-table.ts'
import { beginBatch, holdBatch, judgeLines, type Ordering, placeBatch, stillPreparing, withdrawBatch } from './order.ts'
import { linesFrom } from './upstream-lines.ts'

/** What the requests for each endpoint are. */
const formatsOf: Readonly<Record<(typeof batchEndpoints)[number], CallerFormat>> = {
  '/v1/chat/completions': 'openai.chat',
  '/v1/responses': 'openai.responses',
  '/v1/completions': 'openai.completions',
  '/v1/embeddings': 'openai.embeddings',
  '/v1/moderations': 'openai.moderations',
  '/v1/images/generations': 'openai.images',
}

const readMs = 60_000
const transferMs = 3_600_000
const noteMs = 60_000

/** Orders a batch whose requests are the lines of a file that its caller has stored. */
export async function createFromFile(app: RelayParts, asked: Asked): Promise<void> {
  const { call, caller } = asked
  const { json } = await call.readBody()
  const { endpoint, inputFile, members } = readOrder(json)
  const format = formatsOf[endpoint]
  const file = await app.keptFiles.find(caller.userId, { dialect: 'openai', id: inputFile })
  const channel = await channelOf(app, file)
  if (channel.provider.speaks['openai.batches'] === undefined) fail('batch_not_offered', { id: inputFile })
  const ordering = await beginBatch(app, { format, endpoint, inputFile, members }, { call, caller, channel })
  const lines = () => linesFrom(app, channel, contentOf(file.vendorId))
  await orWithdraw(app, ordering, async () => {
    const judged = await judgeLines(app, ordering, readLines(lines(), endpoint)).catch((error: unknown) => {
      if (error instanceof UpstreamFailure) fail('batch_input_unreadable', { id: inputFile }, { cause: error })
      throw error
    })
    const isEmpty = judged.judge.held.length === 0 && judged.refused.length === 0
    const refused = isEmpty ? [emptyFile] : judged.refused
    if (refused.length > 0) return answerBatch(app, asked, await failBatch(app, ordering, refused))
    await holdBatch(app, ordering, judged)
    const input = judged.isChanged ? await storeRewritten(app, ordering, lines()) : file.vendorId
    if (input instanceof UpstreamFailure) {
      await withdrawBatch(app, ordering.batch)
      return tellFailure(asked, input, channel)
    }
    const placed = await placeBatch(app, ordering, orderOf(ordering.batch, input))
    if (placed instanceof UpstreamFailure) return tellFailure(asked, placed, channel)
    answerBatch(app, asked, placed)
  })
}

/** Orders a batch of Messages, whose requests are in the body. */
export async function createFromBody(app: RelayParts, asked: Asked): Promise<void> {
  const { call, caller } = asked
  const { json } = await call.readBody()
  const { requests, ...members } = json
  if (!Array.isArray(requests) || requests.length === 0) fail('field_invalid', { field: 'requests', reason: noRequests })
  const channel = channelFor(app, asked, modelsIn(requests))
  const order = { format: 'anthropic.messages' as const, endpoint: '/v1/messages', inputFile: '', members: {} }
  const ordering = await beginBatch(app, order, { call, caller, channel })
  await orWithdraw(app, ordering, async () => {
    const judged = await judgeLines(app, ordering, readRequests(requests))
    const { refused } = judged
    if (refused.length > 0) throw allRefused(refused)
    await holdBatch(app, ordering, judged)
    const sent = judged.isChanged ? await rewrittenRequests(app, ordering, requests, 'params') : requests
    const placed = await placeBatch(app, ordering, Buffer.from(JSON.stringify({ ...members, requests: sent })))
    if (placed instanceof UpstreamFailure) return tellFailure(asked, placed, channel)
    answerBatch(app, asked, placed)
  })
}

export function answerBatch(app: RelayParts, asked: Asked, batch: KeptBatch): void {
  answerJson(asked, batchForms[batch.dialect].write(batch, siteOf(app, asked.call)))
}

/** A batch that fails before anything was ordered at its vendor leaves nothing behind. */
export async function orWithdraw(app: RelayParts, { batch }: Ordering, order: () => Promise<void>): Promise<void> {
  try {
    await order()
  } catch (error) {
    const now = await readAgain(app, batch)
    if (now?.state === 'checking' || now?.state === 'held') await withdrawBatch(app, batch)
    throw error
  }
}

function readOrder(json: JsonObject) {
  const {
    input_file_id: input,
    endpoint: wished,
    completion_window: completionWindow,
    metadata,
    output_expires_after: expires,
  } = json
  if (typeof input !== 'string') fail('field_invalid', { field: 'input_file_id', reason: noInput })
  const endpoint = batchEndpoints.find((each) => each === wished)
  if (endpoint === undefined) fail('field_invalid', { field: 'endpoint', reason: unknownEndpoint })
  if (typeof completionWindow !== 'string') fail('field_invalid', { field: 'completion_window', reason: noWindow })
  if (isObject(metadata) && Object.keys(metadata).length > pairsMax)
    fail('field_invalid', { field: 'metadata', reason: manyPairs })
  const members = {
    completion_window: completionWindow,
    ...(isObject(metadata) ? { metadata } : {}),
    ...(expires === undefined ? {} : { output_expires_after: expires }),
  }
  return { endpoint, inputFile: input, members }
}

/** One less than at the vendor, which gets a pair of this site. */
const pairsMax = 15

/** The order as its vendor gets it, with a mark by which it is found there. */
function orderOf({ id, asked }: KeptBatch, input: string): Buffer {
  const { metadata, ...members } = asked.members
  const marked = { ...(isObject(metadata) ? metadata : {}), [batchMark]: id }
  return Buffer.from(JSON.stringify({ input_file_id: input, endpoint: asked.endpoint, ...members, metadata: marked }))
}

export function contentOf(vendorId: string, dialect: 'openai' | 'gemini' = 'openai'): Omit<UpstreamCall, 'method' | 'body'> {
  const { format, content, bytesMax } = fileForms[dialect]
  return { format, model: '', ...content(vendorId), caller: {}, timeoutMs: readMs, totalMs: transferMs, answerBytesMax: bytesMax }
}

async function* readLines(lines: AsyncIterable<Buffer>, endpoint: string): AsyncGenerator<ArrivedLine> {
  let line = 0
  for await (const bytes of lines) {
    line++
    const read = readJson(bytes)
    const { custom_id: customId, method, url, body } = isObject(read) ? read : {}
    const isOfEndpoint = url === endpoint && method === 'POST'
    yield { line, customId, body: isOfEndpoint ? body : undefined }
  }
}

function* readRequests(requests: readonly unknown[]): Generator<ArrivedLine> {
  for (const [at, request] of requests.entries()) {
    const { custom_id: customId, params } = isObject(request) ? request : {}
    yield { line: at + 1, customId, body: params }
  }
}

/** Keeps a batch that was refused, with every request that is at fault. */
export async function failBatch(app: RelayParts, { batch }: Ordering, refused: readonly RefusedLine[]): Promise<KeptBatch> {
  const at = seconds(app.now())
  const vendorObject = batchForms[batch.dialect].failed(refused, at)
  await app.db.transaction().execute(async (within) => {
    await within.deleteFrom('batch_lines').where('batch_id', '=', batch.id).execute()
    const change = { state: 'failed' as const, vendor_object: JSON.stringify(vendorObject), ended_at: at, ask_at: 0 }
    await updateBatch(within, { id: batch.id, from: ['checking'] }, change)
  })
  return { ...batch, state: 'failed', vendorObject, endedAt: at }
}

export function allRefused(refused: readonly RefusedLine[]): AppError {
  const [first] = refused
  const numbers = refused.map(({ line }) => line).join(', ')
  const reason = `${first?.message ?? ''} (${numbers})`
  return new AppError('batch_invalid', { count: refused.length, line: first?.line ?? 0, reason })
}

/** Stores the requests as the vendor is to read them: with its own names of models and files. */
async function storeRewritten(
  app: RelayParts,
  ordering: Ordering,
  lines: AsyncIterable<Buffer>,
): Promise<string | UpstreamFailure> {
  const boundary = `sluice-${randomBytes(16).toString('hex')}`
  const pieces = multipart(boundary, rewritten(app, ordering, lines))
  const answer = await callUpstream(app, ordering.channel, {
    ...{ format: 'openai.files', model: '', method: 'POST', caller: {}, timeoutMs: readMs * 5, totalMs: transferMs },
    streamed: { pieces, length: undefined, contentType: `multipart/form-data; boundary=${boundary}` },
  })
  if (answer instanceof UpstreamFailure) return answer
  const { vendorId } = fileForms.openai.readObject(parseObject(answer.body))
  return vendorId === '' ? new UpstreamFailure('bad-reply', { facts: { message: 'the answer has no file' } }) : vendorId
}

async function* multipart(boundary: string, lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const part = (disposition: string, text: string) => `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n${text}`
  yield Buffer.from(part('name="purpose"', '\r\nbatch\r\n'))
  yield Buffer.from(part('name="file"; filename="batch.jsonl"', 'content-type: application/jsonl\r\n\r\n'))
  yield* lines
  yield Buffer.from(`\r\n--${boundary}--\r\n`)
}

async function* rewritten(app: RelayParts, ordering: Ordering, lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let notedMs = app.steady()
  for await (const bytes of lines) {
    if (app.steady() - notedMs > noteMs) {
      await stillPreparing(app, ordering.batch)
      notedMs = app.steady()
    }
    // Judged before: a line is an object with a body.
    const line = parseObject(bytes)
    const body = await atVendor(app, ordering, line.body as JsonObject)
    yield Buffer.from(`${JSON.stringify({ ...line, body })}\n`)
  }
}

export async function rewrittenRequests(
  app: RelayParts,
  ordering: Ordering,
  requests: readonly unknown[],
  bodyIn: 'params' | 'request',
): Promise<unknown[]> {
  const sent: unknown[] = []
  // Judged before: a request is an object with a body.
  for (const request of requests as readonly JsonObject[])
    sent.push({ ...request, [bodyIn]: await atVendor(app, ordering, request[bodyIn] as JsonObject) })
  return sent
}

/** The body of a request with the vendor's names of its model and files. */
async function atVendor(app: RelayParts, { caller, channel, batch }: Ordering, json: JsonObject): Promise<JsonObject> {
  const body = { json, bytes: Buffer.from(JSON.stringify(json)) }
  const named = await nameFiles(app, caller, { format: batch.asked.format, body })
  const { model = textAt(json, 'model') } = batch.asked
  return batchForms[batch.dialect].withModel(named?.body.json ?? json, resolveModel(channel, model))
}

function modelsIn(requests: readonly unknown[]): readonly string[] {
  const models = requests.map((request) => {
    const params = isObject(request) ? request.params : undefined
    return isObject(params) ? textAt(params, 'model') : ''
  })
  return [...new Set(models)].filter((model) => model !== '')
}

/** The channel of highest priority that offers batches of all of the models, else of the first. Throws `batch_no_channel`. */
export function channelFor(app: RelayParts, { call, caller }: Asked, models: readonly string[]): RunningChannel {
  const [first = ''] = models
  const { format } = formOf(call)
  const index = app.channels.current
  const groups = groupsToTry(app.options.current, caller)
  const ofModel = (model: string) => groups.flatMap((group) => index.candidates(group, model).flat())
  const offered = ofModel(first)
    .filter(({ id, provider }) => {
      return provider.speaks[format] !== undefined && (caller.pinnedChannel === 0 || id === caller.pinnedChannel)
    })
    .sort((one, other) => other.priority - one.priority)
  const servesAll = ({ id }: RunningChannel) => models.every((model) => ofModel(model).some((channel) => channel.id === id))
  return offered.find(servesAll) ?? offered[0] ?? fail('batch_no_channel', { model: first })
}

export const emptyFile: RefusedLine = { code: 'empty_file', line: null, message: 'The input file has no request' }
const unknownEndpoint = {
  zh: `须为 ${batchEndpoints.join('、')} 之一`,
  en: `must be one of ${batchEndpoints.join(', ')}`,
}
const noInput = { zh: '须为文件 ID', en: 'must be the id of a file' }
const noWindow = { zh: '须为 24h 这样的文本', en: 'must be a text such as 24h' }
export const noRequests = { zh: '须为非空列表', en: 'must be a list with at least one request' }
const manyPairs = { zh: `最多 ${pairsMax} 项`, en: `must have at most ${pairsMax} pairs` }
