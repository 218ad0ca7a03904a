import { setActiveTimeout } from '../../lib/active-time.ts'
import { BudgetExceeded, type BudgetLimits, type Share } from '../../lib/byte-budget.ts'
import { fail } from '../../lib/failure.ts'
import { CallFailure, fetchUntrusted, type Reply, type UntrustedCall, type UpstreamAgents } from '../../lib/http-client.ts'
import type { Base64Source } from '../../protocols/media.ts'
import { sourceOfBytes } from '../../protocols/media.ts'
import type { ClientExchange } from '../http/client-exchange.ts'

const mb = 1024 * 1024

/** Bytes of fetched media: of one request 64 MB, of a node 256 MB. */
export const mediaLimits: BudgetLimits = {
  shareBytesMax: 64 * mb,
  totalBytesMax: 256 * mb,
  readingBytesMax: 16 * mb,
  waitMs: 10_000,
}

const addressesMax = 20
const fileBytesMax = 20 * mb
/** For all files of a request. */
const totalMs = 30_000
const fetchesAtOnce = 3
/** When a caller should come again for whose files there was no room. */
const busySeconds = 2

/** Fetches what somebody has named by address, counted in a share of the memory for media. Throws `CallFailure` or `BudgetExceeded`. */
export function fetchFile(
  agents: UpstreamAgents,
  share: Share,
  call: Omit<UntrustedCall, 'count' | 'allowHttp'>,
): Promise<Reply> {
  return fetchUntrusted(agents, { ...call, allowHttp: true, count: (bytes) => share.take(bytes) })
}

/** Runs the work for each item, three at a time. After an error no more is begun. */
export async function threeAtATime<Item>(
  items: readonly Item[],
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  const left = items.entries()
  let hasFailed = false
  const run = async () => {
    for (const [index, item] of left) {
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
 * The media that a request names by address, for upstreams that only take bytes. Each is fetched once, whatever number of attempts wants
 * it; of several that cannot all be had, the first failure ends the others. Only public addresses are reached.
 */
export class RequestMedia {
  readonly #agents: UpstreamAgents
  readonly #share: Share
  readonly #call: Pick<ClientExchange, 'whenOver'>
  readonly #files = new Map<string, Base64Source>()
  #failure: unknown

  constructor(agents: UpstreamAgents, share: Share, call: Pick<ClientExchange, 'whenOver'>) {
    this.#agents = agents
    this.#share = share
    this.#call = call
  }

  /** What stands at the addresses, as base64. Throws `untranslatable` for what cannot be had, `server_busy` when there is no room for it. */
  async at(addresses: readonly string[]): Promise<ReadonlyMap<string, Base64Source>> {
    if (this.#failure !== undefined) throw this.#failure
    const wanted = new Set(addresses)
    if (wanted.size > addressesMax) refuse({ zh: `最多 ${addressesMax} 个地址`, en: `at most ${addressesMax} addresses` })
    const missing = [...wanted].filter((url) => !this.#files.has(url))
    if (missing.length > 0) await this.#fetch(missing)
    return this.#files
  }

  /** Forgets the files. May be called twice. */
  close(): void {
    this.#files.clear()
    this.#share.release()
  }

  async #fetch(urls: readonly string[]): Promise<void> {
    const stop = new AbortController()
    const cancel = setActiveTimeout(totalMs, () => stop.abort())
    this.#call.whenOver(() => stop.abort())
    try {
      const replies: (Reply | undefined)[] = []
      await threeAtATime(urls, async (url, index) => {
        replies[index] = await this.#reply(url, stop.signal)
      })
      for (const [index, url] of urls.entries()) {
        const reply = replies[index]
        // The bytes are garbage as soon as their text is made.
        replies[index] = undefined
        if (reply) this.#files.set(url, sourceOfBytes(reply.body, String(reply.headers['content-type'] ?? '')))
      }
      this.#share.settle()
    } catch (error) {
      this.#failure = error
      this.close()
      throw error
    } finally {
      this.#call.whenOver(undefined)
      cancel()
      stop.abort()
    }
  }

  async #reply(url: string, signal: AbortSignal): Promise<Reply> {
    try {
      const reply = await fetchFile(this.#agents, this.#share, { url, sizeBytesMax: fileBytesMax, signal })
      if (reply.status !== 200 || reply.body.length === 0)
        refuse({ zh: `地址答复状态码 ${reply.status}`, en: `the address answered with status ${reply.status}` })
      return reply
    } catch (error) {
      if (error instanceof BudgetExceeded) return error.whose === 'share' ? refuse(tooLarge) : refuseForNow()
      if (!(error instanceof CallFailure)) throw error
      // The time was spent waiting for room, not for the address.
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
