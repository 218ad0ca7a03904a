import { describe, expect, it } from 'vitest'
import { billOf } from '../src/contract/bill.ts'
import { decimalText } from '../src/contract/decimal.ts'
import type { LogIteration, LogOther } from '../src/contract/entities/log.ts'
import { readFactors } from '../src/contract/log-factors.ts'
import { noUsage, type Usage } from '../src/contract/usage.ts'
import { costOf, type Price } from '../src/server/money/pricing/quote.ts'

const factors: Omit<LogOther, 'frt' | 'use_time_ms'> = {
  model_ratio: 1.25,
  completion_ratio: 4,
  model_price: -1,
  group_ratio: 0.8,
  cache_ratio: 0.5,
  create_cache_ratio: 1.25,
  quota_per_unit: 500_000,
  input_tokens: 810,
  cache_tokens: 1024,
  cache_creation_tokens: 0,
  output_tokens: 412,
}

const iteration: LogIteration = {
  model: 'adviser',
  model_ratio: 2.5,
  completion_ratio: 5,
  model_price: -1,
  cache_ratio: 0.1,
  create_cache_ratio: 1.25,
  input_tokens: 1234,
  cache_tokens: 55,
  cache_creation_tokens: 77,
  cache_creation_1h_tokens: 3,
  cache_creation_12h_tokens: 41,
  cache_creation_factors: { '1h': 1.6, '12h': 2.5 },
  output_tokens: 99,
  tier_factor: 1.1,
}
const advice: Usage = {
  ...noUsage,
  input: 1234,
  cacheRead: 55,
  cacheWrite: 77,
  cacheWrite1h: 3,
  cacheWrite12h: 41,
  output: 99,
  tier: { inference_geo: 'us' },
}
const adviser = (price: Price): Price => ({
  ...price,
  model: 'adviser',
  fixedUsd: -1,
  modelRatio: 2.5,
  completionRatio: 5,
  cacheRatio: 0.1,
  createCacheRatio: 1.25,
  cacheWriteFactors: { '30m': 1, '1h': 1.6, '12h': 2.5 },
  tierFactors: { us: 1.1 },
})

/** A sequence of pseudorandom numbers, the same in every run. */
function* numbers(): Generator<number, never> {
  let seed = 20_250_401
  for (;;) {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    yield seed
  }
}

describe('the bill in the log', () => {
  it('is the charge that the server makes, to the unit', () => {
    const random = numbers()
    const upTo = (limit: number) => random.next().value % limit
    const ratio = () => upTo(2000) / 10 ** (1 + upTo(4))
    for (let times = 0; times < 5000; times++) {
      const fixed = upTo(10) === 0
      const row = {
        ...factors,
        model_ratio: ratio(),
        completion_ratio: ratio(),
        cache_ratio: ratio(),
        create_cache_ratio: ratio(),
        group_ratio: ratio(),
        model_price: fixed ? ratio() : -1,
        input_tokens: upTo(200_000),
        cache_tokens: upTo(3) * upTo(100_000),
        cache_creation_tokens: upTo(2) * upTo(100_000),
        cache_creation_30m_tokens: upTo(2) * upTo(100_000),
        cache_creation_1h_tokens: upTo(2) * upTo(100_000),
        cache_creation_12h_tokens: upTo(2) * upTo(100_000),
        cache_creation_factors: { '30m': ratio(), '1h': ratio(), '12h': ratio() },
        cached_audio: upTo(2) * upTo(10_000),
        audio_cache_ratio: ratio(),
        cached_image: upTo(2) * upTo(10_000),
        image_cache_ratio: ratio(),
        video_output: upTo(2) * upTo(10_000),
        video_completion_ratio: ratio(),
        output_tokens: upTo(50_000),
        audio_ratio: ratio(),
        audio_completion_ratio: ratio(),
        image_ratio: ratio(),
        image_completion_ratio: ratio(),
        audio_input: upTo(2) * upTo(10_000),
        audio_output: upTo(2) * upTo(10_000),
        image_input: upTo(2) * upTo(10_000),
        image_output: upTo(2) * upTo(10_000),
        calls: upTo(2) === 0 ? 1 : ratio(),
        searches: upTo(3),
        search_price: ratio(),
        tier_factor: ratio(),
        tool_calls: { file_search: upTo(4), shell: upTo(2) },
        tool_prices: { file_search: ratio(), shell: ratio() },
        iterations: upTo(4) === 0 ? [iteration] : [],
      }
      const price = {
        model: 'm',
        group: 'g',
        fixedUsd: row.model_price,
        modelRatio: row.model_ratio,
        completionRatio: row.completion_ratio,
        cacheRatio: row.cache_ratio,
        createCacheRatio: row.create_cache_ratio,
        cacheWriteFactors: row.cache_creation_factors,
        audioRatio: row.audio_ratio,
        audioCompletionRatio: row.audio_completion_ratio,
        audioCacheRatio: row.audio_cache_ratio,
        imageRatio: row.image_ratio,
        imageCompletionRatio: row.image_completion_ratio,
        imageCacheRatio: row.image_cache_ratio,
        videoCompletionRatio: row.video_completion_ratio,
        searchUsd: row.search_price,
        toolUsd: row.tool_prices,
        tierFactors: { priority: row.tier_factor },
        groupRatio: row.group_ratio,
        quotaPerUnit: row.quota_per_unit,
        unpriced: false,
      }
      const usage = {
        ...noUsage,
        input: row.input_tokens,
        cacheRead: row.cache_tokens,
        cacheWrite: row.cache_creation_tokens,
        cachedAudio: row.cached_audio,
        cachedImage: row.cached_image,
        cacheWrite30m: row.cache_creation_30m_tokens,
        cacheWrite1h: row.cache_creation_1h_tokens,
        cacheWrite12h: row.cache_creation_12h_tokens,
        output: row.output_tokens,
        audioInput: row.audio_input,
        audioOutput: row.audio_output,
        imageInput: row.image_input,
        imageOutput: row.image_output,
        videoOutput: row.video_output,
        calls: row.calls,
        searches: row.searches,
        toolCalls: row.tool_calls,
        tier: { service_tier: 'priority' },
      }
      const others = row.iterations.length === 0 ? [] : [{ price: adviser(price), usage: advice }]
      const quota = costOf(price, usage, others)
      expect(billOf({ quota, factors: row })).toMatchObject({ units: quota, agrees: true })
    }
  })

  it('has a line for every bucket that was used, with its price per million tokens', () => {
    const bill = billOf({ quota: 2970, factors })
    expect(bill).toMatchObject({ agrees: true, perUsd: 500_000 })
    const lines = bill?.kind === 'tokens' ? bill.lines : []
    expect(lines.map(({ bucket, usdPerMillion, units }) => [bucket, usdPerMillion, decimalText(units)])).toEqual([
      ['input', 2.5, '1012.5'],
      ['cacheRead', 1.25, '640'],
      ['output', 10, '2060'],
    ])
  })

  it('has a line for each lifetime of a cache write, and the one-hour line in rows written before its factor was stored', () => {
    const written = { ...factors, cache_tokens: 0, cache_creation_30m_tokens: 100, cache_creation_12h_tokens: 200 }
    const bill = billOf({ quota: 0, factors: { ...written, cache_creation_factors: { '30m': 1, '12h': 2 } } })
    const lines = bill?.kind === 'tokens' ? bill.lines : []
    expect(lines.map(({ bucket, tokens, ratio, units }) => [bucket, tokens, ratio, decimalText(units)])).toEqual([
      ['input', 810, 1, '1012.5'],
      ['cacheWrite30m', 100, 1.25, '156.25'],
      ['cacheWrite12h', 200, 2.5, '625'],
      ['output', 412, 4, '2060'],
    ])
    const old = billOf({ quota: 2658, factors: { ...factors, cache_tokens: 0, cache_creation_1h_tokens: 100 } })
    expect(old).toMatchObject({ units: 2658, agrees: true })
    expect(billOf({ quota: 0, factors: written })).toBeUndefined()
  })

  it('reports a row that was charged differently', () => {
    expect(billOf({ quota: 2971, factors })).toMatchObject({ units: 2970, agrees: false })
  })

  it('does not exist when a required factor is absent', () => {
    for (const name of ['group_ratio', 'model_ratio', 'completion_ratio', 'cache_ratio', 'input_tokens'] as const) {
      expect(billOf({ quota: 1, factors: { ...factors, [name]: undefined } })).toBeUndefined()
    }
    expect(billOf({ quota: 1, factors: { ...factors, create_cache_ratio: undefined } })).toBeDefined()
  })
})

describe('the factors of a row', () => {
  it('are read from a damaged row as far as they are valid', () => {
    expect(readFactors('{"model_ratio":1.5,"frt":"12","admin_info":null,"foreign":1}')).toEqual({ model_ratio: 1.5 })
    expect(['', 'null', '[1]', '{', '"text"'].map((text) => Object.keys(readFactors(text)))).toEqual([[], [], [], [], []])
  })
})
