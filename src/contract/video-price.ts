import { entryFor } from './by-model.ts'
import { decimalText, product } from './decimal.ts'
import type { Text } from './text.ts'

/**
 * Prices of clips by what is sold: second × resolution × with or without sound × piece. One table per model. Shared by the server,
 * which charges by it, and by the console, which shows it as dollars per clip.
 */

export const soundKinds = ['any', 'with', 'without'] as const

export interface VideoRate {
  /** `720p`, `4k`; '' for every resolution. */
  readonly resolution: string
  readonly sound: (typeof soundKinds)[number]
  /** US dollars per second of a clip, or per clip. */
  readonly usd: number
}

export interface VideoPrice {
  readonly per: 'second' | 'clip'
  readonly seconds: {
    /** The length of a clip for which the request names none: it is sent to the vendor. */
    readonly usual: number
    /** Requests for longer clips are refused. */
    readonly longest: number
  }
  /** The first rate is that of a request that names neither resolution nor sound. */
  readonly rates: readonly VideoRate[]
}

export type VideoPrices = Readonly<Record<string, VideoPrice>>

export const clipSecondsMax = 600
export const clipPiecesMax = 10

/** What a request asks for; undefined and '' where it names nothing. */
export interface AskedClip {
  readonly seconds: number | undefined
  readonly resolution: string
  readonly hasSound: boolean | undefined
  readonly pieces: number
}

/** What is sold, and sent to the vendor in these words. `resolution` '' and `hasSound` undefined leave it to the vendor. */
export interface AgreedClip extends AskedClip {
  readonly seconds: number
}

interface RefusedClip {
  readonly field: 'seconds' | 'resolution' | 'generate_audio'
  readonly reason: Text
}

/** The price table of a model: that of its name, else of the longest pattern that fits. */
export function videoPriceOf(prices: VideoPrices, model: string): VideoPrice | undefined {
  return entryFor(prices, model)
}

/** The clip that a request gets at this price, and its rate; or why there is none. Pure. */
export function agreeClip(price: VideoPrice, asked: AskedClip): { clip: AgreedClip; rate: VideoRate } | RefusedClip {
  const seconds = asked.seconds ?? price.seconds.usual
  if (seconds > price.seconds.longest) {
    const most = price.seconds.longest
    return { field: 'seconds', reason: { zh: `最长 ${most} 秒`, en: `at most ${most} seconds` } }
  }
  const { resolution, hasSound } = asked
  const ofSize = price.rates.filter((rate) => resolution === '' || rate.resolution === '' || rate.resolution === resolution)
  if (ofSize.length === 0) {
    const sold = [...new Set(price.rates.map((rate) => rate.resolution))].join(', ')
    return { field: 'resolution', reason: { zh: `须为 ${sold} 之一`, en: `must be one of ${sold}` } }
  }
  const fitting = ofSize.filter(({ sound }) => hasSound === undefined || sound === 'any' || (sound === 'with') === hasSound)
  // A rate of its own resolution goes before one for all.
  const rate = fitting.find((each) => resolution !== '' && each.resolution === resolution) ?? fitting[0]
  if (!rate) return { field: 'generate_audio', reason: soundReasons[hasSound ? 'with' : 'without'] }
  const clip = {
    seconds,
    resolution: resolution || rate.resolution,
    hasSound: hasSound ?? (rate.sound === 'any' ? undefined : rate.sound === 'with'),
    pieces: asked.pieces,
  }
  return { clip, rate }
}

const soundReasons = {
  with: { zh: '该分辨率没有带声音的价格', en: 'no clip with sound is offered in this resolution' },
  without: { zh: '该分辨率没有无声的价格', en: 'no clip without sound is offered in this resolution' },
} as const

/** US dollars of one clip of this length. Exact: the decimals are multiplied as they are written. */
export function clipUsd({ per }: Pick<VideoPrice, 'per'>, { usd }: VideoRate, seconds: number): number {
  return per === 'clip' ? usd : Number(decimalText(product(usd, seconds)))
}

/** `1280x720` is `720p`: the short side, or the usual name of it. '' for what is no size or name of a resolution. */
export function resolutionOf(text: string): string {
  const plain = text.trim().toLowerCase()
  const [, width, height] = /^(\d{2,5})\s?[x*×]\s?(\d{2,5})$/.exec(plain) ?? []
  const short = width && height ? Math.min(Number(width), Number(height)) : Number(/^(\d{3,4})p?$/.exec(plain)?.[1] ?? 0)
  if (short > 0) return names.get(short) ?? `${short}p`
  return /^\dk$/.test(plain) ? plain : ''
}

const names: ReadonlyMap<number, string> = new Map([
  [1440, '2k'],
  [2160, '4k'],
])
