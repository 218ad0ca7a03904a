import type { Codec } from '../codec.ts'
import { defineFormat } from '../define-format.ts'
import { decisionsBy } from '../direct/decision-conversions.ts'
import { imageEditsByGemini, imagesByGemini } from '../direct/images-gemini.ts'
import { speechByGemini } from '../direct/speech-gemini.ts'
import { transcriptionsByGemini, translationsByGemini } from '../direct/transcriptions-gemini.ts'
import type { Place } from '../output-limit.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { geminiGenerate } from './generate.ts'
import { geminiTools } from './hosted-tools.ts'
import { either, eitherObject } from './members.ts'
import { pastSignatures } from './past-signatures.ts'
import { readGenerateEvents, readGenerateReply } from './reply-read.ts'
import { geminiTexts } from './reply-texts.ts'
import { writeGenerateEvents, writeGenerateReply } from './reply-write.ts'
import { readGenerateRequest } from './request-read.ts'
import { writeGenerateRequest } from './request-write.ts'
import { geminiCountTokens, generateCount, generateCountUpstream } from './token-count.ts'

const codec: Codec = {
  inlines: ['image', 'document', 'audio', 'video'],
  writeRequest: writeGenerateRequest,
  readReply: readGenerateReply,
  readEvents: readGenerateEvents,
}

/** Gemini generateContent. Translated, it accepts media as bytes: a URL must be one of Google's storage. */
export const geminiGenerateFormat = defineFormat({
  name: 'gemini.generate',
  wire: geminiGenerate,
  inbound: { readRequest: readGenerateRequest, writeReply: writeGenerateReply, writeEvents: writeGenerateEvents },
  codec,
  conversions: [
    imagesByGemini,
    imageEditsByGemini,
    speechByGemini,
    transcriptionsByGemini,
    translationsByGemini,
    decisionsBy('gemini.generate', codec),
  ],
  outputLimit: { places: limitPlaces, least: () => 1 },
  systemPrompt: {
    hasInstructions: (body) => arrayAt(objectAt(body, instructionsIn(body)) ?? {}, 'parts').length > 0,
    prepend(body, text) {
      const member = instructionsIn(body)
      const given = objectAt(body, member) ?? {}
      return { ...body, [member]: { ...given, parts: [{ text }, ...arrayAt(given, 'parts')] } }
    },
  },
  hostedTools: geminiTools,
  pastThoughts: pastSignatures,
  bound: {
    unbounded: { cachedContent: (body) => either(body, 'cachedContent') },
    modalities: (body) => listed(either(configOf(body), 'responseModalities')),
    thinkingBudgets: (body) => [either(eitherObject(configOf(body), 'thinkingConfig') ?? {}, 'thinkingBudget')],
  },
  smallRequest: (_model, maxOutputTokens) => ({
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens },
  }),
  texts: geminiTexts,
  showsReasoningAsAsked: true,
  validatesCalls: true,
  countsToolCalls: true,
})

export const geminiCountTokensFormat = defineFormat({
  name: 'gemini.count_tokens',
  wire: geminiCountTokens,
  count: generateCount,
  upstreamCounts: [generateCountUpstream],
})

/**
 * Each config object and its limit in the spelling that the body uses, camel case or snake case; an absent limit is spelled like
 * its object.
 */
function limitPlaces(body: JsonObject): readonly Place[] {
  const configs = (['generationConfig', 'generation_config'] as const).filter((name) => isObject(body[name]))
  if (configs.length === 0) return [['generationConfig', 'maxOutputTokens']]
  return configs.flatMap((name): Place[] => {
    const config = objectAt(body, name) ?? {}
    const spelled = (['maxOutputTokens', 'max_output_tokens'] as const).filter((member) => config[member] != null)
    const usual = name === 'generationConfig' ? 'maxOutputTokens' : 'max_output_tokens'
    return (spelled.length > 0 ? spelled : [usual]).map((member): Place => [name, member])
  })
}

/** The vendor accepts both spellings. */
function instructionsIn(body: JsonObject): string {
  return 'system_instruction' in body ? 'system_instruction' : 'systemInstruction'
}

function configOf(body: JsonObject): JsonObject {
  return eitherObject(body, 'generationConfig') ?? {}
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
