import { describe, expect, it } from 'vitest'
import { cpuMs } from '../../../../../test/helpers/cpu-time.ts'
import { readSession, type SessionFacts } from './session.ts'

const read = (given: Partial<SessionFacts>) => readSession({ owner: 'token 1', model: 'm', headers: {}, body: {}, ...given })
const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })

describe('the conversation of a request', () => {
  it.each<[string, Partial<SessionFacts>]>([
    ['a header', { headers: { 'x-session-id': 'one' } }],
    ['another header', { headers: { session_id: 'one' } }],
    ['prompt_cache_key', { body: { prompt_cache_key: 'one', messages: [user('hi')] } }],
    ['metadata.user_id', { body: { metadata: { user_id: 'one' }, messages: [user('hi')] } }],
    ['the conversation of a response', { body: { conversation: { id: 'one' }, input: 'hi' } }],
  ])('is identified by %s', (_what, given) => {
    const named = read(given)
    expect(named?.isKnown).toBe(true)
    expect(read(given)).toEqual(named)
    expect(read({ ...given, owner: 'token 2' })?.key).not.toBe(named?.key)
    expect(read({ ...given, model: 'other' })?.key).not.toBe(named?.key)
  })

  it.each<[string, object, object]>([
    [
      'Chat',
      { messages: [{ role: 'system', content: 'be kind' }, user('hi')] },
      { messages: [{ role: 'system', content: 'be kind' }, user('hi'), assistant('hello'), user('more')] },
    ],
    [
      'Messages',
      {
        system: [{ type: 'text', text: 'be kind', cache_control: { type: 'ephemeral' } }],
        messages: [user([{ type: 'text', text: 'hi' }])],
      },
      {
        system: [{ type: 'text', text: 'be kind' }],
        messages: [user([{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }]), assistant('hello'), user('more')],
      },
    ],
    [
      'Responses',
      { instructions: 'be kind', input: [user([{ type: 'input_text', text: 'hi' }])] },
      { instructions: 'be kind', input: [user([{ type: 'input_text', text: 'hi' }]), { type: 'function_call', name: 'f' }] },
    ],
    [
      'Gemini',
      { systemInstruction: { parts: [{ text: 'be kind' }] }, contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
      {
        systemInstruction: { parts: [{ text: 'be kind' }] },
        contents: [
          { role: 'user', parts: [{ text: 'hi' }] },
          { role: 'model', parts: [{ text: 'hello' }] },
        ],
      },
    ],
  ])('has the same key in its first turn and later ones, in %s', (_format, first, later) => {
    const [one, two] = [read({ body: first as never }), read({ body: later as never })]
    expect(one?.key).toBe(two?.key)
    expect([one?.isKnown, two?.isKnown]).toEqual([false, true])
    expect(read({ body: JSON.parse(JSON.stringify(first).replace('be kind', 'be brief')) })?.key).not.toBe(one?.key)
    expect(read({ body: JSON.parse(JSON.stringify(first).replace('hi', 'hey')) })?.key).not.toBe(one?.key)
  })

  it('is undefined without an identifier or a message', () => {
    for (const body of [{}, { input: 'embed me' }, { prompt: 'x' }, { messages: 'x' }, { messages: [null, 3] }])
      expect(read({ body: body as never })).toBeUndefined()
  })

  it('is found quickly in requests with large images', () => {
    const picture = { type: 'image_url', image_url: { url: 'x'.repeat(10_000_000) } }
    const reading = () => {
      for (let time = 0; time < 300; time++) read({ body: { messages: [user([picture, { type: 'text', text: 'what is it' }])] } })
    }
    expect(cpuMs(reading)).toBeLessThan(1000)
  })
})
