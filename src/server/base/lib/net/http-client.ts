import { Resolver } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { setActiveTimeout } from '../time/active-time.ts'
import type { Connector } from './connect.ts'
import type { ProxyOf } from './environment-proxy.ts'
import { type AddressRules, guardedConnector } from './guarded-connect.ts'
import { innerAddress, isForbiddenForChannels, isPublicAddress } from './outgoing-url.ts'
import { parseUrl } from './parse-url.ts'
import { environmentConnector, proxiedConnector } from './proxy-connect.ts'
import { type Resolve, systemResolve } from './resolve-name.ts'
import { CallFailure, exchange, type Reply, type SmallRequest } from './upstream-http/exchange.ts'
import { UpstreamPool } from './upstream-http/pool.ts'

/**
 * All outgoing requests of the server go through this file. `UpstreamAgents` keeps the connections of the relay; `callConfigured` is
 * for small calls to an address that an admin has set; `fetchUntrusted` for an address that a user or an upstream has named. The call
 * site must choose knowingly. Redirects are never followed, but by `fetchUntrusted` after a new check.
 */
export interface Outgoing {
  readonly id: number
  /** The id of the key used, if a channel has several. */
  readonly keyId: number
  /** `https://host:port`, without a path. */
  readonly origin: string
  /** '' or a URL with http, https, socks5 or socks5h. It may hold credentials: never log it. */
  readonly proxy: string
  readonly connectTimeoutMs: number
}

export interface UpstreamSettings {
  readonly blockPrivate?: boolean
  /** The proxy of the environment, for all connections but those of channels with a proxy of their own. */
  readonly proxyOf?: ProxyOf | undefined
  /**
   * Replaceable in tests: the name resolution of channels, the trusted certificates, and the addresses that `fetchUntrusted` may reach.
   */
  readonly resolve?: Resolve
  readonly certificates?: string
  readonly untrusted?: UntrustedRules
}

export interface UntrustedRules extends AddressRules {
  allowsPort(port: number): boolean
}

interface KeptPool {
  readonly pool: UpstreamPool
  used: boolean
}

/** Each open stream uses one connection, and further requests wait: this bounds the streams of one channel on one node. */
const connectionsMax = 10_000
const idleSweepMs = 150_000

/** One pool of kept connections per channel, key, origin and proxy: two keys never share a socket. */
export class UpstreamAgents {
  readonly untrusted: UntrustedRules
  readonly #rules: AddressRules
  readonly #blocksPrivate: boolean
  readonly #proxyOf: ProxyOf | undefined
  readonly #pools = new Map<number, Map<string, KeptPool>>()
  readonly #sweeper: NodeJS.Timeout

  constructor(settings: UpstreamSettings = {}) {
    const { blockPrivate = false, proxyOf, resolve = systemResolve(), certificates, untrusted = publicInternet() } = settings
    this.untrusted = untrusted
    this.#blocksPrivate = blockPrivate
    this.#proxyOf = proxyOf
    this.#rules = {
      resolve,
      allows: (address) => !isForbiddenForChannels(address, { blockPrivate }),
      ...(certificates === undefined ? {} : { certificates }),
    }
    this.#sweeper = setInterval(() => this.sweep(), idleSweepMs).unref()
  }

  /** The pool of a channel. Deadlines for headers and body are the caller's: the pool itself sets none. */
  for(channel: Outgoing): UpstreamPool {
    const key = `${channel.keyId} ${channel.connectTimeoutMs} ${channel.origin} ${channel.proxy}`
    const kept = this.#pools.get(channel.id)?.get(key) ?? this.#keep(channel, key)
    kept.used = true
    return kept.pool
  }

  /** A pool for one call; the caller must destroy it. */
  open({ origin, ...way }: Omit<Outgoing, 'id' | 'keyId'>): UpstreamPool {
    return new UpstreamPool(origin, { connect: this.connector(way), connectionsMax: 1 })
  }

  /** Connection settings of a channel, for protocols other than HTTP. */
  connector({ proxy, connectTimeoutMs }: Pick<Outgoing, 'proxy' | 'connectTimeoutMs'>): Connector {
    if (proxy !== '') return proxiedConnector(proxy, this.#rules, connectTimeoutMs)
    return this.#connector(this.#rules, { timeoutMs: connectTimeoutMs, checksNames: this.#blocksPrivate })
  }

  /** Connections to addresses that a user or an upstream has named. A proxy is asked for checked addresses, never for a name. */
  untrustedConnector(timeoutMs: number): Connector {
    return this.#connector(this.untrusted, { timeoutMs, checksNames: true })
  }

  #connector(rules: AddressRules, settings: { readonly timeoutMs: number; readonly checksNames: boolean }): Connector {
    if (!this.#proxyOf) return guardedConnector(rules, settings.timeoutMs)
    // Whoever sets the environment may name any proxy.
    const toProxy = { ...this.#rules, allows: () => true }
    return environmentConnector({ proxyOf: this.#proxyOf, toProxy }, { rules, ...settings })
  }

  #keep(channel: Outgoing, key: string): KeptPool {
    const ofChannel = this.#pools.get(channel.id) ?? new Map<string, KeptPool>()
    const pool = new UpstreamPool(channel.origin, { connect: this.connector(channel), connectionsMax })
    const kept = { pool, used: true }
    this.#pools.set(channel.id, ofChannel.set(key, kept))
    return kept
  }

  /** Drops the connections of a channel that was changed or removed. Running requests are not aborted. */
  forget(channelId: number): void {
    for (const { pool } of this.#pools.get(channelId)?.values() ?? []) pool.close()
    this.#pools.delete(channelId)
  }

  /** Closes pools that were not requested since the last sweep. */
  sweep(): void {
    for (const [id, ofChannel] of this.#pools) {
      for (const [key, kept] of ofChannel) {
        if (!kept.used && kept.pool.running === 0) {
          kept.pool.close()
          ofChannel.delete(key)
        }
        kept.used = false
      }
      if (ofChannel.size === 0) this.#pools.delete(id)
    }
  }

  /** Number of pools that are kept open. */
  get size(): number {
    return [...this.#pools.values()].reduce((sum, ofChannel) => sum + ofChannel.size, 0)
  }

  /** Aborts running calls. */
  async close(): Promise<void> {
    clearInterval(this.#sweeper)
    const all = [...this.#pools.values()].flatMap((ofChannel) => [...ofChannel.values()])
    this.#pools.clear()
    await Promise.all(all.map(({ pool }) => pool.destroy()))
  }
}

interface ConfiguredCall extends SmallRequest {
  readonly url: string
  readonly proxy?: string
  /** Deadline of the whole call. */
  readonly timeoutMs: number
}

/**
 * A small buffered call to an address that an admin has set, which may be private. Any status is a result; a redirect is not followed.
 * Throws `CallFailure`. Not for the relay: each call makes its own connection.
 */
export async function callConfigured(agents: UpstreamAgents, call: ConfiguredCall): Promise<Reply> {
  const url = readUrl(call.url)
  const pool = agents.open({ origin: url.origin, proxy: call.proxy ?? '', connectTimeoutMs: call.timeoutMs })
  return withDeadline(call, (signal) => exchange(pool, url, call, signal))
}

export interface UntrustedCall extends SmallRequest {
  readonly url: string
  /** Allows http as well as https. */
  readonly allowHttp?: boolean
  /** How many redirects are followed; only GET follows any. */
  readonly redirectsMax?: number
  /** Deadline of the whole call, redirects included. */
  readonly timeoutMs?: number
  /** Aborts the call, as its deadline does. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Fetches from an address that a user or an upstream has named: only public addresses and web ports, checked at connect time and
 * again for each redirect. Headers are not sent to the target of a redirect. Throws `CallFailure`.
 */
export async function fetchUntrusted(agents: UpstreamAgents, call: UntrustedCall): Promise<Reply> {
  const { timeoutMs = 15_000, redirectsMax = 3, allowHttp = false } = call
  const rules = agents.untrusted

  return withDeadline({ timeoutMs, signal: call.signal }, async (signal) => {
    let url = readUntrustedUrl(call.url, rules, allowHttp)
    let headers = call.headers ?? {}
    for (let hop = 0; hop <= redirectsMax; hop++) {
      const pool = new UpstreamPool(url.origin, { connect: agents.untrustedConnector(3000), connectionsMax: 1 })
      const reply = await exchange(pool, url, { ...call, headers, silenceMsMax: 5000 }, signal)
      const location = reply.headers.location
      const moved = [301, 302, 303, 307, 308].includes(reply.status) && typeof location === 'string'
      if (!moved || (call.method ?? 'GET') !== 'GET') return reply

      const next = parseUrl(location, url.href)?.href ?? ''
      url = readUntrustedUrl(next, rules, allowHttp && url.protocol === 'http:')
      headers = {}
    }
    throw new CallFailure('too_many_redirects')
  })
}

/**
 * A pool for one read from an address that a user or an upstream has named, checked as by `fetchUntrusted`; the caller must destroy
 * it, and check redirects in the same way. Throws `CallFailure`.
 */
export function openUntrusted(agents: UpstreamAgents, address: string): { readonly url: URL; readonly pool: UpstreamPool } {
  const url = readUntrustedUrl(address, agents.untrusted, true)
  return { url, pool: new UpstreamPool(url.origin, { connect: agents.untrustedConnector(10_000), connectionsMax: 1 }) }
}

/**
 * The public internet: global addresses that are not this machine's own, looked up by DNS alone, never in the hosts file. `servers`
 * are the name servers used in place of those of the system.
 */
export function publicInternet(servers?: readonly string[]): UntrustedRules {
  const ports = new Set([80, 443, 8080, 8443])
  const resolver = new Resolver({ timeout: 3000, tries: 1 })
  if (servers) resolver.setServers(servers)
  const own = () => Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))

  return {
    allowsPort: (port) => ports.has(port),
    allows: (address) => isPublicAddress(address) && !own().includes(innerAddress(address) ?? address),
    async resolve(hostname) {
      const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
      if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
      const all = (result: typeof four, family: number) =>
        result.status === 'fulfilled' ? result.value.map((address) => ({ address, family })) : []
      return [...all(four, 4), ...all(six, 6)]
    },
  }
}

async function withDeadline<Value>(
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const cancel = setActiveTimeout(timeoutMs, abort)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await work(controller.signal)
  } finally {
    cancel()
    signal?.removeEventListener('abort', abort)
  }
}

function readUrl(text: string): URL {
  const url = parseUrl(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') throw new CallFailure('bad_url')
  return url
}

function readUntrustedUrl(text: string, rules: UntrustedRules, allowHttp: boolean): URL {
  if (text.length > 2000) throw new CallFailure('bad_url')
  const url = readUrl(text)
  if (url.protocol === 'http:' && !allowHttp) throw new CallFailure('bad_url')
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80)
  if (!rules.allowsPort(port)) throw new CallFailure('unreachable')
  return url
}
