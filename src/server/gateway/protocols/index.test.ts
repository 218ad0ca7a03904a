import { describe, expect, it } from 'vitest'
import { formats } from './index.ts'

describe.each(Object.entries(formats))('the declaration of %s', (name, { wire, conversions = [], inbound, texts }) => {
  it('has its own name wherever it names the format', () => {
    expect(formats).toHaveProperty([name, 'name'], name)
    expect(wire?.format ?? name).toBe(name)
    expect(conversions.filter(({ to }) => to !== name)).toEqual([])
  })

  it('says where replies of conversations have text, so that it is checked for listed words', () => {
    expect(texts !== undefined).toBe(inbound !== undefined)
  })
})
