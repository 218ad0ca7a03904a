import { LRUCache } from 'lru-cache'
import { promptTokens } from '../../../../contract/usage.ts'
import { isHeavy, yieldWithPriority } from '../../../base/lib/time/yield-to-event-loop.ts'
import { countMedia } from '../../protocols/count-media.ts'
import { countOverhead } from '../../protocols/count-overhead.ts'
import { countTokens, estimateInput } from '../../protocols/count-tokens.ts'
import type { JsonObject, RequestFacts, WireFormat } from '../../protocols/wire-format.ts'
import type { Body } from '../http/read-body.ts'

/** A fast estimate for limits and the hold. For calls whose usage does not depend on the text, the number is exact. */
export function estimatePrompt(
  { calibration }: { readonly calibration: Calibration },
  asked: {
    readonly facts: RequestFacts
    readonly body: JsonObject
    readonly prompt: readonly string[]
    /** Tokens of a conversation that the upstream stores. */
    readonly keptTokens: number
  },
): Estimate {
  const { facts, body, prompt, keptTokens } = asked
  if (facts.uncounted) {
    const tokens = promptTokens(facts.uncounted)
    return { plain: tokens, tokens, isLearnt: false }
  }
  const plain = estimateInput(prompt, facts, countMedia(body, facts))
  const ratio = calibration.ratioOf(facts.model)
  return {
    plain: plain + keptTokens,
    tokens: Math.ceil(plain * (ratio ?? 1)) + keptTokens,
    isLearnt: ratio !== undefined || keptTokens > 0,
  }
}

/** The prompt to count. */
interface Counted {
  readonly format: WireFormat
  readonly facts: RequestFacts
  readonly body: Body
  readonly estimate?: Estimate
}

/** The number for a charge: the calibrated estimate when the model has enough samples, else an exact count of the prompt. */
export async function countPrompt({ format, facts, body, estimate }: Counted): Promise<number> {
  if (estimate?.isLearnt) return estimate.tokens
  if (isHeavy(body.bytes.length)) await yieldWithPriority()
  const text = format.promptText(body.json).join('\n')
  return (await countTokens(text, facts.model)) + countOverhead(body.json) + countMedia(body.json, facts)
}

/**
 * The running ratio between tokens that upstreams report and the estimates of this node, by model. It corrects later estimates. It
 * is only in memory, so it is empty after a start. Source: protocols notes 5.2.
 */
export class Calibration {
  readonly #ratios = new LRUCache<string, Learnt>({ max: modelsMax })

  /** Adds a sample: `reported` tokens for a prompt whose estimate was `estimated`. Short prompts are ignored. */
  learn(model: string, { estimated, reported }: { estimated: number; reported: number }): void {
    if (estimated < estimatedMin || reported <= 0) return
    const sample = Math.min(ratioMax, Math.max(ratioMin, reported / estimated))
    const { ratio, samples } = this.#ratios.get(model) ?? { ratio: 1, samples: 0 }
    this.#ratios.set(model, { ratio: ratio + (sample - ratio) * share, samples: samples + 1 })
  }

  /** Reported tokens for each estimated token; undefined until there are enough samples. */
  ratioOf(model: string): number | undefined {
    const learnt = this.#ratios.get(model)
    return learnt && learnt.samples >= samplesMin ? learnt.ratio : undefined
  }
}

/** The estimated length of a prompt, in tokens. */
export interface Estimate {
  /** Estimate from texts and media alone. */
  readonly plain: number
  /** Estimate corrected by the calibration of the model. */
  readonly tokens: number
  readonly isLearnt: boolean
}

interface Learnt {
  readonly ratio: number
  readonly samples: number
}

/** Callers can make up names where a channel serves a pattern. */
const modelsMax = 2_000
const estimatedMin = 64
const samplesMin = 20
const share = 0.1
const ratioMin = 0.5
const ratioMax = 3
