import { isIP, type LookupFunction } from 'node:net'
import { type Connector, newConnector } from './connect.ts'
import { literalHost } from './outgoing-url.ts'
import type { Resolve } from './resolve-name.ts'

export interface AddressRules {
  allows(address: string): boolean
  readonly resolve: Resolve
  /** CA certificates that are trusted in place of those of the system; for tests that run their own server. */
  readonly certificates?: string
}

export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED'

  constructor(host: string) {
    super(`Connections to ${host} are not allowed`)
    this.name = 'AddressRefused'
  }
}

/**
 * Connections that only reach allowed addresses. A check of the URL alone is not enough: a name may resolve to any address, and to
 * another one a moment later. So the address is checked where it is used: a literal host, each looked-up address, and the peer
 * itself.
 */
export function guardedConnector(rules: AddressRules, timeoutMs: number): Connector {
  const { certificates } = rules
  const connect = newConnector({ timeoutMs, lookup: guardedLookup(rules), ...(certificates !== undefined && { certificates }) })

  return (target, callback) => {
    // `net` never looks up a literal address.
    const host = literalHost(target.hostname)
    if (isIP(host) !== 0 && !rules.allows(host)) return callback(new AddressRefused(host), null)

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
