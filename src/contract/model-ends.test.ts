import { describe, expect, it } from 'vitest'
import { earliestEnd, listedEnd, listedEnds, redirectOf, redirects, startOfDay } from './model-ends.ts'

describe('the end of a model', () => {
  it.each([
    ['openai', 'gpt-5', '2026-12-11', 'gpt-6.1-sol'],
    ['openai', 'gpt-5-2025-08-07', '2026-12-11', 'gpt-6.1-sol'],
    ['openai', 'gpt-5-mini', '2026-12-11', 'gpt-6.1-terra'],
    ['openai', 'o3-pro', '2026-12-11', undefined],
    ['openai', 'gpt-4o-mini-2024-07-18', '2027-01-14', 'gpt-6-luna'],
    ['openai', 'gpt-4o-mini-transcribe', '2027-02-26', undefined],
    ['openai', 'gpt-4o-mini-tts', '2027-01-06', undefined],
    ['openai', 'gpt-4o-audio-preview-2025-06-03', '2027-01-20', undefined],
    ['anthropic', 'claude-sonnet-4-5-20250929', '2026-11-30', undefined],
    ['bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', '2027-04-08', undefined],
    ['vertex', 'gemini-3.6-flash', '2026-11-19', undefined],
  ])('at %s is known for %s', (vendor, model, date, successor) => {
    expect(listedEnd(vendor, model)).toEqual(successor ? { date, successor } : { date })
  })

  it.each([
    ['openai', 'gpt-5.4'],
    ['openai', 'gpt-5-chat-latest'],
    ['openai', 'gpt-4.1-nano'],
    ['azure', 'gpt-5'],
    ['openrouter', 'openai/gpt-5'],
    ['gemini', 'gemini-3.6-flash'],
    ['anthropic', 'claude-haiku-4-5'],
  ])('at %s is not known for %s', (vendor, model) => {
    expect(listedEnd(vendor, model)).toBeUndefined()
  })

  it('is the earliest of all hosts where no channel tells the host', () => {
    expect(earliestEnd('claude-sonnet-4-5')).toEqual({ date: '2026-11-30' })
    expect(earliestEnd('unknown-model')).toBeUndefined()
  })

  it('is a day with a source in every row', () => {
    for (const { date, source } of listedEnds) expect([Number.isNaN(startOfDay(date)), source === '']).toEqual([false, false])
    for (const { from, source } of redirects) expect([Number.isNaN(startOfDay(from)), source === '']).toEqual([false, false])
  })
})

it('a redirect is known by the exact name of the model', () => {
  expect(redirectOf('gemini-2.5-pro')).toMatchObject({ answeredBy: 'gemini-3.8-flash', from: '2026-12-01' })
  expect(redirectOf('gemini-2.5-pro-preview')).toBeUndefined()
})
