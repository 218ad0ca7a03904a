import { describe, expect, it } from 'vitest'
import { nameTools } from './tool-names.ts'

const chat = { allowed: /^[a-zA-Z0-9_-]+$/, lengthMax: 64 }

describe('names of tools', () => {
  it('stay unchanged when the upstream accepts them', () => {
    const { toUpstream, toCaller } = nameTools(['get_tide', 'a-b'], chat)
    expect([toUpstream('get_tide'), toUpstream('a-b'), toCaller.size]).toEqual(['get_tide', 'a-b', 0])
  })

  it('[103] become valid, and can be mapped back', () => {
    const { toUpstream, toCaller } = nameTools(['mcp__server.tool/x y'], chat)
    expect(toUpstream('mcp__server.tool/x y')).toBe('mcp__server_tool_x_y')
    expect(toCaller.get('mcp__server_tool_x_y')).toBe('mcp__server.tool/x y')
  })

  it('[104] that are too long are truncated, and stay distinct', () => {
    const names = ['a', 'b'].map((end) => 'n'.repeat(64) + end)
    const { toUpstream, toCaller } = nameTools(names, chat)
    const given = names.map(toUpstream)
    expect(new Set(given).size).toBe(2)
    expect(given.map((name) => name.length)).toEqual([64, 64])
    expect(given.map((name) => toCaller.get(name))).toEqual(names)
  })

  it('never collide with the name of another tool', () => {
    const { toUpstream, toCaller } = nameTools(['a.b', 'a b', 'a_b'], chat)
    const given = ['a.b', 'a b', 'a_b'].map(toUpstream)
    expect(given[2]).toBe('a_b')
    expect(new Set(given).size).toBe(3)
    expect(toCaller.get(given[0] ?? '')).toBe('a.b')
    const late = nameTools(['a.b'], chat)
    expect(late.toUpstream('a_b')).not.toBe('a_b')
    expect(late.toCaller.get(late.toUpstream('a_b'))).toBe('a_b')
  })

  it('do not depend on the order of the tools, or on other valid names', () => {
    const given = (names: string[]) => nameTools(names, chat).toUpstream('a.b')
    expect(given(['a.b', 'a b'])).toBe(given(['a b', 'a.b']))
    expect(given(['a.b', 'x'])).toBe(given(['a.b']))
  })

  it('begin with a letter or _ where that is required', () => {
    const gemini = { allowed: /[a-zA-Z0-9_.:-]/, lengthMax: 64, startsWithLetter: true }
    const { toUpstream } = nameTools(['1st', '_x', ''], gemini)
    expect([toUpstream('1st'), toUpstream('_x'), toUpstream('')]).toEqual(['_1st', '_x', '_'])
  })

  it('of any characters, in any number, are restored', () => {
    const names = Array.from({ length: 500 }, (_, at) => '.'.repeat(at % 70) + (at % 7) + '工具'.repeat(at % 40))
    const { toUpstream, toCaller } = nameTools(names, chat)
    for (const name of names) {
      const given = toUpstream(name)
      expect(given).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(toCaller.get(given) ?? given).toBe(name)
    }
  })
})
