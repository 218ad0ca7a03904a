import { rememberByName } from '../../base/lib/collections/remember-by-name.ts'
import { yieldToEventLoop } from '../../base/lib/time/yield-to-event-loop.ts'
import { newestClaude, unknownTokens } from './count-media.ts'
import type { RequestFacts } from './wire-format.ts'

/**
 * Token counts for when no upstream reports them: a fast estimate for holds and limits, and a count for charges. Both are bounded
 * in time for every input: a long run of one character would take a BPE tokenizer minutes, so runs are split first, and long texts
 * are sampled. Source: protocols notes 5.2 and 5.3.
 */
const overheadPerRequest = 8

/** A fast estimate of a request's input tokens for the hold, rather too high than too low. Media are counted by `countMedia`. */
export function estimateInput(
  texts: readonly string[],
  { mediaParts, model }: Pick<RequestFacts, 'mediaParts' | 'model'>,
  mediaTokens = mediaParts * unknownTokens,
): number {
  let total = 0
  for (const text of texts) total += estimateText(text)
  return Math.ceil(overheadPerRequest + mediaTokens + total * familyFactor(model))
}

/** A text of more than a million characters is sampled at random positions, so that callers cannot place cheap text there. */
export function estimateText(text: string): number {
  if (text.length <= estimatedWhole) return weightOf(text, 0, text.length) + 3
  const stride = Math.floor(text.length / samples)
  let total = 0
  for (let sample = 0; sample < samples; sample++) {
    const from = sample * stride + Math.floor(Math.random() * (stride - sampleSize))
    total += weightOf(text, from, from + sampleSize)
  }
  return (total / (samples * sampleSize)) * text.length
}

const estimatedWhole = 1024 * 1024
const samples = 256
const sampleSize = 1024

/** Weights per class of characters; measured against o200k, the estimate is +6 % for English, +17 % for Chinese, +1 % for code. */
function weightOf(text: string, from: number, end: number): number {
  let weight = 0
  let inWord = false
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at)
    const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
    if (isLetter) weight += inWord ? 0.2 : 0.45
    else if (code >= 48 && code <= 57) weight += 0.4
    else if (code === 32) weight += 0.1
    else if (code === 10) weight += 0.3
    else if (code >= 0x2e80) weight += 1
    else if (code >= 128) weight += 0.55
    else weight += 0.6
    inWord = isLetter
  }
  return weight
}

/** Factor from o200k to a family's own vocabulary. */
const familyFactor = rememberByName((model) => familyFactors.find(([family]) => family.test(model))?.[1] ?? 1)

const familyFactors: readonly (readonly [RegExp, number])[] = [
  [newestClaude, 1.45],
  [/claude/, 1.2],
]

const sampleAbove = 96 * 1024
const windowSize = 32 * 1024
const runMax = 120
/** The number of characters counted without yielding: less than 1 ms, or about 10 ms for a text made to be slow. */
const stretchSize = 1024
/** A stretch ends at a space that is at most this far before its end, so that no word is split. */
const wordMax = 128

type Encode = (text: string, options?: { disallowedSpecial?: Set<string> }) => number

/** The public vocabularies, each loaded when it is first needed. */
export type Vocabulary = 'o200k' | 'cl100k'
const encoders = new Map<Vocabulary, Promise<Encode>>()

function encoderOf(vocabulary: Vocabulary): Promise<Encode> {
  const loaded = encoders.get(vocabulary) ?? load(vocabulary)
  encoders.set(vocabulary, loaded)
  return loaded
}

async function load(vocabulary: Vocabulary): Promise<Encode> {
  if (vocabulary === 'cl100k') return (await import('gpt-tokenizer/encoding/cl100k_base')).countTokens
  return (await import('gpt-tokenizer/encoding/o200k_base')).countTokens
}

/** Counts with the o200k vocabulary times the model family's factor. Texts above 96 KiB are counted by three windows and scaled. */
export async function countTokens(text: string, model: string): Promise<number> {
  if (text === '') return 0
  const count = await encoderOf('o200k')
  return Math.ceil((await countSampled(count, text)) * familyFactor(model))
}

/** The vocabulary in which the texts of a model are counted; for a model without a public one it is only near its own. */
export function vocabularyOf(model: string): Vocabulary {
  return inCl100k.test(model) ? 'cl100k' : 'o200k'
}

/**
 * The most tokens of a model for each token that is counted in its vocabulary. Two where its own vocabulary is not public, since those of
 * today's large models are about as large; infinite where its size is unknown too. A public one has a hundredth on top, for the places
 * where a text is cut while it is counted.
 */
export const factorOver = rememberByName((model) => {
  if (inO200k.test(model) || inCl100k.test(model)) return 1.01
  return richVocabularies.test(model) ? 2 : Number.POSITIVE_INFINITY
})

/** Source: `encoding_for_model` of OpenAI's tiktoken, read 2026-11. */
const inO200k = /(?:^|\/)(?:gpt-(?:4o|4\.1|4\.5|5)(?![\d])|chatgpt-4o|o[134](?!\d)|codex-mini|gpt-oss)/
const inCl100k = /(?:^|\/)(?:gpt-4(?![\do.])|gpt-3\.5|gpt-35|text-embedding-(?:3|ada))/

/** Vocabularies of 100,000 entries and more. Source: the vendors' model cards, read 2026-11. */
const richVocabularies =
  /gpt-|chatgpt|(?:^|\/)o[1-9](?!\d)|codex|claude|gemini|gemma|deepseek|qwen|qwq|kimi|moonshot|glm|grok|llama-?[34]|mistral|ministral|magistral|codestral|command|minimax|nova-/i

async function countSampled(count: Encode, text: string): Promise<number> {
  if (text.length <= sampleAbove) return countStretches(count, text)
  const middle = Math.floor((text.length - windowSize) / 2)
  let counted = 0
  for (const from of [0, middle, text.length - windowSize])
    counted += await countStretches(count, text.slice(from, from + windowSize))
  return (counted / (3 * windowSize)) * text.length
}

/** Counts a whole text without sampling. Yields to the event loop between its stretches. */
export async function countWhole(text: string, vocabulary: Vocabulary): Promise<number> {
  return countStretches(await encoderOf(vocabulary), text)
}

async function countStretches(count: Encode, text: string): Promise<number> {
  const countStretch = (stretch: string) => count(cutRuns(stretch), plain)
  if (text.length <= stretchSize) return countStretch(text)
  let total = 0
  for (let from = 0, end = 0; from < text.length; from = end) {
    end = endOfStretch(text, from)
    const stretch = text.slice(from, end)
    await yieldToEventLoop()
    total += countStretch(stretch)
  }
  return total
}

const plain = { disallowedSpecial: new Set<string>() }

function endOfStretch(text: string, from: number): number {
  const end = from + stretchSize
  if (end >= text.length) return text.length
  const space = text.lastIndexOf(' ', end)
  if (space > end - wordMax) return space
  const isInsidePair = (text.charCodeAt(end) & 0xfc00) === 0xdc00
  return isInsidePair ? end - 1 : end
}

/**
 * Inserts a character of another class into every run of 120 or more characters of one class, which would otherwise be merged as
 * one word.
 */
function cutRuns(text: string): string {
  return text.replace(longRun, (run) => (run.match(runPieces) ?? []).join(run.trim() === '' ? '.' : ' '))
}

const longRun = new RegExp(
  `(?:[\\p{L}\\p{M}]{${runMax},}|\\p{N}{${runMax},}|\\s{${runMax},}|[^\\s\\p{L}\\p{M}\\p{N}]{${runMax},})`,
  'gu',
)
const runPieces = new RegExp(`[\\s\\S]{1,${runMax}}`, 'gu')
