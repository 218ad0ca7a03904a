import { secondsOfAudio } from './direct/audio-seconds.ts'
import { type ImageSize, imageSizeOf } from './image-size.ts'
import { sniffMediaType } from './media.ts'
import { type MediaFound, mediaIn } from './media-parts.ts'
import type { JsonObject, RequestFacts } from './wire-format.ts'

/**
 * An estimate of the tokens of a request's images, recordings, videos and documents for a model, by the vendors' own formulas and the
 * headers of the files. Media by URL or file id are never fetched for a count: they count a flat number. Plain-text documents are left
 * out if `withTexts` says that they were counted as text. Pure. Source: protocols notes 5.4, read 2026-11.
 */
export function countMedia(
  body: JsonObject,
  { mediaParts, model }: Pick<RequestFacts, 'mediaParts' | 'model'>,
  { withTexts = true }: { withTexts?: boolean } = {},
): number {
  if (mediaParts === 0) return 0
  const family = familyOf(model)
  const found = mediaIn(body).filter(({ isText }) => withTexts || !isText)
  const known = found.reduce((sum, media) => sum + Math.min(tokensOf(media, family), tokensMax), 0)
  return Math.ceil(known + Math.max(0, mediaParts - found.length) * unknownTokens)
}

/**
 * The maximum tokens of one medium: as `countMedia` counts it, and an image of unknown size as the largest that the model accepts.
 */
export function mostTokensOf(found: MediaFound, model: string): number {
  const family = familyOf(model)
  const isSeen = found.media !== 'image' || (found.data !== undefined && imageSizeOf(found.data) !== undefined)
  return Math.ceil(isSeen ? Math.min(tokensOf(found, family), tokensMax) : family.imageMax)
}

/** Tokens of one image of that size. */
export function countImage(model: string, size: ImageSize, detail = ''): number {
  return Math.ceil(familyOf(model).image(size, detail))
}

/** Claude models from 4.7 on, which have a new tokenizer and a new image formula. */
export const newestClaude = /claude-(?:[a-z]+-)?(?:[5-9]|4[-.][7-9])(?!\d)/

/** For media that cannot be read here. */
export const unknownTokens = 1_100
/** No vendor accepts a larger single medium, whatever size its header declares. */
const tokensMax = 1_000_000

/** The media formulas of a family of models. */
interface Family {
  readonly models: RegExp
  image(size: ImageSize, detail: string): number
  /** The maximum tokens of one image. */
  readonly imageMax: number
  readonly perSecondOfAudio: number
  readonly perSecondOfVideo: number
  readonly perPage: number
}

function tokensOf({ media, data, mediaType, detail }: MediaFound, family: Family): number {
  if (data === undefined || data === '') return unknownTokens
  const type = sniffMediaType(data) ?? mediaType
  if (media === 'image' && type !== 'application/pdf') {
    const size = imageSizeOf(data)
    return size ? family.image(size, detail) : unknownTokens
  }
  const bytes = Buffer.from(data, 'base64')
  if (media === 'audio') return secondsOf(bytes, mediaType) * family.perSecondOfAudio
  if (media === 'video') return secondsOfVideo(bytes) * family.perSecondOfVideo
  if (type === 'application/pdf') return pagesOf(bytes) * family.perPage
  return bytes.length / bytesPerTextToken
}

const bytesPerTextToken = 4
/** Raw samples have no header: 16 bits at 24 kHz, or 8 bits at 8 kHz. */
const rawBytesPerSecond: ReadonlyMap<string, number> = new Map([
  ['audio/pcm16', 48_000],
  ['audio/pcm', 48_000],
  ['audio/l16', 48_000],
  ['audio/g711_ulaw', 8_000],
  ['audio/g711_alaw', 8_000],
])

function secondsOf(bytes: Buffer, mediaType: string): number {
  const raw = rawBytesPerSecond.get(mediaType)
  return raw === undefined ? secondsOfAudio(bytes) : bytes.length / raw
}

/** Videos whose container has no duration are counted at 1 Mbit/s, a low rate. */
function secondsOfVideo(bytes: Buffer): number {
  const isMp4 = bytes.toString('latin1', 4, 8) === 'ftyp'
  return isMp4 ? secondsOfAudio(bytes) : bytes.length / 125_000
}

/** The page objects of a PDF file; where compression hides them, 100 kB count as one page. */
function pagesOf(bytes: Buffer): number {
  let pages = 0
  for (let at = bytes.indexOf('/Page', 0, 'latin1'); at >= 0 && pages < pagesMax; at = bytes.indexOf('/Page', at + 5, 'latin1')) {
    const isPage = !/[a-zA-Z]/.test(bytes.toString('latin1', at + 5, at + 6))
    if (isPage && /\/Type\s*$/.test(bytes.toString('latin1', Math.max(0, at - 10), at))) pages++
  }
  return Math.min(pagesMax, pages || Math.max(1, Math.ceil(bytes.length / 100_000)))
}

const pagesMax = 1_000

const audioOfOpenAi = { perSecondOfAudio: 10, perSecondOfVideo: 258, perPage: 1_500 }
const audioOfGemini = { perSecondOfAudio: 32 }
const audioOfOthers = { perSecondOfAudio: 32, perSecondOfVideo: 290, perPage: 1_500 }

/** The first entry that matches a model's name applies. The last one matches every name. */
const families: readonly Family[] = [
  { models: newestClaude, image: newClaude, imageMax: 4_784, perSecondOfAudio: 32, perSecondOfVideo: 290, perPage: 2_500 },
  { models: /claude/, image: oldClaude, imageMax: 1_600, perSecondOfAudio: 32, perSecondOfVideo: 290, perPage: 2_250 },
  { models: /gemini-(?:[3-9])/, image: newGemini, imageMax: 2_240, ...audioOfGemini, perSecondOfVideo: 102, perPage: 560 },
  { models: /gemini|gemma/, image: oldGemini, imageMax: 4_128, ...audioOfGemini, perSecondOfVideo: 290, perPage: 258 },
  {
    models: /gpt-(?:5\.[6-9]|[6-9])/,
    image: patches({ factor: 1.2, patchesMax: 2_451, isOpen: true }),
    imageMax: 36_000,
    ...audioOfOpenAi,
  },
  { models: /gpt-(?:4\.1|5[\d.]*)-nano/, image: patches({ factor: 2.46, patchesMax: 1_536 }), imageMax: 3_779, ...audioOfOpenAi },
  { models: /gpt-(?:4\.1|5[\d.]*)-mini/, image: patches({ factor: 1.62, patchesMax: 1_536 }), imageMax: 2_489, ...audioOfOpenAi },
  { models: /o4-mini/, image: patches({ factor: 1.72, patchesMax: 1_536 }), imageMax: 2_642, ...audioOfOpenAi },
  { models: /gpt-4o-mini/, image: tiles(2_833, 5_667), imageMax: 48_169, ...audioOfOpenAi },
  { models: /gpt-5/, image: tiles(70, 140), imageMax: 1_190, ...audioOfOpenAi },
  { models: /(?:^|\/)o[13](?!\d)/, image: tiles(75, 150), imageMax: 1_275, ...audioOfOpenAi },
  { models: /gpt-4/, image: tiles(85, 170), imageMax: 1_445, ...audioOfOthers },
  { models: /qwen|qvq/, image: qwen, imageMax: 16_384, ...audioOfOthers },
  { models: /(?:)/, image: tiles(85, 170), imageMax: 16_384, ...audioOfOthers },
]

function familyOf(model: string): Family {
  const family = families.find(({ models }) => models.test(model))
  if (!family) throw new Error('The last family fits every name')
  return family
}

/**
 * A base and an amount for each tile of 512 × 512 pixels, after scaling down to at most 2048 × 2048 with a short side of at most
 * 768.
 */
function tiles(base: number, perTile: number): Family['image'] {
  return ({ width, height }, detail) => {
    if (detail === 'low') return base
    const square = Math.min(1, 2048 / Math.max(width, height))
    const scale = square * Math.min(1, 768 / (Math.min(width, height) * square))
    return base + perTile * Math.ceil(rounded(width * scale) / 512) * Math.ceil(rounded(height * scale) / 512)
  }
}

/** Patches of 32 × 32 pixels, up to a maximum number. `isOpen`: the caller may request the original resolution. */
function patches({
  factor,
  patchesMax,
  isOpen = false,
}: {
  factor: number
  patchesMax: number
  isOpen?: boolean
}): Family['image'] {
  return ({ width, height }, detail) => {
    const most =
      detail === 'low' ? 256 : isOpen && (detail === '' || detail === 'auto' || detail === 'original') ? openMax : patchesMax
    return factor * Math.min(most, Math.ceil(width / 32) * Math.ceil(height / 32))
  }
}

const openMax = 30_000

/** The long edge is scaled to at most 1568 pixels; 750 pixels of area are a token. */
function oldClaude({ width, height }: ImageSize): number {
  const scale = Math.min(1, 1568 / Math.max(width, height))
  return Math.min(1_600, (width * scale * height * scale) / 750)
}

/** Patches of 28 × 28 pixels, plus 6 %: an image of 1024 × 1024 was measured at 1,446 tokens. */
function newClaude({ width, height }: ImageSize): number {
  const scale = Math.min(1, 2576 / Math.max(width, height))
  return Math.min(4_784, 1.06 * Math.ceil(rounded(width * scale) / 28) * Math.ceil(rounded(height * scale) / 28))
}

/** Patches of 28 pixels. */
function qwen({ width, height }: ImageSize): number {
  return Math.min(16_384, Math.ceil(width / 28) * Math.ceil(height / 28) + 2)
}

function oldGemini({ width, height }: ImageSize): number {
  if (width <= 384 && height <= 384) return 258
  const scale = Math.min(1, 3072 / Math.max(width, height))
  return 258 * Math.ceil(rounded(width * scale) / 768) * Math.ceil(rounded(height * scale) / 768)
}

/** The count depends on the requested resolution, not on the image size. */
function newGemini(_size: ImageSize, detail: string): number {
  return resolutions.get(detail.toLowerCase().replace('media_resolution_', '')) ?? 1_120
}

const resolutions: ReadonlyMap<string, number> = new Map([
  ['low', 280],
  ['medium', 560],
  ['high', 1_120],
  ['ultra_high', 2_240],
])

/** Removes the rounding error of scaling, so that 768 pixels do not become 769. */
function rounded(pixels: number): number {
  return Math.round(pixels * 1000) / 1000
}
