import { createHash } from 'node:crypto'
import type { ChannelFormat } from '../protocols/format.ts'
import type { BreakerState } from './breaker.ts'
import type { ChannelIndex, RunningChannel } from './model-index.ts'
import type { Session } from './session.ts'
import { upstreamFormat } from './upstream-format.ts'

/** A request's requirements on its channel. */
export interface Selection {
  readonly group: string
  readonly model: string
  readonly format: ChannelFormat
  /** Ids of the channels that failed this request. */
  readonly tried: ReadonlySet<number>
  /** Ids of the failed keys, if another key of the channel may succeed. */
  readonly triedKeys?: ReadonlySet<number>
  /** By id, the channels that were full over all nodes, each with the time until its limits would let this request in. */
  readonly full?: ReadonlyMap<number, number> | undefined
  /** Estimated length of the prompt, for channels that take no longer one. */
  readonly inputTokens?: number
  readonly strategy?: Strategy
  /** The conversation that it belongs to; only asked for when there is something to choose. */
  session?(): Session | undefined
}

/** By which of several channels of one priority the next request is served. */
export type Strategy = 'weighted' | 'least-busy' | 'lowest-latency' | 'cheapest'

/** Current state of the channels, measured by `traffic.ts`. */
export interface Conditions {
  /** Answers a number from 0 to below 1. */
  random(): number
  /** Until the key may be asked for this model again; 0 for now. */
  restMs(channel: RunningChannel, model: string): number
  /** Until the limits of the channel let a request of that length in; 0 for now. */
  capMs(channel: RunningChannel, inputTokens: number): number
  /** Of the key. */
  breaker(channel: RunningChannel): BreakerState
  /** Requests running on the channel, and the total it ever received. */
  running(channel: RunningChannel): number
  turn(channel: RunningChannel): number
  /** To the first byte; undefined when nothing is known. */
  latencyMs(channel: RunningChannel): number | undefined
  price(channel: RunningChannel, model: string): number | undefined
  /** Id of the key that answered the conversation last. */
  keyOfSession(session: string): number | undefined
}

/** The reason of the choice. `only`: there was no other channel. `last-resort`: it is failing at present, but so are all others. */
export type Choice = 'pinned' | 'only' | 'session' | 'last-resort' | Strategy

export type Selected =
  | { readonly channel: RunningChannel; readonly choice: Choice }
  /** No channel is left. `waitMs` is the time until one is available again; 0 when waiting does not help. */
  | { readonly channel: undefined; readonly waitMs: number }

/** Added to every weight, so that channels of weight 0 get traffic too. */
const weightBase = 10

/**
 * The channel and key for the next attempt: of those that serve the model to the group, support the format, were not tried and are
 * within their limits, one of the highest priority. A conversation stays on its channel; otherwise the strategy of the group decides.
 * Failing channels are skipped while there is any other, whatever its priority. Pure.
 */
export function selectChannel(index: ChannelIndex, selection: Selection, conditions: Conditions): Selected {
  const tiers = index.candidates(selection.group, selection.model)
  const isAlone = tiers.length === 1 && tiers[0]?.length === 1 && index.keysOf(tiers[0][0]?.id ?? 0).length === 1
  const session = isAlone ? undefined : selection.session?.()
  const look = new Look(index, selection, conditions)

  const kept = session?.isKnown ? look.keyOf(conditions.keyOfSession(session.key), tiers.flat()) : undefined
  if (kept) return { channel: kept, choice: 'session' }

  for (const isDesperate of [false, true]) {
    for (const tier of tiers) {
      const options = tier.flatMap((channel) => {
        const keys = look.usableKeys(channel, isDesperate)
        return keys.length === 0 ? [] : [{ channel, keys }]
      })
      const chosen = choose(options, selection, conditions, session)
      if (chosen) return isDesperate ? { ...chosen, choice: 'last-resort' } : chosen
    }
  }
  return { channel: undefined, waitMs: look.waitMs }
}

/** The key of a channel that the caller has named. Its limits and failures do not count: the caller wants this one. */
export function selectPinned(
  index: ChannelIndex,
  { id, model }: { id: number; model: string },
  conditions: Conditions,
): Selected {
  const keys = index.keysOf(id)
  const ready = keys.filter((key) => conditions.restMs(key, model) === 0 && conditions.breaker(key) !== 'open')
  const channel = chooseKey(ready.length > 0 ? ready : keys, conditions, undefined)
  return channel ? { channel, choice: 'pinned' } : { channel: undefined, waitMs: 0 }
}

/** The key that stores the response that a request continues, or else another of its channel. */
export function selectKey(index: ChannelIndex, { channelId, keyId }: { channelId: number; keyId: number }): Selected {
  const keys = index.keysOf(channelId)
  const channel = keys.find((key) => key.keyId === keyId) ?? keys[0]
  return channel ? { channel, choice: 'pinned' } : { channel: undefined, waitMs: 0 }
}

/** The upstream model: the requested one, or its redirection by the channel. */
export function resolveModel(channel: RunningChannel, model: string): string {
  return channel.modelMapping.get(model) ?? model
}

interface Option {
  readonly channel: RunningChannel
  /** Its keys that may be asked now. */
  readonly keys: readonly RunningChannel[]
}

/** One pass over the candidates, which records the shortest wait of the skipped ones. */
class Look {
  readonly #index: ChannelIndex
  readonly #selection: Selection
  readonly #conditions: Conditions
  #waitMs = Number.POSITIVE_INFINITY

  constructor(index: ChannelIndex, selection: Selection, conditions: Conditions) {
    this.#index = index
    this.#selection = selection
    this.#conditions = conditions
  }

  get waitMs(): number {
    return Number.isFinite(this.#waitMs) ? this.#waitMs : 0
  }

  usableKeys(channel: RunningChannel, isDesperate: boolean): readonly RunningChannel[] {
    if (!isFit(channel, this.#selection)) return []
    const { inputTokens = 0, full } = this.#selection
    if (this.#mustWait(full?.get(channel.id) ?? this.#conditions.capMs(channel, inputTokens))) return []
    return this.#index.keysOf(channel.id).filter((key) => this.#isUsable(key, isDesperate))
  }

  /** The key of that id, if it may be asked now. */
  keyOf(keyId: number | undefined, channels: readonly RunningChannel[]): RunningChannel | undefined {
    const isIt = (key: RunningChannel) => key.keyId === keyId
    const channel = keyId === undefined ? undefined : channels.find(({ id }) => this.#index.keysOf(id).some(isIt))
    return channel && this.usableKeys(channel, false).find(isIt)
  }

  #isUsable(key: RunningChannel, isDesperate: boolean): boolean {
    if (this.#selection.triedKeys?.has(key.keyId)) return false
    if (this.#mustWait(this.#conditions.restMs(key, this.#selection.model))) return false
    return isDesperate || this.#conditions.breaker(key) !== 'open'
  }

  #mustWait(ms: number): boolean {
    if (ms > 0) this.#waitMs = Math.min(this.#waitMs, ms)
    return ms > 0
  }
}

function isFit(channel: RunningChannel, { tried, format, model, inputTokens = 0 }: Selection): boolean {
  const { id, maxInputTokens } = channel
  if (tried.has(id) || (maxInputTokens > 0 && inputTokens > maxInputTokens)) return false
  return upstreamFormat(channel, { format, model: resolveModel(channel, model) }) !== undefined
}

function choose(
  options: readonly Option[],
  { strategy = 'weighted', model }: Selection,
  conditions: Conditions,
  session: Session | undefined,
): { channel: RunningChannel; choice: Choice } | undefined {
  const [first, ...others] = options
  if (!first) return undefined
  const score = scoreOf(strategy, model, conditions)
  const isBound = session?.isKnown && strategy === 'weighted'
  const option =
    others.length === 0
      ? first
      : isBound
        ? highest(options, session.key)
        : drawByWeight(best(options, score), conditions.random())
  const channel = option && chooseKey(option.keys, conditions, session)
  if (!channel) return undefined
  const isOnly = others.length === 0 && first.keys.length === 1
  return { channel, choice: isOnly ? 'only' : isBound ? 'session' : strategy }
}

type Score = (option: Option) => number

/** Undefined: all are alike. An unmeasured channel counts as good, so that it gets measured; one without a price counts as expensive. */
function scoreOf(strategy: Strategy, model: string, conditions: Conditions): Score | undefined {
  switch (strategy) {
    case 'weighted':
      return undefined
    case 'least-busy':
      return ({ channel }) => conditions.running(channel) / (channel.weight + weightBase)
    case 'lowest-latency':
      return ({ channel }) => conditions.latencyMs(channel) ?? -1
    case 'cheapest':
      return ({ channel }) => conditions.price(channel, model) ?? Number.POSITIVE_INFINITY
  }
}

function best(options: readonly Option[], score: Score | undefined): readonly Option[] {
  if (!score) return options
  const scored = options.map((option) => ({ option, points: score(option) }))
  const least = Math.min(...scored.map(({ points }) => points))
  return scored.flatMap(({ option, points }) => (points === least ? [option] : []))
}

function chooseKey(
  keys: readonly RunningChannel[],
  conditions: Conditions,
  session: Session | undefined,
): RunningChannel | undefined {
  const [first, ...others] = keys
  if (!first || others.length === 0) return first
  const mode = first.setting.key_mode ?? 'random'
  if (mode === 'round-robin') return keys[conditions.turn(first) % keys.length]
  if (mode === 'session' && session)
    return keys.reduce((top, key) => (ranksHigher(session.key, { id: key.keyId }, { id: top.keyId }) ? key : top))
  return keys[Math.floor(conditions.random() * keys.length)]
}

/** The same on every node for one conversation, without a word between them. */
function highest(options: readonly Option[], session: string): Option | undefined {
  const stand = ({ channel }: Option) => ({ id: channel.id, weight: channel.weight + weightBase })
  return options.reduce((top, option) => (ranksHigher(session, stand(option), stand(top)) ? option : top))
}

function drawByWeight(options: readonly Option[], drawn: number): Option | undefined {
  const total = options.reduce((sum, { channel }) => sum + channel.weight + weightBase, 0)
  let rest = drawn * total
  const hit = options.find(({ channel }) => {
    rest -= channel.weight + weightBase
    return rest < 0
  })
  // A product just below the total may round up to it.
  return hit ?? options.at(-1)
}

/** A node of the hash: a channel or key that may serve a conversation. */
interface WeightedNode {
  readonly id: number
  /** 1 when absent. */
  readonly weight?: number
}

/**
 * Whether one node ranks higher than another for this conversation, by weighted rendezvous hashing: every server finds the same one without
 * communication, each gets a share of conversations in proportion to its weight, and when one is removed only its own conversations move. Pure.
 */
function ranksHigher(session: string, one: WeightedNode, other: WeightedNode): boolean {
  return rendezvousScore(session, one) > rendezvousScore(session, other)
}

function rendezvousScore(session: string, { id, weight = 1 }: WeightedNode): number {
  const drawn = (createHash('sha1').update(`${session} ${id}`).digest().readUInt32BE(0) + 0.5) / 2 ** 32
  return -weight / Math.log(drawn)
}
