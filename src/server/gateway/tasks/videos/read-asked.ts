import { type AskedClip, clipPiecesMax, clipSecondsMax, resolutionOf } from '../../../../contract/video-price.ts'
import { imageType } from '../../../base/lib/bytes/image-type.ts'
import { fail } from '../../../base/lib/failure.ts'
import { isObject, type JsonObject, objectAt, textAt } from '../../protocols/wire-format.ts'
import type { Picture } from '../../providers/videos/video-vendor.ts'
import type { Body } from '../../relay/http/read-body.ts'
import { storable, webAddress } from '../text.ts'

/** What a caller asks for, in either shape. */
export interface AskedVideo extends AskedClip {
  readonly model: string
  readonly prompt: string
  readonly negativePrompt: string
  readonly ratio: string
  /** As the caller wrote it, for the answer; '' where it has none. */
  readonly size: string
  readonly seed: number | undefined
  readonly first: Picture | undefined
  readonly last: Picture | undefined
  readonly references: readonly Picture[]
  /** All members of the request and of its `metadata`, from which a vendor takes those that it passes on. */
  readonly members: JsonObject
}

/**
 * Reads an order of clips: a body of `/v1/videos`, JSON or a form, or of `/v1/video/generations`, whose members may also be in
 * `metadata`. Throws `model_required`, `task_prompt_required` or `field_invalid`. Pure.
 */
export function readAskedVideo({ json, form }: Pick<Body, 'json' | 'form'>): AskedVideo {
  const members = { ...(objectAt(json, 'metadata') ?? {}), ...json }
  const model = textAt(json, 'model').trim()
  if (model === '') fail('model_required')
  const file = form?.files.find(({ field }) => field === 'input_reference' || field === 'image')
  const images = listOf(members.images)
  const [only] = images
  const first = file
    ? ofBytes(file.bytes)
    : (pictureAt(members, ['input_reference', 'image', 'first_frame']) ?? alone(images, only))
  const references = [...(images.length > 1 ? images : []), ...listOf(members.reference_images)].map((each) =>
    pictureOf(each, 'images'),
  )
  const prompt = storable(textAt(members, 'prompt'))
  if (prompt.trim() === '' && !first && references.length === 0) fail('task_prompt_required')
  const size = sizeIn(members)
  return {
    model,
    prompt,
    negativePrompt: storable(textAt(members, 'negative_prompt')).slice(0, 5000),
    seconds: secondsIn(members),
    resolution: size.resolution,
    ratio: size.ratio || ratioIn(members),
    size: size.text,
    hasSound: switchIn(members, ['generate_audio', 'generateAudio', 'audio', 'sound']),
    pieces: wholeIn(members, ['n', 'sample_count', 'numberOfVideos'], clipPiecesMax) ?? 1,
    seed: wholeIn(members, ['seed'], 4_294_967_295),
    first,
    last: pictureAt(members, ['image_tail', 'last_frame', 'lastFrame']),
    references,
    members,
  }
}

function alone(images: readonly unknown[], only: unknown): Picture | undefined {
  return images.length === 1 ? pictureOf(only, 'images') : undefined
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 20) : []
}

/** `"8"` or `8`; parts of a second count as a whole one. */
function secondsIn(members: JsonObject): number | undefined {
  const field = ['seconds', 'duration', 'durationSeconds', 'duration_seconds'].find((name) => isGiven(members[name]))
  if (field === undefined) return undefined
  const seconds = Math.ceil(Number(members[field]))
  if (seconds >= 1 && seconds <= clipSecondsMax) return seconds
  return fail('field_invalid', {
    field,
    reason: { zh: `须为 1 到 ${clipSecondsMax}`, en: `must be from 1 to ${clipSecondsMax}` },
  })
}

function wholeIn(members: JsonObject, names: readonly string[], most: number): number | undefined {
  const field = names.find((name) => isGiven(members[name]))
  if (field === undefined) return undefined
  const value = Number(members[field])
  const least = field === 'seed' ? 0 : 1
  if (Number.isInteger(value) && value >= least && value <= most) return value
  return fail('field_invalid', {
    field,
    reason: { zh: `须为 ${least} 到 ${most} 的整数`, en: `must be a whole number from ${least} to ${most}` },
  })
}

function switchIn(members: JsonObject, names: readonly string[]): boolean | undefined {
  const value = names.map((name) => members[name]).find(isGiven)
  if (value === undefined) return undefined
  if (value === true || value === 'true' || value === 'on') return true
  return value === false || value === 'false' || value === 'off' ? false : undefined
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/** The size of a request: `1280x720`, `720p`, or its width and height. */
function sizeIn(members: JsonObject): { text: string; resolution: string; ratio: string } {
  const { width, height } = members
  const pixels = Number(width) > 0 && Number(height) > 0 ? `${Number(width)}x${Number(height)}` : ''
  const field = ['size', 'resolution', 'quality'].find((name) => typeof members[name] === 'string' && members[name] !== '')
  const text = field === undefined ? pixels : textAt(members, field)
  if (text === '') return { text, resolution: '', ratio: '' }
  const resolution = resolutionOf(text) || (modes[text.toLowerCase()] ?? '')
  if (resolution === '')
    fail('field_invalid', {
      field: field ?? 'size',
      reason: { zh: '须为 1280x720、720p 或 4k 这样的写法', en: 'must be written like 1280x720, 720p or 4k' },
    })
  return { text, resolution, ratio: ratioOf(text) }
}

/** Kling's names of qualities. */
const modes: Readonly<Record<string, string>> = { std: '720p', pro: '1080p' }

function ratioOf(text: string): string {
  const [, width, height] = /^(\d{2,5})\D(\d{2,5})$/.exec(text.trim()) ?? []
  if (!width || !height) return ''
  const divisor = commonDivisor(Number(width), Number(height))
  const ratio = `${Number(width) / divisor}:${Number(height) / divisor}`
  // The sizes of Sora that are not quite 16:9.
  return { '7:4': '16:9', '4:7': '9:16' }[ratio] ?? ratio
}

function commonDivisor(one: number, other: number): number {
  return other === 0 ? one : commonDivisor(other, one % other)
}

function ratioIn(members: JsonObject): string {
  const ratio = textAt(members, 'aspect_ratio') || textAt(members, 'aspectRatio') || textAt(members, 'ratio')
  if (ratio === '' || ratio === 'adaptive' || /^\d{1,3}:\d{1,3}$/.test(ratio)) return ratio
  return fail('field_invalid', { field: 'aspect_ratio', reason: { zh: '须为 16:9 这样的写法', en: 'must be written like 16:9' } })
}

function pictureAt(members: JsonObject, names: readonly string[]): Picture | undefined {
  const field = names.find((name) => isGiven(members[name]))
  return field === undefined ? undefined : pictureOf(members[field], field)
}

/** An address, a data URL, base64, or an object that has one of them. */
function pictureOf(value: unknown, field: string): Picture {
  const text = isObject(value) ? textAt(value, 'image_url') || textAt(value, 'url') || textAt(value, 'image') : value
  if (typeof text !== 'string') return refusePicture(field)
  const url = webAddress(text)
  if (url !== '') return { kind: 'url', url }
  const base64 = /^data:image\/[\w.+-]{1,50};base64,/.test(text) ? text.slice(text.indexOf(',') + 1) : text
  if (base64.length < 20 || !/^[\w+/=-]{20,60}$/.test(base64.slice(0, 60))) return refusePicture(field)
  const mediaType = imageType(Buffer.from(base64.slice(0, 64), 'base64'))
  return mediaType ? { kind: 'bytes', base64, mediaType } : refusePicture(field)
}

function ofBytes(bytes: Buffer): Picture {
  const mediaType = imageType(bytes)
  return mediaType ? { kind: 'bytes', base64: bytes.toString('base64'), mediaType } : refusePicture('input_reference')
}

function refusePicture(field: string): never {
  fail('field_invalid', {
    field,
    reason: {
      zh: '须为图片的 http(s) 地址，或 PNG、JPEG、GIF、WebP 图片',
      en: 'must be the http(s) address of a picture, or a PNG, JPEG, GIF or WebP picture',
    },
  })
}
