import type { VideoRate } from '../../../contract/video-price.ts'
import { useText } from '../../lib/i18n.ts'
import { texts } from '../texts.ts'

interface OrderedClips {
  readonly seconds: number
  /** '' and null where it is left to the vendor. */
  readonly resolution: string
  readonly sound: boolean | null
  readonly pieces: number
}

/** Says what is ordered: `8 s · 720p · with sound × 2`. */
export function useClipWords(): (clip: OrderedClips) => string {
  const say = useText(texts)
  const rateWords = useRateWords()
  return ({ seconds, resolution, sound, pieces }) => {
    const heard = sound === null ? 'any' : sound ? 'with' : 'without'
    const words = joined([say('clipLength', { seconds }), rateWords({ resolution, sound: heard })])
    return pieces > 1 ? `${words} × ${pieces}` : words
  }
}

/** Says what a rate is for: `720p · with sound`; '' for all clips. */
export function useRateWords(): (rate: Pick<VideoRate, 'resolution' | 'sound'>) => string {
  const say = useText(texts)
  return ({ resolution, sound }) => {
    const heard = sound === 'any' ? '' : say(sound === 'with' ? 'clipWithSound' : 'clipWithoutSound')
    return joined([resolution, heard])
  }
}

const joined = (words: readonly string[]): string => words.filter((word) => word !== '').join(' · ')
