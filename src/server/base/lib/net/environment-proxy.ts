import { readAddressList } from './addresses.ts'
import type { ConnectTarget } from './connect.ts'
import { literalHost } from './outgoing-url.ts'
import { isLoopbackName } from './resolve-name.ts'

/** The URL of the proxy for a target; undefined for a direct connection. */
export type ProxyOf = (target: Pick<ConnectTarget, 'protocol' | 'hostname' | 'port'>) => string | undefined

interface Settings {
  readonly HTTP_PROXY: string
  readonly HTTPS_PROXY: string
  readonly NO_PROXY: string
}

/**
 * The choice of the proxy by `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, as curl and Go read them: by the protocol of the target, and none
 * for this machine and for the hosts that are excepted. Undefined when no proxy is set.
 */
export function environmentProxy({ HTTP_PROXY, HTTPS_PROXY, NO_PROXY }: Settings): ProxyOf | undefined {
  if (HTTP_PROXY === '' && HTTPS_PROXY === '') return undefined
  const exceptions = NO_PROXY.split(/[\s,]+/).flatMap((entry) => (entry === '' ? [] : [readException(entry.toLowerCase())]))

  return ({ protocol, hostname, port }) => {
    const isTls = protocol === 'https:'
    const proxy = isTls ? HTTPS_PROXY : HTTP_PROXY
    const host = literalHost(hostname).toLowerCase().replace(/\.$/, '')
    if (proxy === '' || isOfThisMachine(host)) return undefined
    const target = { host, port: port || (isTls ? '443' : '80') }
    return exceptions.some((excepts) => excepts(target)) ? undefined : proxy
  }
}

type Exception = (target: { readonly host: string; readonly port: string }) => boolean

/** An entry is `*`, a name with its subdomains, an address or a block of addresses; names and addresses may have a port. */
function readException(entry: string): Exception {
  if (entry === '*') return () => true
  const { host, port } = splitPort(entry)
  const matches = matcherOf(host)
  return (target) => (port === '' || port === target.port) && matches(target.host)
}

function splitPort(entry: string): { readonly host: string; readonly port: string } {
  const [, inBrackets, host = entry, port = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? []
  return { host: inBrackets ?? host, port }
}

function matcherOf(host: string): (host: string) => boolean {
  const addresses = readAddressList(host)
  if ('list' in addresses && addresses.size > 0) return (other) => addresses.list.has(other)
  const name = host.replace(/^\*?\./, '').replace(/\.$/, '')
  return (other) => other === name || other.endsWith(`.${name}`)
}

function isOfThisMachine(host: string): boolean {
  return isLoopbackName(host) || isLoopbackAddress(host)
}

const isLoopbackAddress = matcherOf('127.0.0.0/8 ::1')
