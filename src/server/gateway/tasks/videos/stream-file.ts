import { AppError } from '../../../base/lib/failure.ts'
import { openUntrusted } from '../../../base/lib/net/http-client.ts'
import type { ReplyHandler, RequestController } from '../../../base/lib/net/upstream-http/connection.ts'
import { CallFailure } from '../../../base/lib/net/upstream-http/exchange.ts'
import type { UpstreamPool } from '../../../base/lib/net/upstream-http/pool.ts'
import { setActiveTimeout } from '../../../base/lib/time/active-time.ts'
import type { RunningChannel } from '../../channels/index/model-index.ts'
import type { ClientExchange } from '../../relay/http/client-exchange.ts'
import type { RelayParts } from '../../relay/relay-parts.ts'
import { outgoingTo } from '../../relay/upstream/request-target.ts'

interface FileSource {
  /** Our id of the video, for the name of the file and for errors. */
  readonly id: string
  readonly url: string
  /** Set for an address that needs the key of the channel, which is sent to it alone, never to the target of a redirect. */
  readonly keyHeaders: Readonly<Record<string, string>> | undefined
  readonly channel: RunningChannel
  /** A checked `Range`, or ''. */
  readonly range: string
}

const redirectsMax = 3
const silenceMsMax = 30_000

/**
 * Streams a file of a vendor to the caller, with back-pressure both ways: a slow reader slows the vendor, and no more than the pieces
 * in flight are in memory. Addresses without the channel's key must be on the public internet. Throws `video_gone` when the vendor
 * has the file no longer, `upstream_failed` otherwise.
 */
export async function streamFile(
  app: Pick<RelayParts, 'now' | 'upstream'>,
  call: ClientExchange,
  source: FileSource,
): Promise<void> {
  let next: { url: string; keyHeaders: FileSource['keyHeaders'] } = source
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const location = await readOnce(app, call, { ...source, ...next })
    if (location === undefined) return
    next = { url: URL.parse(location, next.url)?.href ?? '', keyHeaders: undefined }
  }
  refuse(new CallFailure('too_many_redirects'))
}

/** Resolves with the target of a redirect, or with undefined when the file is sent. */
async function readOnce(
  app: Pick<RelayParts, 'now' | 'upstream'>,
  call: ClientExchange,
  source: FileSource,
): Promise<string | undefined> {
  const opened = open(app, source)
  const { url, pool } = opened
  const headers = {
    accept: '*/*',
    'accept-encoding': 'identity',
    'user-agent': 'sluice',
    ...source.keyHeaders,
    ...(source.range === '' ? {} : { range: source.range }),
  }
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      const handler = new FileReply(call, { id: source.id, now: app.now, resolve, reject })
      pool.dispatch({ method: 'GET', path: `${url.pathname}${url.search}`, headers }, handler)
    })
  } catch (error) {
    if (error instanceof AppError) throw error
    return refuse(error)
  } finally {
    call.onAborted(undefined)
    if (opened.isOwn) void pool.destroy()
  }
}

function open(
  app: Pick<RelayParts, 'upstream'>,
  { url: text, keyHeaders, channel }: FileSource,
): { url: URL; pool: UpstreamPool; isOwn: boolean } {
  try {
    if (!keyHeaders) return { ...openUntrusted(app.upstream, text), isOwn: true }
    const url = new URL(text)
    return { url, pool: app.upstream.for(outgoingTo(channel, url)), isOwn: false }
  } catch (error) {
    return refuse(error)
  }
}

function refuse(cause: unknown): never {
  const reason = cause instanceof CallFailure ? cause.text : { zh: '无法取得视频文件', en: 'the file of the clip cannot be read' }
  throw new AppError('upstream_failed', { reason }, { cause })
}

interface FileOutcome {
  readonly id: string
  readonly now: () => number
  resolve(location: string | undefined): void
  reject(error: unknown): void
}

/** Writes the pieces of a file to the caller as they arrive. */
class FileReply implements ReplyHandler {
  readonly #call: ClientExchange
  readonly #outcome: FileOutcome
  #cancelSilence = () => {}

  constructor(call: ClientExchange, outcome: FileOutcome) {
    this.#call = call
    this.#outcome = outcome
  }

  onRequestStart(controller: RequestController): void {
    this.#limitSilence(controller)
    this.#call.onAborted(() => controller.abort(new AppError('bad_request', { reason: 'the request was cut off' })))
  }

  onResponseStart(
    controller: RequestController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    const { location } = headers
    if (status >= 300 && status < 400 && typeof location === 'string') {
      this.#outcome.resolve(location)
      controller.abort(new Error('It was redirected'))
      return
    }
    if (status !== 200 && status !== 206 && status !== 416) {
      this.#outcome.reject(this.#failureOf(status))
      controller.abort(new Error(`The vendor answered with status ${status}`))
      return
    }
    const passed = ['content-length', 'content-range', 'accept-ranges', 'last-modified', 'etag']
    const kept = passed.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []))
    this.#call.beginFile(status, {
      ...fileHeaders(this.#outcome.id, String(headers['content-type'] ?? '')),
      ...Object.fromEntries(kept),
    })
    this.#limitSilence(controller)
  }

  onResponseData(controller: RequestController, bytes: Buffer): void {
    this.#limitSilence(controller)
    if (this.#call.write(bytes.toString('latin1'), this.#outcome.now())) return
    // The caller may take as long as it likes.
    this.#cancelSilence()
    controller.pause()
    this.#call.whenDrained(() => {
      controller.resume()
      this.#limitSilence(controller)
    })
  }

  onResponseEnd(): void {
    this.#cancelSilence()
    if (this.#call.isCommitted) this.#call.end('')
    this.#outcome.resolve(undefined)
  }

  onResponseError(_controller: RequestController, error: Error): void {
    this.#cancelSilence()
    this.#outcome.reject(error)
  }

  #failureOf(status: number): AppError {
    if (status === 403 || status === 404 || status === 410) return new AppError('video_gone', { id: this.#outcome.id })
    const reason = { zh: `地址答复状态码 ${status}`, en: `the address answered with status ${status}` }
    return new AppError('upstream_failed', { reason })
  }

  #limitSilence(controller: RequestController): void {
    this.#cancelSilence()
    this.#cancelSilence = setActiveTimeout(silenceMsMax, () => controller.abort(new CallFailure('timeout')))
  }
}

/** The file of a clip from memory, or the range of it. */
export function sendBytes(call: ClientExchange, { id, range, bytes }: { id: string; range: string; bytes: Buffer }): void {
  const part = range === '' ? undefined : partOf(range, bytes.length)
  const headers = { ...fileHeaders(id, 'video/mp4'), 'accept-ranges': 'bytes' }
  if (part === 'unsatisfiable') {
    call.beginFile(416, { ...headers, 'content-range': `bytes */${bytes.length}`, 'content-length': '0' })
    call.end('')
    return
  }
  const { from, to } = part ?? { from: 0, to: bytes.length - 1 }
  const sent = bytes.subarray(from, to + 1)
  const ofRange: Record<string, string> = part ? { 'content-range': `bytes ${from}-${to}/${bytes.length}` } : {}
  call.beginFile(part ? 206 : 200, { ...headers, ...ofRange, 'content-length': String(sent.length) })
  call.end(sent.toString('latin1'))
}

/** The first and last byte of a checked range. */
function partOf(range: string, size: number): { from: number; to: number } | 'unsatisfiable' {
  const [start = '', end = ''] = range.slice('bytes='.length).split('-')
  const from = start === '' ? Math.max(0, size - Number(end)) : Number(start)
  const to = start === '' || end === '' ? size - 1 : Math.min(size - 1, Number(end))
  return from > to || size === 0 ? 'unsatisfiable' : { from, to }
}

/** A clip is shown as a clip and as nothing else, whatever the vendor says it is. */
function fileHeaders(id: string, type: string): Record<string, string> {
  return {
    'content-type': /^video\/[\w.+-]{1,40}$/.test(type) ? type : 'video/mp4',
    'content-disposition': `inline; filename="${id.replace(/\W/g, '')}.mp4"`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'cross-origin',
    'cache-control': 'private, max-age=3600',
  }
}
