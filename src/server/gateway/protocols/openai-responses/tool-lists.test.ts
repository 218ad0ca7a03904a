import { describe, expect, it } from 'vitest'
import { randomsOf } from '../../../../../test/helpers/randoms.ts'
import { nameTools } from '../tool-names.ts'
import type { JsonObject } from '../wire-format.ts'
import { flatBytes, flatNames } from './tool-lists.ts'

type Pair = readonly [namespace: string, name: string]

const namespace = (name: string, tools: readonly string[]) => ({
  type: 'namespace',
  name,
  description: '',
  tools: tools.map((tool) => ({ type: 'function', name: tool })),
})

function requestOf(pairs: readonly Pair[], flat: readonly string[] = []): JsonObject {
  const folders = new Map<string, string[]>()
  for (const [folder, name] of pairs) folders.set(folder, [...(folders.get(folder) ?? []), name])
  return {
    tools: [...flat.map((name) => ({ type: 'function', name })), ...[...folders].map(([name, all]) => namespace(name, all))],
  }
}

/** Names of up to 200 characters with `__` inside, many of which are prefixes of others. */
function manyPairs(count: number): Pair[] {
  const random = randomsOf(4711)
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? ''
  const pieces = ['a', 'b', '_', '__', '___', 'mcp__', '工具', '-', '.', 'tide', 'x'.repeat(40), 'y'.repeat(70)]
  const name = () => {
    const length = 1 + Math.floor(random() * 8)
    const begun = Array.from({ length }, () => pick(pieces)).join('')
    const at = Math.floor(random() * (begun.length + 1))
    return `${begun.slice(0, at)}__${begun.slice(at)}`.slice(0, 200)
  }
  const folders = Array.from({ length: 200 }, name)
  const pairs = new Map<string, Pair>()
  while (pairs.size < count) {
    const pair: Pair = [pick(folders), name()]
    pairs.set(JSON.stringify(pair), pair)
  }
  return [...pairs.values()]
}

describe('flat names of tools in namespaces', () => {
  const rules = [
    { allowed: /[a-zA-Z0-9_-]/, lengthMax: 64 },
    { allowed: /[a-zA-Z0-9_-]/, lengthMax: 128 },
    { allowed: /[a-zA-Z0-9_.:-]/, lengthMax: 64, startsWithLetter: true },
  ]

  it('are unique for 10,000 pairs of names, also next to flat tools with such names, within the limit of every vendor', () => {
    const pairs = manyPairs(10_000)
    const flat = pairs.slice(0, 500).map(([folder, name]) => `${folder}__${name}`)
    const distinctFlat = [...new Set(flat)]
    const names = flatNames(requestOf(pairs, distinctFlat))
    const all = [...distinctFlat, ...pairs.map(([folder, name]) => names.of(folder, name))]
    expect(new Set(all).size).toBe(all.length)
    for (const rule of rules) {
      const { toUpstream, toCaller } = nameTools(all, rule)
      const sent = all.map(toUpstream)
      expect(new Set(sent).size).toBe(all.length)
      expect(sent.filter((name) => name.length > rule.lengthMax || ![...name].every((sign) => rule.allowed.test(sign)))).toEqual(
        [],
      )
      expect(sent.map((name) => toCaller.get(name) ?? name)).toEqual(all)
    }
  })

  it('do not depend on the order of the tools', () => {
    const pairs = manyPairs(1000)
    const names = flatNames(requestOf(pairs))
    const reversed = flatNames(requestOf(pairs.toReversed()))
    for (const [folder, name] of pairs) expect(reversed.of(folder, name)).toBe(names.of(folder, name))
  })

  it('join the two names, and keep the names of flat tools', () => {
    const names = flatNames(
      requestOf(
        [
          ['harbour', 'tide'],
          ['a__b', 'c'],
          ['a', 'b__c'],
          ['x', 'y'],
        ],
        ['x__y', 'tool_search'],
      ),
    )
    expect(names.of('harbour', 'tide')).toBe('harbour__tide')
    expect(names.of('', 'x__y')).toBe('x__y')
    expect(names.of('x', 'y')).toMatch(/^x__y_\w{6}$/)
    expect(names.of('a', 'b__c')).toMatch(/^a__b__c_\w{6}$/)
    expect(names.of('a__b', 'c')).toMatch(/^a__b__c_\w{6}$/)
    expect(names.of('a', 'b__c')).not.toBe(names.of('a__b', 'c'))
    expect(names.search).toMatch(/^tool_search_\w{6}$/)
  })

  it('make the request longer by at most the bytes counted for a hold', () => {
    const pairs = manyPairs(300)
    const request = requestOf(pairs)
    const names = flatNames(request)
    const flat = pairs.map(([folder, name]) => names.of(folder, name))
    const { toUpstream } = nameTools(flat, { allowed: /[a-zA-Z0-9_-]/, lengthMax: 128 })
    const longer = flat.map((name, at) => toUpstream(name).length - (pairs[at]?.[1].length ?? 0))
    expect(longer.reduce((sum, bytes) => sum + Math.max(0, bytes), 0)).toBeLessThanOrEqual(flatBytes(request))
    expect(flatBytes({ tools: [{ type: 'function', name: 'f' }] })).toBe(0)
  })

  it('are the same for a call in the history as for its tool, even if that tool was removed', () => {
    const call = { type: 'function_call', namespace: 'harbour', name: 'tide', call_id: 'c', arguments: '{}' }
    expect(flatNames({ ...requestOf([['harbour', 'tide']]), input: [call] }).of('harbour', 'tide')).toBe('harbour__tide')
    expect(flatNames({ input: [call] }).of('harbour', 'tide')).toBe('harbour__tide')
  })
})
