import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { fail } from '../../../base/lib/failure.ts'
import { innerAddress, literalHost } from '../../../base/lib/net/outgoing-url.ts'
import { parseUrl } from '../../../base/lib/net/parse-url.ts'
import { type Resolve, systemResolve } from '../../../base/lib/net/resolve-name.ts'
import type { Core } from '../../../base/options/core.ts'

const resolveName = systemResolve({ deadlineMs: 2000 })

/**
 * Refuses a channel address that points to this site itself: the server address of the options, or a host that is this machine at the
 * port that this node listens on. A name that cannot be resolved now is accepted: requests that return to this site are refused then.
 * Throws `channel_url_invalid`.
 */
export async function refuseOwnSite(core: Core, baseUrl: string | undefined, resolve: Resolve = resolveName): Promise<void> {
  const url = parseUrl(baseUrl ?? '')
  if (!url) return
  if (isServerAddress(core, url) || (await isThisNode(core, url, resolve))) {
    const reason = {
      zh: '该地址指向本站自身，请求会循环。请填写上游服务的地址',
      en: 'it leads to this site itself, so that requests would go in a circle; enter the address of the upstream',
    }
    fail('channel_url_invalid', { reason })
  }
}

/** Below a base path, the other paths of the host are other sites. */
function isServerAddress({ env, options }: Core, url: URL): boolean {
  const own = parseUrl(options.current.ServerAddress)
  const isBelow = env.BASE_PATH === '' || `${url.pathname}/`.startsWith(`${env.BASE_PATH}/`)
  return isBelow && own?.hostname === url.hostname && portOf(own) === portOf(url)
}

async function isThisNode({ env }: Core, url: URL, resolve: Resolve): Promise<boolean> {
  if (portOf(url) !== env.PORT) return false
  const own = listeningAddresses(env.HOST)
  const host = literalHost(url.hostname)
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [{ address: host }]
  return addresses.some(({ address }) => own.has(plain(address)) || isUnspecified(address))
}

/** The addresses at which a server that listens on `host` can be reached. A name is resolved, to loopback or an interface. */
function listeningAddresses(host: string): ReadonlySet<string> {
  if (isIP(host) !== 0 && !isUnspecified(host)) return new Set([plain(host)])
  return new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => plain(address))))
}

/** An IPv4 address that is written as an IPv6 one is the IPv4 address. */
function plain(address: string): string {
  return innerAddress(address.split('%', 1)[0] ?? '') ?? address
}

function isUnspecified(address: string): boolean {
  return address === '0.0.0.0' || address === '::'
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}
