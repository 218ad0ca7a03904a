import { monitorEventLoopDelay } from 'node:perf_hooks'
import { describe, expect, it } from 'vitest'
import { scaledByLoad } from '../../../../test/helpers/scaled-by-load.ts'
import { countTokens, estimateInput, estimateText } from './count-tokens.ts'

describe('counting tokens', () => {
  it('counts as the o200k vocabulary does', async () => {
    expect(await countTokens('hello world', 'gpt-4o')).toBe(2)
    expect(await countTokens('', 'gpt-4o')).toBe(0)
    expect(await countTokens('<|endoftext|> is plain text here', 'gpt-4o')).toBeGreaterThan(5)
  })

  it('multiplies by the factor of the model family', async () => {
    const text = 'a sentence of several words '.repeat(50)
    expect(await countTokens(text, 'claude-3-5-sonnet')).toBe(Math.ceil((await countTokens(text, 'gpt-4o')) * 1.2))
  })

  it('finishes quickly on inputs that would keep a BPE tokenizer busy for minutes', async () => {
    for (const text of [
      'a'.repeat(2_000_000),
      ' '.repeat(2_000_000),
      '中'.repeat(2_000_000),
      '!'.repeat(90_000),
      '7'.repeat(90_000),
    ]) {
      const count = await countTokens(text, 'gpt-4o')
      expect(count).toBeGreaterThan(text.length / 200)
      expect(count).toBeLessThan(text.length * 2)
    }
  })

  it('[T208] yields to the event loop, no matter how many callers count long texts, or how hard the texts are to count', async () => {
    await countTokens('The vocabulary is loaded.', 'gpt-4o')
    const random = () => String.fromCharCode(0x4e00 + Math.floor(Math.random() * 20_000))
    const hard = Array.from({ length: 700_000 }, random).join('')
    const plain = 'The tide comes in at six, and with it the boats. '.repeat(40_000)
    const lag = monitorEventLoopDelay({ resolution: 5 })
    lag.enable()
    await Promise.all(Array.from({ length: 50 }, (_, index) => countTokens(index < 2 ? hard : plain, 'gpt-4o')))
    lag.disable()
    expect(lag.percentile(99) / 1e6).toBeLessThan(scaledByLoad(200))
  })

  it('estimates close to the count, rather above it than below', async () => {
    const english = 'The gateway keeps the bytes of every request as they are, and charges exactly once. '.repeat(40)
    const chinese = '网关保持每个请求的字节不变，并且只收费一次，绝不多收。'.repeat(40)
    for (const text of [english, chinese]) {
      const count = await countTokens(text, 'gpt-4o')
      expect(estimateText(text)).toBeGreaterThan(count * 0.9)
      expect(estimateText(text)).toBeLessThan(count * 2)
    }
    expect(estimateInput(['x'], { mediaParts: 2, model: 'gpt-4o' })).toBeGreaterThan(2000)
    expect(estimateInput([english], { mediaParts: 0, model: 'claude-sonnet-5' })).toBeGreaterThan(
      await countTokens(english, 'claude-sonnet-5'),
    )
    const long = english.repeat(400)
    expect(estimateInput([long], { mediaParts: 0, model: 'gpt-4o' })).toBeGreaterThan((await countTokens(long, 'gpt-4o')) * 0.9)
  })
})
