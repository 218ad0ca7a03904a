import type { RequestContext } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { type Field, lose } from '../lost-fields.ts'
import type { JsonObject } from '../wire-format.ts'
import { isClaude, type ModelRules } from './models.ts'
import type { Thinking } from './thinking.ts'
import { removesSampling } from './versions.ts'

/**
 * The sampling parameters that the model accepts: none on the newest, either temperature or top-p on those before, and almost none
 * while thinking; none where the operator sets a version of the interface without them. Omitting a default value is not reported. Source: protocols notes 2.4 and 3.6.
 */
export function writeSampling(dialogue: Dialogue, context: RequestContext, rules: ModelRules, { isOn }: Thinking): JsonObject {
  const { temperature: asked, topP, topK, presencePenalty, frequencyPenalty, seed } = dialogue.sampling
  const isRefused = rules.sampling === 'refused' || (isClaude(context.model) && removesSampling(context.version))
  const temperature = asked === undefined ? undefined : Math.min(Math.max(asked, 0), context.quirks.temperatureMax ?? 1)
  const isWarm = temperature !== undefined && !isRefused && (!isOn || temperature === 1)
  // If the model accepts only one of the two, the one that differs from its default is kept.
  const onlyOne = rules.sampling === 'one' && isWarm && (temperature !== 1 || topP === undefined)
  const isNarrowed = topP !== undefined && !isRefused && !onlyOne && (!isOn || topP >= nucleusMin)
  const isTop = topK !== undefined && !isRefused && !isOn

  const lost: Readonly<Partial<Record<Field, boolean>>> = {
    temperature: asked !== undefined && asked !== 1 && (!isWarm || temperature !== asked),
    topP: topP !== undefined && topP !== 1 && !isNarrowed,
    topK: topK !== undefined && !isTop,
    presencePenalty: Boolean(presencePenalty),
    frequencyPenalty: Boolean(frequencyPenalty),
    seed: seed !== undefined,
  }
  // The keys of `lost` are fields by its type.
  for (const field of Object.keys(lost) as Field[]) if (lost[field]) lose(dialogue, context, field)

  return {
    ...(isWarm && !(rules.sampling === 'one' && isNarrowed) ? { temperature } : {}),
    ...(isNarrowed ? { top_p: topP } : {}),
    ...(isTop ? { top_k: topK } : {}),
  }
}

/** The lowest top-p that is accepted with thinking. */
const nucleusMin = 0.95
