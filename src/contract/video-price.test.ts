import { describe, expect, it } from 'vitest'
import { agreeClip, clipUsd, resolutionOf, type VideoPrice, videoPriceOf } from './video-price.ts'

const table: VideoPrice = {
  per: 'second',
  seconds: { usual: 5, longest: 12 },
  rates: [
    { resolution: '720p', sound: 'without', usd: 0.1 },
    { resolution: '720p', sound: 'with', usd: 0.2 },
    { resolution: '', sound: 'any', usd: 0.5 },
  ],
}
const asked = { seconds: undefined, resolution: '', hasSound: undefined, pieces: 1 }

describe('a price table of clips', () => {
  it('sells one clip at one rate, and tells what it does not sell', () => {
    expect(agreeClip(table, asked)).toMatchObject({
      clip: { seconds: 5, resolution: '720p', hasSound: false },
      rate: { usd: 0.1 },
    })
    expect(agreeClip(table, { ...asked, hasSound: true })).toMatchObject({ clip: { hasSound: true }, rate: { usd: 0.2 } })
    expect(agreeClip(table, { ...asked, resolution: '720p', hasSound: true })).toMatchObject({ rate: { usd: 0.2 } })
    expect(agreeClip(table, { ...asked, resolution: '1080p' })).toMatchObject({
      clip: { resolution: '1080p' },
      rate: { usd: 0.5 },
    })
    expect(agreeClip(table, { ...asked, seconds: 13 })).toMatchObject({ field: 'seconds' })
    const only = { ...table, rates: table.rates.slice(0, 1) }
    expect(agreeClip(only, { ...asked, resolution: '4k' })).toMatchObject({ field: 'resolution' })
    expect(agreeClip(only, { ...asked, hasSound: true })).toMatchObject({ field: 'generate_audio' })
  })

  it('costs its seconds, or one price for each clip, without errors of binary fractions', () => {
    expect(clipUsd(table, { resolution: '', sound: 'any', usd: 0.1 }, 3)).toBe(0.3)
    expect(clipUsd({ per: 'clip' }, { resolution: '', sound: 'any', usd: 0.1 }, 3)).toBe(0.1)
  })

  it('is found by the name of the model, else by the longest pattern', () => {
    const prices = { 'veo-*': table, 'veo-3.1-*': { ...table, per: 'clip' as const }, 'veo-3.1-x': table }
    expect(videoPriceOf(prices, 'veo-3.1-fast')?.per).toBe('clip')
    expect(videoPriceOf(prices, 'veo-3.1-x')?.per).toBe('second')
    expect(videoPriceOf(prices, 'google/veo-2')).toBe(table)
    expect(videoPriceOf(prices, 'toString')).toBeUndefined()
  })

  it('reads sizes as resolutions', () => {
    const read = ['1280x720', '720x1280', '1792x1024', '3840*2160', '720', '768P', '2K', '4k', 'huge', '', '1x1'].map(
      resolutionOf,
    )
    expect(read).toEqual(['720p', '720p', '1024p', '4k', '720p', '768p', '2k', '4k', '', '', ''])
  })
})
