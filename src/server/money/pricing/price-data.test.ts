import { expect, it } from 'vitest'
import { loadShippedPrices, readPrices } from './price-data.ts'

const { vendors } = await loadShippedPrices()
const data = readPrices(vendors)
const day = Date.parse('2026-11-23T12:00:00Z')

it('has the prices of a vendor, with the prices of longer prompts', () => {
  expect(data.of('openai', 'gpt-5.4', day)).toMatchObject({
    vendor: 'OpenAI',
    prices: { input: 2.5, output: 15, cache_read: 0.25, cache_write: null },
    steps: [{ above: 272_000, prices: { input: 5, output: 22.5, cache_read: 0.5 } }],
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

it('has the price of the hour, with the hours in which it applies and the next moments at which it changes', () => {
  const at = (time: string) => data.of('deepseek', 'deepseek-v4-pro', Date.parse(`2026-11-23T${time}Z`))
  const [cheap, dear] = [
    { prices: { input: 0.66, output: 1.98 }, hours: '04:00–06:00, 10:00–01:00' },
    { prices: { input: 1.32, output: 3.96 }, hours: '01:00–04:00, 06:00–10:00' },
  ]
  for (const time of ['00:00:00', '00:59:59', '04:00:00', '05:59:59', '10:00:00', '23:59:59'])
    expect(at(time)).toMatchObject(cheap)
  for (const time of ['01:00:00', '03:59:59', '06:00:00', '09:59:59']) expect(at(time)).toMatchObject(dear)
  expect(at('03:30:00')?.changes.slice(0, 3)).toEqual(
    ['2026-11-23T04:00Z', '2026-11-23T06:00Z', '2026-11-23T10:00Z'].map((time) => Date.parse(time)),
  )
})

it('has the price of the day, its first day, and the days on which it changes', () => {
  const at = (time: string) => data.of('google', 'gemini-4-argon', Date.parse(time))
  expect(at('2026-11-30T23:59:59.999Z')).toMatchObject({
    ...{ prices: { input: 2, output: 10, cache_read: 0.1 }, from: '', hours: '' },
    changes: [Date.parse('2026-12-01')],
  })
  expect(at('2026-12-01T00:00:00Z')).toMatchObject({
    ...{ prices: { input: 4, output: 20, cache_read: 0.2 }, from: '2026-12-01', hours: '' },
    changes: [],
  })
  expect(data.of('google', 'gemini-3.8-flash', Date.parse('2026-12-31T23:59:59Z'))?.prices.input).toBe(0.75)
  expect(data.of('google', 'gemini-3.8-flash', Date.parse('2027-01-01T00:00:00Z'))?.prices.input).toBe(1.5)
})

it('has the factors of service tiers and speeds', () => {
  expect(data.of('openai', 'gpt-6.1-sol', day)?.tiers).toEqual({ flex: 0.5, priority: 2, fast: 2 })
  expect(data.of('anthropic', 'claude-fable-5-2', day)?.tiers).toEqual({ fast: 2 })
  expect(data.of('openai', 'o4-mini', day)?.tiers.priority).toBe(1.8182)
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
