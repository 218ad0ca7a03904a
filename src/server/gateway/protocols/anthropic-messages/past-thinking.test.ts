import { describe, expect, it } from 'vitest'
import { pastThinking } from './past-thinking.ts'

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
const changesOf = (body: Record<string, unknown>, model = claude, all = false) => pastThinking.changes(body, model, { all })

describe('thinking in a Messages request', () => {
  it("is removed if it is of another vendor; the vendor's own is kept", () => {
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

  it('is removed entirely when the vendor refused it', () => {
    const messages = [user('a'), assistant(signed, redacted, text('b')), user('c')]
    expect(changesOf({ messages }, claude, true)?.changes).toEqual({ messages: [user('a'), assistant(text('b')), user('c')] })
  })

  it('is removed up to the last block that the upstream refused, under a name; what was written after it is kept', () => {
    const own = (signature: string) => ({ type: 'thinking', thinking: 'so', signature })
    const messages = [user('a'), assistant(own('one'), call), user([result]), assistant(own('two'), call), user([result])]
    const after = [...messages, assistant(own('three'), text('b')), user('c')]
    const isRefused = (seal: string) => seal === 'two'
    expect(pastThinking.seals({ messages: after })).toEqual(['one', 'two', 'three'])
    expect(pastThinking.changes({ messages: after }, claude, { isRefused })).toEqual({
      changes: {
        messages: [
          ...[user('a'), assistant(call), user([result]), assistant(call), user([result])],
          ...[assistant(own('three'), text('b')), user('c')],
        ],
      },
      dropped: ['messages.thinking'],
    })
    expect(pastThinking.changes({ messages: after }, claude, { isRefused: () => false })).toBeUndefined()
  })

  it('changes a history in the same way in every later turn, for a model that binds thinking to what came before it', () => {
    const own = (signature: string) => ({ type: 'thinking', thinking: 'so', signature })
    const turns = [user('a'), assistant(own('one'), call), user([result])]
    const later = [...turns, assistant(own('two'), call), user([result])]
    const first = pastThinking.changes({ messages: turns }, 'claude-opus-5-5', { all: true })?.changes.messages
    const second = pastThinking.changes({ messages: later }, 'claude-opus-5-5', { isRefused: (seal) => seal === 'one' })
    expect(second?.changes.messages).toEqual([...(first as object[]), assistant(own('two'), call), user([result])])
    expect(JSON.stringify(first)).toContain('[Called the tool weather')

    const foreignTurns = [user('a'), assistant(unsigned, call), user([result])]
    const before = pastThinking.changes({ messages: foreignTurns }, 'claude-opus-5-5')?.changes.messages
    const after = [...foreignTurns, assistant(own('two'), call), user([result])]
    expect(pastThinking.changes({ messages: after }, 'claude-opus-5-5')?.changes.messages).toEqual([
      ...(before as object[]),
      ...after.slice(3),
    ])
  })

  it('is kept without a signature for vendors that write it so, and removed if it is encrypted by others', () => {
    const messages = [user('a'), assistant(unsigned, foreign, text('b')), user('c')]
    expect(changesOf({ messages }, 'deepseek-chat')?.changes).toEqual({
      messages: [user('a'), assistant(unsigned, text('b')), user('c')],
    })
    expect(changesOf({ messages: [user('a'), assistant(unsigned, text('b')), user('c')] }, 'deepseek-chat')).toBeUndefined()
  })

  it('leaves no empty message', () => {
    const messages = [user('a'), assistant(unsigned), user('b')]
    expect(changesOf({ messages })?.changes).toEqual({ messages: [user('a'), user('b')] })
  })

  it.each([
    ['claude-sonnet-4-5', enabled, { thinking: undefined }],
    ['claude-opus-5', { type: 'adaptive' }, { thinking: { type: 'disabled' } }],
    ['claude-opus-5', undefined, { thinking: { type: 'disabled' } }],
    ['claude-sonnet-4-5', { type: 'disabled' }, {}],
    ['claude-sonnet-4-5', undefined, {}],
  ])('is turned off for %s with %j when the last turn with calls lost it', (model, thinking, changes) => {
    const body = { messages: [user('a'), assistant(unsigned, call), user([result])], ...(thinking ? { thinking } : {}) }
    const told = changesOf(body, model)
    expect(told).toEqual({
      changes: { messages: [user('a'), assistant(call), user([result])], ...changes },
      dropped: 'thinking' in changes ? ['thinking'] : [],
    })
  })

  it('stays on when the turn keeps its own thinking, or the calls are over', () => {
    const own = { messages: [user('a'), assistant(foreign, signed, call), user([result])], thinking: enabled }
    expect(changesOf(own)?.changes).not.toHaveProperty('thinking')
    const over = { messages: [user('a'), assistant(unsigned, call), user([result]), assistant(text('b')), user('c')] }
    expect(changesOf({ ...over, thinking: enabled })?.changes).not.toHaveProperty('thinking')
  })

  it('is turned off together with members that are only valid with it', () => {
    const edits = [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }]
    const body = { messages: [user('a'), assistant(unsigned, call), user([result])], thinking: enabled }
    expect(changesOf({ ...body, context_management: { edits } })?.changes.context_management).toEqual({ edits: edits.slice(1) })
    expect(changesOf({ ...body, context_management: { edits: edits.slice(0, 1) } })?.changes).toHaveProperty(
      'context_management',
      undefined,
    )
  })

  it('is replaced by calls and results as text for a model that always thinks', () => {
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

  it('is removed without changing any other byte', () => {
    const raw = `{ "model":"x","messages" : [ {"role":"user","content":"a"} ,{"role": "assistant","content":[ {"type":"thinking","thinking":"so","signature":""}, {"type":"tool_use","id":"t","name":"n","input":{"big": 12345678901234567890}} ]}, {"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"\\u00e9"}]} ],"max_tokens":5 }`
    const { bytes } = pastThinking.without({ json: JSON.parse(raw), bytes: Buffer.from(raw) }, claude) ?? {}
    expect(bytes?.toString()).toBe(
      `{ "model":"x","messages" : [{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{"big": 12345678901234567890}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"\\u00e9"}]}],"max_tokens":5 }`,
    )
  })
})
