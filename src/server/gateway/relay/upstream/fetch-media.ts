import { BudgetExceeded, type BudgetLimits, type ByteBudget, type Share } from '../../../base/lib/bytes/byte-budget.ts'
import { imageType } from '../../../base/lib/bytes/image-type.ts'
import { fail } from '../../../base/lib/failure.ts'
import { fetchUntrusted, type UntrustedCall, type UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import { CallFailure, type Reply } from '../../../base/lib/net/upstream-http/exchange.ts'
import { setActiveTimeout } from '../../../base/lib/time/active-time.ts'
import type { Dialogue, MediaPart, Part, Turn } from '../../protocols/dialogue.ts'
import { type Base64Source, sourceOfBytes } from '../../protocols/media.ts'
import { arrayAt, isObject, type JsonObject, textAt } from '../../protocols/wire-format.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { UpstreamFailure } from './failure.ts'

const mb = 1024 * 1024

/** The parts that fetching media uses. */
interface MediaParts {
  readonly upstream: UpstreamAgents
  readonly mediaMemory: ByteBudget
}

/** Bytes of fetched media: 64 MB per request, 256 MB per node. */
export const mediaLimits: BudgetLimits = {
  shareBytesMax: 64 * mb,
  totalBytesMax: 256 * mb,
  readingBytesMax: 16 * mb,
  waitMs: 10_000,
}

const addressesMax = 20
const fileBytesMax = 20 * mb
/** Limit for all files of one request. */
const totalMs = 30_000
const fetchesAtOnce = 3
/** `retry-after` in seconds when there was no memory for the files. */
const busySeconds = 2

/** Fetches a file by its address and counts it in a share of the memory for media. Throws `CallFailure` or `BudgetExceeded`. */
export function fetchFile(
  agents: UpstreamAgents,
  share: Share,
  call: Omit<UntrustedCall, 'count' | 'allowHttp'>,
): Promise<Reply> {
  return fetchUntrusted(agents, { ...call, allowHttp: true, count: (bytes) => share.take(bytes) })
}

/** Runs the work for each item, three at a time. No item starts after an error. */
async function threeAtATime<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<void>): Promise<void> {
  const remaining = items.entries()
  let hasFailed = false
  const run = async () => {
    for (const [index, item] of remaining) {
      if (hasFailed) return
      await work(item, index)
    }
  }
  const runs = Array.from({ length: Math.min(fetchesAtOnce, items.length) }, run)
  await Promise.all(runs).catch((error: unknown) => {
    hasFailed = true
    throw error
  })
}

/**
 * The media that a request references by address, for upstreams that accept only bytes. Each file is fetched once for all attempts; the
 * first failure aborts the other fetches. Only public addresses are reached.
 */
export class RequestMedia {
  readonly #agents: UpstreamAgents
  readonly #share: Share
  readonly #call: Pick<ClientExchange, 'onAborted'>
  readonly #files = new Map<string, Base64Source>()
  #failure: unknown

  constructor(agents: UpstreamAgents, share: Share, call: Pick<ClientExchange, 'onAborted'>) {
    this.#agents = agents
    this.#share = share
    this.#call = call
  }

  /** Returns the files as base64. Throws `untranslatable` for a file that cannot be fetched, `server_busy` when there is no room for it. */
  async at(addresses: readonly string[]): Promise<ReadonlyMap<string, Base64Source>> {
    if (this.#failure !== undefined) throw this.#failure
    const wanted = new Set(addresses)
    if (wanted.size > addressesMax) refuse({ zh: `最多 ${addressesMax} 个地址`, en: `at most ${addressesMax} addresses` })
    const missing = [...wanted].filter((url) => !this.#files.has(url))
    if (missing.length > 0) await this.#fetch(missing)
    return this.#files
  }

  /** Frees the files. May be called twice. */
  close(): void {
    this.#files.clear()
    this.#share.release()
  }

  async #fetch(urls: readonly string[]): Promise<void> {
    const stop = new AbortController()
    const cancel = setActiveTimeout(totalMs, () => stop.abort())
    this.#call.onAborted(() => stop.abort())
    const replies: (Reply | undefined)[] = []
    try {
      await threeAtATime(urls, async (url, index) => {
        replies[index] = await this.#reply(url, stop.signal)
      })
      for (const [index, url] of urls.entries()) {
        const reply = replies[index]
        // The bytes can be garbage-collected once they are encoded.
        replies[index] = undefined
        if (reply) this.#files.set(url, sourceOfBytes(reply.body, String(reply.headers['content-type'] ?? '')))
      }
      this.#share.settle()
    } catch (error) {
      for (const reply of replies) reply?.discard()
      this.#failure = error
      this.close()
      throw error
    } finally {
      this.#call.onAborted(undefined)
      cancel()
      stop.abort()
    }
  }

  async #reply(url: string, signal: AbortSignal): Promise<Reply> {
    try {
      const reply = await fetchFile(this.#agents, this.#share, { url, sizeBytesMax: fileBytesMax, signal })
      if (reply.status !== 200 || reply.size === 0)
        refuse({ zh: `地址答复状态码 ${reply.status}`, en: `the address answered with status ${reply.status}` })
      return reply
    } catch (error) {
      if (error instanceof BudgetExceeded) return error.whose === 'share' ? refuse(tooLarge) : refuseForNow()
      if (!(error instanceof CallFailure)) throw error
      // The timeout was spent waiting for memory, not for the address.
      return error.kind === 'timeout' && this.#share.hasWaited ? refuseForNow() : refuse(error.text)
    }
  }
}

const tooLarge = {
  zh: `这些地址的文件总量超过 ${mediaLimits.shareBytesMax / mb} MB`,
  en: `the files at the addresses are larger than ${mediaLimits.shareBytesMax / mb} MB together`,
}

function refuse(reason: { zh: string; en: string }): never {
  fail('untranslatable', { field: 'url', reason })
}

function refuseForNow(): never {
  fail('server_busy', { retryAfter: busySeconds })
}

/**
 * Replaces addresses of media by their bytes, for upstreams that accept only bytes. Throws `untranslatable` for a file that cannot be
 * fetched, `server_busy` when there is no room for it.
 */
export async function inlineMedia(
  dialogue: Dialogue,
  kinds: readonly MediaPart['media'][],
  media: () => RequestMedia,
): Promise<Dialogue> {
  const wanted = dialogue.turns.flatMap((turn) => turn.parts.flatMap((part) => urlsIn(part, kinds)))
  if (wanted.length === 0) return dialogue

  const fetched = await media().at(wanted)
  const inlined = <Kind extends Part>(part: Kind): Kind => {
    if (part.kind === 'tool-result') return { ...part, parts: part.parts.map(inlined) }
    if (part.kind !== 'media' || part.source.kind !== 'url' || !kinds.includes(part.media)) return part
    const source = fetched.get(part.source.url)
    return source ? { ...part, source } : part
  }
  return { ...dialogue, turns: dialogue.turns.map((turn: Turn) => ({ ...turn, parts: turn.parts.map(inlined) })) }
}

/** The media of a request, shared by all of its attempts. */
export function mediaOf(
  { upstream, mediaMemory }: MediaParts,
  shared: { media?: RequestMedia },
  call: ClientExchange,
): RequestMedia {
  shared.media ??= new RequestMedia(upstream, mediaMemory.open(), call)
  return shared.media
}

function urlsIn(part: Part, kinds: readonly MediaPart['media'][]): string[] {
  if (part.kind === 'tool-result') return part.parts.flatMap((inner) => urlsIn(inner, kinds))
  return part.kind === 'media' && part.source.kind === 'url' && kinds.includes(part.media) && isWebUrl(part.source.url)
    ? [part.source.url]
    : []
}

/** Addresses in a vendor's own storage (`gs:`) are left to the writer of that format. */
function isWebUrl(url: string): boolean {
  return /^https?:/i.test(url)
}

/**
 * Replaces the addresses of images in a reply by their bytes. The addresses are untrusted: only public ones are reached. A file that cannot
 * be fetched or is not an image is left out and not charged. Throws an UpstreamFailure when no image is left.
 */
export async function inlineImages(app: MediaParts, reply: JsonObject): Promise<JsonObject> {
  const images = arrayAt(reply, 'data').filter(isObject)
  const sizeBytesMax = Math.floor(mediaLimits.shareBytesMax / Math.max(1, images.length))
  const share = app.mediaMemory.open()
  try {
    const fetched: (JsonObject | undefined)[] = []
    await threeAtATime(images, async (image, index) => {
      fetched[index] = await withBytes(app, share, image, sizeBytesMax)
    })
    const data = fetched.filter((image) => image !== undefined)
    if (data.length > 0) return { ...reply, data }
  } finally {
    share.release()
  }
  throw new UpstreamFailure('bad-reply', { facts: { message: 'its images could not be fetched' } })
}

async function withBytes(
  { upstream }: MediaParts,
  share: Share,
  image: JsonObject,
  sizeBytesMax: number,
): Promise<JsonObject | undefined> {
  const { url: _, ...rest } = image
  const url = textAt(image, 'url')
  if (url === '') return image
  try {
    const { status, body } = await fetchFile(upstream, share, { url, sizeBytesMax, timeoutMs: 60_000 })
    return status === 200 && imageType(body) ? { ...rest, b64_json: body.toString('base64') } : undefined
  } catch (error) {
    if (error instanceof CallFailure || error instanceof BudgetExceeded) return undefined
    throw error
  }
}
