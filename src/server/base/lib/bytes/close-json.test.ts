import { expect, it } from 'vitest'
import { closeJson } from './close-json.ts'

it.each([
  ['', undefined],
  ['nothing', undefined],
  ['{', '{}'],
  ['{"a', '{}'],
  ['{"a"', '{}'],
  ['{"a":', '{}'],
  ['{"a":1', '{}'],
  ['{"a":1,', '{"a":1}'],
  ['{"a":tr', '{}'],
  ['{"a":"four fi', '{"a":"four fi"}'],
  ['{"a":"four \\u00', '{"a":"four "}'],
  ['{"a":"four \\', '{"a":"four "}'],
  ['{"a":"} ] , :\\"', '{"a":"} ] , :\\""}'],
  ['{"a":[{"b":"c"},{"d":"e', '{"a":[{"b":"c"},{"d":"e"}]}'],
  ['{"a":[1,2', '{"a":[1]}'],
  ['{"a":{"b":1},"c', '{"a":{"b":1}}'],
  ['{"a":"b"}', '{"a":"b"}'],
])('closes %j', (begun, whole) => expect(closeJson(begun)).toBe(whole))

it('closes every prefix of a JSON text, and a longer prefix only lengthens its strings', () => {
  const said = 'vier 五 🙂 "six"\n\\'
  const json = JSON.stringify({ n: -1.5e3, list: [null, true, { deep: [said, { said }] }], last: said }, null, 1)
  let longest = 0
  for (let end = 1; end <= json.length; end++) {
    const read = JSON.parse(closeJson(json.slice(0, end)) ?? '{}')
    const last = typeof read.last === 'string' ? read.last : ''
    expect(said.startsWith(last.replace(/[\ud800-\udbff]$/, ''))).toBe(true)
    expect(last.length).toBeGreaterThanOrEqual(longest)
    longest = last.length
  }
  expect(longest).toBe(said.length)
})
