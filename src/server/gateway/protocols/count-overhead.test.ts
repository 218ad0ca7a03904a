import { expect, it } from 'vitest'
import { countOverhead } from './count-overhead.ts'

it('counts the overhead around the texts of a prompt, in every dialect', () => {
  expect(countOverhead({})).toBe(3)
  expect(countOverhead({ messages: [{ role: 'user' }, { role: 'user', name: 'Ann' }] })).toBe(10)
  expect(countOverhead({ input: 'a text', tools: [{ type: 'function' }, { type: 'function' }] })).toBe(19)
  expect(countOverhead({ input: [{ type: 'function_call', name: 'f' }] })).toBe(6)
  expect(countOverhead({ contents: [{}], tools: [{ functionDeclarations: [{}, {}] }, { googleSearch: {} }] })).toBe(30)
})
