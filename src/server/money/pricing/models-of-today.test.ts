import { expect, it } from 'vitest'
import { defaults } from '../../../contract/options/defaults.ts'
import { providers } from '../../gateway/providers/index.ts'
import { openCatalog } from './catalog.ts'
import { loadShippedPrices, readPrices } from './price-data.ts'

const { vendors } = await loadShippedPrices()
const data = readPrices(vendors)
const nowMs = Date.parse('2026-11-28T12:00:00Z')

/** Thirty models of autumn 2026: the channel type that serves each, and the price of a million tokens of input and output in dollars. */
const models: readonly (readonly [type: string, model: string, price: readonly [input: number, output: number] | 'none'])[] = [
  // No price is published in either source.
  ['openai', 'gpt-6.2-astra', 'none'],
  ['openai', 'gpt-6.2-sol', 'none'],
  ['openai', 'gpt-6.2-astra-law', 'none'],
  ['openai', 'gpt-6-rosalind', [15, 75]],
  ['openai', 'gpt-6.1-terra', [1, 5]],
  ['openai', 'gpt-6.1-sol', [2, 10]],
  ['openai', 'gpt-6-luna', [0.1, 0.5]],
  ['openai', 'gpt-image-2.6-sunburst', [5, 0]],
  // Sold by the hour.
  ['openai', 'gpt-live-1', 'none'],
  ['anthropic', 'claude-fable-5-2', [8, 40]],
  ['anthropic', 'claude-mythos-5-2', [8, 40]],
  ['anthropic', 'claude-haiku-5-5', [0.1, 0.5]],
  ['anthropic', 'claude-sonnet-5-5', [2, 10]],
  ['anthropic', 'claude-opus-5-5', [4, 20]],
  ['gemini', 'gemini-4-argon', [2, 10]],
  ['gemini', 'gemini-4-hydrogen', [1.5, 7.5]],
  ['gemini', 'gemini-4-neon', 'none'],
  ['gemini', 'gemini-4-carbon', 'none'],
  ['gemini', 'gemini-omni-1.2-flash', [1.5, 9]],
  ['gemini', 'gemini-nano-banana-2.1', [1.5, 7.5]],
  ['gemini', 'gemini-3.8-flash', [0.75, 3.75]],
  ['xai', 'grok-4.7', [2, 6]],
  ['moonshot', 'kimi-k3.1-pro', [2, 10]],
  ['zhipu', 'glm-5.3', [1.4, 4.4]],
  ['ali', 'qwen3.8-max', [2, 6]],
  ['minimax', 'MiniMax-M3', [0.3, 1.2]],
  // DeepSeek itself sells it as deepseek-flash.
  ['deepseek', 'deepseek-v4.1-flash', 'none'],
  ['mistral', 'mistral-large-4', [0.7, 2.1]],
  // Films, which are sold by the second.
  ['minimax', 'MiniMax-H3', 'none'],
  ['volcengine', 'doubao-seedance-2-5-260628', 'none'],
]

function priced(type: string, model: string): readonly [number, number] | 'none' {
  const { priceVendor } = providers.find(({ key }) => key === type) ?? {}
  // The catalog uses only the snapshot of the store.
  const parts = { options: { current: defaults }, now: () => nowMs } as unknown as Parameters<typeof openCatalog>[0]
  const catalog = openCatalog(parts, {
    data: () => data,
    vendors: () => ({ vendorsOf: () => (priceVendor ? [priceVendor] : []) }),
  })
  const price = catalog.modelPriceOf(model)
  if (!price) return 'none'
  const input = Number((price.modelRatio * 2).toPrecision(6))
  return [input, Number((input * price.completionRatio).toPrecision(6))]
}

it.each(models)('on a fresh site, a channel of type %s serves %s at %j', (type, model, price) => {
  expect(priced(type, model)).toEqual(price)
})

it('at least twenty of the thirty have a price', () => {
  expect(models).toHaveLength(30)
  expect(models.filter(([, , price]) => price !== 'none').length).toBeGreaterThanOrEqual(20)
})
