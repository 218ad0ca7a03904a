import { describe, expect, it } from 'vitest'
import type { CallerFormat } from '../protocols/format.ts'
import { advancedCustom } from './advanced-custom.ts'
import type { Upstream } from './provider.ts'

const channel = (other: unknown, more: Partial<Upstream> = {}): Upstream => ({
  id: 1,
  type: 58,
  key: 'k/1',
  baseUrl: 'https://own.example/llm',
  organization: '',
  other: typeof other === 'string' ? other : JSON.stringify(other),
  setting: {},
  ...more,
})
const configured = (other: unknown) => {
  const given = channel(other)
  const provider = advancedCustom.forChannel?.(given) ?? expect.unreachable('it is configured by its channel')
  return { given, provider }
}

describe('an advanced custom channel', () => {
  it("calls each format at its own path below the channel's address", () => {
    const { given, provider } = configured({
      speaks: {
        'anthropic.messages': '/{model}/messages',
        'gemini.generate': '/google/{model}:{method}',
        'openai.embeddings': '/embed?v=2',
      },
    })
    expect(provider.url(given, 'anthropic.messages', 'a/b', false)).toBe('https://own.example/llm/a%2Fb/messages')
    expect(provider.url(given, 'gemini.generate', 'g', true)).toBe(
      'https://own.example/llm/google/g:streamGenerateContent?alt=sse',
    )
    expect(provider.url(given, 'gemini.generate', 'g', false)).toBe('https://own.example/llm/google/g:generateContent')
    expect(provider.url(given, 'openai.embeddings', 'e', false)).toBe('https://own.example/llm/embed?v=2')
    expect(() => provider.url(given, 'openai.chat', 'm', false)).toThrow('does not speak')
    expect(Object.keys(provider.speaks)).not.toContain('openai.chat')
  })

  it('converts the calls of one format to another that its upstream speaks', () => {
    const { provider } = configured({
      speaks: { 'openai.chat': '/chat', 'anthropic.messages': '/messages' },
      converters: { 'openai.chat': 'anthropic.messages' },
    })
    const prefers = (format: CallerFormat) => provider.prefers?.(format, 'm', {})
    expect(prefers('openai.chat')).toBe('anthropic.messages')
    expect(prefers('anthropic.messages')).toBeUndefined()
  })

  it.each([
    [undefined, 'https://own.example/llm/chat', { authorization: 'Bearer k/1' }],
    [{ by: 'bearer' }, 'https://own.example/llm/chat', { authorization: 'Bearer k/1' }],
    [{ by: 'header', name: 'x-llm-key' }, 'https://own.example/llm/chat', { 'x-llm-key': 'k/1' }],
    [{ by: 'header', name: 'authorization', prefix: 'Token ' }, 'https://own.example/llm/chat', { authorization: 'Token k/1' }],
    [{ by: 'query', name: 'key' }, 'https://own.example/llm/chat?key=k%2F1', {}],
    [{ by: 'none' }, 'https://own.example/llm/chat', {}],
  ])('authorised by %o sends its key only in that place', (auth, url, headers) => {
    const { given, provider } = configured({ speaks: { 'openai.chat': '/chat' }, ...(auth ? { auth } : {}) })
    expect(provider.url(given, 'openai.chat', 'm', false)).toBe(url)
    expect(provider.headers(given, 'openai.chat', {})).toEqual(headers)
    const keyless = { ...given, key: '' }
    expect(provider.url(keyless, 'openai.chat', 'm', false)).toBe('https://own.example/llm/chat')
    expect(provider.headers(keyless, 'openai.chat', {})).toEqual({})
  })

  it('sends its configured headers, and those that Messages requires', () => {
    const { given, provider } = configured({ speaks: { 'anthropic.messages': '/m' }, headers: { 'x-team': 'blue' } })
    expect(provider.headers(given, 'anthropic.messages', { 'anthropic-version': '2026-10-21' })).toEqual({
      'anthropic-version': '2026-10-21',
      'x-team': 'blue',
      authorization: 'Bearer k/1',
    })
  })

  it('lists its models at the configured path, with its key', () => {
    const auth = { by: 'query', name: 'key' }
    const { given, provider } = configured({ speaks: { 'openai.chat': '/chat' }, auth, models_path: '/models?all=1' })
    expect(provider.modelsUrl(given)).toBe('https://own.example/llm/models?all=1&key=k%2F1')
    const { given: without, provider: listless } = configured({ speaks: { 'openai.chat': '/chat' } })
    expect(listless.modelsUrl(without)).toBeNull()
  })

  it("uses OpenAI's paths when it has no configuration", () => {
    const { given, provider } = configured('')
    expect(provider.url(given, 'openai.chat', 'm', false)).toBe('https://own.example/llm/v1/chat/completions')
    expect(() => advancedCustom.checkOther?.(advancedCustom.otherDefault)).not.toThrow()
  })

  it.each<[string, unknown]>([
    ['not a valid JSON', 'speaks: all'],
    ['at least one protocol', { speaks: {} }],
    ['unknown fields', { speaks: { 'openai.chat': '/a' }, url: 'https://other.example' }],
    ['must be one of speaks', { speaks: { 'openai.chat': '/a' }, converters: { 'openai.chat': 'anthropic.messages' } }],
    ['is invalid', { speaks: { 'openai.chat': 'https://other.example/a' } }],
    ['is invalid', { speaks: { 'openai.chat': '//other.example/a' } }],
    ['is invalid', { speaks: { 'openai.chat': '/a\\@other.example' } }],
    ['must not hold ..', { speaks: { 'openai.chat': '/../a' } }],
    ['is invalid', { speaks: { 'spark.chat': '/a' } }],
    ['headers.host', { speaks: { 'openai.chat': '/a' }, headers: { host: 'other.example' } }],
    ['cannot be set', { speaks: { 'openai.chat': '/a' }, auth: { by: 'header', name: 'content-length' } }],
    ['is invalid', { speaks: { 'openai.chat': '/a' }, headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['is invalid', { speaks: { 'openai.chat': '/a' }, auth: { by: 'cookie' } }],
  ])('is refused when it is saved: %s', (reason, other) => {
    const text = typeof other === 'string' ? other : JSON.stringify(other)
    expect(() => advancedCustom.checkOther?.(text)).toThrow(reason)
    expect(() => advancedCustom.forChannel?.(channel(text))).toThrow(reason)
  })
})
