import { type OptionalEndpoint, optionalEndpoints } from '../../../../contract/entities/channel.ts'
import { locked } from '../../../base/db/locked.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Format } from '../../protocols/format.ts'
import { declarations, formats } from '../../protocols/index.ts'
import type { Provider, Upstream } from '../../providers/provider.ts'
import { recordLearnt } from './record-learnt.ts'

/**
 * Endpoints that the upstream of a channel does not have, although its type has them: most hosts that are compatible with OpenAI have
 * no Responses. An operator may set it; otherwise it is learnt from refusals, stored on the channel, and cleared when the channel
 * changes or after a day. Calls are then translated to an endpoint that the upstream has.
 */

/** The endpoint of a format, if upstreams may lack it. An upstream without `compact` may still have Responses. */
export function optionalEndpointOf(format: Format): OptionalEndpoint | undefined {
  const { optionalEndpoint } = formats[format]
  return optionalEndpoint?.isPart ? undefined : optionalEndpoint?.name
}

/** Whether an upstream whose type speaks a format may have no endpoint for it. */
export function mayBeMissing(format: Format): boolean {
  return formats[format].optionalEndpoint !== undefined
}

function formatsOf(endpoint: OptionalEndpoint): Format[] {
  return declarations.flatMap(({ name, optionalEndpoint }) => (optionalEndpoint?.name === endpoint ? [name] : []))
}

/** A missing endpoint of an upstream, and when it was found missing. */
interface MissingEndpoint {
  readonly endpoint: OptionalEndpoint
  /** Unix seconds. */
  readonly since: number
}

const learntForSeconds = 24 * 3600

/** Reads the column; entries older than a day are ignored. */
export function readMissingEndpoints(column: string, nowMs: number): MissingEndpoint[] {
  const known: Partial<Record<string, number>> = column === '' ? {} : JSON.parse(column)
  return optionalEndpoints.flatMap((endpoint) => {
    const since = known[endpoint]
    return since !== undefined && since > seconds(nowMs) - learntForSeconds ? [{ endpoint, since }] : []
  })
}

/** The provider without these endpoints, or the provider itself when it has none of them. */
export function withoutEndpoints(provider: Provider, lacking: readonly OptionalEndpoint[]): Provider {
  const gone = new Set(lacking.flatMap(formatsOf).filter((format) => provider.speaks[format] !== undefined))
  if (gone.size === 0) return provider
  const { prefers } = provider
  return {
    ...provider,
    speaks: Object.fromEntries(Object.entries(provider.speaks).filter(([format]) => !gone.has(format as Format))),
    ...(prefers
      ? {
          prefers: (...asked) => {
            const preferred = prefers(...asked)
            return preferred !== undefined && gone.has(preferred) ? undefined : preferred
          },
        }
      : {}),
  }
}

/** The channel without an endpoint, for a call that has just found it missing. */
export function withoutEndpoint<Channel extends { readonly provider: Provider }>(
  channel: Channel,
  endpoint: OptionalEndpoint,
): Channel {
  return { ...channel, provider: withoutEndpoints(channel.provider, [endpoint]) }
}

/** Counts how often in a row a channel answered that it lacks an endpoint, on this node. */
export class EndpointMisses {
  readonly #counts = new Map<string, number>()

  /** Counts a miss. Returns whether the endpoint was missed often enough to be stored. */
  missed({ id }: { readonly id: number }, endpoint: OptionalEndpoint): boolean {
    const key = `${id} ${endpoint}`
    const count = (this.#counts.get(key) ?? 0) + 1
    if (count < missesUntilLearnt) this.#counts.set(key, count)
    else this.#counts.delete(key)
    return count >= missesUntilLearnt
  }

  /** Whether misses of any channel are counted. */
  get any(): boolean {
    return this.#counts.size > 0
  }

  /** Resets the count: the endpoint gave another answer. */
  found({ id }: { readonly id: number }, endpoint: OptionalEndpoint): void {
    this.#counts.delete(`${id} ${endpoint}`)
  }
}

const missesUntilLearnt = 2

/** Stores a missing endpoint of a channel, unless the channel has changed since. */
export function recordMissingEndpoint(
  core: Core,
  channel: Pick<Upstream, 'id' | 'baseUrl'>,
  endpoint: OptionalEndpoint,
): Promise<void> {
  return recordLearnt(core, channel, (row) => {
    const known = readMissingEndpoints(row.lacking, core.now())
    const lacking = [...known, { endpoint, since: seconds(core.now()) }].map((each) => [each.endpoint, each.since])
    return { lacking: JSON.stringify(Object.fromEntries(lacking)) }
  })
}

/** Deletes entries older than a day. Returns the number of channels. */
export function expireMissingEndpoints(core: Core): Promise<number> {
  return change(core, undefined, async (within, report) => {
    const learnt = within.selectFrom('channels').select(['id', 'lacking']).where('lacking', '<>', '').orderBy('id')
    let forgotten = 0
    for (const { id, lacking } of await locked(core, learnt).execute()) {
      const known = readMissingEndpoints(lacking, core.now())
      const kept =
        known.length === 0 ? '' : JSON.stringify(Object.fromEntries(known.map(({ endpoint, since }) => [endpoint, since])))
      if (kept === lacking) continue
      await within.updateTable('channels').set({ lacking: kept }).where('id', '=', id).execute()
      report({ topic: 'channels', id })
      forgotten++
    }
    return forgotten
  })
}
