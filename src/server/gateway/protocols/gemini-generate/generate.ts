import { membersOf, memberValue, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { outputTokensLimit, readCount, readModel, requireArray } from '../read-request.ts'
import { geminiTierAsked } from '../tiers.ts'
import { arrayAt, isObject, type JsonObject, objectAt, type RequestFacts, textAt, type WireFormat } from '../wire-format.ts'
import { readGeminiError } from './errors.ts'
import { gatherGenerate } from './forms.ts'
import { geminiTools } from './hosted-tools.ts'
import { either, eitherList, eitherObject, eitherText, refuseTwoSpellings, toolGroups } from './members.ts'
import { readGeminiUsage } from './usage.ts'

/**
 * Gemini generateContent. The model and whether to stream are in the path. A stream ends with the body, without a terminal event.
 * Source: types of the official SDK 2.32 and protocols notes 1.13, read 2026-11.
 */
export const geminiGenerate: WireFormat = {
  format: 'gemini.generate',
  dialect: 'gemini',

  readRequest(body, path) {
    refuseTwoSpellings(body)
    const contents = requireArray(body, 'contents')
    if (!contents.every(isObject)) fail('field_invalid', { field: 'contents', reason: 'every content must be an object' })
    const found = { texts: [], media: 0 }
    for (const content of contents) collectParts(content, found)

    return {
      model: readModel(path?.model === undefined ? body : { model: path.model }),
      stream: path?.stream ?? false,
      ...readOutputMax(eitherObject(body, 'generationConfig') ?? {}),
      mediaParts: found.media,
      reasoningEffort: thinkingLevelOf(body),
      wantsUsage: true,
      streamOptions: undefined,
      ...geminiTierAsked(body),
      ...geminiTools(body),
    }
  },

  promptText(body) {
    const found = { texts: [] as string[], media: 0 }
    const system = either(body, 'systemInstruction')
    for (const content of [system, ...arrayAt(body, 'contents')]) collectParts(content, found)
    for (const tool of toolGroups(body)) {
      for (const declared of eitherList(tool, 'functionDeclarations')) found.texts.push(JSON.stringify(declared))
    }
    return found.texts
  },

  answerIn: 'candidates',
  answersWithout: 'promptFeedback',
  isEmpty: (reply) => !isObject(reply.promptFeedback) && partsOf(reply).length === 0 && !isFinished(reply),
  replyModelIn: 'modelVersion',
  readUsage: (reply) => readGeminiUsage(reply),
  replyText: partsText,

  stream: {
    marks: /"usageMetadata"\s*:\s*\{|"finishReason"|"blockReason"|"error"/g,
    hasNamedEvents: false,
    isTerminal: () => false,
    endsWithBody: true,
    eventEnd: '\r\n\r\n',
    terminalText: '',
    readUsage: readGeminiUsage,
    isUsageOnly: () => false,
    hasOutput: (data) => isFinished(data) || partsOf(data).length > 0,
    isFinish: isFinished,
    deltaText: partsText,
    readError: (data) => (data.error ? readGeminiError(data) : undefined),
    replay: (reply) => [reply],
    gather: gatherGenerate,
    renameModel: renameVersion,
    heartbeat: ': keep-alive\r\n\r\n',
  },
}

/** The text of a content's parts, for estimates; media are counted. A system instruction may also be a string. */
function collectParts(content: unknown, found: { texts: string[]; media: number }): void {
  if (typeof content === 'string') found.texts.push(content)
  if (!isObject(content)) return
  for (const part of arrayAt(content, 'parts').filter(isObject)) {
    const response = eitherObject(part, 'functionResponse')
    if (either(part, 'inlineData') || either(part, 'fileData')) found.media++
    else if (response) {
      found.texts.push(textAt(response, 'name'), JSON.stringify(response.response ?? ''))
      found.media += eitherList(response, 'parts').length
    } else found.texts.push(partText(part))
  }
}

/** The limit over all candidates, and their number. */
function readOutputMax(config: JsonObject): Pick<RequestFacts, 'outputTokensMax' | 'completions'> {
  const count = (name: string, bounds: { min: number; max: number }) => {
    const field = `generationConfig.${name}`
    return readCount({ [field]: either(config, name) }, field, bounds)
  }
  const perCandidate = count('maxOutputTokens', { min: 0, max: outputTokensLimit })
  const candidates = count('candidateCount', { min: 0, max: 128 }) || 1
  return { outputTokensMax: perCandidate ? perCandidate * candidates : undefined, completions: candidates }
}

function thinkingLevelOf(body: JsonObject): string | undefined {
  const thinking = eitherObject(eitherObject(body, 'generationConfig') ?? {}, 'thinkingConfig') ?? {}
  return eitherText(thinking, 'thinkingLevel').toLowerCase() || undefined
}

function candidatesOf(data: JsonObject): JsonObject[] {
  return arrayAt(data, 'candidates').filter(isObject)
}

function partsOf(data: JsonObject): JsonObject[] {
  return candidatesOf(data).flatMap((candidate) => arrayAt(objectAt(candidate, 'content') ?? {}, 'parts').filter(isObject))
}

/** A blocked prompt has no candidates, but is a complete reply. */
function isFinished(data: JsonObject): boolean {
  const isDone = candidatesOf(data).some(({ finishReason }) => typeof finishReason === 'string' && !unfinished.has(finishReason))
  return isDone || textAt(objectAt(data, 'promptFeedback') ?? {}, 'blockReason') !== ''
}

const unfinished = new Set(['', 'FINISH_REASON_UNSPECIFIED'])

function partsText(data: JsonObject): string {
  return partsOf(data).map(partText).join('')
}

function partText(part: JsonObject): string {
  const call = eitherObject(part, 'functionCall')
  const code = eitherObject(part, 'executableCode')
  const result = eitherObject(part, 'codeExecutionResult')
  return (
    textAt(part, 'text') +
    (call ? textAt(call, 'name') + JSON.stringify(call.args ?? call.partialArgs ?? '') : '') +
    (code ? textAt(code, 'code') : '') +
    (result ? textAt(result, 'output') : '')
  )
}

function renameVersion(data: Buffer, model: string): Buffer | undefined {
  const members = membersOf(data)
  if (!members || typeof memberValue(data, members, 'modelVersion') !== 'string') return undefined
  return spliceMembers(data, { modelVersion: JSON.stringify(model) })
}
