import { describe, expect, it } from 'vitest'
import { gemini } from './gemini.ts'
import type { Upstream } from './provider.ts'

const channel: Upstream = {
  id: 1,
  type: 24,
  key: 'AIza-1',
  baseUrl: gemini.baseUrl,
  organization: '',
  other: '',
  setting: {},
}

describe('Gemini as an upstream', () => {
  it('always streams as server-sent events', () => {
    expect(gemini.url(channel, 'gemini.generate', 'gemini-2.5-flash', true)).toBe(
      'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse',
    )
  })

  it('has its key in a header, never in the URL', () => {
    const sent: Record<string, string> = { 'x-goog-api-key': 'of-the-caller' }
    expect(gemini.headers(channel, 'gemini.generate', sent)).toEqual({
      'x-goog-api-key': 'AIza-1',
    })
    expect(gemini.headers({ ...channel, key: '' }, 'gemini.generate', {})).toEqual({})
    expect(gemini.url(channel, 'gemini.generate', 'm', true)).not.toContain('AIza')
  })

  it('requests all models in one page', () => {
    expect(gemini.modelsUrl(channel)).toBe('https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000')
  })

  it('[255] treats status 400 as a refused key only with the code API_KEY_INVALID', () => {
    expect(gemini.refusesKey?.({ status: 400, code: 'API_KEY_INVALID' })).toBe(true)
    expect(gemini.refusesKey?.({ status: 400, code: 'INVALID_ARGUMENT' })).toBe(false)
  })

  it('refuses an invalid version in the channel', () => {
    expect(() => gemini.checkOther?.('v1beta')).not.toThrow()
    expect(() => gemini.checkOther?.('')).not.toThrow()
    expect(() => gemini.checkOther?.('https://x')).toThrow()
  })
})
