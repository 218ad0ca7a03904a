import { expect, it, onTestFinished } from 'vitest'
import { countTokens } from '../../protocols/count-tokens.ts'
import { PromptCounter } from './prompt-counter.ts'

const scripts = ['hello world '.repeat(50), '你好世界'.repeat(50), 'Ꭰ\u13a1\u13a2'.repeat(50), 'qzxv'.repeat(200)]
const long = 'The quick brown fox jumps over the lazy dog. '.repeat(400)

function counterOfTest() {
  const counter = new PromptCounter()
  onTestFinished(() => counter.close())
  return counter
}

it('is never above the bytes of a text and never below its count', async () => {
  const counter = counterOfTest()
  for (const text of [...scripts, long])
    for (const model of ['gpt-4o', 'gpt-3.5-turbo', 'claude-opus-4-5', 'gemini-2.5-flash']) {
      const most = await counter.most(1, [text], [model])
      expect(most).toBeLessThanOrEqual(Buffer.byteLength(text))
      expect(most).toBeGreaterThanOrEqual(Math.min(await countTokens(text, 'gpt-4o'), Buffer.byteLength(text)) * 0.9)
    }
})

it('is exact to a hundredth where the vocabulary of the model is public', async () => {
  const counter = counterOfTest()
  const exact = await countTokens(long, 'gpt-4o')
  const most = await counter.most(1, [long], ['gpt-4o'])
  expect(most).toBeGreaterThanOrEqual(exact)
  expect(most).toBeLessThanOrEqual(Math.ceil(exact * 1.02))
})

it('is the number of bytes where any channel answers with a model of an unknown vocabulary', async () => {
  expect(await counterOfTest().most(1, ['hello', 'world'], ['gpt-4o', 'my-own-model'])).toBe(11)
})

it('is the number of bytes for a text that is too long, and for the prompts of a user with many waiting', async () => {
  const counter = counterOfTest()
  expect(await counter.most(1, ['a '.repeat(1_000_001)], ['gpt-4o'])).toBe(2_000_002)
  const all = await Promise.all(Array.from({ length: 20 }, () => counter.most(1, [long], ['gpt-4o'])))
  expect(all.filter((most) => most === long.length)).toHaveLength(11)
  expect(await counter.most(2, [long], ['gpt-4o'])).toBeLessThan(long.length / 2)
})
