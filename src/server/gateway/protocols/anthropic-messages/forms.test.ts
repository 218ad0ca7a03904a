import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../wire-format.ts'
import { gatherMessage, replayMessage } from './forms.ts'

const start = (more: JsonObject = {}) => ({
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    usage: { input_tokens: 5 },
    ...more,
  },
})
const end = (more: JsonObject = {}) => ({
  ...{ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 3 } },
  ...more,
})
const block = (content_block: JsonObject, ...deltas: readonly JsonObject[]) => [
  { type: 'content_block_start', index: 0, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
  { type: 'content_block_stop', index: 0 },
]

describe('a gathered stream of Messages', () => {
  it('[279] keeps the final values of a compaction, of a failed one too', () => {
    const opened = { type: 'compaction', content: null, encrypted_content: null }
    const gathered = (delta: JsonObject) =>
      gatherMessage([start(), ...block(opened, { type: 'compaction_delta', ...delta }), end()])
    const summary = { content: 'The tide was high.', encrypted_content: 'c2VhbA==' }
    expect(gathered(summary).content).toEqual([{ type: 'compaction', ...summary }])
    const failed = { content: null, encrypted_content: null }
    expect(gathered(failed).content).toEqual([{ type: 'compaction', ...failed }])
  })

  it('[279] keeps members beside the delta of the end, and those of the beginning where the end has null', () => {
    const context_management = { applied_edits: [] }
    const input_transformations = [{ type: 'thinking', action: 'removed' }]
    expect(gatherMessage([start(), end({ context_management, input_transformations })])).toMatchObject({
      ...{ context_management, input_transformations, stop_reason: 'end_turn' },
      usage: { input_tokens: 5, output_tokens: 3 },
    })
    expect(gatherMessage([start({ input_transformations }), end({ input_transformations: null })])).toMatchObject({
      input_transformations,
    })
  })

  it('[278] ignores the same beginning once more; another message is an error', () => {
    const text = block({ type: 'text', text: '' }, { type: 'text_delta', text: 'Rye.' })
    expect(gatherMessage([start(), start(), ...text, end()])).toMatchObject({ content: [{ type: 'text', text: 'Rye.' }] })
    expect(gatherMessage([start(), start({ id: 'msg_2' }), ...text, end()])).toMatchObject({ type: 'error' })
  })
})

it('a whole reply of Messages as a stream tells at its end why it stopped, and what was changed in its input', () => {
  const told = {
    ...{ stop_reason: 'refusal', stop_sequence: null, stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' } },
    context_management: { applied_edits: [] },
    input_transformations: [{ type: 'thinking', action: 'removed' }],
  }
  const reply = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    usage: { input_tokens: 5, output_tokens: 3 },
    ...told,
  }
  const events = replayMessage(reply)
  expect(events[0]).toMatchObject({ type: 'message_start', message: { stop_reason: null, stop_details: null } })
  expect(gatherMessage(events)).toEqual(reply)
})
