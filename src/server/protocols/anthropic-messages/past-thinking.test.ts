import { describe, expect, it } from 'vitest'
import { thoughtChanges, withoutForeignThoughts } from './past-thinking.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
const text = (value: string) => ({ type: 'text', text: value })
const unsigned = { type: 'thinking', thinking: 'so', signature: '' }
const foreign = { type: 'redacted_thinking', data: 'openai:encrypted:abc' }
const signed = { type: 'thinking', thinking: 'so', signature: 'c2lnbmVk' }
const redacted = { type: 'redacted_thinking', data: 'b3du' }
const call = { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain' }
const claude = 'claude-sonnet-4-5'
const enabled = { type: 'enabled', budget_tokens: 2000 }
const changesOf = (body: Record<string, unknown>, model = claude, all = false) => thoughtChanges(body, model, { all })

describe('thoughts of earlier turns, on the way to the vendor of Messages', () => {
  it("go out when another vendor's answer was written with them; the vendor's own stay", () => {
    const messages = [
      user('a'),
      assistant(unsigned, foreign, text('b')),
      user('c'),
      assistant(signed, redacted, text('d')),
      user('e'),
    ]
    expect(changesOf({ messages })?.changes).toEqual({
      messages: [user('a'), assistant(text('b')), user('c'), assistant(signed, redacted, text('d')), user('e')],
    })
    const sealed = { type: 'thinking', thinking: 'so', signature: 'google:signature:abc' }
    expect(changesOf({ messages: [user('a'), assistant(sealed, text('b')), user('c')] })?.changes).toEqual({
      messages: [user('a'), assistant(text('b')), user('c')],
    })
    expect(changesOf({ messages: [user('a'), assistant(signed, text('b')), user('c')] })).toBeUndefined()
    expect(changesOf({ messages: [user('a'), { role: 'assistant', content: 'b' }, user('c')] })).toBeUndefined()
  })

  it('all go out when the vendor refused them', () => {
    const messages = [user('a'), assistant(signed, redacted, text('b')), user('c')]
    expect(changesOf({ messages }, claude, true)?.changes).toEqual({ messages: [user('a'), assistant(text('b')), user('c')] })
  })

  it('keeps unsigned thinking for vendors that write it so, and removes foreign encrypted thinking', () => {
    const messages = [user('a'), assistant(unsigned, foreign, text('b')), user('c')]
    expect(changesOf({ messages }, 'deepseek-chat')?.changes).toEqual({
      messages: [user('a'), assistant(unsigned, text('b')), user('c')],
    })
    expect(changesOf({ messages: [user('a'), assistant(unsigned, text('b')), user('c')] }, 'deepseek-chat')).toBeUndefined()
  })

  it('leave no empty message behind', () => {
    const messages = [user('a'), assistant(unsigned), user('b')]
    expect(changesOf({ messages })?.changes).toEqual({ messages: [user('a'), user('b')] })
  })

  it.each([
    ['claude-sonnet-4-5', enabled, { thinking: undefined }],
    ['claude-opus-5', { type: 'adaptive' }, { thinking: { type: 'disabled' } }],
    ['claude-opus-5', undefined, { thinking: { type: 'disabled' } }],
    ['claude-sonnet-4-5', { type: 'disabled' }, {}],
    ['claude-sonnet-4-5', undefined, {}],
  ])('%s with %j does not think when its last turn lost them before calls', (model, thinking, changes) => {
    const body = { messages: [user('a'), assistant(unsigned, call), user([result])], ...(thinking ? { thinking } : {}) }
    const told = changesOf(body, model)
    expect(told).toEqual({
      changes: { messages: [user('a'), assistant(call), user([result])], ...changes },
      dropped: 'thinking' in changes ? ['thinking'] : [],
    })
  })

  it('does think when its own thoughts remain, or the calls are over', () => {
    const own = { messages: [user('a'), assistant(foreign, signed, call), user([result])], thinking: enabled }
    expect(changesOf(own)?.changes).not.toHaveProperty('thinking')
    const over = { messages: [user('a'), assistant(unsigned, call), user([result]), assistant(text('b')), user('c')] }
    expect(changesOf({ ...over, thinking: enabled })?.changes).not.toHaveProperty('thinking')
  })

  it('removes members that are only valid with thinking', () => {
    const edits = [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }]
    const body = { messages: [user('a'), assistant(unsigned, call), user([result])], thinking: enabled }
    expect(changesOf({ ...body, context_management: { edits } })?.changes.context_management).toEqual({ edits: edits.slice(1) })
    expect(changesOf({ ...body, context_management: { edits: edits.slice(0, 1) } })?.changes).toHaveProperty(
      'context_management',
      undefined,
    )
  })

  it('writes calls and results as text for a model that always thinks', () => {
    const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }
    const marked = { ...result, content: [text('Rain'), picture], cache_control: { type: 'ephemeral' } }
    const messages = [user('a'), assistant(unsigned, text('b'), call), user([marked, text('c')])]
    expect(changesOf({ messages, thinking: { type: 'adaptive' } }, 'claude-opus-5-5')).toEqual({
      changes: {
        messages: [
          user('a'),
          assistant(text('b'), text('[Called the tool weather with {"city":"Bern"}]')),
          user([
            text('[The tool weather answered]'),
            text('Rain'),
            { ...picture, cache_control: { type: 'ephemeral' } },
            text('c'),
          ]),
        ],
      },
      dropped: [],
    })
  })

  it('keeps every other byte unchanged', () => {
    const raw = `{ "model":"x","messages" : [ {"role":"user","content":"a"} ,{"role": "assistant","content":[ {"type":"thinking","thinking":"so","signature":""}, {"type":"tool_use","id":"t","name":"n","input":{"big": 12345678901234567890}} ]}, {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"\\u00e9"}]} ],"max_tokens":5 }`
    const { bytes } = withoutForeignThoughts({ json: JSON.parse(raw), bytes: Buffer.from(raw) }, claude) ?? {}
    expect(bytes?.toString()).toBe(
      `{ "model":"x","messages" : [{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"big": 12345678901234567890}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"\\u00e9"}]}],"max_tokens":5 }`,
    )
  })
})
