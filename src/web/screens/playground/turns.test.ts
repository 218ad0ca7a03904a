import { describe, expect, it } from 'vitest'
import type { ChatEvent } from '../../lib/chat-events.ts'
import { areStates, firstStates } from './parameters.ts'
import { codeKinds, codeOf, hasPictures } from './request-code.ts'
import type { Settings } from './settings.ts'
import { type Answer, afterEvent, newest, requestOf, settledTurns, type Turn, titleOf } from './turns.ts'

const settings: Settings = {
  group: 'vip',
  models: ['m'],
  parameters: { ...firstStates, temperature: { on: true, value: 0.7 } },
  system: '',
}
const picture = 'data:image/png;base64,AAAA'
let made = 0
const answer = (content: string, rest: Partial<Answer> = {}): Answer => ({
  id: String(made++),
  lane: 0,
  model: 'm',
  state: 'complete',
  content,
  ...rest,
})
const turn = (question: string, answers: Answer[] = [], pictures: string[] = []): Turn => ({
  id: String(made++),
  question,
  pictures,
  answers,
})
const lane0 = { lane: 0, model: 'm' }
const said = (turns: Turn[], lane = 0) => requestOf(settings, { lane, model: 'm' }, turns).messages.map(({ content }) => content)

describe('the request of a conversation', () => {
  it('carries questions, answers and the system prompt', () => {
    expect(requestOf({ ...settings, system: 'be brief' }, lane0, [turn('a', [answer('b')]), turn('c')])).toEqual({
      group: 'vip',
      model: 'm',
      temperature: 0.7,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    })
  })

  it('leaves out questions that failed or were not answered', () => {
    expect(said([turn('refused', [answer('', { state: 'error' })]), turn('unanswered'), turn('now')])).toEqual(['now'])
  })

  it('keeps the partial answer that was stopped or interrupted', () => {
    const halves = [turn('a', [answer('half', { state: 'stopped' })]), turn('b', [answer('part', { state: 'error' })])]
    expect(said([...halves, turn('c')])).toEqual(['a', 'half', 'b', 'part', 'c'])
  })

  it('contains the answers of one column, and those of another one only where it has none', () => {
    const both = turn('a', [answer('left'), answer('right', { lane: 1 })])
    const one = turn('b', [answer('only left')])
    expect(said([both, one, turn('c')], 1)).toEqual(['a', 'right', 'b', 'only left', 'c'])
    expect(said([both, one, turn('c')])).toEqual(['a', 'left', 'b', 'only left', 'c'])
  })

  it('carries images of questions and of answers', () => {
    const part = { type: 'image_url', image_url: { url: picture } }
    const turns = [turn('draw', [answer('', { pictures: [picture] })]), turn('what is it?', [], [picture])]
    expect(requestOf(settings, lane0, turns).messages).toEqual([
      { role: 'user', content: 'draw' },
      { role: 'assistant', content: '', images: [part] },
      { role: 'user', content: [{ type: 'text', text: 'what is it?' }, part] },
    ])
  })

  it('names only the parameters that are switched on, and no limit of 0 tokens', () => {
    const parameters = {
      ...firstStates,
      temperature: { on: false, value: 0.7 },
      max_tokens: { on: true, value: 50 },
      seed: { on: true, value: 7 },
    }
    expect(requestOf({ ...settings, parameters }, lane0, [turn('a')])).toEqual({
      group: 'vip',
      model: 'm',
      max_tokens: 50,
      seed: 7,
      messages: [{ role: 'user', content: 'a' }],
    })
    expect(areStates(parameters)).toBe(true)
    expect(
      [null, {}, { ...parameters, seed: 7 }, { ...parameters, seed: { on: true, value: '7' } }].map(areStates),
    ).not.toContain(true)
  })
})

describe('an answer', () => {
  const answerOf = (events: ChatEvent[], stopped = false) =>
    events.reduce((before, event) => afterEvent(before, event, { stopped, cut: 'broke off' }), answer('', { state: 'loading' }))
  const text: ChatEvent = { kind: 'content', text: 'hi' }

  it('changes from loading to incomplete to complete', () => {
    expect(answerOf([{ kind: 'begun', requestId: 'r' }])).toMatchObject({ state: 'loading', requestId: 'r' })
    expect(answerOf([{ kind: 'reasoning', text: 'hm' }])).toMatchObject({ state: 'incomplete', reasoning: 'hm' })
    const usage = { prompt_tokens: 1, completion_tokens: 2 }
    const events: ChatEvent[] = [text, text, { kind: 'image', url: picture }, { kind: 'usage', usage }]
    expect(answerOf([...events, { kind: 'done', complete: true }])).toMatchObject({
      state: 'complete',
      content: 'hihi',
      pictures: [picture],
      usage,
    })
  })

  it('reports why it failed, and keeps its text', () => {
    expect(answerOf([text, { kind: 'error', message: 'overloaded' }])).toMatchObject({
      state: 'error',
      content: 'hi',
      error: 'overloaded',
    })
    expect(answerOf([text, { kind: 'done', complete: false }])).toMatchObject({ state: 'error', error: 'broke off' })
  })

  it('is stopped when its reader stops it, or when the page is closed', () => {
    expect(answerOf([text, { kind: 'done', complete: false }], true)).toMatchObject({ state: 'stopped', content: 'hi' })
    const [left] = settledTurns([turn('a', [answer('half', { state: 'incomplete' }), answer('whole')])])
    expect(left?.answers.map(({ state }) => state)).toEqual(['stopped', 'complete'])
  })
})

describe('the stored part of a conversation', () => {
  it('is bounded in turns and in length, prefers the newest turns, and always has the last one', () => {
    const many = Array.from({ length: 250 }, (_, index) => turn(String(index)))
    expect(newest(many)).toEqual(many.slice(150))
    const large = turn('x', [answer('y'.repeat(5_999_990))])
    expect(newest([turn('w'.repeat(20)), large, turn('z')])).toHaveLength(2)
    expect(newest([turn('', [], ['p'.repeat(7_000_000)])])).toHaveLength(1)
    expect(newest([])).toEqual([])
  })

  it('is titled by its first words', () => {
    expect(titleOf([turn('', [], [picture]), turn(`  why\nis ${'x'.repeat(90)}`)])).toBe(`why is ${'x'.repeat(53)}`)
    expect(titleOf([])).toBe('')
  })
})

describe('the request as code', () => {
  const turns = [turn('a\nb', [answer('c', { pictures: [picture] })]), turn('d', [], [picture])]
  const request = requestOf({ ...settings, system: `it's "late"` }, lane0, turns)

  it.each(codeKinds)('contains everything but the group and the images in %s', (kind) => {
    const code = codeOf(kind, request, 'https://example.com/')
    expect(code).toContain('https://example.com')
    expect(code).toContain('a\\nb')
    expect(code).toContain('0.7')
    expect(code).not.toContain('vip')
    expect(code).not.toContain('base64')
    expect(code).toContain('picture.png')
    expect(codeOf(kind, { ...request, max_tokens: 50 }, '')).toMatch(/max_tokens"?[=:] ?50/)
  })

  it('escapes quotes for the shell', () => {
    expect(codeOf('curl', request, '')).toContain(`it'\\''s`)
  })

  it('uses the format of the Messages API for its SDK', () => {
    const code = codeOf('anthropic', request, 'https://example.com/')
    expect(code).toContain('base_url="https://example.com"')
    expect(code).toContain('max_tokens=4096')
    expect(code).toContain(`system="it's \\"late\\""`)
    expect(code).not.toContain('"role": "system"')
    expect(code).not.toContain('image_url')
  })

  it('reports whether images were left out', () => {
    expect([hasPictures(request), hasPictures(requestOf(settings, lane0, [turn('a')]))]).toEqual([true, false])
  })
})
