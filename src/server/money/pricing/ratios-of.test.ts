import { expect, it } from 'vitest'
import { ratioPriceOf } from '../../../contract/model-price.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import { noUsage } from '../../../contract/usage.ts'
import { costOf } from './quote.ts'
import { ratiosOf } from './ratios-of.ts'

const none = {
  ...{ cache_read: null, cache_write: null, cache_audio_read: null, cache_image_read: null },
  ...{ audio_input: null, audio_output: null, image_input: null, image_output: null, video_output: null },
}

function cost(prices: Parameters<typeof ratiosOf>[0], usage: Partial<typeof noUsage>, quotaPerUnit = 500_000): number {
  const { ModelRatio, ...ratios } = ratiosOf(prices, quotaPerUnit)
  const maps = Object.entries(ratios).map(([name, ratio]) => [name, { m: ratio }])
  const factors = ratioPriceOf({ ...defaults, ...Object.fromEntries(maps) }, 'm', ModelRatio)
  return costOf({ ...factors, group: 'default', groupRatio: 1, quotaPerUnit, unpriced: false }, { ...noUsage, ...usage })
}

it('charges prices in dollars exactly to the unit, for any units of a dollar and any ratios', () => {
  for (const quotaPerUnit of [500_000, 1_000_000, 100_000])
    for (const input of [0.1, 0.135, 0.3, 1.1, 2.5, 3, 7])
      for (const output of [0.28, 0.55, 2, 4.4, 10, 15])
        for (const tokens of [1_000, 30_000, 1_000_000]) {
          // Prices have no more than four decimals, so the units are whole numbers of ten-thousandths.
          const units = (usd: number) => Math.ceil((Math.round(usd * 10_000) * tokens * quotaPerUnit) / 1e10)
          expect(cost({ ...none, input, output }, { input: tokens }, quotaPerUnit)).toBe(units(input))
          expect(cost({ ...none, input, output }, { output: tokens }, quotaPerUnit)).toBe(units(output))
        }
})

it('has a ratio for every price and for no other', () => {
  expect(ratiosOf({ ...none, input: 2, output: 8 }, 500_000)).toEqual({ ModelRatio: 1, CompletionRatio: 4 })
  const all = {
    ...{ cache_read: 0.2, cache_write: 2.5, cache_audio_read: 4, cache_image_read: 0.5 },
    ...{ audio_input: 40, audio_output: 80, image_input: 5, image_output: 30, video_output: 70 },
  }
  expect(ratiosOf({ ...all, input: 2, output: 8 }, 500_000)).toEqual({
    ...{ ModelRatio: 1, CompletionRatio: 4, CacheRatio: 0.1, CreateCacheRatio: 1.25 },
    ...{ AudioRatio: 20, AudioCompletionRatio: 2, ImageRatio: 2.5, ImageCompletionRatio: 15 },
    ...{ AudioCacheRatio: 2, ImageCacheRatio: 0.25, VideoCompletionRatio: 35 },
  })
  expect(ratiosOf({ ...none, input: 0, output: 0 }, 500_000)).toEqual({ ModelRatio: 0 })
})

it('prices audio output if audio input has no price of its own', () => {
  expect(ratiosOf({ ...none, input: 2, output: 8, audio_output: 12 }, 500_000)).toMatchObject({
    AudioRatio: 1,
    AudioCompletionRatio: 6,
  })
})
