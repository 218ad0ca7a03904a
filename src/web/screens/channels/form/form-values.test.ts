import { describe, expect, it } from 'vitest'
import { bodyOf, type ChannelValues, changesOf, listOf, namesOf, newChannel } from './form-values.ts'

const values = (given: Partial<ChannelValues> = {}): ChannelValues => ({ ...newChannel(undefined), type: 1, ...given })

describe('values of the channel form', () => {
  it('sends only changed members, so that concurrent changes are kept', () => {
    const before = values({ name: 'a', models: ['x'], priority: 3 })
    expect(changesOf(before, { ...before })).toEqual({})
    expect(changesOf(before, { ...before, priority: '7', groups: ['vip'] })).toEqual({ priority: 7, groups: ['vip'] })
    expect(changesOf(before, { ...before, models: ['x', 'y'] })).toEqual({ models: 'x,y' })
  })

  it('sends a key only when one was typed', () => {
    const before = values()
    expect(changesOf(before, { ...before, name: 'b' })).not.toHaveProperty('key')
    expect(changesOf(before, { ...before, key: 'sk-1' })).toEqual({ key: 'sk-1' })
  })

  it('removes trailing slashes of an address', () => {
    expect(bodyOf(values({ base_url: ' https://example.com/v1// ' })).base_url).toBe('https://example.com/v1')
  })

  it('sends an emptied number as 0', () => {
    expect(bodyOf(values({ priority: '', weight: '', max_input_tokens: '' }))).toMatchObject({
      priority: 0,
      weight: 0,
      max_input_tokens: 0,
    })
  })

  it('splits names at ASCII and full-width commas', () => {
    expect(namesOf(' a, b，c,,')).toEqual(['a', 'b', 'c'])
  })

  it('reads typed models as a list of names or as a JSON list, and refuses other JSON', () => {
    expect(listOf('a, b\nc\td')).toEqual(['a', 'b', 'c', 'd'])
    expect(listOf(' ["a", "b "]')).toEqual(['a', 'b'])
    for (const text of ['{"a": 1}', '["a", 1]', '["a"', '[[]]']) expect(listOf(text), text).toBeUndefined()
  })

  it('also sends models that were typed but not filled in', () => {
    expect(bodyOf(values({ models: ['a'], more_models: 'b, a' })).models).toBe('a,b')
  })
})
