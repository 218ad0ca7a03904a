import { describe, expect, it } from 'vitest'
import { inputObject, inputText } from './tool-input.ts'

describe('the input of a tool call', () => {
  it.each<[string, string, unknown]>([
    ['[68]', '', {}],
    ['[69]', 'null', {}],
    ['[68] white space', ' \n', {}],
    ['an object', '{"a":1}', { a: 1 }],
    ['[71]', '"{\\"a\\":1}"', { a: 1 }],
    ['[71] a text that holds no object', '"[1]"', { value: '[1]' }],
    ['[72]', '{"a":', { input: '{"a":' }],
    ['a list', '[1]', { value: [1] }],
    ['a number', '5', { value: 5 }],
  ])('%s becomes an object without loss', (_, text, object) => {
    expect(inputObject(text)).toEqual(object)
  })

  it.each<[string, unknown, string]>([
    ['[68]', '', '{}'],
    ['[69]', 'null', '{}'],
    ['[70]', { a: 1 }, '{"a":1}'],
    ['[71]', '"{}"', '"{}"'],
    ['[72]', '{"a":', '{"a":'],
    ['nothing', undefined, '{}'],
  ])('%s becomes text unchanged', (_, value, text) => {
    expect(inputText(value)).toBe(text)
  })
})
