import { describe, expect, it } from 'vitest'
import { EditList, editNested, spliceNested } from './splice-nested.ts'

type Path = readonly [string, ...(string | number)[]]

const editsAt = (...changes: readonly (readonly [Path, string?])[]) => {
  const list = new EditList()
  for (const [path, edit] of changes) list.set(path, edit)
  return list.edits
}
const spliced = (text: string, ...changes: readonly (readonly [Path, string?])[]) =>
  spliceNested(Buffer.from(text), editsAt(...changes)).toString()

describe('changes within a JSON text', () => {
  it.each<[string, string, Path[], string]>([
    ['a member', '{"a": 1, "b": 2}', [['a']], '{"b": 2}'],
    ['the last member', '{"a": 1 , "b": 2 }', [['b']], '{"a": 1 }'],
    ['a member in the middle', '{"a":1, "b":2, "c":3}', [['b']], '{"a":1, "c":3}'],
    ['neighbours at the beginning', '{"a":1, "b":2, "c":3}', [['a'], ['b']], '{"c":3}'],
    ['neighbours at the end', '{"a":1, "b":2, "c":3}', [['b'], ['c']], '{"a":1}'],
    ['every member', '{ "a":1, "b":2 }', [['a'], ['b']], '{  }'],
    ['a nested member', '{"a": {"b": {"c" : 1.0, "d":"é"}}}', [['a', 'b', 'c']], '{"a": {"b": {"d":"é"}}}'],
    ['an entry', '{"a": [1, 2, 3]}', [['a', 1]], '{"a": [1, 3]}'],
    ['the first entry', '{"a": [1, 2, 3]}', [['a', 0]], '{"a": [2, 3]}'],
    [
      'members in entries',
      '{"a":[{"x":1,"y":2},[],{"x":3}]}',
      [
        ['a', 0, 'x'],
        ['a', 2, 'x'],
      ],
      '{"a":[{"y":2},[],{}]}',
    ],
    ['every duplicate of a key', '{"a":1,"b":2,"a":3}', [['a']], '{"b":2}'],
    ['what is not there', '{"a":[1]}', [['b'], ['a', 4], ['a', 0, 'x'], ['c', 'd']], '{"a":[1]}'],
  ])('remove %s', (_, text, paths, result) => {
    const changes = paths.map((path) => [path] as const)
    expect(spliced(text, ...changes)).toBe(result)
    expect(editNested(JSON.parse(text), editsAt(...changes))).toEqual(JSON.parse(result))
  })

  it('replace values, and keep the bytes of all others', () => {
    const text = '{"n": 12345678901234567890, "list": [{"t": "a\\u0062"}, {"t": "c"}]}'
    expect(spliced(text, [['list', 1, 't'], '"d"'])).toBe('{"n": 12345678901234567890, "list": [{"t": "a\\u0062"}, {"t": "d"}]}')
    expect(editNested({ list: [{ t: 'c' }] }, editsAt([['list', 0, 't'], '"d"']))).toEqual({ list: [{ t: 'd' }] })
  })

  it('go into the last of the members that share a key, which is the one that JSON.parse reads', () => {
    expect(spliced('{"a":{"x":1},"a":{"x":1,"y":2}}', [['a', 'x']])).toBe('{"a":{"x":1},"a":{"y":2}}')
  })

  it('have no effect within a value that is removed or replaced as a whole', () => {
    expect(spliced('{"a":{"x":1},"b":{"x":1}}', [['a']], [['a', 'x']], [['b'], '0'], [['b', 'x']])).toBe('{"b":0}')
  })

  it('accept a text that begins with white space or a byte order mark', () => {
    expect(spliced(' \n{"a":1,"b":2}', [['a']])).toBe(' \n{"b":2}')
    expect(spliced('\uFEFF{"a":{"b":2}}', [['a', 'b']])).toBe('\uFEFF{"a":{}}')
  })
})
