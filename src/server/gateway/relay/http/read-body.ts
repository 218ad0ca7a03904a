import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { MIMEType, promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib'
import { ByteCollector } from '../../../base/lib/bytes/byte-collector.ts'
import { shapeOf } from '../../../base/lib/bytes/json-shape.ts'
import { type Form, readBoundary, readMultipart, spliceForm } from '../../../base/lib/bytes/multipart.ts'
import { spliceMembers, withoutRepeatedKeys } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { isHeavy, yieldToEventLoop, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import { isObject, type JsonObject, type PathFacts, type UploadedFile } from '../../protocols/wire-format.ts'

/** The body of a request: its unchanged bytes, and the object that they encode. */
export interface Body {
  readonly bytes: Buffer
  readonly json: JsonObject
  /** The fields of a form, which is forwarded as a form; absent for JSON. */
  readonly form?: SentForm
}

/** A request whose body is read once: that of an HTTP connection, or a `DetachedRequest`. */
export interface ReceivedRequest extends Readable {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
}

export const bodyLimitBytes = 32 * 1024 * 1024

type Limit = { readonly maxOutputLength: number }
type Inflate = (packed: Buffer, options: Limit) => Promise<Buffer>

const inflaters: ReadonlyMap<string, Inflate> = new Map([
  // Codex sends it.
  ['zstd', promisify<Buffer, Limit, Buffer>(zstdDecompress)],
  ['gzip', promisify<Buffer, Limit, Buffer>(gunzip)],
  ['x-gzip', promisify<Buffer, Limit, Buffer>(gunzip)],
  ['deflate', promisify<Buffer, Limit, Buffer>(inflate)],
  ['br', promisify<Buffer, Limit, Buffer>(brotliDecompress)],
])

/** Limits far above every real request; a body beyond them would take a parser seconds. */
const shapeMax = { depth: 100, parts: 250_000, entries: 2_000_000 } as const

/** Why a JSON body is refused. */
const reasons = {
  depth: { zh: `嵌套超过 ${shapeMax.depth} 层`, en: `nested deeper than ${shapeMax.depth} levels` },
  parts: { zh: '内容过多', en: 'it has too many parts' },
  empty: { zh: '内容为空', en: 'it is empty' },
  unparsed: { zh: '无法解析', en: 'it cannot be parsed' },
  noObject: { zh: '须为对象', en: 'it must be an object' },
} as const

/**
 * Reads a JSON body, inflated when the caller compressed it, without a byte order mark and with each key once: what is authorised
 * and priced is what is sent upstream. Throws `body_too_large` before buffering more than the limit, `encoding_unsupported`,
 * `bad_json`, or `bad_request` when the client disconnects.
 */
export function readBody(request: ReceivedRequest, limitBytes = bodyLimitBytes): Promise<Body> {
  const encoding = request.headers['content-encoding']
  const contentType = request.headers['content-type']
  return readBytes(request, limitBytes, (raw) => {
    const isUsual = encoding === undefined && contentType === 'application/json' && !isHeavy(raw.length)
    return isUsual ? readJson(raw) : readUnusual(raw, request, limitBytes)
  })
}

/** A body that is compressed, large, or not JSON. */
async function readUnusual(raw: Buffer, request: ReceivedRequest, limitBytes: number): Promise<Body> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  const inflated = encoding === 'identity' || encoding === '' ? raw : await inflateBytes(raw, encoding, limitBytes)
  const contentType = request.headers['content-type'] ?? ''
  if (isHeavy(inflated.length)) await yieldToEventLoop()
  if (isForm(contentType)) return { bytes: inflated, ...readForm(inflated, contentType) }

  if (!isHeavy(inflated.length)) return readJson(inflated)
  const bytes = withoutMark(inflated)
  const members = topMembersOf(bytes)
  const json = parseObject(await decodeInTurns(bytes))
  if (members === Object.keys(json).length) return { json, bytes }
  await yieldWithPriority()
  return { json, bytes: withoutRepeatedKeys(bytes) }
}

function readJson(sent: Buffer): Body {
  const bytes = withoutMark(sent)
  const members = topMembersOf(bytes)
  const json = parseObject(bytes.toString('utf8'))
  return { json, bytes: members === Object.keys(json).length ? bytes : withoutRepeatedKeys(bytes) }
}

/** The number of members of the object, including repeated ones. Throws `bad_json` for a body that would take a parser too long. */
function topMembersOf(bytes: Buffer): number {
  const shape = shapeOf(bytes, shapeMax)
  if (typeof shape === 'string') fail('bad_json', { reason: shape === 'depth' ? reasons.depth : reasons.parts })
  return shape.topMembers
}

/** Resolves in an iteration of the event loop of its own: UTF-8 beyond ASCII takes longer to decode than to parse. */
async function decodeInTurns(bytes: Buffer): Promise<string> {
  const decoder = new StringDecoder('utf8')
  let text = ''
  for (let at = 0; at < bytes.length; at += decodedAtOnce) {
    await yieldWithPriority()
    text += decoder.write(bytes.subarray(at, at + decodedAtOnce))
  }
  await yieldWithPriority()
  return text + decoder.end()
}

const decodedAtOnce = 4 * 1024 * 1024

function parseObject(text: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    fail('bad_json', { reason: text === '' ? reasons.empty : reasons.unparsed }, { cause })
  }
  if (!isObject(value)) fail('bad_json', { reason: reasons.noObject })
  return value
}

function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

/** Resolves with the result of `read` for the bytes. */
function readBytes(request: ReceivedRequest, limitBytes: number, read: (raw: Buffer) => Body | Promise<Body>): Promise<Body> {
  return new Promise((resolve, reject) => {
    const declared = Number(request.headers['content-length'] ?? 0)
    if (declared > limitBytes) fail('body_too_large', { limit: limitBytes })
    // A client that disconnected during authentication emits no further events.
    if (request.destroyed) fail('bad_request', { reason: 'the request was cut off' })
    const collected = new ByteCollector(declared)
    // Each of the events below is emitted once; `once` would allocate a wrapper.
    request.on('data', (chunk: Buffer) => {
      if (collected.size + chunk.length <= limitBytes) {
        collected.push(chunk)
        return
      }
      request.pause()
      request.removeAllListeners('data')
      reject(failure(() => fail('body_too_large', { limit: limitBytes })))
    })
    request.on('end', () => {
      try {
        resolve(read(collected.bytes()))
      } catch (error) {
        reject(error)
      }
    })
    request.on('error', (cause) => reject(failure(() => fail('bad_request', { reason: 'the request was cut off' }, { cause }))))
    request.on('close', () => {
      // Every request emits `close`, so the error is created only when the request was incomplete.
      if (!request.readableEnded) reject(failure(() => fail('bad_request', { reason: 'the request was cut off' })))
    })
  })
}

async function inflateBytes(raw: Buffer, encoding: string, limitBytes: number): Promise<Buffer> {
  const inflated = inflaters.get(encoding)
  if (!inflated) fail('encoding_unsupported', { encoding: encoding.slice(0, 50) })
  try {
    return await inflated(raw, { maxOutputLength: limitBytes })
  } catch (cause) {
    if (cause instanceof RangeError) fail('body_too_large', { limit: limitBytes })
    fail('bad_request', { reason: `the body is not valid ${encoding}` }, { cause })
  }
}

function failure(throwing: () => never): unknown {
  try {
    return throwing()
  } catch (error) {
    return error
  }
}

/** A multipart form. Its texts are the members of `json`; a repeated name is a list. Files are views of the body's bytes. */
interface SentForm extends Form {
  readonly contentType: string
  readonly files: readonly UploadedFile[]
}

/** Far beyond every real form; parsing very many parts blocks other requests. */
const formPartsMax = 1000

function isForm(contentType: string): boolean {
  return /^\s*multipart\/form-data\s*;/i.test(contentType)
}

/** Reads a form without copying its files. Throws `bad_request`. */
function readForm(bytes: Buffer, contentType: string): { json: JsonObject; form: SentForm } {
  const boundary = boundaryOf(contentType)
  const form = boundary === undefined ? 'malformed' : readMultipart(bytes, boundary, formPartsMax)
  if (form === 'too-many') fail('bad_request', { reason: `the form has more than ${formPartsMax} parts` })
  if (form === 'malformed') fail('bad_request', { reason: 'the form cannot be read' })

  const texts = new Map<string, string[]>()
  const files: UploadedFile[] = []
  for (const { name, filename, mediaType, body } of form.parts) {
    if (filename !== undefined) files.push({ field: name, name: filename, mediaType, bytes: body })
    else texts.set(name, [...(texts.get(name) ?? []), body.toString('utf8')])
  }
  const json = Object.fromEntries(Array.from(texts, ([field, values]) => [field, values.length === 1 ? values[0] : values]))
  // The header is rewritten, so that the upstream parses the form with the same boundary.
  const type = new MIMEType('multipart/form-data')
  type.params.set('boundary', form.boundary)
  return { json, form: { ...form, contentType: String(type), files } }
}

/** The form with these fields set or (undefined) removed; all others are unchanged. Throws `bad_request`. */
export function changedForm(bytes: Buffer, form: SentForm, changes: Readonly<Record<string, unknown>>): Buffer {
  const texts = Object.entries(changes).map(([name, value]) => [name, value === undefined ? undefined : String(value)])
  try {
    return spliceForm(bytes, form, Object.fromEntries(texts))
  } catch (cause) {
    if (cause instanceof RangeError) fail('bad_request', { reason: 'the boundary of the form stands in a field' }, { cause })
    throw cause
  }
}

function boundaryOf(contentType: string): string | undefined {
  try {
    return readBoundary(new MIMEType(contentType).params.get('boundary'))
  } catch {
    return undefined
  }
}

/** A request as its endpoint reads it. */
interface NamedRequest {
  readonly body: Body
  readonly fromPath?: PathFacts | undefined
}

/**
 * The request with the replacement of its model that `find` gives, in the body or in the path, and the model that it replaces; the
 * request itself if there is none.
 */
export function withReplacement(
  request: NamedRequest,
  find: (model: string) => string | undefined,
): NamedRequest & { readonly replaces?: string } {
  const { body, fromPath } = request
  const inBody = typeof body.json.model === 'string' ? body.json.model : undefined
  const asked = fromPath?.model ?? inBody
  const model = asked === undefined ? undefined : find(asked)
  if (asked === undefined || model === undefined) return request
  return {
    body: inBody === undefined ? body : withModel(body, model),
    fromPath: fromPath?.model === undefined ? fromPath : { ...fromPath, model },
    replaces: asked,
  }
}

function withModel(body: Body, model: string): Body {
  const { bytes, form, json } = body
  const changed = form ? changedForm(bytes, form, { model }) : spliceMembers(bytes, { model: JSON.stringify(model) })
  return { ...body, json: { ...json, model }, bytes: changed }
}
