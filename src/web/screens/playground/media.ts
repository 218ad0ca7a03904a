import type { PriceRow } from '../../../contract/routes/pricing.ts'
import { agreeClip, clipUsd } from '../../../contract/video-price.ts'
import { isJsonObject } from '../../lib/json.ts'
import type { Failed } from './decisions.ts'

/** Pictures, which are in the answer, and clips, which are ordered and made in the background. */

export const mediaKinds = ['picture', 'clip'] as const
type MediaKind = (typeof mediaKinds)[number]

/** What is asked for, as it is written in the form. '' leaves a member to the model. */
export interface MediaDraft {
  readonly kind: MediaKind
  readonly prompt: string
  /** `1024x1024`, for pictures. */
  readonly size: string
  readonly count: number
  /** Length of a clip. */
  readonly seconds: number | ''
  /** `720p`. */
  readonly resolution: string
  /** `16:9`, for clips. */
  readonly ratio: string
  readonly sound: '' | 'with' | 'without'
  /** The picture that a clip begins with, as a data URL. */
  readonly first: string
}

export const emptyDraft: MediaDraft = {
  kind: 'picture',
  prompt: '',
  size: '',
  count: 1,
  seconds: '',
  resolution: '',
  ratio: '',
  sound: '',
  first: '',
}

export const pictureSizes = ['1024x1024', '1536x1024', '1024x1536'] as const
export const clipRatios = ['16:9', '9:16', '1:1'] as const
export const picturesAtOnceMax = 4

export type Media =
  | Failed
  | { readonly state: 'pictures'; readonly sources: readonly string[]; readonly requestId: string }
  | { readonly state: 'ordered'; readonly videoId: string }

/** The members of a request; what the form leaves open is not sent. */
export function writeDraft({ kind, prompt, size, count, seconds, resolution, ratio, sound, first }: MediaDraft): object {
  const asked = { prompt: prompt.trim(), ...(count > 1 ? { n: count } : {}) }
  if (kind === 'picture') return { ...asked, ...(size === '' ? {} : { size }) }
  return {
    ...asked,
    ...(seconds === '' ? {} : { seconds: String(seconds) }),
    ...(resolution === '' ? {} : { resolution }),
    ...(ratio === '' ? {} : { aspect_ratio: ratio }),
    ...(sound === '' ? {} : { generate_audio: sound === 'with' }),
    ...(first === '' ? {} : { input_reference: first }),
  }
}

/** The addresses of pictures in an answer of `/v1/images/generations`; only those that show a picture. */
export function readSources(body: unknown): readonly string[] {
  const data = isJsonObject(body) && Array.isArray(body.data) ? body.data.filter(isJsonObject) : []
  const type = isJsonObject(body) && typeof body.output_format === 'string' ? body.output_format : 'png'
  return data.flatMap(({ b64_json, url }) => {
    if (typeof b64_json === 'string' && b64_json !== '') return [`data:image/${type.replaceAll(/\W/g, '')};base64,${b64_json}`]
    return typeof url === 'string' && /^(?:https?:|data:image\/)/i.test(url) ? [url] : []
  })
}

/** What an order costs in US dollars, by the price list; undefined where that is known only afterwards, or nothing is sold in these words. */
export function estimateUsd(draft: MediaDraft, row: PriceRow | undefined, groupRatio: number): number | undefined {
  if (!row) return undefined
  const { kind, count, seconds, resolution, sound } = draft
  if (kind === 'picture') return row.quota_type === 1 && !row.clips ? row.model_price * groupRatio * count : undefined
  if (!row.clips) return undefined
  const hasSound = sound === '' ? undefined : sound === 'with'
  const asked = { seconds: seconds === '' ? undefined : seconds, resolution, hasSound, pieces: count }
  const agreed = agreeClip(row.clips, asked)
  if (!('clip' in agreed)) return undefined
  return clipUsd(row.clips, agreed.rate, agreed.clip.seconds) * groupRatio * count
}
