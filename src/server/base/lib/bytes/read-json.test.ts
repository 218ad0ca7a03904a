import { expect, it } from 'vitest'
import { isObject, readJson } from './read-json.ts'

it.each([
  ['{"a":[1]}', { a: [1] }, true],
  ['[{}]', [{}], false],
  ['null', null, false],
  ['"text"', 'text', false],
  ['', undefined, false],
  ['{"a":', undefined, false],
  ['<html>', undefined, false],
])('reads %j as text and as bytes, and tells objects from other values', (text, value, isOne) => {
  expect([readJson(text), readJson(Buffer.from(text)), isObject(value)]).toEqual([value, value, isOne])
})
