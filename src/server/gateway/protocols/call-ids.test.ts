import { describe, expect, it } from 'vitest'
import { callIdFor } from './call-ids.ts'

describe('ids of tool calls', () => {
  it('stay unchanged when they are valid', () => {
    expect(callIdFor('call_1:.|', 'chat')).toBe('call_1:.|')
    expect(callIdFor('toolu_01-x', 'anthropic')).toBe('toolu_01-x')
    expect(callIdFor('abcDEF123', 'nine-alphanumerics')).toBe('abcDEF123')
  })

  it('[90] of more than 64 characters become a hash, the same one each time', () => {
    const long = 'x'.repeat(120)
    expect(callIdFor(long, 'chat')).toMatch(/^call_[0-9A-Za-z]{24}$/)
    expect(callIdFor(long, 'chat')).toBe(callIdFor(long, 'chat'))
    expect(callIdFor(`${long}y`, 'chat')).not.toBe(callIdFor(long, 'chat'))
  })

  it('[91] have no characters that Anthropic refuses', () => {
    expect(callIdFor('functions.look:0', 'anthropic')).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(callIdFor('', 'anthropic')).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  })

  it('[92] are nine letters and digits for Mistral', () => {
    expect(callIdFor('call_abc', 'nine-alphanumerics')).toMatch(/^[a-zA-Z0-9]{9}$/)
  })
})
