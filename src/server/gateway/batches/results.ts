import { readJson } from '../../base/lib/bytes/read-json.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { findUsedKey } from '../channels/index/find-used-key.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import { type Asked, answerJson, channelOf, siteOf, tellFailure } from '../files/asked.ts'
import { type FileForm, fileForms } from '../files/file-form.ts'
import { readContent } from '../files/read.ts'
import { isObject, type JsonObject, objectAt } from '../protocols/wire-format.ts'
import type { ClientExchange } from '../relay/http/client-exchange.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { callUpstream } from '../relay/upstream/call-upstream.ts'
import { parseObject, UpstreamFailure } from '../relay/upstream/failure.ts'
import { batchForms } from './batch-form.ts'
import { batchOfFile, type KeptBatch } from './batch-table.ts'
import { resultCalls } from './settle.ts'
import { linesFrom } from './upstream-lines.ts'

/** Sends the results of a batch as its vendor has them, with the model that was asked. Throws `batch_running`. */
export async function sendResults(app: RelayParts, asked: Asked, batch: KeptBatch): Promise<void> {
  if (batch.state !== 'settled') fail('batch_running', { id: batch.id })
  if (hasResultsInside(batch)) return answerJson(asked, await withResults(app, asked, batch))
  if (batch.outputFile !== '') return readContentOrResults(app, fileForms[batch.dialect], asked, batch.outputFile)
  if (batch.dialect === 'openai') fail('batch_without_results', { id: batch.id })
  const channel = (await findUsedKey(app, batch)) ?? fail('batch_channel_gone', { id: batch.id })
  const [call] = resultCalls(batch, { outputFile: '' })
  if (call) await sendLines(app, asked, { batch, channel, lines: linesFrom(app, channel, call) })
}

/** Whether the vendor has the results of an ended batch in the batch itself. */
export function hasResultsInside({ dialect, outputFile }: KeptBatch): boolean {
  return dialect === 'gemini' && outputFile === ''
}

/** A batch whose vendor has the results in the batch itself, with the model that was asked. */
export async function withResults(app: RelayParts, asked: Asked, batch: KeptBatch): Promise<JsonObject> {
  const form = batchForms[batch.dialect]
  const channel = (await findUsedKey(app, batch)) ?? fail('batch_channel_gone', { id: batch.id })
  const suffix = `/${encodeURIComponent(batch.vendorId)}`
  const call = { format: form.format, model: '', method: 'GET' as const, suffix, caller: {}, timeoutMs: 60_000 }
  const answer = await callUpstream(app, channel, call)
  const shown = form.write(batch, siteOf(app, asked.call))
  if (answer instanceof UpstreamFailure)
    throw answer.own ?? new AppError('batch_channel_gone', { id: batch.id }, { cause: answer })
  const [model = ''] = Object.keys(batch.prices)
  const results = (form.readObject(parseObject(answer.body)).results ?? []).map(({ key: _, ...result }) => {
    return isRenamed(batch) && result.response !== undefined ? form.renamed(result, model) : result
  })
  const output = { inlinedResponses: { inlinedResponses: results } }
  return { ...shown, metadata: { ...objectAt(shown, 'metadata'), output }, response: output }
}

/** The content of a file; that of results has the model that was asked. */
export async function readContentOrResults(app: RelayParts, form: FileForm, asked: Asked, id: string): Promise<void> {
  const { userId } = asked.caller
  const { dialect } = form
  const file = dialect === 'anthropic' ? undefined : await app.keptFiles.find(userId, { dialect, id })
  const batch = file?.purpose === 'batch_output' ? await batchOfFile(app, userId, id) : undefined
  if (!file || !batch || !isRenamed(batch)) return readContent(app, form, asked, id)
  const channel = await channelOf(app, file)
  const [call] = resultCalls(batch, { outputFile: file.vendorId })
  if (call) await sendLines(app, asked, { batch, channel, lines: linesFrom(app, channel, call) })
}

/** Whether the vendor knows a model of the batch by another name. */
function isRenamed({ prices }: KeptBatch): boolean {
  return Object.entries(prices).some(([model, { upstreamModel }]) => upstreamModel !== model)
}

interface Sending {
  readonly batch: KeptBatch
  readonly channel: RunningChannel
  readonly lines: AsyncIterable<Buffer>
}

/** Sends the lines no faster than the caller reads them. */
async function sendLines(app: RelayParts, asked: Asked, { batch, channel, lines }: Sending): Promise<void> {
  const { call } = asked
  try {
    for await (const line of lines) {
      if (!call.isCommitted) call.begin({ 'content-type': 'application/x-jsonl' })
      const sent = isRenamed(batch) ? await renamed(app, batch, line) : line
      if (!call.write(`${sent.toString('latin1')}\n`, app.steady())) await drained(call)
      if (call.isAborted) return
    }
    if (!call.isCommitted) call.begin({ 'content-type': 'application/x-jsonl' })
    call.end('')
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error
    if (call.isCommitted) call.drop()
    else tellFailure(asked, error, channel)
  }
}

function drained(call: ClientExchange): Promise<void> {
  return new Promise((resolve) => {
    call.onAborted(resolve)
    call.whenDrained(resolve)
  })
}

/** A result with the model that its request has asked. */
async function renamed({ db }: RelayParts, batch: KeptBatch, line: Buffer): Promise<Buffer> {
  const form = batchForms[batch.dialect]
  const read = readJson(line)
  if (!isObject(read)) return line
  const { customId, reply } = form.readResult(read)
  if (!reply) return line
  const [only, ...others] = Object.keys(batch.prices)
  const model = others.length === 0 ? only : await askedModel(db, batch.id, customId)
  return model === undefined ? line : Buffer.from(JSON.stringify(form.renamed(read, model)))
}

async function askedModel(db: RelayParts['db'], batchId: string, customId: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('batch_lines')
    .select('model')
    .where('batch_id', '=', batchId)
    .where('custom_id', '=', customId)
    .executeTakeFirst()
  return row?.model
}
