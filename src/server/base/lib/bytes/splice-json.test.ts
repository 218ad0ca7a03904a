import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../../test/helpers/cpu-time.ts'
import { entriesOf, membersOf, memberValue, spliceMembers } from './splice-json.ts'

const splice = (text: string, changes: Record<string, string | undefined>) => spliceMembers(Buffer.from(text), changes).toString()

describe('splicing top-level members', () => {
  it('replaces a value and leaves every other byte unchanged', () => {
    const body = '{ "2": 1.0, "model" : "a\\"b" ,"n":12345678901234567890,\n"x":{"model":"in"} }'
    expect(splice(body, { model: '"z"' })).toBe('{ "2": 1.0, "model" : "z" ,"n":12345678901234567890,\n"x":{"model":"in"} }')
  })

  it('replaces every duplicate, so that parsers cannot disagree', () => {
    expect(splice('{"model":"a","x":1,"model":"b"}', { model: '"c"' })).toBe('{"model":"c","x":1,"model":"c"}')
    expect(splice('{"mod\\u0065l":"a"}', { model: '"c"' })).toBe('{"mod\\u0065l":"c"}')
  })

  it('adds new members at the end, also to an empty object', () => {
    expect(splice('{"a":1}', { b: '{"c":2}' })).toBe('{"a":1,"b":{"c":2}}')
    expect(splice('{ }', { b: 'true' })).toBe('{"b":true }')
  })

  it('removes members at any position', () => {
    expect(JSON.parse(splice('{"a":1,"b":2,"c":3}', { a: undefined }))).toEqual({ b: 2, c: 3 })
    expect(JSON.parse(splice('{"a":1,"b":2,"c":3}', { b: undefined }))).toEqual({ a: 1, c: 3 })
    expect(JSON.parse(splice('{"a":1,"b":2,"c":3}', { c: undefined }))).toEqual({ a: 1, b: 2 })
    expect(JSON.parse(splice('{"a":1,"b":2,"c":3}', { a: undefined, b: undefined, c: undefined, d: '4' }))).toEqual({ d: 4 })
  })

  it('does not touch members with names that every object inherits, unless the changes contain them as own members', () => {
    for (const name of ['constructor', 'toString', '__proto__', 'hasOwnProperty', 'valueOf']) {
      const body = `{"${name}":1,"model":"a"}`
      expect(splice(body, { model: '"b"' })).toBe(`{"${name}":1,"model":"b"}`)
      expect(splice(body, Object.fromEntries([[name, '2']]))).toBe(`{"${name}":2,"model":"a"}`)
      expect(splice(body, Object.fromEntries([[name, undefined]]))).toBe('{"model":"a"}')
    }
  })

  it('returns undefined unless the text is one complete object', () => {
    for (const text of [
      '',
      'null',
      '[]',
      '"x"',
      '{',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":"b}',
      '{"a":1}x',
      '{"a":[1}',
      '<html>',
      '{a:1}',
    ]) {
      expect(membersOf(Buffer.from(text)), text).toBeUndefined()
    }
  })

  it('equals parse, edit, stringify for random objects', () => {
    let seed = 42
    const random = () => {
      seed = (seed * 1103515245 + 12345) % 2147483648
      return seed / 2147483648
    }
    const value = (depth: number): unknown => {
      const kind = Math.floor(random() * (depth > 3 ? 4 : 6))
      if (kind === 0) return Math.floor(random() * 1e6) / 100
      if (kind === 1) return ['', 'é"\\\n', '{}[],:', '中文'][Math.floor(random() * 4)]
      if (kind === 2) return random() < 0.5
      if (kind === 3) return null
      if (kind === 4) return Array.from({ length: Math.floor(random() * 4) }, () => value(depth + 1))
      return Object.fromEntries(Array.from({ length: Math.floor(random() * 4) }, (_, index) => [`k${index}"`, value(depth + 1)]))
    }
    for (let round = 0; round < 2000; round++) {
      const object: Record<string, unknown> = {}
      for (const key of ['a', 'b', 'model', 'c', 'd']) if (random() < 0.6) object[key] = value(0)
      const text = Buffer.from(random() < 0.5 ? JSON.stringify(object) : JSON.stringify(object, null, 2))
      const changes: Record<string, string | undefined> = {}
      for (const key of ['a', 'model', 'd', 'new'])
        if (random() < 0.5) changes[key] = random() < 0.4 ? undefined : JSON.stringify(value(2))
      const wanted: Record<string, unknown> = { ...object }
      for (const [key, change] of Object.entries(changes)) {
        if (change === undefined) delete wanted[key]
        else wanted[key] = JSON.parse(change)
      }
      expect(JSON.parse(spliceMembers(text, changes).toString())).toEqual(wanted)
      for (const key of Object.keys(object)) expect(memberValue(text, membersOf(text) ?? [], key)).toEqual(object[key])
    }
  })
})

describe('the entries of a list', () => {
  const entries = (text: string, start = 0) =>
    entriesOf(Buffer.from(text), start)?.map(({ start, end }) => text.slice(start, end))

  it('are located without being parsed', () => {
    expect(entries('[ {"a":[1,"]"]} ,"x\\"]", [2,3],4 ,null]')).toEqual(['{"a":[1,"]"]}', '"x\\"]"', '[2,3]', '4', 'null'])
    expect(entries('{"data":[1,2]}', 8)).toEqual(['1', '2'])
    expect(entries('[]')).toEqual([])
    expect(entries('[ ]')).toEqual([])
  })

  it('are undefined for an incomplete list', () => {
    for (const text of ['', '{}', '[1', '[1,', '["a', '[1}', '[{]']) expect([text, entries(text)]).toEqual([text, undefined])
  })

  it('of large images are counted quickly', () => {
    const image = `{"b64_json":"${'A'.repeat(6_000_000)}"}`
    const text = Buffer.from(`[${[image, image, image, image].join(',')}]`)
    expect(cpuMs(() => expect(entriesOf(text, 0)).toHaveLength(4))).toBeLessThan(2000)
  })
})
