import { describe, expect, it } from 'vitest'
import type { ChatEvent } from '../../lib/chat-events.ts'
import { afterEvent, isMessages, type Message, newest, requestOf } from './messages.ts'
import { codeKinds, codeOf } from './request-code.ts'
import type { Settings } from './settings.ts'

const settings: Settings = { group: 'vip', model: 'm', temperature: 0.7, max_tokens: 0, system: '' }
let made = 0
const question = (content: string): Message => ({ id: String(made++), role: 'user', content, state: 'complete' })
const answer = (content: string, state: Message['state'] = 'complete'): Message => ({
  id: String(made++),
  role: 'assistant',
  content,
  state,
})
const said = (messages: Message[]) => requestOf(settings, messages).messages.map(({ content }) => content)

describe('the request of a conversation', () => {
  it('carries questions, answers and the system prompt', () => {
    expect(requestOf({ ...settings, system: 'be brief' }, [question('a'), answer('b'), question('c')])).toEqual({
      group: 'vip',
      model: 'm',
      temperature: 0.7,
      max_tokens: 0,
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    })
  })

  it('leaves out questions that failed, and answers without their question', () => {
    expect(said([question('refused'), answer('', 'error'), question('now')])).toEqual(['now'])
    expect(said([question('unanswered'), question('now')])).toEqual(['now'])
    expect(said([answer('orphan'), question('now')])).toEqual(['now'])
  })

  it('keeps what had come of an answer that was stopped or broke off', () => {
    expect(said([question('a'), answer('half', 'stopped'), question('b'), answer('part', 'error'), question('c')])).toEqual([
      'a',
      'half',
      'b',
      'part',
      'c',
    ])
  })
})

describe('an answer', () => {
  const answerOf = (events: ChatEvent[], stopped = false) =>
    events.reduce((message, event) => afterEvent(message, event, { stopped, cut: 'broke off' }), answer('', 'loading'))
  const text: ChatEvent = { kind: 'content', text: 'hi' }

  it('goes from loading over incomplete to complete', () => {
    expect(answerOf([{ kind: 'begun', requestId: 'r' }])).toMatchObject({ state: 'loading', requestId: 'r' })
    expect(answerOf([{ kind: 'reasoning', text: 'hm' }])).toMatchObject({ state: 'incomplete', reasoning: 'hm' })
    const usage = { prompt_tokens: 1, completion_tokens: 2 }
    expect(answerOf([text, text, { kind: 'usage', usage }, { kind: 'done', complete: true }])).toMatchObject({
      state: 'complete',
      content: 'hihi',
      usage,
    })
  })

  it('says why it failed, and keeps what it had', () => {
    expect(answerOf([text, { kind: 'error', message: 'overloaded' }])).toMatchObject({
      state: 'error',
      content: 'hi',
      error: 'overloaded',
    })
    expect(answerOf([text, { kind: 'done', complete: false }])).toMatchObject({ state: 'error', error: 'broke off' })
  })

  it('is stopped when its reader stopped it', () => {
    expect(answerOf([text, { kind: 'done', complete: false }], true)).toMatchObject({ state: 'stopped', content: 'hi' })
  })
})

describe('the memory of a conversation', () => {
  it('is bounded in messages and in length, the newest first', () => {
    const many = Array.from({ length: 250 }, (_, index) => question(String(index)))
    expect(newest(many).map(({ content }) => content)).toEqual(many.slice(150).map(({ content }) => content))
    const long = [question('x'.repeat(299_000)), question('y'.repeat(999)), question('z')]
    expect(newest(long)).toHaveLength(3)
    expect(newest([question('w'), ...long]).at(0)?.content).toBe('x'.repeat(299_000))
    expect(newest([])).toEqual([])
  })

  it('takes only what is a conversation', () => {
    expect(isMessages([question('a'), answer('b')])).toBe(true)
    for (const foreign of [null, {}, 'text', [null], [{ id: 1 }], [{ ...question('a'), role: 'system' }]]) {
      expect(isMessages(foreign)).toBe(false)
    }
  })
})

describe('the request as code', () => {
  const request = requestOf({ ...settings, system: `it's "late"` }, [question('a\nb')])

  it.each(codeKinds)('says everything but the group in %s', (kind) => {
    const code = codeOf(kind, request, 'https://example.com/')
    expect(code).toContain('https://example.com/v1')
    expect(code).toContain('a\\nb')
    expect(code).toContain('0.7')
    expect(code).not.toContain('vip')
    expect(code).not.toContain('max_tokens')
    expect(codeOf(kind, { ...request, max_tokens: 50 }, '')).toContain('max_tokens')
  })

  it('keeps a shell from reading quotes in it', () => {
    expect(codeOf('curl', request, '')).toContain(`it'\\''s`)
  })
})
