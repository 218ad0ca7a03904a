import { randomText } from '../../base/lib/secrets/ids.ts'
import type { Dialect, StoreFormat } from '../protocols/format.ts'
import { isObject, type JsonObject, objectAt, textAt } from '../protocols/wire-format.ts'
import type { BatchPage, KeptBatch } from './batch-table.ts'

/** What a vendor's object says about a batch. */
interface VendorBatch {
  /** '' when the object is none. */
  readonly vendorId: string
  /** The vendor does nothing more for it, and its results can be read. */
  readonly isFinal: boolean
  /** Unix seconds; 0 when unknown. */
  readonly createdAt: number
  /** The object without its ids, of which `write` makes the caller's. */
  readonly vendorObject: JsonObject
  /** The vendor's ids of the files with its results, where it has some. */
  readonly outputFile: string
  readonly errorFile: string
  /** The results, of a vendor that has them in the object. */
  readonly results?: readonly JsonObject[]
  /** How many requests it has; undefined when unknown. */
  readonly requests?: number
  /** The mark of the order, of a vendor that keeps one. */
  readonly mark?: string
}

interface Listed {
  readonly batches: readonly KeptBatch[]
  readonly hasMore: boolean
  readonly site: string
}

/** One of the results. */
interface Result {
  readonly customId: string
  /** The reply to the request; undefined for a request that has failed or did not run. */
  readonly reply: JsonObject | undefined
}

/** Why a batch has failed at this site, by the requests that were refused. */
export interface RefusedLine {
  readonly code: string
  readonly line: number | null
  readonly message: string
}

/** How a dialect writes batches. The object of the vendor keeps its shape; only ids change. */
export interface BatchForm {
  readonly dialect: KeptBatch['dialect']
  /** What a channel must speak. */
  readonly format: StoreFormat
  newId(): string
  readObject(object: JsonObject): VendorBatch
  write(batch: KeptBatch, site: string): JsonObject
  readPage(query: URLSearchParams): BatchPage
  writePage(listed: Listed): JsonObject
  /** The object of a batch that was refused for its requests, or never came to its vendor. */
  failed(errors: readonly RefusedLine[], at: number): JsonObject
  /** How many requests have been answered and have failed, by the vendor's object. */
  counts(object: JsonObject): { readonly done: number; readonly failed: number }
  /** Why it has failed; '' where nothing is told. */
  failure(object: JsonObject): string
  readResult(line: JsonObject): Result
  /** A result with another name of the model in its reply. */
  renamed(line: JsonObject, model: string): JsonObject
  /** The body of a request with the vendor's name of its model. */
  withModel(body: JsonObject, upstreamModel: string): JsonObject
  /** Behind the vendor's id, in the call that cancels a batch. */
  readonly cancels: string
  /** The answer to a deletion. */
  deleted(id: string): JsonObject
  readonly listed: URLSearchParams
  /** The batches in an answer to a list, and the query of the next page. */
  readList(answer: JsonObject): { readonly objects: readonly JsonObject[]; readonly next: URLSearchParams | undefined }
}

/** The pair of the metadata by which a batch is found at a vendor whose answer was lost. */
export const batchMark = 'sluice_batch'

const finalAtOpenAi: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled'])

const openai: BatchForm = {
  dialect: 'openai',
  format: 'openai.batches',
  newId: () => `batch_${randomText(24)}`,
  readObject(object) {
    const {
      id: _,
      input_file_id: _input,
      output_file_id: _output,
      error_file_id: _error,
      metadata: _data,
      ...vendorObject
    } = object
    return {
      vendorId: textAt(object, 'id'),
      isFinal: finalAtOpenAi.has(textAt(object, 'status').toLowerCase()),
      createdAt: numberAt(object, 'created_at'),
      vendorObject,
      outputFile: textAt(object, 'output_file_id'),
      errorFile: textAt(object, 'error_file_id'),
      mark: textAt(objectAt(object, 'metadata') ?? {}, batchMark),
    }
  },
  write(batch) {
    const { id, asked, vendorObject, createdAt, requests, outputFile, errorFile } = batch
    const { completion_window, metadata = null } = asked.members
    return {
      ...{ id, object: 'batch', endpoint: asked.endpoint, errors: null, completion_window, created_at: createdAt },
      ...{ request_counts: { total: requests, completed: 0, failed: 0 } },
      ...vendorObject,
      ...modelOf(batch),
      ...{ input_file_id: asked.inputFile, output_file_id: outputFile || null, error_file_id: errorFile || null, metadata },
      status: statusOf(batch),
    }
  },
  readPage: (query) => ({ limit: limitIn(query, 100), ...textIn(query, { after: 'after' }) }),
  writePage: ({ batches, hasMore, site }) => ({
    object: 'list',
    data: batches.map((batch) => openai.write(batch, site)),
    ...ends(batches),
    has_more: hasMore,
  }),
  failed: (errors, at) => ({
    status: 'failed',
    failed_at: at,
    errors: { object: 'list', data: errors.map((error) => ({ ...error, param: null })) },
  }),
  counts(object) {
    const counts = objectAt(object, 'request_counts') ?? {}
    return { done: numberAt(counts, 'completed'), failed: numberAt(counts, 'failed') }
  },
  failure(object) {
    const errors = objectsIn(objectAt(object, 'errors')?.data)
    return errors.map((error) => `${error.line ?? ''} ${textAt(error, 'message')}`.trim()).join('; ')
  },
  readResult(line) {
    const response = objectAt(line, 'response')
    const status = response?.status_code
    const isAnswered = typeof status === 'number' && status >= 200 && status < 300
    return { customId: textAt(line, 'custom_id'), reply: isAnswered ? objectAt(response ?? {}, 'body') : undefined }
  },
  renamed(line, model) {
    const response = objectAt(line, 'response') ?? {}
    return { ...line, response: { ...response, body: { ...objectAt(response, 'body'), model } } }
  },
  withModel: (body, model) => ({ ...body, model }),
  cancels: '/cancel',
  deleted: (id) => ({ id, object: 'batch', deleted: true }),
  listed: new URLSearchParams({ limit: '100' }),
  readList(answer) {
    const objects = objectsIn(answer.data)
    const last = textAt(objects.at(-1) ?? {}, 'id')
    const next = answer.has_more === true && last !== '' ? new URLSearchParams({ limit: '100', after: last }) : undefined
    return { objects, next }
  },
}

/** Until it is charged, a finished batch is shown as one whose results are being written. */
function statusOf({ state, vendorObject }: KeptBatch): string {
  const status = textAt(vendorObject, 'status').toLowerCase()
  if (state === 'held' || state === 'creating') return 'validating'
  if (state === 'ended') return status === 'cancelled' ? 'cancelling' : 'finalizing'
  return status || 'validating'
}

/** The model that was asked, where the vendor names one. */
function modelOf({ vendorObject, prices }: KeptBatch): JsonObject {
  const [model, ...others] = Object.keys(prices)
  return vendorObject.model === undefined || others.length > 0 ? {} : { model }
}

const anthropic: BatchForm = {
  dialect: 'anthropic',
  format: 'anthropic.batches',
  newId: () => `msgbatch_${randomText(24)}`,
  readObject(object) {
    const { id: _, results_url: _url, ...vendorObject } = object
    return {
      vendorId: textAt(object, 'id'),
      isFinal: textAt(object, 'processing_status') === 'ended',
      createdAt: Math.floor(Date.parse(textAt(object, 'created_at')) / 1000) || 0,
      vendorObject,
      outputFile: '',
      errorFile: '',
      requests: Object.values(objectAt(object, 'request_counts') ?? {}).reduce<number>((sum, count) => sum + Number(count), 0),
    }
  },
  write({ id, state, vendorObject, createdAt, requests }, site) {
    const isRunning = state !== 'settled' && state !== 'failed'
    const none = { succeeded: 0, errored: 0, canceled: 0, expired: 0 }
    const nothing = { archived_at: null, cancel_initiated_at: null, ended_at: null }
    return {
      ...{ id, type: 'message_batch', processing_status: 'in_progress', request_counts: { processing: requests, ...none } },
      ...{ created_at: timeText(createdAt), expires_at: timeText(createdAt + 86_400), ...nothing },
      ...vendorObject,
      ...(isRunning && vendorObject.processing_status === 'ended' ? { processing_status: 'in_progress', ended_at: null } : {}),
      ...(isRunning ? { request_counts: { processing: requests, ...none } } : {}),
      results_url: state === 'settled' ? `${site}/v1/messages/batches/${id}/results` : null,
    }
  },
  readPage: (query) => ({ limit: limitIn(query, 1000), ...textIn(query, { after: 'after_id', before: 'before_id' }) }),
  writePage: ({ batches, hasMore, site }) => ({
    data: batches.map((batch) => anthropic.write(batch, site)),
    ...ends(batches),
    has_more: hasMore,
  }),
  failed: (_errors, at) => ({ processing_status: 'ended', ended_at: timeText(at) }),
  counts(object) {
    const counts = objectAt(object, 'request_counts') ?? {}
    const failed = numberAt(counts, 'errored') + numberAt(counts, 'canceled') + numberAt(counts, 'expired')
    return { done: numberAt(counts, 'succeeded'), failed }
  },
  failure: () => '',
  readResult(line) {
    const result = objectAt(line, 'result') ?? {}
    const isAnswered = textAt(result, 'type') === 'succeeded'
    return { customId: textAt(line, 'custom_id'), reply: isAnswered ? objectAt(result, 'message') : undefined }
  },
  renamed(line, model) {
    const result = objectAt(line, 'result') ?? {}
    return { ...line, result: { ...result, message: { ...objectAt(result, 'message'), model } } }
  },
  withModel: (body, model) => ({ ...body, model }),
  cancels: '/cancel',
  deleted: (id) => ({ id, type: 'message_batch_deleted' }),
  listed: new URLSearchParams({ limit: '100' }),
  readList(answer) {
    const last = textAt(answer, 'last_id')
    const next = answer.has_more === true && last !== '' ? new URLSearchParams({ limit: '100', after_id: last }) : undefined
    return { objects: objectsIn(answer.data), next }
  },
}

const finalAtGemini = /_(SUCCEEDED|FAILED|CANCELLED|EXPIRED|PARTIALLY_SUCCEEDED)$/

/** An operation, whose results are in it or in a file. Its name at the vendor is the mark of the order. */
const gemini: BatchForm = {
  dialect: 'gemini',
  format: 'gemini.batches',
  newId: () => randomText(24).toLowerCase(),
  readObject(object) {
    const metadata = objectAt(object, 'metadata') ?? {}
    const { name: _, output, inputConfig: _input, displayName: _shown, model: _model, ...shown } = metadata
    const results = objectAt(object, 'response') ?? (isObject(output) ? output : {})
    const inline = objectAt(results, 'inlinedResponses')
    return {
      vendorId: textAt(object, 'name').replace(/^batches\//, ''),
      isFinal: finalAtGemini.test(textAt(metadata, 'state')),
      createdAt: Math.floor(Date.parse(textAt(metadata, 'createTime')) / 1000) || 0,
      vendorObject: { metadata: shown, ...(object.error === undefined ? {} : { error: object.error }) },
      outputFile: textAt(results, 'responsesFile').replace(/^files\//, ''),
      errorFile: '',
      mark: textAt(metadata, 'displayName'),
      // In the order of the requests, which are known by their numbers.
      ...(inline
        ? { results: objectsIn(inline.inlinedResponses).map((result, at) => ({ ...result, key: String(at + 1) })) }
        : {}),
    }
  },
  write({ id, state, asked, vendorObject, prices, createdAt, requests, outputFile }) {
    const name = `batches/${id}`
    const [model = ''] = Object.keys(prices)
    const isOver = state === 'settled' || state === 'failed'
    const kept = objectAt(vendorObject, 'metadata') ?? {}
    const isEarly = !isOver && finalAtGemini.test(textAt(kept, 'state'))
    const output = outputFile === '' ? undefined : { responsesFile: `files/${outputFile}` }
    return {
      name,
      metadata: {
        '@type': 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch',
        ...{ state: 'BATCH_STATE_PENDING', createTime: timeText(createdAt), batchStats: { requestCount: String(requests) } },
        ...kept,
        ...{ name, model: `models/${model}`, ...asked.members },
        ...(isEarly ? { state: 'BATCH_STATE_RUNNING', endTime: undefined } : {}),
        ...(output ? { output } : {}),
      },
      ...(isOver ? { done: true } : {}),
      ...(isOver && vendorObject.error !== undefined ? { error: vendorObject.error } : {}),
      ...(output ? { response: output } : {}),
    }
  },
  readPage: (query) => ({ limit: limitIn(query, 100, 'pageSize'), ...textIn(query, { after: 'pageToken' }) }),
  writePage: ({ batches, hasMore, site }) => ({
    operations: batches.map((batch) => gemini.write(batch, site)),
    ...(hasMore ? { nextPageToken: batches.at(-1)?.id } : {}),
  }),
  failed: (errors, at) => ({
    metadata: { state: 'BATCH_STATE_FAILED', endTime: timeText(at) },
    error: { code: 3, message: errors.map(({ line, message }) => `${line ?? ''} ${message}`.trim()).join('; ') },
  }),
  counts(object) {
    const stats = objectAt(objectAt(object, 'metadata') ?? {}, 'batchStats') ?? {}
    const count = (name: string) => Math.max(0, Math.floor(Number(stats[name]) || 0))
    return { done: count('successfulRequestCount'), failed: count('failedRequestCount') }
  },
  failure: (object) => textAt(objectAt(object, 'error') ?? {}, 'message'),
  readResult: (line) => ({ customId: textAt(line, 'key'), reply: objectAt(line, 'response') }),
  renamed: (line, modelVersion) => ({ ...line, response: { ...objectAt(line, 'response'), modelVersion } }),
  withModel: (body, model) => (body.model === undefined ? body : { ...body, model: `models/${model}` }),
  cancels: ':cancel',
  deleted: () => ({}),
  listed: new URLSearchParams({ pageSize: '100' }),
  readList(answer) {
    const token = textAt(answer, 'nextPageToken')
    const next = token === '' ? undefined : new URLSearchParams({ pageSize: '100', pageToken: token })
    return { objects: objectsIn(answer.operations), next }
  },
}

/** How the dialect of a call writes batches. */
export function formOf({ dialect }: { readonly dialect: Dialect }): BatchForm {
  if (dialect === 'drawing' || dialect === 'music') throw new Error(`${dialect} has no batches`)
  return batchForms[dialect]
}

export const batchForms: Readonly<Record<KeptBatch['dialect'], BatchForm>> = { openai, anthropic, gemini }

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : []
}

function ends(batches: readonly KeptBatch[]): JsonObject {
  return { first_id: batches[0]?.id ?? null, last_id: batches.at(-1)?.id ?? null }
}

function timeText(at: number): string {
  return new Date(at * 1000).toISOString()
}

function numberAt(object: JsonObject, name: string): number {
  const value = object[name]
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : 0
}

function limitIn(query: URLSearchParams, most: number, name = 'limit'): number {
  const limit = Number(query.get(name) ?? 20)
  return Number.isInteger(limit) && limit >= 1 ? Math.min(limit, most) : 20
}

/** The parameters of a query that are set, under the names here. */
function textIn(query: URLSearchParams, names: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, parameter]) => {
      const value = query.get(parameter)
      return value ? [[name, value]] : []
    }),
  )
}
