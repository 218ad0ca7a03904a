import { readJson } from '../../base/lib/bytes/read-json.ts'
import { fail } from '../../base/lib/failure.ts'
import { type Asked, channelOf, tellFailure } from '../files/asked.ts'
import { arrayAt, isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import type { KeptFile } from '../relay/conversations/kept-files.ts'
import type { RelayParts } from '../relay/relay-parts.ts'
import { UpstreamFailure } from '../relay/upstream/failure.ts'
import type { ArrivedLine } from './admit-lines.ts'
import type { RefusedLine } from './batch-form.ts'
import {
  allRefused,
  answerBatch,
  channelFor,
  contentOf,
  emptyFile,
  failBatch,
  noRequests,
  orWithdraw,
  rewrittenRequests,
} from './create.ts'
import { beginBatch, holdBatch, judgeLines, type Ordering, placeBatch } from './order.ts'
import { linesFrom } from './upstream-lines.ts'

/** Orders a batch of Gemini's, of the model in the path: its requests are in the body, or the lines of a file of the caller. */
export async function createAtGemini(app: RelayParts, asked: Asked, model: string): Promise<void> {
  const { call, caller } = asked
  const { json } = await call.readBody()
  const { displayName, inputConfig: _, ...others } = objectAt(json, 'batch') ?? {}
  const input = objectAt(objectAt(json, 'batch') ?? {}, 'inputConfig') ?? {}
  const file = await fileOf(app, asked, input)
  const channel = file ? await channelOf(app, file) : channelFor(app, asked, [model])
  if (channel.provider.speaks['gemini.batches'] === undefined) fail('batch_not_offered', { id: file?.id ?? '' })
  const members = { ...others, ...(typeof displayName === 'string' ? { displayName } : {}) }
  const order = { format: 'gemini.generate' as const, endpoint: '', inputFile: file?.id ?? '', model, members }
  const ordering = await beginBatch(app, order, { call, caller, channel })
  await orWithdraw(app, ordering, async () => {
    if (file) return orderFile(app, { asked, ordering, file })
    const requests = arrayAt(objectAt(input, 'requests') ?? {}, 'requests')
    if (requests.length === 0) fail('field_invalid', { field: 'batch.inputConfig', reason: noRequests })
    const judged = await judgeLines(app, ordering, readRequests(requests))
    if (judged.refused.length > 0) throw allRefused(judged.refused)
    await holdBatch(app, ordering, judged)
    const sent = judged.isChanged ? await rewrittenRequests(app, ordering, requests, 'request') : requests
    await place(app, { asked, ordering }, { requests: { requests: sent } })
  })
}

interface FromFile {
  readonly asked: Asked
  readonly ordering: Ordering
  readonly file: KeptFile
}

async function orderFile(app: RelayParts, { asked, ordering, file }: FromFile): Promise<void> {
  const lines = linesFrom(app, ordering.channel, contentOf(file.vendorId, 'gemini'))
  const judged = await judgeLines(app, ordering, readLines(lines)).catch((error: unknown) => {
    if (error instanceof UpstreamFailure) fail('batch_input_unreadable', { id: file.id }, { cause: error })
    throw error
  })
  const isEmpty = judged.judge.held.length === 0 && judged.refused.length === 0
  const refused = isEmpty ? [emptyFile] : judged.isChanged ? [...judged.refused, namesOthers] : judged.refused
  if (refused.length > 0) return answerBatch(app, asked, await failBatch(app, ordering, refused))
  await holdBatch(app, ordering, judged)
  await place(app, { asked, ordering }, { fileName: `files/${file.vendorId}` })
}

async function place(app: RelayParts, { asked, ordering }: Omit<FromFile, 'file'>, inputConfig: JsonObject): Promise<void> {
  const { batch, channel } = ordering
  // The name at the vendor is the mark by which the order is found there.
  const order = { batch: { ...batch.asked.members, displayName: batch.id, inputConfig } }
  const placed = await placeBatch(app, ordering, Buffer.from(JSON.stringify(order)))
  if (placed instanceof UpstreamFailure) return tellFailure(asked, placed, channel)
  answerBatch(app, asked, placed)
}

async function fileOf(app: RelayParts, { caller }: Asked, input: JsonObject): Promise<KeptFile | undefined> {
  const name = textAt(input, 'fileName')
  if (name === '') return undefined
  return app.keptFiles.find(caller.userId, { dialect: 'gemini', id: name.replace(/^files\//, '') })
}

/** Requests in a body are known by their numbers: their results come in the same order. */
function* readRequests(requests: readonly unknown[]): Generator<ArrivedLine> {
  for (const [at, entry] of requests.entries())
    yield { line: at + 1, customId: String(at + 1), body: isObject(entry) ? entry.request : undefined }
}

async function* readLines(lines: AsyncIterable<Buffer>): AsyncGenerator<ArrivedLine> {
  let line = 0
  for await (const bytes of lines) {
    line++
    const read = readJson(bytes)
    const { key, request } = isObject(read) ? read : {}
    yield { line, customId: key, body: request }
  }
}

const namesOthers: RefusedLine = {
  code: 'batch_line_invalid',
  line: null,
  message: 'Requests of the file name a model or a file; put these requests into the body of the order',
}
