import { describe, expect, it } from 'vitest'
import { entriesFor, numberIn } from './by-model.ts'

describe('the lookup of entries by model', () => {
  const map = { priority: 3, 'priority/gpt-*': 2, 'priority/gpt-5*': 2.5, 'priority/*-mini': 1.8, 'flex/o3*': 0.5 }

  it('uses the longest matching pattern, and the bare name for every other model', () => {
    expect(entriesFor(map, 'llama')).toEqual({ priority: 3 })
    expect(entriesFor(map, 'gpt-4o')).toEqual({ priority: 2 })
    expect(entriesFor(map, 'gpt-5')).toEqual({ priority: 2.5 })
    expect(entriesFor(map, 'o3-mini')).toEqual({ priority: 1.8, flex: 0.5 })
  })

  it('matches a name after the prefix of a vendor', () => {
    expect(entriesFor(map, 'openai/gpt-4o')).toEqual({ priority: 2 })
  })

  it('matches a pattern without an asterisk exactly, and several asterisks in their order', () => {
    const exact = { 'a/gpt-4': 1, 'b/*-4*-x*': 2, 'c/gpt*4': 3, 'd/gpt-4*4': 4 }
    expect(entriesFor(exact, 'gpt-4')).toEqual({ a: 1, c: 3 })
    expect(entriesFor(exact, 'gpt-4o-x1')).toEqual({ b: 2 })
  })

  it('returns nothing for a name that only its prototype has', () => {
    expect(numberIn(entriesFor(map, 'gpt-5'), 'constructor')).toBeUndefined()
  })
})
