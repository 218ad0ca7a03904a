import { expect, it } from 'vitest'
import { ratioPriceOf } from '../../../contract/model-price.ts'
import { defaults } from '../../../contract/options/defaults.ts'
import { cacheWriteBuckets, noUsage } from '../../../contract/usage.ts'
import { affordableOutput, greatestCost, piecesOf, type TokenKinds } from './greatest-cost.ts'
import { costOf, type Price } from './quote.ts'

const price = (more: Partial<Price> = {}): Price => ({
  ...ratioPriceOf(defaults, 'a-model', 1),
  completionRatio: 4,
  createCacheRatio: 1.25,
  audioRatio: 20,
  audioCompletionRatio: 2,
  imageCompletionRatio: 10,
  audioCacheRatio: 3,
  videoCompletionRatio: 12,
  cacheWriteFactors: { '30m': 1, '1h': 1.6, '12h': 2 },
  toolUsd: { file_search: 0.0025 },
  tierFactors: { priority: 2, flex: 0.5 },
  group: 'default',
  groupRatio: 1,
  quotaPerUnit: 500_000,
  unpriced: false,
  ...more,
})
const plain: TokenKinds = {
  imageTokens: 0,
  audioTokens: 0,
  textAs: ['input', 'cacheRead'],
  outputAs: ['output'],
  pieces: {},
}
const tokens = { textTokens: 1000, outputTokens: 100 }

it('is the cost of plain text if the request has nothing more expensive', () => {
  expect(greatestCost(price(), plain, tokens)).toBe(1000 + 400)
})

it.each<[string, Partial<TokenKinds>, number]>([
  ['a cache write of an hour', { textAs: ['input', 'cacheWrite', 'cacheWrite1h'] }, 2000 + 400],
  ['a cache write of 12 hours', { textAs: ['input', 'cacheWrite12h'] }, 2500 + 400],
  ['audio that is cached', { textAs: ['input', 'cachedAudio'] }, 3000 + 400],
  ['audio that is read', { audioTokens: 10 }, 1000 + 200 + 400],
  ['audio that is written', { outputAs: ['output', 'audioOutput'] }, 1000 + 4000],
  ['images that are written', { outputAs: ['output', 'imageOutput'] }, 1000 + 1000],
  ['video that is written', { outputAs: ['output', 'videoOutput'] }, 1000 + 1200],
  ['a dearer tier', { pieces: { tier: { service_tier: 'priority' } } }, 2 * 1400],
  ['ten calls of a priced tool', { pieces: { toolCalls: { file_search: 10 } } }, 1400 + 12_500],
])('uses the highest rate of %s', (_name, kinds, cost) => {
  expect(greatestCost(price(), { ...plain, ...kinds }, tokens)).toBe(cost)
})

it('counts a cheaper tier as the ordinary one, and no call of a tool without a price', () => {
  const pieces = piecesOf(price(), { calls: 1, tier: { service_tier: 'flex' }, hostedTools: ['web_fetch'] })
  expect(pieces.tier).toBeUndefined()
  expect(pieces.toolCalls).toBeUndefined()
})

it('is never below the cost of a usage with the same numbers of tokens', () => {
  const written = Object.values(cacheWriteBuckets)
  const kinds: TokenKinds = {
    ...{ ...plain, audioTokens: 50, imageTokens: 70 },
    ...{ textAs: ['input', 'cacheRead', ...written], outputAs: ['output', 'audioOutput', 'videoOutput'] },
  }
  const most = greatestCost(price(), kinds, tokens)
  for (const read of kinds.textAs)
    for (const said of kinds.outputAs) {
      expect(costOf(price(), { ...noUsage, [read]: 1000, audioInput: 50, imageInput: 70, [said]: 100 })).toBeLessThanOrEqual(most)
      expect(costOf(price(), { ...noUsage, [read]: 1000, cachedAudio: 50, cachedImage: 70, [said]: 100 })).toBeLessThanOrEqual(
        most,
      )
    }
})

it('never affords output that costs more than the given units', () => {
  for (const units of [1400, 1401, 5000, 12_345]) {
    const limit = affordableOutput(price({ groupRatio: 0.37 }), plain, { textTokens: 1000, completions: 3, units })
    expect(limit).toBeGreaterThan(0)
    expect(greatestCost(price({ groupRatio: 0.37 }), plain, { textTokens: 1000, outputTokens: limit * 3 })).toBeLessThanOrEqual(
      units,
    )
  }
  expect(affordableOutput(price(), plain, { textTokens: 1000, completions: 1, units: 999 })).toBeLessThan(0)
  expect(affordableOutput(price({ modelRatio: 0 }), plain, { textTokens: 1000, completions: 1, units: 0 })).toBe(
    Number.POSITIVE_INFINITY,
  )
})

it('covers every step that a prompt within its bound can reach, and affords no output that costs more', () => {
  const stepped = price({
    steps: [
      { above: 800, price: price({ modelRatio: 2, completionRatio: 3 }) },
      { above: 5000, price: price({ modelRatio: 9 }) },
    ],
  })
  expect(greatestCost(stepped, plain, { textTokens: 800, outputTokens: 100 })).toBe(800 + 400)
  const most = greatestCost(stepped, plain, tokens)
  expect(most).toBe(2 * 1000 + 600)
  for (const input of [1, 800, 801, 1000]) expect(costOf(stepped, { ...noUsage, input, output: 100 })).toBeLessThanOrEqual(most)
  for (const units of [2600, 9999]) {
    const limit = affordableOutput(stepped, plain, { textTokens: 1000, completions: 1, units })
    expect(greatestCost(stepped, plain, { textTokens: 1000, outputTokens: limit })).toBeLessThanOrEqual(units)
  }
  // If output is cheaper for long prompts, the price of short ones has to be covered.
  const odd = price({ steps: [{ above: 10, price: price({ completionRatio: 0.5 }) }] })
  expect(greatestCost(odd, plain, tokens)).toBe(1400)
})
