import type { Candidates, Exclusion } from '../../../../contract/entities/channel-choice.ts'
import type { RunningChannel } from '../index/model-index.ts'

/**
 * What a choice considered. It is stored without conversion, and `candidatesOf` makes `Candidates` of it only for a row of the log.
 */
export interface Considered {
  readonly model: string
  readonly tiers: readonly (readonly RunningChannel[])[]
  /** The number of tiers whose channels were examined; 0 when the conversation stayed on its channel. */
  readonly tiersExamined: number
  /** By channel id. */
  readonly exclusions: ReadonlyMap<number, Exclusion> | undefined
  readonly scored: readonly Scored[] | undefined
  /** Undefined when no channel was left. */
  readonly chosen: RunningChannel | undefined
}

/** A channel with what the strategy compares; the least is the best. */
interface Scored {
  readonly option: { readonly channel: RunningChannel }
  readonly points: number
}

/** Of more candidates, only the first ones and the chosen one are listed. */
const listedMax = 20

/** The candidates of a choice for a row of the log. */
export function candidatesOf(considered: Considered): Candidates {
  const { tiers, chosen } = considered
  const all = tiers.flatMap((tier, at) => tier.map((channel) => ({ channel, at })))
  const isListed = (place: number) => place < listedMax || all[place]?.channel.id === chosen?.id
  const listed = all.filter((_each, place) => isListed(place))
  return {
    listed: listed.map(({ channel, at }) => ({
      channel: channel.id,
      priority: channel.priority || undefined,
      weight: channel.weight || undefined,
      score: scoreOf(considered, channel),
      excluded: exclusionOf(considered, channel, at),
    })),
    more: all.length - listed.length || undefined,
  }
}

function scoreOf({ scored }: Considered, { id }: RunningChannel): number | undefined {
  const points = scored?.find(({ option }) => option.channel.id === id)?.points
  return points !== undefined && points >= 0 && Number.isFinite(points) ? Number(points.toPrecision(4)) : undefined
}

function exclusionOf(
  { model, tiers, tiersExamined, exclusions, chosen }: Considered,
  { id, models }: RunningChannel,
  tier: number,
): Exclusion | undefined {
  if (tier < tiersExamined) return exclusions?.get(id)
  if (tiersExamined === 0) return id === chosen?.id ? undefined : 'session'
  const isBehindNamed = !models.has(model) && tiers[tiersExamined - 1]?.some((channel) => channel.models.has(model))
  return isBehindNamed ? 'pattern' : 'lower-priority'
}
