import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { httpUpstream } from './stage.ts'

type Json = Record<string, unknown>

interface VendorFile {
  readonly key: string
  /** As it was uploaded; that of a file of the vendor's is made of its id. */
  readonly name?: string
  readonly purpose: string
  readonly bytes: Buffer
}

/** A batch as a simulated vendor has it. */
export interface VendorBatch {
  readonly id: string
  readonly key: string
  readonly shape: 'openai' | 'anthropic' | 'gemini'
  readonly asked: Json
  /** The requests: custom id and body. */
  readonly requests: readonly { readonly customId: string; readonly body: Json }[]
  readonly createdAt: number
  status: string
  output: string
  error: string
  /** Results of Messages, as lines. */
  results: string
  /** Results of Gemini, in the order of the requests. */
  inline: readonly Json[]
}

interface Ending {
  readonly status?: 'completed' | 'failed' | 'expired' | 'cancelled'
  /** The reply to a request; undefined for one that has failed or did not run. */
  reply(body: Json, customId: string): Json | undefined
}

/**
 * A vendor that stores files and runs batches by the rules of OpenAI and Anthropic: a file and a batch are known only to the key that made
 * them, a batch runs until `end`, results come in another order than the requests, and failed ones are apart or marked.
 */
export async function batchVendor() {
  const files = new Map<string, VendorFile>()
  const batches = new Map<string, VendorBatch>()
  const state = {
    /** Orders are taken, and their answers lost. */
    losesAnswers: false,
    /** Orders are refused with this status. */
    refuses: 0,
    /** Called before an order is answered, before any other answer, and after half of some results were sent. */
    onOrder: (_batch: VendorBatch) => {},
    onHalf: () => {},
    pageSize: 100,
  }

  const url = await httpUpstream((request, response) => void answer(request, response).catch(() => response.destroy()))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const bytes = await buffer(request)
    const { pathname: path, searchParams: query } = new URL(request.url ?? '/', 'http://vendor')
    const { headers, method } = request
    const key = String(headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization ?? '').replace('Bearer ', '')
    const send = (status: number, object: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(object))
    }
    const sendLines = async (text: string) => {
      const at = Math.floor(text.length / 2)
      response.writeHead(200, { 'content-type': 'application/x-jsonl' })
      response.write(text.slice(0, at))
      state.onHalf()
      await new Promise((resolve) => setImmediate(resolve))
      response.end(text.slice(at))
    }
    const unknown = () => send(404, { type: 'error', error: { type: 'not_found_error', message: 'No such object' } })
    const order = (batch: VendorBatch) => {
      batches.set(batch.id, batch)
      state.onOrder(batch)
      if (state.losesAnswers) response.destroy()
      else send(200, show(batch))
    }
    const page = (shape: VendorBatch['shape'], after: string | null) => {
      const own = [...batches.values()].filter((batch) => batch.key === key && batch.shape === shape).reverse()
      const from = after === null ? 0 : own.findIndex(({ id }) => id === after) + 1
      const data = own.slice(from, from + state.pageSize)
      return { object: 'list', data: data.map(show), has_more: from + data.length < own.length, last_id: data.at(-1)?.id ?? null }
    }

    if (path === '/v1/files' && method === 'POST') {
      const form = await new Response(bytes, { headers: { 'content-type': headers['content-type'] ?? '' } }).formData()
      const id = newId('file-vendor')
      const file = form.get('file') as File
      files.set(id, { key, name: file.name, purpose: String(form.get('purpose')), bytes: Buffer.from(await file.arrayBuffer()) })
      return send(200, fileObject(id))
    }
    const [, fileId = '', part] = /^\/v1\/files\/([\w-]+)(\/content)?$/.exec(path) ?? []
    if (fileId !== '') {
      const file = files.get(fileId)
      if (file?.key !== key) return unknown()
      if (method === 'DELETE') {
        files.delete(fileId)
        return send(200, { id: fileId, deleted: true })
      }
      return part ? sendLines(file.bytes.toString()) : send(200, fileObject(fileId))
    }
    if (path === '/v1/batches' && method === 'POST') {
      const asked = JSON.parse(bytes.toString()) as Json
      const file = files.get(String(asked.input_file_id))
      if (state.refuses > 0 || file?.key !== key || file.purpose !== 'batch')
        return send(state.refuses || 400, { error: { message: 'the order is not taken', type: 'invalid_request_error' } })
      const lines = file.bytes
        .toString()
        .split('\n')
        .filter((line) => line.trim() !== '')
      const requests = lines.map((line) => {
        const { custom_id, body } = JSON.parse(line) as { custom_id: string; body: Json }
        return { customId: custom_id, body }
      })
      return order(newBatch({ shape: 'openai', key, asked, requests }))
    }
    if (path === '/v1/messages/batches' && method === 'POST') {
      const asked = JSON.parse(bytes.toString()) as { requests: { custom_id: string; params: Json }[] }
      if (state.refuses > 0)
        return send(state.refuses, { type: 'error', error: { type: 'invalid_request_error', message: 'no' } })
      const requests = asked.requests.map(({ custom_id, params }) => ({ customId: custom_id, body: params }))
      return order(newBatch({ shape: 'anthropic', key, asked, requests }))
    }
    const [, model] = /^\/v1beta\/models\/([\w.-]+):batchGenerateContent$/.exec(path) ?? []
    if (model !== undefined) {
      const asked = (JSON.parse(bytes.toString()) as { batch: Json }).batch
      const { fileName, requests: inline } = asked.inputConfig as { fileName?: string; requests?: { requests: Json[] } }
      const lines = (files.get(fileName?.replace('files/', '') ?? '')?.bytes.toString() ?? '')
        .split('\n')
        .filter((line) => line !== '')
      const given = inline ? inline.requests : lines.map((line) => JSON.parse(line) as Json)
      const requests = given.map(({ key: name = '', request: body }) => ({ customId: String(name), body: body as Json }))
      return order(newBatch({ shape: 'gemini', key, asked: { ...asked, model }, requests }))
    }
    if (path === '/v1beta/batches') {
      const { data, has_more, last_id } = page('gemini', query.get('pageToken'))
      return send(200, { operations: data, ...(has_more ? { nextPageToken: last_id } : {}) })
    }
    const [, download] = /^\/v1beta\/files\/([\w-]+):download$/.exec(path) ?? []
    if (download !== undefined) {
      const file = files.get(download)
      return file?.key === key ? sendLines(file.bytes.toString()) : unknown()
    }
    if (path === '/v1/batches') return send(200, page('openai', query.get('after')))
    if (path === '/v1/messages/batches') return send(200, page('anthropic', query.get('after_id')))
    const [, id = '', action] = /^\/v1(?:beta)?\/(?:messages\/)?batches\/(\w+)(?:[/:](\w+))?$/.exec(path) ?? []
    const batch = batches.get(id)
    if (batch?.key !== key) return unknown()
    if (method === 'DELETE') {
      batches.delete(id)
      return send(200, batch.shape === 'gemini' ? {} : { id, type: 'message_batch_deleted' })
    }
    if (action === 'cancel' && batch.shape === 'gemini') return send(200, {})
    if (action === 'cancel') batch.status = batch.shape === 'openai' ? 'cancelling' : 'canceling'
    if (action === 'results') return batch.status === 'ended' ? sendLines(batch.results) : unknown()
    send(200, show(batch))
  }

  const fileObject = (id: string) => {
    const { bytes, purpose, name = `${id}.jsonl` } = files.get(id) ?? { bytes: Buffer.alloc(0), purpose: '' }
    return { id, object: 'file', bytes: bytes.length, created_at: 1, filename: name, purpose, status: 'processed' }
  }

  /** Ends a batch: what ran has replies, the rest has failed or did not run. */
  const end = (batch: VendorBatch, { status = 'completed', reply }: Ending) => {
    const turned = [...batch.requests].reverse()
    const replies = turned.map(({ customId, body }) => ({ customId, reply: reply(body, customId) }))
    if (batch.shape === 'anthropic') {
      batch.status = 'ended'
      batch.results = linesOf(
        replies.map(({ customId, reply: message }) => ({
          custom_id: customId,
          result: message ? { type: 'succeeded', message } : { type: status === 'cancelled' ? 'canceled' : 'errored', error: {} },
        })),
      )
      return
    }
    if (batch.shape === 'gemini') {
      batch.status = { completed: 'SUCCEEDED', failed: 'FAILED', expired: 'EXPIRED', cancelled: 'CANCELLED' }[status]
      const results = [...replies].reverse().map(({ customId, reply: response }) => ({
        ...(customId === '' ? {} : { key: customId }),
        ...(response ? { response } : { error: { code: 13, message: 'failed' } }),
      }))
      if (batch.requests.every(({ customId }) => customId === '')) batch.inline = results
      else {
        batch.output = newId('batch-')
        files.set(batch.output, { key: batch.key, purpose: '', bytes: Buffer.from(linesOf(results)) })
      }
      return
    }
    batch.status = status
    const keep = (rows: readonly Json[]) => {
      if (rows.length === 0) return ''
      const id = newId('file-vendor')
      files.set(id, { key: batch.key, purpose: 'batch_output', bytes: Buffer.from(linesOf(rows)) })
      return id
    }
    const ran = replies.filter(({ reply: body }) => body)
    const failed = replies.filter(({ reply: body }) => !body)
    const response = (body: Json | undefined, code: number) => ({ status_code: code, request_id: newId('req'), body })
    batch.output = keep(
      ran.map(({ customId, reply: body }) => ({ custom_id: customId, response: response(body, 200), error: null })),
    )
    batch.error = keep(failed.map(({ customId }) => ({ custom_id: customId, response: response({}, 400), error: null })))
  }

  return { url, files, batches, state, end, only: () => [...batches.values()].at(-1) as VendorBatch }
}

function newBatch(more: Pick<VendorBatch, 'shape' | 'key' | 'asked' | 'requests'>): VendorBatch {
  const { shape } = more
  const prefix = { openai: 'batch_vendor', anthropic: 'msgbatch_vendor', gemini: 'vendor' }[shape]
  const createdAt = Math.floor(Date.now() / 1000)
  const status = shape === 'gemini' ? 'RUNNING' : 'in_progress'
  return { ...more, id: newId(prefix), createdAt, output: '', error: '', results: '', inline: [], status }
}

function show(batch: VendorBatch): Json {
  const { id, asked, status, createdAt, requests } = batch
  const isEnded = !['in_progress', 'cancelling', 'canceling', 'RUNNING'].includes(status)
  if (batch.shape === 'gemini') {
    const name = `batches/${id}`
    const results =
      batch.output === '' ? { inlinedResponses: { inlinedResponses: batch.inline } } : { responsesFile: `files/${batch.output}` }
    const metadata = {
      ...{ '@type': 'x', name, displayName: asked.displayName, model: `models/${asked.model}`, state: `BATCH_STATE_${status}` },
      ...{ createTime: new Date(createdAt * 1000).toISOString(), inputConfig: asked.inputConfig },
      batchStats: { requestCount: String(requests.length) },
    }
    return isEnded ? { name, metadata: { ...metadata, output: results }, done: true, response: results } : { name, metadata }
  }
  if (batch.shape === 'anthropic') {
    const done = isEnded ? requests.length : 0
    return {
      ...{ id, type: 'message_batch', processing_status: status, created_at: new Date(createdAt * 1000).toISOString() },
      ...{ ended_at: isEnded ? new Date().toISOString() : null, expires_at: new Date((createdAt + 86_400) * 1000).toISOString() },
      ...{ archived_at: null, cancel_initiated_at: null },
      request_counts: { processing: requests.length - done, succeeded: done, errored: 0, canceled: 0, expired: 0 },
      results_url: isEnded ? `https://vendor.example/v1/messages/batches/${id}/results` : null,
    }
  }
  return {
    ...{ id, object: 'batch', endpoint: asked.endpoint, errors: null, input_file_id: asked.input_file_id },
    ...{ completion_window: asked.completion_window, status, metadata: asked.metadata, created_at: createdAt },
    ...{ output_file_id: batch.output || null, error_file_id: batch.error || null },
    request_counts: { total: requests.length, completed: isEnded ? requests.length : 0, failed: 0 },
  }
}

function linesOf(rows: readonly Json[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('')
}

function newId(prefix: string): string {
  return `${prefix}${randomBytes(6).toString('hex')}`
}
