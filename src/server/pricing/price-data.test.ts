import { expect, it } from 'vitest'
import { loadPricePackage } from './price-data.ts'

const { read, vendors } = await loadPricePackage()
const data = read(vendors)
const day = Date.parse('2026-11-23T12:00:00Z')

it('has the prices of a vendor, with the prices of longer prompts', () => {
  expect(data.of('openai', 'gpt-5.4', day)).toMatchObject({
    vendor: 'OpenAI',
    prices: { input: 2.5, output: 15, cache_read: 0.25, cache_write: null },
    steps: [{ above: 271_999, prices: { input: 5, output: 22.5, cache_read: 0.5 } }],
    uncovered: undefined,
  })
  expect(data.of('openai', 'gpt-5.4-mini', day)).toMatchObject({ vendor: 'OpenAI', steps: [] })
  expect(data.of('google', 'gemini-3.1-pro-preview', day)?.steps.map(({ above }) => above)).toEqual([200_000])
})

it('finds a model at the vendors that sell it, and no unknown vendor or model', () => {
  expect(data.of('openai', 'claude-opus-5', day)).toBeUndefined()
  expect(data.of('no-such-vendor', 'gpt-5.4', day)).toBeUndefined()
  expect(data.of('openai', 'no-such-model', day)).toBeUndefined()
  expect(data.ofOwnVendor('claude-opus-5', day)).toMatchObject({ vendor: 'Anthropic' })
})

it('uses the highest price of the day, at any time of day', () => {
  for (const hour of ['00', '02', '12', '23'])
    expect(data.of('deepseek', 'deepseek-v4-pro', Date.parse(`2026-11-23T${hour}:00:00Z`))?.prices).toMatchObject({
      input: 1.32,
      output: 3.96,
    })
})

it('has the price that is in force on the day', () => {
  expect(data.of('openai', 'o3', Date.parse('2025-06-01'))?.prices.input).toBe(10)
  expect(data.of('openai', 'o3', day)?.prices.input).toBe(2)
})

it("covers one-hour cache writes at the vendor's price", () => {
  const write = data.of('anthropic', 'claude-3-haiku', day)?.prices.cache_write ?? 0
  expect(write * 1.6).toBeCloseTo(0.5, 10)
})

it('has prices of cached audio, cached images and generated video', () => {
  expect(data.of('google', 'gemini-2.5-flash', day)?.prices).toMatchObject({ cache_read: 0.03, cache_audio_read: 0.1 })
  expect(data.of('openai', 'gpt-image-1', day)?.prices).toMatchObject({ cache_read: 1.25, cache_image_read: 2.5 })
  const omni = data.of('google', 'gemini-omni-flash-preview', day)
  expect(omni).toMatchObject({ uncovered: undefined, prices: { output: 9, video_output: 17.5 } })
})

it('names units that are not counted here, and free models', () => {
  expect(data.of('openai', 'whisper-1', day)).toBeUndefined()
  expect(data.of('google', 'gemini-embedding-2', day)?.uncovered).toBe('unit')
  const free = ['openrouter/free', 'google/gemma-3-27b-it:free', 'meta-llama/llama-3.3-70b-instruct:free']
  const found = free.flatMap((model) => data.of('openrouter', model, day) ?? [])
  for (const { uncovered } of found) expect(uncovered).toBe('free')
})

it('has the date of its newest price', () => {
  expect(data.date).toMatch(/^202\d-\d\d-\d\d$/)
  expect(Date.parse(data.date)).toBeLessThanOrEqual(Date.now())
})

it('derives the day of a release from the dated names of a model', () => {
  const seconds = (date: string) => Date.parse(date) / 1000
  expect(data.releasedAt('gpt-5.4')).toBe(seconds('2026-03-05'))
  expect(data.releasedAt('my-model-2025-04-01')).toBe(seconds('2025-04-01'))
  expect(data.releasedAt('claude-3-5-sonnet-20241022')).toBe(seconds('2024-10-22'))
  expect(data.releasedAt('nobody-knows')).toBeUndefined()
})
