import { isIP, type LookupFunction, type OnReadOpts } from 'node:net'
import { buildConnector } from 'undici'
import { literalHost } from './outgoing-url.ts'
import type { Resolve } from './resolve-name.ts'

/**
 * Connections that only reach allowed addresses. A check of the URL alone does not hold: a name may lead anywhere, and may lead
 * elsewhere a moment later. So the address is judged where it is used: a literal host, each looked-up address, and the peer itself.
 */
export type Connector = (target: ConnectTarget, callback: buildConnector.Callback) => void

export interface ConnectTarget extends buildConnector.Options {
  /** Where a direct connection without TLS reads into; every other emits `data`. */
  readonly onread?: OnReadOpts
}

export interface AddressRules {
  allows(address: string): boolean
  readonly resolve: Resolve
  /** Trusted in place of those of the system; for tests with a server of their own. */
  readonly certificates?: string
}

export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED'

  constructor(host: string) {
    super(`Connections to ${host} are not allowed`)
    this.name = 'AddressRefused'
  }
}

/** A connect function for undici, with TLS where the origin asks for it. Its time limit covers the lookup and the TLS handshake. */
export function guardedConnector(rules: AddressRules, timeoutMs: number): Connector {
  const options = {
    timeout: timeoutMs,
    allowH2: false,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: 500,
    lookup: guardedLookup(rules),
    ...(rules.certificates === undefined ? {} : { ca: rules.certificates }),
  }
  // Keeps the TLS sessions.
  const shared = buildConnector(options)

  return (target, callback) => {
    // `net` never looks up a literal address.
    const host = literalHost(target.hostname)
    if (isIP(host) !== 0 && !rules.allows(host)) return callback(new AddressRefused(host), null)

    const { onread } = target
    const connect = onread && target.protocol === 'http:' ? buildConnector({ ...options, onread }) : shared
    connect(target, (...[error, socket]) => {
      if (error) return callback(error, null)
      const peer = socket.remoteAddress
      if (peer === undefined || rules.allows(peer)) return callback(null, socket)
      socket.destroy()
      callback(new AddressRefused(peer), null)
    })
  }
}

function guardedLookup(rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    rules.resolve(hostname).then(
      (all) => {
        const allowed = all.filter(({ address }) => rules.allows(address))
        const [first] = allowed
        if (!first) return callback(new AddressRefused(hostname), [])
        if (options.all) callback(null, [...allowed])
        else callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, []),
    )
  }
}
