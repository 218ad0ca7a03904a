import { request } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { messageOf } from '../failure.ts'
import { setActiveTimeout } from '../time/active-time.ts'
import { type Connector, type ConnectTarget, newConnector } from './connect.ts'
import type { ProxyOf } from './environment-proxy.ts'
import { AddressRefused, type AddressRules, guardedConnector } from './guarded-connect.ts'
import { literalHost } from './outgoing-url.ts'
import { isProxyUrl, proxyPort } from './parse-url.ts'
import { requestSocks5 } from './socks5.ts'

/** What a proxy did instead of connecting. The message names it by host and port, never with its login, and may be shown to admins. */
class ProxyFailure extends Error {
  readonly code = 'PROXY_FAILED'

  constructor(proxy: URL, did: string, cause?: unknown) {
    super(`the proxy at ${proxy.hostname}:${proxyPort(proxy)} ${did}`, { cause })
    this.name = 'ProxyFailure'
  }
}

/** The failure of a proxy that has caused an error. */
export function proxyFailureIn(error: unknown): ProxyFailure | undefined {
  if (error instanceof ProxyFailure) return error
  return error instanceof Error ? proxyFailureIn(error.cause) : undefined
}

/**
 * Connections through the proxy of a channel: http(s) by CONNECT, socks5. The proxy's own address obeys the same rules. A target that
 * is a name is looked up by the proxy, so that its addresses cannot be judged here; a literal one is.
 */
export function proxiedConnector(proxy: string, rules: AddressRules, timeoutMs: number): Connector {
  if (!isProxyUrl(proxy)) return (_target, callback) => callback(new Error('The address of the proxy is invalid'), null)
  return tunnelConnector(new URL(proxy), guardedConnector(rules, timeoutMs), { rules, timeoutMs, checksNames: false })
}

interface EnvironmentProxy {
  readonly proxyOf: ProxyOf
  /** The rules by which the proxy itself is reached. */
  readonly toProxy: AddressRules
}

interface TunnelSettings {
  readonly rules: AddressRules
  /** Deadline of each step: reaching the proxy, its answer, and TLS with the target. */
  readonly timeoutMs: number
  /**
   * A name is looked up here, and the proxy is asked for its allowed addresses: the rules hold for what is reached. Otherwise it is asked for
   * the name.
   */
  readonly checksNames: boolean
}

/** Connections through the proxy that the environment of the server names for a target; direct ones where it names none. */
export function environmentConnector({ proxyOf, toProxy }: EnvironmentProxy, settings: TunnelSettings): Connector {
  const { rules, timeoutMs } = settings
  const direct = guardedConnector(rules, timeoutMs)
  const connect = guardedConnector(toProxy, timeoutMs)
  const tunnels = new Map<string, Connector>()
  const through = (proxy: string) => {
    const tunnel = tunnels.get(proxy) ?? tunnelConnector(new URL(proxy), connect, settings)
    tunnels.set(proxy, tunnel)
    return tunnel
  }
  return (target, callback) => {
    const proxy = proxyOf(target)
    if (proxy === undefined) direct(target, callback)
    else through(proxy)(target, callback)
  }
}

/** Opens a connection to a proxy, and asks it for nothing. */
export function reachProxy(proxy: URL, connect: Connector): Promise<Socket> {
  const protocol = proxy.protocol === 'https:' ? 'https:' : 'http:'
  return new Promise((resolve, reject) => {
    connect({ hostname: literalHost(proxy.hostname), port: proxyPort(proxy), protocol }, (...[error, socket]) => {
      if (!error) return resolve(socket)
      // The error code of the proxy must not be mistaken for one of the target.
      reject(error instanceof AddressRefused ? error : new ProxyFailure(proxy, `could not be reached (${codeOf(error)})`, error))
    })
  })
}

function tunnelConnector(proxy: URL, toProxy: Connector, { rules, timeoutMs, checksNames }: TunnelSettings): Connector {
  const { certificates } = rules
  const toTarget = newConnector({ timeoutMs, ...(certificates !== undefined && { certificates }) })

  const open = async (target: ConnectTarget): Promise<Socket> => {
    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    const hosts = await hostsFor(literalHost(target.hostname), rules, checksNames)
    let failure: unknown
    for (const host of hosts.slice(0, addressesMax)) {
      try {
        return await openTunnel(proxy, toProxy, { host, port }, timeoutMs)
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  return (target, callback) => {
    open(target).then(
      (socket) => (target.protocol === 'https:' ? toTarget({ ...target, through: socket }, callback) : callback(null, socket)),
      (error: Error) => callback(error, null),
    )
  }
}

/** How many addresses of a name the proxy is asked for, one after the other. */
const addressesMax = 3

/** What the proxy is asked for. Throws `AddressRefused`. */
async function hostsFor(host: string, rules: AddressRules, checksNames: boolean): Promise<readonly string[]> {
  if (isIP(host) === 0 && !checksNames) return [host]
  const all = isIP(host) === 0 ? (await rules.resolve(host)).map(({ address }) => address) : [host]
  const allowed = all.filter((address) => rules.allows(address))
  if (allowed.length === 0) throw new AddressRefused(host)
  return allowed
}

interface Target {
  readonly host: string
  readonly port: number
}

async function openTunnel(proxy: URL, connect: Connector, target: Target, timeoutMs: number): Promise<Socket> {
  const socket = await reachProxy(proxy, connect)
  // In a tunnel, the connection on top reports failures.
  socket.on('error', () => {})

  let isLate = false
  const cancel = setActiveTimeout(timeoutMs, () => {
    isLate = true
    socket.destroy()
  })
  try {
    if (proxy.protocol.startsWith('socks5')) await requestSocks5(socket, target, loginOf(proxy))
    else await requestConnect(socket, target, loginOf(proxy))
    return socket
  } catch (error) {
    socket.destroy()
    throw new ProxyFailure(proxy, isLate ? 'did not answer in time' : messageOf(error))
  } finally {
    cancel()
  }
}

/** Rejects with what the proxy did instead. */
function requestConnect(socket: Socket, target: Target, login: Login | undefined): Promise<void> {
  const path = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  const headers: Record<string, string> = { host: path }
  if (login) headers['proxy-authorization'] = `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`

  return new Promise((resolve, reject) => {
    request({ method: 'CONNECT', path, headers, createConnection: () => socket })
      .once('connect', ({ statusCode = 0 }, _socket, head: Buffer) => {
        if (statusCode < 200 || statusCode > 299) return reject(new Error(`refused CONNECT with ${statusCode}`))
        if (head.length > 0) socket.unshift(head)
        resolve()
      })
      .once('error', () => reject(new Error('closed the connection, or does not speak HTTP')))
      .end()
  })
}

interface Login {
  readonly user: string
  readonly password: string
}

function loginOf(proxy: URL): Login | undefined {
  if (proxy.username === '') return undefined
  return { user: decodeURIComponent(proxy.username), password: decodeURIComponent(proxy.password) }
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message
}
