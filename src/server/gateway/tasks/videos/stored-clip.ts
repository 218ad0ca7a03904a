import { noUsage } from '../../../../contract/usage.ts'
import { clipUsd } from '../../../../contract/video-price.ts'
import { readJson } from '../../../base/lib/bytes/read-json.ts'
import { costOf, freePrice } from '../../../money/pricing/quote.ts'
import { isObject } from '../../protocols/wire-format.ts'

/** The column `clip`: what is sold, and every factor of its price as it was at admission. */
export interface StoredClip {
  readonly seconds: number
  readonly resolution: string
  readonly sound?: boolean
  readonly pieces: number
  /** As the caller wrote it. */
  readonly size: string
  /** The rate of the price table; absent for a price per call. */
  readonly per?: 'second' | 'clip'
  readonly usd?: number
  /** US dollars of one clip. */
  readonly fixedUsd?: number
  readonly groupRatio?: number
  readonly quotaPerUnit?: number
}

export function writeClip(clip: StoredClip): string {
  return JSON.stringify(clip)
}

export function readClip(text: string): StoredClip {
  const value = readJson(text)
  // Only `writeClip` writes the column.
  return isObject(value) ? (value as unknown as StoredClip) : { seconds: 0, resolution: '', pieces: 1, size: '' }
}

/** What a job has made, as its vendor reports it. */
interface MadeClips {
  readonly pieces: number
  readonly seconds: number | undefined
}

/** Units for what was made, never more than was agreed. Throws as `costOf` does. */
export function costOfMade(clip: StoredClip, made: MadeClips, charged: number): number {
  const { per, usd, fixedUsd = 0, groupRatio = 1, quotaPerUnit = 1 } = clip
  const seconds = Math.min(clip.seconds, Math.ceil(made.seconds ?? clip.seconds))
  const each = per === 'second' && usd !== undefined ? clipUsd({ per }, { resolution: '', sound: 'any', usd }, seconds) : fixedUsd
  const price = { ...freePrice('', ''), fixedUsd: each, groupRatio, quotaPerUnit }
  return Math.min(charged, costOf(price, { ...noUsage, calls: Math.min(clip.pieces, made.pieces) }))
}
