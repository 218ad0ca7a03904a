import { describe, expect, it } from 'vitest'
import { addressOf } from './address.ts'

describe('the address of a call', () => {
  it('escapes every text', () => {
    expect(addressOf('/api/token/search', {}, { keyword: '#2 & 50% +', p: 0 })).toBe(
      '/api/token/search?keyword=%232+%26+50%25+%2B&p=0',
    )
    expect(addressOf('/api/channel/:id/copy', { id: 'a/b' })).toBe('/api/channel/a%2Fb/copy')
  })

  it('leaves out absent parameters', () => {
    expect(addressOf('/api/log/', {}, { type: undefined, group: '' })).toBe('/api/log/')
  })
})
