import { request } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { setActiveTimeout } from './active-time.ts'
import { type Connector, newConnector } from './connect.ts'
import { AddressRefused, type AddressRules, guardedConnector } from './guarded-connect.ts'
import { literalHost } from './outgoing-url.ts'
import { parseUrl } from './parse-url.ts'
import { requestSocks5 } from './socks5.ts'

/**
 * Connections through the proxy of a channel: http(s) by CONNECT, socks5. The proxy's own address obeys the same rules. A target that
 * is a name is looked up by the proxy, so that its addresses cannot be judged here; a literal one is. Error messages never name the proxy.
 */
export function proxiedConnector(proxy: string, rules: AddressRules, timeoutMs: number): Connector {
  if (!isProxyUrl(proxy)) return (_target, callback) => callback(new Error('The address of the proxy is invalid'), null)
  const url = new URL(proxy)
  const toProxy = guardedConnector(rules, timeoutMs)
  const toTarget = newConnector({ timeoutMs })

  return (target, callback) => {
    const host = literalHost(target.hostname)
    if (isIP(host) !== 0 && !rules.allows(host)) return callback(new AddressRefused(host), null)

    const port = Number(target.port) || (target.protocol === 'https:' ? 443 : 80)
    openTunnel(url, toProxy, { host, port }, timeoutMs).then(
      (socket) => (target.protocol === 'https:' ? toTarget({ ...target, through: socket }, callback) : callback(null, socket)),
      (error: Error) => callback(error, null),
    )
  }
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'socks5:': '1080', 'socks5h:': '1080' }

/** Whether a text is the URL of a proxy: http, https, socks5 or socks5h, a host, perhaps a login. */
export function isProxyUrl(text: string): boolean {
  const url = parseUrl(text)
  if (!url) return false
  return Object.hasOwn(defaultPorts, url.protocol) && url.hostname !== '' && url.search === '' && /^\/?$/.test(url.pathname)
}

interface Target {
  readonly host: string
  readonly port: number
}

async function openTunnel(proxy: URL, connect: Connector, target: Target, timeoutMs: number): Promise<Socket> {
  const socket = await reachProxy(proxy, connect)
  // In a tunnel, the connection on top reports failures.
  socket.on('error', () => {})

  const cancel = setActiveTimeout(timeoutMs, () => socket.destroy())
  try {
    if (proxy.protocol.startsWith('socks5')) await requestSocks5(socket, target, loginOf(proxy))
    else await requestConnect(socket, target, loginOf(proxy))
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    cancel()
  }
}

function reachProxy(proxy: URL, connect: Connector): Promise<Socket> {
  const port = proxy.port || (defaultPorts[proxy.protocol] ?? '')
  const protocol = proxy.protocol === 'https:' ? 'https:' : 'http:'
  return new Promise((resolve, reject) => {
    connect({ hostname: literalHost(proxy.hostname), port, protocol }, (...[error, socket]) => {
      if (!error) return resolve(socket)
      // The error code of the proxy must not be mistaken for one of the target.
      reject(error instanceof AddressRefused ? error : new Error('The proxy could not be reached', { cause: error }))
    })
  })
}

function requestConnect(socket: Socket, target: Target, login: Login | undefined): Promise<void> {
  const path = `${target.host.includes(':') ? `[${target.host}]` : target.host}:${target.port}`
  const headers: Record<string, string> = { host: path }
  if (login) headers['proxy-authorization'] = `Basic ${Buffer.from(`${login.user}:${login.password}`).toString('base64')}`

  return new Promise((resolve, reject) => {
    request({ method: 'CONNECT', path, headers, createConnection: () => socket })
      .once('connect', (response, _socket, head: Buffer) => {
        if (response.statusCode !== 200) return reject(new Error(`The proxy answered ${response.statusCode}`))
        if (head.length > 0) socket.unshift(head)
        resolve()
      })
      .once('error', () => reject(new Error('The proxy closed the connection')))
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
