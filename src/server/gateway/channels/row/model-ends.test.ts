import { describe, expect, it } from 'vitest'
import { redirectOf, startOfDay } from '../../../../contract/model-ends.ts'
import { providers } from '../../providers/index.ts'
import { type EndingChannel, endAt, endInList, isRedirected, lastEnd, readEnds } from './model-ends.ts'

function channel(key: string, given: Partial<EndingChannel> = {}): EndingChannel {
  const provider = providers.find((each) => each.key === key)
  if (!provider) throw new Error(`No provider ${key}`)
  return { provider, baseUrl: provider.baseUrl, modelMapping: new Map(), modelEnds: new Map(), ...given }
}

describe('the end of a model at a channel', () => {
  it.each([
    ['of OpenAI', { shutdown_date: '2026-12-11' }, { date: '2026-12-11' }],
    ['of Anthropic', { lifecycle: 'deprecated', retires_at: '2027-01-22T00:00:00Z' }, { date: '2027-01-22' }],
    [
      'of Mistral',
      { deprecation: '2026-12-31T12:00:00Z', deprecation_replacement_model: 'mistral-large-4' },
      { date: '2026-12-31', successor: 'mistral-large-4' },
    ],
    ['of Azure', { deprecation: { fine_tune: 1_700_000_000, inference: 1_797_000_000 } }, { date: '2026-12-11' }],
    ['of OpenRouter', { expiration_date: '2026-12-24' }, { date: '2026-12-24' }],
    ['without one', { id: 'a', shutdown_date: null }, undefined],
    ['with something else', { shutdown_date: 'soon', retires_at: 7, deprecation: {}, expiration_date: '2026-13-45' }, undefined],
    ['that is no object', null, undefined],
  ])('is read from the list %s', (_name, listed, end) => {
    expect(endInList(listed)).toEqual(end)
  })

  it('belongs to the host: the vendor’s own address, but not a copy at another one', () => {
    expect(endAt(channel('openai'), 'gpt-5')).toEqual({ date: '2026-12-11', successor: 'gpt-6.1-sol' })
    expect(endAt(channel('openai', { baseUrl: 'https://reseller.example' }), 'gpt-5')).toBeUndefined()
    expect(endAt(channel('azure', { baseUrl: 'https://one.openai.azure.com' }), 'gpt-5')).toBeUndefined()
    expect(endAt(channel('anthropic'), 'claude-sonnet-4-5')).toEqual({ date: '2026-11-30' })
    const bedrock = channel('bedrock', { modelMapping: new Map([['claude', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0']]) })
    expect(endAt(bedrock, 'claude')).toEqual({ date: '2027-04-08' })
  })

  it('is that of the upstream’s list before that of the table, by the upstream’s name', () => {
    const modelEnds = readEnds('{"gpt-5":{"date":"2027-02-01"},"other":{"date":"2027-03-01","successor":"next"}}')
    const own = channel('openai', { modelEnds, modelMapping: new Map([['mine', 'other']]) })
    expect(endAt(own, 'gpt-5')).toEqual({ date: '2027-02-01' })
    expect(endAt(own, 'mine')).toEqual({ date: '2027-03-01', successor: 'next' })
    expect(endAt(own, 'other')).toEqual({ date: '2027-03-01', successor: 'next' })
  })
})

describe('the end of a model on the site', () => {
  const own = channel('openai')
  const later = channel('custom', { baseUrl: 'https://x.example', modelEnds: new Map([['gpt-5', { date: '2027-06-01' }]]) })
  const unknown = channel('custom', { baseUrl: 'https://x.example' })

  it('is the last of its channels, and unknown while one of them has none', () => {
    expect(lastEnd([own], 'gpt-5')?.date).toBe('2026-12-11')
    expect(lastEnd([own, later], 'gpt-5')?.date).toBe('2027-06-01')
    expect(lastEnd([later, own], 'gpt-5')?.date).toBe('2027-06-01')
    expect(lastEnd([own, unknown, later], 'gpt-5')).toBeUndefined()
    expect(lastEnd([unknown, own], 'gpt-5')).toBeUndefined()
  })

  it('is the earliest of all vendors where no channel serves it', () => {
    expect(lastEnd([], 'claude-sonnet-4-5')?.date).toBe('2026-11-30')
    expect(lastEnd([], 'no-such-model')).toBeUndefined()
  })
})

describe('a redirect', () => {
  const redirect = redirectOf('gemini-2.5-pro')
  if (!redirect) throw new Error('The redirect is gone')
  const day = startOfDay('2026-12-01')
  const vendor = channel('gemini')

  it.each([
    ['before its day', [vendor], day - 1, false],
    ['from its day on', [vendor], day, true],
    ['in the next year', [vendor], startOfDay('2027-01-01'), true],
    ['beside other channels', [channel('openrouter'), vendor], day, true],
    ['at the same address by another kind of channel', [channel('custom', { baseUrl: vendor.baseUrl })], day, true],
    ['only elsewhere', [channel('gemini', { baseUrl: 'https://x.example' }), channel('vertex')], day, false],
    ['under another name', [channel('gemini', { modelMapping: new Map([['gemini-2.5-pro', 'gemini-4-argon']]) })], day, false],
  ])('%s', (_name, channels, nowMs, is) => {
    expect(isRedirected(channels, redirect, nowMs)).toBe(is)
  })
})
