import { createHash } from 'node:crypto'
import { type Choice, type Exclusion, type Strategy, weightBase } from '../../../../contract/entities/channel-choice.ts'
import type { ChannelFormat } from '../../protocols/format.ts'
import type { ChannelIndex, RunningChannel } from '../index/model-index.ts'
import { upstreamFormat } from '../request/upstream-format.ts'
import type { BreakerState } from './breaker.ts'
import type { Considered } from './candidates.ts'
import type { ReachedLimit } from './concurrency-slot.ts'
import type { Session } from './session.ts'

/**
 * A request's requirements on its channel. This folder selects the channel and the key of a request, by what this node measures and by the
 * limits of channels, and tells what the channels that may answer add to its hold.
 */
export interface Selection {
  readonly group: string
  readonly model: string
  readonly format: ChannelFormat
  /** Ids of the channels that failed this request. */
  readonly tried: ReadonlySet<number>
  /** Ids of the failed keys, if another key of the channel may succeed. */
  readonly triedKeys?: ReadonlySet<number>
  /** By id, the channels that had no room when they were tried, with the limit reached. */
  readonly full?: ReadonlyMap<number, ReachedLimit> | undefined
  /** Estimated length of the prompt, for channels with a limit of it. */
  readonly inputTokens?: number
  readonly strategy?: Strategy
  /** The conversation of the request; called only when there is a choice between channels or keys. */
  session?(): Session | undefined
}

/** Current state of the channels, measured by `traffic.ts`. */
export interface Conditions {
  /** Returns a number in [0, 1). */
  random(): number
  /** Milliseconds until the key may be used for this model again; 0 when it may be used now. */
  restMs(channel: RunningChannel, model: string): number
  /** The limit of the channel that has no room for a request of that length; undefined when all limits have room. */
  reachedLimit(channel: RunningChannel, inputTokens: number): ReachedLimit | undefined
  /** The breaker of the key. */
  breaker(channel: RunningChannel): BreakerState
  /** Requests running on the channel, and the total it ever received. */
  running(channel: RunningChannel): number
  turn(channel: RunningChannel): number
  /** Time to the first byte; undefined when it was not measured. */
  latencyMs(channel: RunningChannel): number | undefined
  price(channel: RunningChannel, model: string): number | undefined
  /** Id of the key that answered the conversation last. */
  keyOfSession(session: string): number | undefined
  /** The account of a key at its vendor; undefined when no answer has named it. */
  accountOf(keyId: number): string | undefined
}

/** `considered` is absent when there was only one candidate and no reason against it. */
export type Selected =
  | { readonly channel: RunningChannel; readonly choice: Choice; readonly considered?: Considered | undefined }
  /** No channel is left. `waitMs` is the time until one is available again; 0 when waiting does not help. */
  | { readonly channel: undefined; readonly waitMs: number; readonly considered?: Considered | undefined }

/** In a long chain of attempts, later choices store no candidates, so that rows of the log stay short. */
const choicesConsideredMax = 5

/**
 * The channel and key for the next attempt: of those that serve the model to the group, support the format, were not tried and are
 * within their limits, one of the highest priority. A conversation stays on its key, or else on another key of the same account, which
 * can read the reasoning that the first has written; otherwise the strategy of the group decides.
 * Failing channels are skipped while there is any other, whatever its priority. Pure.
 */
export function selectChannel(index: ChannelIndex, selection: Selection, conditions: Conditions): Selected {
  const tiers = index.candidates(selection.group, selection.model)
  const isAlone = tiers.length === 1 && tiers[0]?.length === 1 && index.keysOf(tiers[0][0]?.id ?? 0).length === 1
  const session = isAlone ? undefined : selection.session?.()
  const look = new Look(index, selection, conditions)

  const last = session?.isKnown ? conditions.keyOfSession(session.key) : undefined
  const kept = last === undefined ? undefined : (look.keyOf(last, tiers.flat()) ?? look.keyOfSameAccount(last, tiers.flat()))
  if (kept) return { channel: kept, choice: 'session', considered: look.considered(tiers, 0, { channel: kept }) }

  for (const isDesperate of [false, true]) {
    let tiersExamined = 0
    for (const tier of tiers) {
      tiersExamined++
      const options: Option[] = []
      for (const channel of tier) {
        const keys = look.usableKeys(channel, isDesperate)
        if (keys.length > 0) options.push({ channel, keys })
      }
      const chosen = choose(options, selection, conditions, session)
      if (!chosen) continue
      // Before a last resort, all tiers were examined.
      const considered = look.considered(tiers, isDesperate ? tiers.length : tiersExamined, chosen)
      return { channel: chosen.channel, choice: isDesperate ? 'last-resort' : chosen.choice, considered }
    }
  }
  return { channel: undefined, waitMs: look.waitMs, considered: look.considered(tiers, tiers.length) }
}

/** The key of a channel that the caller has named. Its limits and failures are ignored, because the caller wants this channel. */
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

/**
 * The examination of the candidates, which records why each was left out, and the shortest wait until one of them is usable again.
 */
class Look {
  readonly #index: ChannelIndex
  readonly #selection: Selection
  readonly #conditions: Conditions
  #waitMs = Number.POSITIVE_INFINITY
  /** By channel id. */
  #exclusions: Map<number, Exclusion> | undefined

  constructor(index: ChannelIndex, selection: Selection, conditions: Conditions) {
    this.#index = index
    this.#selection = selection
    this.#conditions = conditions
  }

  get waitMs(): number {
    return Number.isFinite(this.#waitMs) ? this.#waitMs : 0
  }

  usableKeys(channel: RunningChannel, isDesperate: boolean): readonly RunningChannel[] {
    const exclusion = this.#exclusionOf(channel)
    if (exclusion) return this.#leaveOut(channel, exclusion)
    const keys = this.#index.keysOf(channel.id)
    const usable = keys.filter((key) => this.#exclusionOfKey(key, isDesperate) === undefined)
    if (usable.length > 0) return usable
    const reasons = keys.map((key) => this.#exclusionOfKey(key, isDesperate))
    return this.#leaveOut(channel, reasons.find((reason) => reason !== 'failed') ?? 'failed')
  }

  /** The key of that id, if it may be asked now. */
  keyOf(keyId: number, channels: readonly RunningChannel[]): RunningChannel | undefined {
    const isIt = (key: RunningChannel) => key.keyId === keyId
    const channel = channels.find(({ id }) => this.#index.keysOf(id).some(isIt))
    return channel && this.usableKeys(channel, false).find(isIt)
  }

  /** A key that may be asked now of the account that this one belongs to. */
  keyOfSameAccount(keyId: number, channels: readonly RunningChannel[]): RunningChannel | undefined {
    const account = this.#conditions.accountOf(keyId)
    if (account === undefined) return undefined
    const isIts = (key: RunningChannel) => this.#conditions.accountOf(key.keyId) === account
    for (const channel of channels) {
      const key = this.#index.keysOf(channel.id).some(isIts) ? this.usableKeys(channel, false).find(isIts) : undefined
      if (key) return key
    }
    return undefined
  }

  /** The part of the examination that is stored for the log. */
  considered(
    tiers: Considered['tiers'],
    tiersExamined: number,
    chosen?: { readonly channel: RunningChannel; readonly scored?: Considered['scored'] },
  ): Considered | undefined {
    const { model, tried, triedKeys } = this.#selection
    const isOnly = tiers.length <= 1 && (tiers[0]?.length ?? 0) <= 1
    if ((isOnly && !this.#exclusions) || tried.size + (triedKeys?.size ?? 0) >= choicesConsideredMax) return undefined
    return { model, tiers, tiersExamined, exclusions: this.#exclusions, scored: chosen?.scored, chosen: chosen?.channel }
  }

  #exclusionOf(channel: RunningChannel): Exclusion | undefined {
    const { tried, full, format, model, inputTokens = 0 } = this.#selection
    const { id, maxInputTokens } = channel
    if (tried.has(id)) return 'failed'
    if (maxInputTokens > 0 && inputTokens > maxInputTokens) return 'prompt-length'
    if (upstreamFormat(channel, { format, model: resolveModel(channel, model) }) === undefined) return 'format'
    const reached = full?.get(id) ?? this.#conditions.reachedLimit(channel, inputTokens)
    if (reached) this.#noteWait(reached.waitMs)
    return reached?.limit
  }

  #exclusionOfKey(key: RunningChannel, isDesperate: boolean): Exclusion | undefined {
    const { triedKeys, model } = this.#selection
    if (triedKeys?.has(key.keyId)) return 'failed'
    const restMs = this.#conditions.restMs(key, model)
    if (restMs > 0) {
      this.#noteWait(restMs)
      return 'retry-after'
    }
    return isDesperate || this.#conditions.breaker(key) !== 'open' ? undefined : 'breaker'
  }

  #leaveOut({ id }: RunningChannel, exclusion: Exclusion): readonly RunningChannel[] {
    this.#exclusions ??= new Map()
    this.#exclusions.set(id, exclusion)
    return none
  }

  #noteWait(ms: number): void {
    this.#waitMs = Math.min(this.#waitMs, ms)
  }
}

const none: readonly RunningChannel[] = []

interface Chosen {
  readonly channel: RunningChannel
  readonly choice: Choice
  /** What the strategy compared; undefined if it compared nothing. */
  readonly scored: Considered['scored']
}

function choose(
  options: readonly Option[],
  { strategy = 'weighted', model }: Selection,
  conditions: Conditions,
  session: Session | undefined,
): Chosen | undefined {
  const [first, ...others] = options
  if (!first) return undefined
  const score = others.length === 0 ? undefined : scoreOf(strategy, model, conditions)
  const scored = score && options.map((option) => ({ option, points: score(option) }))
  const isBound = session?.isKnown && strategy === 'weighted'
  const option =
    others.length === 0
      ? first
      : isBound
        ? highest(options, session.key)
        : drawByWeight(scored ? best(scored) : options, conditions.random())
  const channel = option && chooseKey(option.keys, conditions, session)
  if (!channel) return undefined
  const isOnly = others.length === 0 && first.keys.length === 1
  return { channel, choice: isOnly ? 'only' : isBound ? 'session' : strategy, scored }
}

type Score = (option: Option) => number

/**
 * Undefined when the strategy scores nothing. An unmeasured channel counts as the fastest, so that it gets measured; one without a
 * price counts as the most expensive.
 */
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

function best(scored: readonly { readonly option: Option; readonly points: number }[]): readonly Option[] {
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

/** Chooses the same option on every node for one conversation, without communication between them. */
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
