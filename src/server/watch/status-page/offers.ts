import { channelStatus } from '../../../contract/entities/channel-status.ts'
import type { Text } from '../../../contract/text.ts'
import type { Snapshot } from '../../base/lib/collections/snapshot.ts'
import type { Core } from '../../base/options/core.ts'
import { listedModels } from '../../gateway/channels/index/listed-models.ts'
import type { ChannelIndex, RunningChannel } from '../../gateway/channels/index/model-index.ts'
import { isPattern } from '../../gateway/channels/row/match-name.ts'
import { readNames } from '../../gateway/channels/row/read-columns.ts'
import type { Catalog } from '../../money/pricing/catalog.ts'

/** The parts that offers are read from. */
export type OfferParts = Core & { readonly channels: Snapshot<ChannelIndex>; readonly catalog: Catalog }

/** A model in a group. */
export interface Offer {
  readonly group: string
  readonly model: string
  /** Enabled channels, in the order of selection; empty while all of them are automatically disabled. */
  readonly channels: readonly RunningChannel[]
}

/**
 * What callers of the site's groups may request: the models of enabled channels that have a price, and those that only
 * automatically disabled channels serve, because their calls fail. By group and name.
 */
export async function listOffers(parts: OfferParts): Promise<Offer[]> {
  const { channels, catalog, options } = parts
  const { GroupRatio, SelfUseModeEnabled } = options.current
  const lost = await readLost(parts)
  return Object.keys(GroupRatio).flatMap((group) => {
    const served = listedModels(parts, [group]).filter((model) => SelfUseModeEnabled || catalog.modelPriceOf(model))
    const names = new Set([...served, ...(lost.get(group) ?? [])])
    return [...names].sort().map((model) => ({ group, model, channels: channels.current.candidates(group, model).flat() }))
  })
}

/** By group, the names of models of automatically disabled channels. */
async function readLost({ db }: OfferParts): Promise<Map<string, Set<string>>> {
  const rows = await db
    .selectFrom('channels')
    .select(['models', 'group'])
    .where('status', '=', channelStatus.autoDisabled)
    .execute()
  const lost = new Map<string, Set<string>>()
  for (const row of rows) {
    const models = readNames(row.models).filter((name) => !isPattern(name))
    for (const group of readNames(row.group)) {
      const known = lost.get(group) ?? new Set()
      lost.set(group, known)
      for (const model of models) known.add(model)
    }
  }
  return lost
}

/** The kinds of upstream behind an offer, each once. */
export function vendorsOf({ channels }: Offer): Text[] {
  return [...new Map(channels.map(({ provider: { key, label } }) => [key, label])).values()]
}
