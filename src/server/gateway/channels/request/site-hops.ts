import { fail } from '../../../base/lib/failure.ts'
import type { Core } from '../../../base/options/core.ts'
import { isVendorAddress } from '../../providers/vendor-address.ts'

/**
 * Detects requests that return to the site that sent them. A call to a channel carries the ids of the sites that it has passed, in
 * order; a site that reads its own id refuses the call. Vendors do not get the header, because they are not sites.
 */
export const siteHeader = 'x-sluice-site'

/** A request may pass so many sites. */
const hopsMax = 8

type Headers = Readonly<Record<string, string | string[] | undefined>>

/**
 * The id of this site: the same on all its nodes, and not reversible, because it is derived from the oldest key of the database.
 */
function siteIdOf({ secrets }: Pick<Core, 'secrets'>): string {
  return secrets.mac('site', 'id').slice(0, 24)
}

/** The site id that calls to an address carry, or '' for the address of a vendor. */
export function siteIdFor(core: Pick<Core, 'secrets'>, baseUrl: string): string {
  return isVendorAddress(baseUrl) ? '' : siteIdOf(core)
}

/** The header of a call, from the header of the received request. Nothing for a vendor. */
export function siteHops(siteId: string | undefined, received: Headers): Record<string, string> {
  return siteId ? { [siteHeader]: [...hopsIn(received), siteId].join(',') } : {}
}

/** Throws `loop_detected` for a request that has passed this site already, or `hopsMax` sites. */
export function refuseLoop(core: Pick<Core, 'secrets'>, received: Headers): void {
  if (received[siteHeader] === undefined) return
  const hops = hopsIn(received)
  if (hops.length >= hopsMax || hops.includes(siteIdOf(core))) fail('loop_detected')
}

/** Invalid ids are not passed on. */
function hopsIn({ [siteHeader]: value = '' }: Headers): string[] {
  return String(value)
    .split(',')
    .map((id) => id.trim())
    .filter((id) => /^[\w-]{1,64}$/.test(id))
}
