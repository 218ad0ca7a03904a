import type { RequestContext, WrittenRequest } from '../codec.ts'
import type { Dialogue } from '../dialogue.ts'
import { describedSchema, jsonInstruction } from '../json-answer.ts'
import { type Field, fitted, lose, loseAllBut } from '../lost-fields.ts'
import { definedMembers, type JsonObject } from '../wire-format.ts'
import { type GeminiModel, geminiModel } from './models.ts'
import { writeOpenApiSchema } from './openapi-schema.ts'
import { writeSafety } from './safety.ts'
import { writeJsonSchema } from './schema.ts'
import { writeThinking } from './thinking.ts'
import { writeContents } from './write-contents.ts'
import { nameAllTools, writeTools } from './write-tools.ts'

/**
 * The conversation as a generateContent request of the model. Throws `untranslatable` where a loss would change the request. Source:
 * protocols notes 3.1 to 3.9.
 */
export function writeGenerateRequest(dialogue: Dialogue, context: RequestContext): WrittenRequest {
  const model = geminiModel(context.model)
  const isOpenApi = model.isOld || context.quirks.openApiSchemas === true
  const extra = extraOf(dialogue)
  loseAllBut(extra.isOwn ? { ...dialogue, extra: {} } : dialogue, context, carriedBy(model))

  const names = nameAllTools(dialogue)
  const { tools, toolConfig, customTools } = writeTools(dialogue, context, { model, isOpenApi, names })
  const answer = writeAnswerForm(dialogue, context, { model, isOpenApi, hasTools: tools.length > 0 })
  const system = [...dialogue.system.map(({ text }) => text), answer.instruction]
    .filter((text) => text !== '')
    .map((text) => ({ text: text.toWellFormed() }))
  const config = {
    ...extra.generationConfig,
    ...writeSampling(dialogue, context, model),
    ...answer.config,
    ...writeLogprobsAsked(dialogue),
    ...writeReasoning(dialogue, context, model),
    ...(model.answersWith ? { responseModalities: model.answersWith } : {}),
  }
  const safety = extra.top.safetySettings === undefined ? writeSafety(context.settings.geminiSafety) : []
  const calling = { ...extra.toolConfig, ...toolConfig }

  const body = {
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    contents: writeContents(dialogue, context, { model, toUpstream: names.toUpstream }),
    ...(tools.length > 0 ? { tools } : {}),
    ...(Object.keys(calling).length > 0 ? { toolConfig: calling } : {}),
    ...(safety.length > 0 ? { safetySettings: safety } : {}),
    ...extra.top,
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
  }
  return {
    body,
    ...(names.toCaller.size > 0 ? { toolNames: names.toCaller } : {}),
    ...(customTools.size > 0 ? { customTools } : {}),
  }
}

function carriedBy({ penalties }: GeminiModel): Field[] {
  return [
    ...(['temperature', 'topP', 'topK', 'seed', 'stop', 'outputTokensMax', 'reasoning', 'output', 'logprobs', 'search'] as const),
    ...(['tools', 'strictTools', 'toolChoice', 'detail', 'turns'] as const),
    ...(penalties ? (['presencePenalty', 'frequencyPenalty'] as const) : []),
  ]
}

/** Members of callers of the same format, at their original paths. */
function extraOf({ from, extra }: Dialogue) {
  const isOwn = from === 'gemini.generate'
  const members = isOwn ? Object.entries(extra) : []
  const inside = (place: string) =>
    Object.fromEntries(members.filter(([key]) => key.startsWith(place)).map(([key, value]) => [key.slice(place.length), value]))
  const top: Record<string, unknown> = Object.fromEntries(members.filter(([key]) => !key.includes('.')))
  return { isOwn, top, generationConfig: inside('generationConfig.'), toolConfig: inside('toolConfig.') }
}

/** Gemini has at most 20 alternatives, like the other formats. */
function writeLogprobsAsked({ logprobs }: Dialogue): JsonObject {
  if (!logprobs) return {}
  return { responseLogprobs: true, ...(logprobs.top > 0 ? { logprobs: logprobs.top } : {}) }
}

function writeSampling(dialogue: Dialogue, context: RequestContext, model: GeminiModel): JsonObject {
  const { stop, outputTokensMax } = dialogue
  const stops = stop.filter((text) => text !== '')
  if (stops.length > stopsMax) lose(dialogue, context, 'stop')
  if (outputTokensMax !== undefined && outputTokensMax > model.outputTokensMax) lose(dialogue, context, 'outputTokensMax')
  return {
    ...writeNumbers(dialogue, context, model),
    ...(stops.length > 0 ? { stopSequences: stops.slice(0, stopsMax) } : {}),
    ...(outputTokensMax === undefined ? {} : { maxOutputTokens: Math.min(outputTokensMax, model.outputTokensMax) }),
  }
}

const stopsMax = 5

/** Clamps numbers to valid values; those of penalties exclude 2. */
function writeNumbers(dialogue: Dialogue, context: RequestContext, { penalties }: GeminiModel): JsonObject {
  const { temperature, topP, topK, seed, presencePenalty, frequencyPenalty } = dialogue.sampling
  const fit = (field: Field, value: number | undefined, to: (value: number) => number) =>
    fitted(dialogue, context, [field, value], to)
  const penalty = (field: Field, value: number | undefined) =>
    penalties && value ? fit(field, value, (asked) => between(asked, -2, 1.99)) : undefined
  const written = {
    temperature: fit('temperature', temperature, (asked) => between(asked, 0, 2)),
    topP: fit('topP', topP, (asked) => between(asked, 0, 1)),
    topK: fit('topK', topK, (asked) => Math.max(1, Math.round(asked))),
    // Gemini accepts a signed 32-bit seed: a larger seed is reduced to 31 bits.
    seed: fit('seed', seed, (asked) => Math.trunc(asked) % 2 ** 31),
    presencePenalty: penalty('presencePenalty', presencePenalty),
    frequencyPenalty: penalty('frequencyPenalty', frequencyPenalty),
  }
  return definedMembers(written)
}

function between(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max)
}

function writeReasoning(dialogue: Dialogue, context: RequestContext, model: GeminiModel): JsonObject {
  const { config, isLost } = writeThinking(dialogue.reasoning, model, dialogue.outputTokensMax)
  if (isLost) lose(dialogue, context, 'reasoning')
  return config && Object.keys(config).length > 0 ? { thinkingConfig: config } : {}
}

/** A JSON answer in the form that the model supports; together with tools, older models only accept an instruction. */
function writeAnswerForm(
  dialogue: Dialogue,
  context: RequestContext,
  { model, isOpenApi, hasTools }: { model: GeminiModel; isOpenApi: boolean; hasTools: boolean },
): { config: JsonObject; instruction: string } {
  const { output } = dialogue
  if (!output) return { config: {}, instruction: '' }
  if ((hasTools && !model.jsonWithTools) || model.answersWith) {
    lose(dialogue, context, 'output')
    return { config: {}, instruction: jsonInstruction(output) }
  }
  const type = { responseMimeType: 'application/json' }
  if (output.kind === 'json') return { config: type, instruction: '' }
  const described = describedSchema(output)
  const schema = isOpenApi ? writeOpenApiSchema(described) : writeJsonSchema(described)
  const form = schema ? { [isOpenApi ? 'responseSchema' : 'responseJsonSchema']: schema } : {}
  return { config: { ...type, ...form }, instruction: '' }
}
