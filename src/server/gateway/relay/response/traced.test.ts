import { expect, it } from 'vitest'
import type { ResponseAdapter } from './adapter.ts'
import { tracedAdapter } from './traced.ts'

/** The model and finish reasons that a trace gets from a reply, streamed in these blocks or whole. */
function told(replies: { blocks?: readonly string[]; whole?: unknown }): { model: string; reasons: string[] } {
  let model = ''
  const reasons = new Map<number, string>()
  const trace = {
    headersTo: () => ({}),
    noteReply(named: string, ended: readonly (readonly [number, string])[]) {
      model ||= named
      for (const [answer, reason] of ended) reasons.set(answer, reason)
    },
  }
  // The traced adapter calls only this method.
  const own = { readWhole: () => ({}) } as unknown as ResponseAdapter
  const adapter = tracedAdapter(own, trace)
  if (replies.whole) adapter.readWhole(Buffer.from(JSON.stringify(replies.whole)), 'application/json')
  const observe = adapter.openObserver?.()
  for (const block of replies.blocks ?? []) observe?.(block)
  return { model, reasons: [...reasons.values()] }
}

const events = (...data: unknown[]) => data.map((each) => `data: ${JSON.stringify(each)}\n\n`)

it.each([
  [
    'Chat',
    {
      model: 'm',
      choices: [
        { index: 0, finish_reason: 'stop' },
        { index: 1, finish_reason: 'length' },
      ],
    },
    ['stop', 'length'],
  ],
  ['Messages', { type: 'message', model: 'm', stop_reason: 'end_turn' }, ['end_turn']],
  ['Gemini', { modelVersion: 'm', candidates: [{ finishReason: 'MAX_TOKENS' }] }, ['MAX_TOKENS']],
  ['Responses', { object: 'response', model: 'm', status: 'completed' }, ['completed']],
  [
    'a cut off Responses',
    { object: 'response', model: 'm', status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    ['max_output_tokens'],
  ],
])('reads model and finish reasons of a whole reply of %s', (_name, whole, reasons) => {
  expect(told({ whole })).toEqual({ model: 'm', reasons })
})

it.each([
  [
    'Chat',
    events(
      { model: 'm', choices: [{ index: 0, delta: { content: '"finish_reason":"no"' }, finish_reason: null }] },
      { model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ),
    ['tool_calls'],
  ],
  [
    'Messages',
    events(
      { type: 'message_start', message: { model: 'm', stop_reason: null } },
      { type: 'content_block_delta', delta: { type: 'text_delta', text: 'x' } },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' } },
    ),
    ['max_tokens'],
  ],
  [
    'Gemini',
    events(
      { modelVersion: 'm', candidates: [{ finishReason: 'STOP' }] },
      { modelVersion: 'm', candidates: [{ finishReason: 'STOP' }] },
    ),
    ['STOP'],
  ],
  [
    'Responses',
    events(
      { type: 'response.created', response: { object: 'response', model: 'm', status: 'in_progress' } },
      { type: 'response.completed', response: { object: 'response', model: 'm', status: 'completed' } },
    ),
    ['completed'],
  ],
])('reads model and finish reasons of a stream of %s', (_name, blocks, reasons) => {
  expect(told({ blocks })).toEqual({ model: 'm', reasons })
})
