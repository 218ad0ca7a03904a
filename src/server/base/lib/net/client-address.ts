import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { normaliseAddress, readAddressList } from './addresses.ts'

export interface Client {
  readonly address: string
  /** The request came directly from this machine, without a proxy that forwards an address. */
  readonly local: boolean
}

export type ClientReader = (request: IncomingMessage) => Client

/**
 * Determines the client address. Only the entries of `X-Forwarded-For` written by trusted proxies are used: the address is the
 * rightmost hop that is not one of them. Throws when an entry of `trustedProxies` is neither an address nor a block.
 */
export function clientReader(trustedProxies: string): ClientReader {
  const trusted = readAddressList(trustedProxies)
  if ('invalid' in trusted) throw new Error(`TRUSTED_PROXIES: ${trusted.invalid} is not an address or CIDR block`)

  return (request) => {
    const { headers, socket } = request
    let address = normaliseAddress(socket.remoteAddress ?? '')
    if (headers['x-forwarded-for'] === undefined)
      return { address, local: headers.forwarded === undefined && isLoopback(address) }

    const forwarded = [headers['x-forwarded-for']].flat().join(',')
    for (const hop of forwarded.split(',').reverse()) {
      const next = normaliseAddress(withoutPort(hop.trim()))
      if (!trusted.list.has(address) || isIP(next) === 0) break
      address = next
    }
    return { address, local: false }
  }
}

/**
 * The entries of `trustedProxies` behind which every caller may name its own address: those of all addresses, and those that contain a
 * gateway of this machine. Behind the gateway of a container network everybody on the outside has its address.
 */
export function riskyProxies(trustedProxies: string, gateways: readonly string[] = defaultGateways()): readonly string[] {
  return trustedProxies.split(/[\s,]+/).filter((entry) => {
    const read = readAddressList(entry)
    if (entry === '' || 'invalid' in read) return false
    return entry.endsWith('/0') || gateways.some((gateway) => read.list.has(gateway))
  })
}

/** The default gateways of this machine for IPv4, as Linux lists them; none elsewhere. */
function defaultGateways(): readonly string[] {
  try {
    const [, ...routes] = readFileSync('/proc/net/route', 'utf8').trim().split('\n')
    return routes.flatMap((route) => {
      const [, destination, gateway = ''] = route.split('\t')
      const bytes = Buffer.from(gateway, 'hex').reverse()
      return destination === '00000000' && bytes.some((byte) => byte > 0) ? [bytes.join('.')] : []
    })
  } catch {
    return []
  }
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.')
}

/** Some proxies write `a.b.c.d:port` or `[v6]:port`. */
function withoutPort(hop: string): string {
  const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop)
  if (bracketed) return bracketed[1] ?? ''
  return hop.includes('.') ? hop.replace(/:\d+$/, '') : hop
}
