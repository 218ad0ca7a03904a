import { cachedTokens, completionTokens, noUsage, promptTokens, reasoningTokens, type Usage } from '../../../../contract/usage.ts'
import { cachedKinds, placeTotals } from '../place-totals.ts'
import { geminiTierServed } from '../tiers.ts'
import { areCounts, arrayAt, countAt, isObject, type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { geminiModel } from './models.ts'

/**
 * Usage of a Gemini reply, or of an event of its stream, in disjoint buckets: cached tokens are part of `promptTokenCount`, the
 * input of its own tools is separate from it, and thinking from `candidatesTokenCount`. Each report is complete and replaces the
 * earlier one; only grounding is reported once. `before` when nothing is reported or a number is invalid, so that the gateway
 * counts tokens itself. Source: protocols notes 3.12.
 */
export function readGeminiUsage(reply: JsonObject, before?: Usage): Usage | undefined {
  const grounded = groundingOf(reply, before)
  const usage = objectAt(reply, 'usageMetadata')
  if (!usage || !isReport(usage)) return before && { ...before, ...grounded }

  const prompt = countAt(usage, 'promptTokenCount') + countAt(usage, 'toolUsePromptTokenCount')
  const cached = countAt(usage, 'cachedContentTokenCount')
  const thoughts = countAt(usage, 'thoughtsTokenCount')
  const total = countAt(usage, 'totalTokenCount')
  const rest = Math.max(0, total - prompt - thoughts)
  const candidateTokens = typeof usage.candidatesTokenCount === 'number' ? countAt(usage, 'candidatesTokenCount') : rest
  const placed = placeTotals({ prompt, completion: candidateTokens + thoughts, total, cached })
  const read = partsOf(placed.plain, (modality) => readOf(usage, modality))
  const outputParts = partsOf(candidateTokens, (modality) => countOf(usage, 'candidatesTokensDetails', modality))
  return {
    ...noUsage,
    // Video input costs as much as text.
    input: read.text + read.video,
    ...cachedKinds(placed.cached, cachedOf(usage)),
    audioInput: read.audio,
    imageInput: read.image,
    // What only the total contains is output of thinking models, which older hosts do not list.
    output: outputParts.text + placed.completion - candidateTokens,
    audioOutput: outputParts.audio,
    imageOutput: outputParts.image,
    videoOutput: outputParts.video,
    reasoning: thoughts,
    ...placed.marks,
    ...grounded,
    ...(before?.tier ? { tier: before.tier } : {}),
    ...geminiTierServed(reply),
  }
}

/** Writes usage in Gemini's form. */
export function writeGeminiUsage(usage: Usage): JsonObject {
  const prompt = promptTokens(usage)
  const completion = completionTokens(usage)
  const reasoning = reasoningTokens(usage)
  const { cachedAudio, cachedImage } = usage
  const read = writeDetails({ AUDIO: usage.audioInput + cachedAudio, IMAGE: usage.imageInput + cachedImage })
  const cached = writeDetails({ AUDIO: cachedAudio, IMAGE: cachedImage })
  const outputDetails = writeDetails({ AUDIO: usage.audioOutput, IMAGE: usage.imageOutput, VIDEO: usage.videoOutput })
  return {
    promptTokenCount: prompt,
    ...(cachedTokens(usage) > 0 ? { cachedContentTokenCount: cachedTokens(usage) } : {}),
    candidatesTokenCount: completion - reasoning,
    ...(reasoning > 0 ? { thoughtsTokenCount: reasoning } : {}),
    totalTokenCount: prompt + completion,
    ...(read.length > 0 ? { promptTokensDetails: read } : {}),
    ...(cached.length > 0 ? { cacheTokensDetails: cached } : {}),
    ...(outputDetails.length > 0 ? { candidatesTokensDetails: outputDetails } : {}),
  }
}

function isReport(usage: JsonObject): boolean {
  return areCounts(usage, counts) && (typeof usage.promptTokenCount === 'number' || typeof usage.totalTokenCount === 'number')
}

const counts = [
  'promptTokenCount',
  'cachedContentTokenCount',
  'candidatesTokenCount',
  'thoughtsTokenCount',
  'toolUsePromptTokenCount',
  'totalTokenCount',
]

type Modality = 'AUDIO' | 'IMAGE' | 'VIDEO'

/** The cached tokens of other kinds than text. */
function cachedOf(usage: JsonObject): { audio: number; image: number } {
  const count = (modality: Modality) => countOf(usage, 'cacheTokensDetails', modality)
  return { audio: count('AUDIO'), image: count('IMAGE') }
}

/**
 * The uncached input tokens of a modality, including those of Gemini's own tools: the prompt's details include cached tokens, the
 * tools' details do not.
 */
function readOf(usage: JsonObject, modality: Modality): number {
  const prompt = Math.max(0, countOf(usage, 'promptTokensDetails', modality) - countOf(usage, 'cacheTokensDetails', modality))
  return prompt + countOf(usage, 'toolUsePromptTokensDetails', modality)
}

function countOf(usage: JsonObject, details: string, modality: Modality): number {
  const entry = arrayAt(usage, details).find((detail) => isObject(detail) && detail.modality === modality)
  return isObject(entry) ? countAt(entry, 'tokenCount') : 0
}

type Parts = Readonly<Record<'text' | 'audio' | 'image' | 'video', number>>

/** `text` is the rest without another modality. */
function partsOf(tokens: number, count: (modality: Modality) => number): Parts {
  const audio = Math.min(tokens, count('AUDIO'))
  const image = Math.min(tokens - audio, count('IMAGE'))
  const video = Math.min(tokens - audio - image, count('VIDEO'))
  return { text: tokens - audio - image - video, audio, image, video }
}

/** Separately billed grounding of an answer, as far as a stream has reported it. */
function groundingOf(reply: JsonObject, before: Usage | undefined): Pick<Usage, 'searches' | 'toolCalls'> {
  const sources = arrayAt(reply, 'candidates').flatMap((candidate) => {
    const metadata = isObject(candidate) ? objectAt(candidate, 'groundingMetadata') : undefined
    return metadata ? [metadata] : []
  })
  const entries = (list: string) => sources.reduce((sum, metadata) => sum + arrayAt(metadata, list).length, 0)
  const calls = {
    image_search: entries('imageSearchQueries'),
    google_maps: sources.some(isFromMaps) ? 1 : 0,
  }
  const most = Object.entries(calls).map(([name, count]) => [name, Math.max(count, before?.toolCalls?.[name] ?? 0)] as const)
  const counted = most.filter(([, count]) => count > 0)
  return {
    searches: Math.max(searchesOf(reply, entries('webSearchQueries')), before?.searches ?? 0),
    ...(counted.length > 0 ? { toolCalls: Object.fromEntries(counted) } : {}),
  }
}

/** The number of billed searches: each query for newer models, at most one per call for older ones. */
function searchesOf(reply: JsonObject, queries: number): number {
  return queries === 0 || geminiModel(textAt(reply, 'modelVersion')).billsQueries ? queries : 1
}

function isFromMaps(metadata: JsonObject): boolean {
  const chunks = arrayAt(metadata, 'groundingChunks')
  return (
    textAt(metadata, 'googleMapsWidgetContextToken') !== '' || chunks.some((chunk) => isObject(chunk) && isObject(chunk.maps))
  )
}

function writeDetails(counts: Readonly<Partial<Record<Modality, number>>>): JsonObject[] {
  const details = Object.entries(counts).map(([modality, tokenCount]) => ({ modality, tokenCount }))
  return details.filter(({ tokenCount }) => tokenCount > 0)
}
