import { connect as connectTcp, isIP, type LookupFunction, type OnReadOpts, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { LRUCache } from 'lru-cache'
import { setActiveTimeout } from '../time/active-time.ts'

/** Opens one connection. The callback is called once, with the connected socket or with an error. */
export type Connector = (target: ConnectTarget, callback: ConnectCallback) => void

type ConnectCallback = (...args: readonly [error: null, socket: Socket] | readonly [error: Error, socket: null]) => void

export interface ConnectTarget {
  /** `https:` for TLS. */
  readonly protocol: string
  /** A name or an address, without brackets. */
  readonly hostname: string
  /** Empty for the port of the protocol. */
  readonly port: string
  /** A connected socket that TLS runs over, in place of a new connection. */
  readonly through?: Socket
  /** The buffer that a connection without TLS reads into; a connection with TLS emits `data`. */
  readonly onread?: OnReadOpts
}

interface ConnectSettings {
  /** Deadline of the lookup, the connection and the TLS handshake together. */
  readonly timeoutMs: number
  readonly lookup?: LookupFunction
  /** CA certificates that are trusted in place of those of the system. */
  readonly certificates?: string
}

class ConnectTimeout extends Error {
  readonly code = 'CONNECT_TIMEOUT'

  constructor(timeoutMs: number) {
    super(`No connection within ${timeoutMs} ms`)
    this.name = 'ConnectTimeout'
  }
}

const sessionsMax = 100
/** How long the first address of a name may take until the next one is tried beside it. */
const addressAttemptMs = 500
const keepAliveProbeMs = 60_000

/**
 * Connections over TCP, with TLS if the target requires it. Caches the TLS sessions, so that a later handshake with a name is
 * shorter.
 */
export function newConnector({ timeoutMs, lookup, certificates }: ConnectSettings): Connector {
  const sessions = new LRUCache<string, Buffer>({ max: sessionsMax })
  const family = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: addressAttemptMs, ...(lookup && { lookup }) }

  const openTls = ({ hostname, port, through }: ConnectTarget): Socket => {
    const session = sessions.get(hostname)
    const socket = connectTls({
      ...family,
      host: hostname,
      port: Number(port) || 443,
      // An address is no server name (RFC 6066).
      servername: isIP(hostname) === 0 ? hostname : '',
      ALPNProtocols: ['http/1.1'],
      ...(session && { session }),
      ...(certificates !== undefined && { ca: certificates }),
      ...(through && { socket: through }),
    })
    return socket.on('session', (fresh) => sessions.set(hostname, fresh))
  }

  return (target, callback) => {
    const { hostname: host, port, onread } = target
    const isTls = target.protocol === 'https:'
    const socket = isTls ? openTls(target) : connectTcp({ ...family, host, port: Number(port) || 80, ...(onread && { onread }) })
    socket.setNoDelay(true)
    socket.setKeepAlive(true, keepAliveProbeMs)

    let isSettled = false
    const settle: ConnectCallback = (...outcome) => {
      if (isSettled) return
      isSettled = true
      cancel()
      callback(...outcome)
    }
    const cancel = setActiveTimeout(timeoutMs, () => socket.destroy(new ConnectTimeout(timeoutMs)))
    socket.once(isTls ? 'secureConnect' : 'connect', () => settle(null, socket))
    // This listener stays for errors of the open connection; its user is notified by `close`.
    socket.on('error', (error) => settle(error, null))
  }
}
