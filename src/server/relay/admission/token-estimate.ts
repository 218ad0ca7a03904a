import { promptTokens } from '../../../contract/usage.ts'
import { isHeavy, yieldWithPriority } from '../../lib/yield-to-event-loop.ts'
import { countMedia } from '../../protocols/count-media.ts'
import { countOverhead } from '../../protocols/count-overhead.ts'
import { countTokens, estimateInput } from '../../protocols/count-tokens.ts'
import type { JsonObject, RequestFacts } from '../../protocols/wire-format.ts'
import type { AdmittedRequest, RelayParts } from '../relay-parts.ts'
import type { Estimate } from './calibration.ts'

/** A quick estimate, for limits and the hold. Where a call is not counted by its text, the number is exact. */
export function estimatePrompt(
  { calibration }: Pick<RelayParts, 'calibration'>,
  asked: {
    readonly facts: RequestFacts
    readonly body: JsonObject
    readonly prompt: readonly string[]
    /** Of a conversation that the upstream keeps. */
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

/** The number for a charge: what was learnt of the model where it is enough, else a count of everything in the prompt. */
export async function countPrompt({ format, facts, body, estimate }: AdmittedRequest): Promise<number> {
  if (estimate?.isLearnt) return estimate.tokens
  if (isHeavy(body.bytes.length)) await yieldWithPriority()
  const text = format.promptText(body.json).join('\n')
  return (await countTokens(text, facts.model)) + countOverhead(body.json) + countMedia(body.json, facts)
}
