import type { RequestContext } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { type Field, lose } from '../lost-fields.ts'
import type { JsonObject } from '../wire-format.ts'
import type { ModelRules } from './models.ts'
import type { Thinking } from './thinking.ts'

/**
 * What steers sampling, as far as the model takes it: nothing on the newest, one of temperature and nucleus on those before, and next
 * to nothing while thinking. A value that is the default anyway is not missed. Source: protocols notes 2.4 and 3.6.
 */
export function writeSampling(dialogue: Dialogue, context: RequestContext, rules: ModelRules, { isOn }: Thinking): JsonObject {
  const { temperature: asked, topP, topK, presencePenalty, frequencyPenalty, seed } = dialogue.sampling
  const isRefused = rules.sampling === 'refused'
  const temperature = asked === undefined ? undefined : Math.min(Math.max(asked, 0), context.quirks.temperatureMax ?? 1)
  const isWarm = temperature !== undefined && !isRefused && (!isOn || temperature === 1)
  // Where only one of both is taken, the one that says something stays.
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
  // The members of the record are fields: that is its type.
  for (const field of Object.keys(lost) as Field[]) if (lost[field]) lose(dialogue, context, field)

  return {
    ...(isWarm && !(rules.sampling === 'one' && isNarrowed) ? { temperature } : {}),
    ...(isNarrowed ? { top_p: topP } : {}),
    ...(isTop ? { top_k: topK } : {}),
  }
}

/** The narrowest nucleus that is taken while thinking. */
const nucleusMin = 0.95
