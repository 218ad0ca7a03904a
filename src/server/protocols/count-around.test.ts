import { expect, it } from 'vitest'
import { countAround } from './count-around.ts'

it('counts what stands around the texts of a prompt, in every dialect', () => {
  expect(countAround({})).toBe(3)
  expect(countAround({ messages: [{ role: 'user' }, { role: 'user', name: 'Ann' }] })).toBe(10)
  expect(countAround({ input: 'a text', tools: [{ type: 'function' }, { type: 'function' }] })).toBe(19)
  expect(countAround({ input: [{ type: 'function_call', name: 'f' }] })).toBe(6)
  expect(countAround({ contents: [{}], tools: [{ functionDeclarations: [{}, {}] }, { googleSearch: {} }] })).toBe(30)
})
