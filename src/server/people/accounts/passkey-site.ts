import { isIP } from 'node:net'
import type { OptionValues } from '../../../contract/options/index.ts'
import { fail } from '../../base/lib/failure.ts'
import { literalHost } from '../../base/lib/net/outgoing-url.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'

/** The site of passkeys: its name and origins, from the saved server address and never from the request. */
export interface PasskeySite {
  readonly id: string
  readonly origin: string
}

/** Throws `passkeys_unconfigured` where browsers offer no passkeys. */
export function passkeySite(options: Pick<OptionValues, 'ServerAddress'>): PasskeySite {
  return findPasskeySite(options) ?? fail('passkeys_unconfigured')
}

/** Passkeys need https and a host name; only `localhost` works without https. */
export function findPasskeySite({ ServerAddress }: Pick<OptionValues, 'ServerAddress'>): PasskeySite | undefined {
  const url = parseUrl(ServerAddress)
  if (!url) return undefined
  const { protocol, hostname, origin } = url
  if (isIP(literalHost(hostname)) !== 0) return undefined
  return protocol === 'https:' || hostname === 'localhost' ? { id: hostname, origin } : undefined
}
