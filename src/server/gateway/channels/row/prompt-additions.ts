import { background } from '../../../base/lib/log/logger.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Provider, Upstream } from '../../providers/provider.ts'
import { vendorOf } from '../../providers/vendor-address.ts'
import { recordLearnt } from './record-learnt.ts'

/**
 * What upstreams add to the prompts of requests: documents, search results, a prompt or template of their own. An admin may state it;
 * otherwise a vendor's own address adds nothing, and at any other address it is learnt from reports. See
 * docs/decisions/0022-implausible-usage.md.
 *
 * `closed`: nothing is added, so that a longer prompt is implausible. `adds`: the model's whole context is held. `unknown`: a charge is
 * bounded by its hold alone, which has the additions learnt so far.
 */
export type PromptPolicy = 'closed' | 'adds' | 'unknown'

export function promptPolicyOf({
  provider,
  baseUrl,
  setting,
}: Pick<Upstream, 'baseUrl' | 'setting'> & { readonly provider: Provider }): PromptPolicy {
  if (setting.adds_to_prompts !== undefined) return setting.adds_to_prompts ? 'adds' : 'closed'
  if (provider.addsToPrompts === 'always') return 'adds'
  const vendor = vendorOf(baseUrl, provider)
  return vendor && !vendor.addsToPrompts ? 'closed' : 'unknown'
}

/** The tokens that a channel was found to add to prompts of a model, by the upstream's name; 0 where an admin says what it adds. */
export function additionOf(
  {
    promptPolicy,
    promptAdditions,
  }: { readonly promptPolicy: PromptPolicy; readonly promptAdditions: ReadonlyMap<string, number> },
  model: string,
): number {
  return promptPolicy === 'unknown' ? (promptAdditions.get(model) ?? 0) : 0
}

/** Reads the column: the tokens that a channel adds to the prompts of each model, by the upstream's name. */
export function readPromptAdditions(column: string): ReadonlyMap<string, number> {
  return new Map(column === '' ? [] : Object.entries(JSON.parse(column) as Record<string, number>))
}

/**
 * Learns on this node what channels add to prompts: of the last calls of a channel and model, how much longer their prompts were by the
 * report than the requests could be.
 */
export class PromptAdditions {
  readonly #core: Core
  readonly #excesses = new Map<string, number[]>()

  constructor(core: Core) {
    this.#core = core
  }

  /**
   * Adds the excess of a call in tokens, 0 for none. After enough calls of which nearly all were longer, the lower quartile of their excess is
   * stored with the channel, in the background. The count then begins anew.
   */
  note(channel: Pick<Upstream, 'id' | 'baseUrl'> & { readonly promptPolicy: PromptPolicy }, model: string, excess: number): void {
    if (channel.promptPolicy !== 'unknown') return
    const key = `${channel.id} ${model}`
    const known = this.#excesses.get(key)
    // Most channels never add anything: only those that did once are counted.
    if (!known && excess === 0) return
    const excesses = [...(known ?? []), excess]
    if (excesses.length < callsUntilLearnt) {
      if (!known && this.#excesses.size >= countedMax) this.#excesses.clear()
      this.#excesses.set(key, excesses)
      return
    }
    this.#excesses.delete(key)
    const longer = excesses.filter((each) => each > 0).sort((left, right) => left - right)
    const tokens = longer[Math.floor(longer.length / 4)]
    if (tokens === undefined || longer.length < excesses.length * shareLonger) return
    background(this.#core.logger, 'store what a channel adds to prompts', record(this.#core, channel, { model, tokens }))
  }
}

const callsUntilLearnt = 20
const shareLonger = 0.95
/** Callers can make up names where a channel serves a pattern. */
const countedMax = 2_000
/** Models with an addition, by channel. */
const modelsMax = 200

/** Stores what a channel was found to add to the prompts of a model, on top of what was held so far. */
function record(
  core: Core,
  channel: Pick<Upstream, 'id' | 'baseUrl'>,
  { model, tokens }: { readonly model: string; readonly tokens: number },
): Promise<void> {
  return recordLearnt(core, channel, (row) => {
    const known = readPromptAdditions(row.prompt_additions)
    if (!known.has(model) && known.size >= modelsMax) return undefined
    const additions = Object.fromEntries([...known, [model, (known.get(model) ?? 0) + tokens]])
    return { prompt_additions: JSON.stringify(additions) }
  })
}
