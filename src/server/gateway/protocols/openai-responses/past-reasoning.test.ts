import { describe, expect, it } from 'vitest'
import { pastReasoning } from './past-reasoning.ts'

const user = { type: 'message', role: 'user', content: 'Hi', id: 'msg_0' }
const reasoning = (encrypted_content: string, id: string) => ({ type: 'reasoning', id, summary: [], encrypted_content })
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' }
const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
const result = { type: 'function_call_output', call_id: 'call_1', output: 'x' }
const said = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] }
const input = [
  user,
  reasoning('one', 'rs_1'),
  search,
  call,
  result,
  reasoning('two', 'rs_2'),
  said,
  user,
  reasoning('three', 'rs_3'),
]
const { id: _, ...callWithoutId } = call
const { id: __, ...saidWithoutId } = said

describe('encrypted reasoning in the input of Responses', () => {
  it('is left out entirely, and the items after it have no ids by which the vendor would miss it', () => {
    expect(pastReasoning.changes({ input }, 'gpt-5', { all: true })).toEqual({
      changes: { input: [user, search, callWithoutId, result, saidWithoutId, user] },
      dropped: ['input.reasoning'],
    })
  })

  it('is left out up to the last item that the upstream refused', () => {
    const isRefused = (seal: string) => seal === 'one'
    expect(pastReasoning.seals({ input })).toEqual(['one', 'two', 'three'])
    expect(pastReasoning.changes({ input }, 'gpt-5', { isRefused })?.changes).toEqual({
      input: [user, search, callWithoutId, ...input.slice(4)],
    })
  })

  it('is no matter of a text, of reasoning without state, or of that of another vendor', () => {
    for (const others of [
      'Hi',
      [user, { type: 'reasoning', id: 'rs_1', summary: [] }],
      [reasoning('sluice:anthropic:signature::x', 'r')],
    ]) {
      expect(pastReasoning.has({ input: others })).toBe(false)
      expect(pastReasoning.changes({ input: others }, 'gpt-5', { all: true })).toBeUndefined()
    }
    expect(pastReasoning.changes({ input }, 'gpt-5')).toBeUndefined()
  })

  it('is removed without changing any other byte', () => {
    const raw = `{ "model":"x","input" : [ {"role": "user","content":"\\u00e9"} ,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"one"}, {"type":"function_call_output","call_id":"c","output":"12345678901234567890"}],"store":false }`
    const sent = { json: JSON.parse(raw), bytes: Buffer.from(raw) }
    expect(pastReasoning.without(sent, 'gpt-5', { all: true })?.bytes.toString()).toBe(
      `{ "model":"x","input" : [{"role": "user","content":"\\u00e9"},{"type":"function_call_output","call_id":"c","output":"12345678901234567890"}],"store":false }`,
    )
  })
})
