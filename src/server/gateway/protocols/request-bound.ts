import {
  cacheLifetimes,
  cacheWriteBuckets,
  type LongCacheLifetime,
  type OutputBucket,
  type PromptBucket,
} from '../../../contract/usage.ts'
import { rememberByName } from '../../base/lib/collections/remember-by-name.ts'
import { mostTokensOf } from './count-media.ts'
import { declarations } from './index.ts'
import { type MediaFound, mediaIn } from './media-parts.ts'
import type { JsonObject, RequestFacts } from './wire-format.ts'

/**
 * The upper bound of a request's input, and the kinds of tokens that its answer can have: the basis of a hold that covers the cost of
 * the call. Pure. See docs/decisions/0023-holds-cover-the-cost.md.
 */
export interface RequestBound {
  /**
   * The bytes of the request without the data of its media, plus `templateTokens`. No tokenizer makes more tokens of a text than it
   * has bytes.
   */
  readonly textTokens: number
  /** The tokens that the vendor adds around the texts of a prompt. */
  readonly templateTokens: number
  readonly imageTokens: number
  readonly audioTokens: number
  /**
   * Members whose length only the upstream knows, such as files, video URLs and hosted tools: only the context limits the prompt.
   */
  readonly unbounded: readonly string[]
  /** The kinds of tokens as which the vendor may bill the prompt's text, and those of the answer. */
  readonly textAs: readonly PromptBucket[]
  readonly outputAs: readonly OutputBucket[]
  /** The longest possible lifetime of the request's cache writes, if it exceeds five minutes. */
  readonly cacheLifetime: LongCacheLifetime | undefined
  /** Tokens that the request reserves for reasoning: an output limit must be greater. */
  readonly thinkingBudget: number
}

/** The members of all formats: those of any may be in a body. */
const bounds = declarations.flatMap(({ bound }) => bound ?? [])
const addingNames: ReadonlySet<string> = new Set(bounds.flatMap(({ adding = [] }) => adding))
const unboundedReaders = bounds.flatMap(({ unbounded = {} }) => Object.entries(unbounded))

interface Asked {
  readonly facts: RequestFacts
  readonly body: JsonObject
  /** The body as JSON, in UTF-8. */
  readonly bytes: Buffer
  /** The names of the model at the upstreams that may answer. */
  readonly models: readonly string[]
}

export function readRequestBound({ facts, body, bytes, models }: Asked): RequestBound {
  const media = facts.mediaParts > 0 ? mediaIn(body) : []
  const dataBytes = media.reduce((sum, found) => sum + (found.isText ? 0 : (found.data?.length ?? 0)), 0)
  const template = templateTokens(facts.model, body)

  let imageTokens = 0
  let audioTokens = 0
  for (const found of media) {
    if (found.media === 'image') imageTokens += mostTokensOf(found, facts.model)
    else if (found.media === 'audio' && found.data) audioTokens += mostTokensOf(found, facts.model)
  }

  const unbounded = unboundedMembers({ facts, body, media })
  if (models.some(answersFromElsewhere) || (bytes.includes(longDocument) && models.some(isQwen))) unbounded.push('model')
  const isMarked = bytes.includes(inEveryMark) && cacheMarks.some((mark) => bytes.includes(mark))
  return {
    textTokens: bytes.length - dataBytes + template,
    templateTokens: template,
    imageTokens,
    audioTokens,
    unbounded,
    textAs: textBuckets({ model: facts.model, isMarked, unbounded }),
    outputAs: outputBuckets(body),
    cacheLifetime: longestLifetime({ model: facts.model, isMarked, bytes }),
    thinkingBudget: thinkingBudgetOf(body),
  }
}

/**
 * A cache breakpoint may get any lifetime, by translation or by the host. Input of unknown length may be billed as audio: a cache
 * stored at the vendor, audio and video.
 */
function textBuckets(asked: { model: string; isMarked: boolean; unbounded: readonly string[] }): readonly PromptBucket[] {
  const { model, isMarked, unbounded } = asked
  const written = isMarked ? cacheLifetimes : cachesUnasked.test(model) ? (['5m', '30m'] as const) : []
  if (written.length === 0 && unbounded.length === 0) return plainText
  const hasSound = unbounded.includes('audio') || unbounded.includes('video')
  return [
    ...plainText,
    ...written.map((lifetime) => cacheWriteBuckets[lifetime]),
    ...(hasSound ? (['audioInput', 'cachedAudio'] as const) : []),
    ...(unbounded.includes('cachedContent') ? (['cachedAudio', 'cachedImage'] as const) : []),
  ]
}

const plainText: readonly PromptBucket[] = ['input', 'cacheRead']
const cacheMarks = ['cache_control', 'prompt_cache_options', 'prompt_cache_breakpoint']
/** All marks contain this text: a request without marks is scanned once instead of three times. */
const inEveryMark = Buffer.from('cache_')
/**
 * Models that write every prompt to their cache, for 30 minutes, without a cache breakpoint. Source: types of OpenAI's SDK 7.57.
 */
const cachesUnasked = /(^|\/)gpt-(5\.([6-9]|\d\d)|[6-9]|\d\d)/

/** Translation turns a long lifetime of another vendor into the longer one of OpenAI. */
function longestLifetime(asked: { model: string; isMarked: boolean; bytes: Buffer }): LongCacheLifetime | undefined {
  const { model, isMarked, bytes } = asked
  const isOpenAi = cachesUnasked.test(model)
  if (isMarked && bytes.includes('"12h"')) return '12h'
  if (isMarked && bytes.includes('"1h"')) return isOpenAi ? '12h' : '1h'
  return isOpenAi ? '30m' : undefined
}

/** A video model generates video even if the request does not name that modality. */
function outputBuckets(body: JsonObject): OutputBucket[] {
  const modalities = modalitiesOf(body)
  const kinds: OutputBucket[] = ['output']
  if (modalities.includes('audio') || bounds.some((bound) => bound.wantsSpeech?.(body))) kinds.push('audioOutput')
  if (modalities.includes('image')) kinds.push('imageOutput')
  if (modalities.includes('video') || modalities.length === 0) kinds.push('videoOutput')
  return kinds
}

/** The maximum tokens of a conversation template without tools, including Grok's own additions. */
const ownAdditions = rememberByName((model) => (/grok/i.test(model) ? 1024 : 256))

/** The template of a conversation, instructions for tools, their longer names, and Grok's own additions. */
function templateTokens(model: string, body: JsonObject): number {
  const hasTools = bounds.some((bound) => bound.hasTools?.(body))
  const addedBytes = bounds.reduce((sum, bound) => sum + (bound.addedBytes?.(body) ?? 0), 0)
  return ownAdditions(model) + (hasTools ? 1024 : 0) + addedBytes
}

function unboundedMembers({
  facts,
  body,
  media,
}: {
  facts: RequestFacts
  body: JsonObject
  media: readonly MediaFound[]
}): string[] {
  const named = addingMembers(body)
  for (const [name, read] of unboundedReaders) if (isPresent(read(body))) named.push(name)
  for (const names of [facts.hostedTools, facts.freeTools, facts.otherModels]) if (names) named.push(...names)
  for (const found of media) if (isUnbounded(found)) named.push(found.media)
  if (facts.mediaParts > media.length) named.push('file')
  return named.length > 1 ? [...new Set(named)] : named
}

/**
 * Models that search, or answer with documents of their operator: OpenRouter's `:online`, Groq's compound systems, Perplexity's Sonar,
 * Volcengine's bots. Sources: the vendors' model lists, read 2026-11.
 */
const answersFromElsewhere = rememberByName((model) =>
  /:online$|(^|\/)(compound(-beta)?(-mini)?$|sonar($|-)|bot-\d{8,})/.test(model),
)

/** Alibaba's long documents are named in a system message. */
const longDocument = Buffer.from('fileid://')
const isQwen = rememberByName((model) => /(^|\/)qwen/i.test(model))

/** The members of a body with which its vendor adds texts of its own to the prompt. */
export function addingMembers(body: JsonObject): string[] {
  const named: string[] = []
  for (const name of addingNames) if (isPresent(body[name])) named.push(name)
  return named
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '' && !(Array.isArray(value) && value.length === 0)
}

/** Documents other than plain text, video, and audio that is not in the request. */
function isUnbounded({ media, data, mediaType, isText }: MediaFound): boolean {
  if (media === 'image' || isText) return false
  if (media === 'audio') return !data
  return media === 'video' || !data || !mediaType.startsWith('text/')
}

function modalitiesOf(body: JsonObject): string[] {
  const asked = bounds.flatMap((bound) => bound.modalities?.(body) ?? [])
  return asked.filter((each) => typeof each === 'string').map((each) => each.toLowerCase())
}

function thinkingBudgetOf(body: JsonObject): number {
  const budgets = bounds.flatMap((bound) => bound.thinkingBudgets?.(body) ?? [])
  return Math.max(0, ...budgets.filter((budget): budget is number => typeof budget === 'number' && Number.isFinite(budget)))
}
