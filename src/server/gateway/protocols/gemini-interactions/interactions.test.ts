import { describe, expect, it } from 'vitest'
import { refusalOf } from '../../../../../test/helpers/codecs.ts'
import { dialogueOf } from '../../../../../test/helpers/dialogue.ts'
import { anyReply } from '../../../../../test/helpers/replies.ts'
import {
  block,
  close,
  delta,
  end,
  failed,
  finish,
  open,
  openCall,
  start,
  used,
} from '../../../../../test/helpers/reply-events.ts'
import { noUsage } from '../../../../contract/usage.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { WriteContext } from '../codec.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject } from '../wire-format.ts'
import { geminiInteractionsFormat } from './format.ts'
import { gatherInteraction, replayInteraction } from './forms.ts'
import { readInteractionUsage, writeInteractionUsage } from './usage.ts'

const { readRequest, writeReply, writeEvents } = geminiInteractionsFormat.inbound
const context: WriteContext = {
  id: '20261128120000000abcdefghijkl',
  createdAt: 1_790_000_000,
  model: 'asked',
  dialogue: dialogueOf({ from: 'gemini.interactions', reasoning: { mode: 'auto', show: 'summary' } }),
  newId: (prefix) => `${prefix}new`,
}
const read = (body: object) => readRequest({ model: 'asked', input: 'Hello', ...body }, {})

function told(events: readonly ReplyEvent[], more: Partial<WriteContext> = {}): JsonObject[] {
  const writer = writeEvents({ ...context, ...more })
  const stream = events.map((event) => writer.push(event)).join('')
  return eventsIn(Buffer.from(stream).toString('latin1')).map(({ name, data }) => {
    const event = JSON.parse(data)
    expect(name).toBe(event.event_type)
    return event
  })
}

describe('an interaction in the neutral form', () => {
  it('has its input as turns: a text, parts of content, steps, and older turns', () => {
    const turns = [{ role: 'user', parts: [{ kind: 'text', text: 'Hello' }] }]
    expect(read({}).turns).toEqual(turns)
    expect(read({ input: { type: 'text', text: 'Hello' } }).turns).toEqual(turns)
    expect(read({ input: [{ role: 'user', content: 'Hello' }] }).turns).toEqual(turns)
    const png = 'iVBORw0KGgo='
    const steps = [
      {
        type: 'user_input',
        content: [
          { type: 'text', text: 'See:' },
          { type: 'image', data: png, mime_type: 'image/png' },
        ],
      },
      { type: 'thought', summary: [{ type: 'text', text: 'Hm.' }], signature: 'c2ln' },
      { type: 'function_call', id: 'c1', name: 'tide', arguments: { port: 'Rye' } },
      { type: 'function_result', call_id: 'c1', name: 'tide', result: [{ type: 'text', text: 'high' }] },
      { type: 'google_search_call', id: 's', arguments: { queries: ['Rye'] } },
      { type: 'model_output', content: [{ type: 'text', text: 'It is high.' }] },
      { type: 'text', text: 'And' },
      { type: 'text', text: ' now?' },
    ]
    const dialogue = read({ input: steps })
    expect(dialogue.turns).toMatchObject([
      {
        role: 'user',
        parts: [{ kind: 'text' }, { kind: 'media', media: 'image', source: { mediaType: 'image/png', data: png } }],
      },
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm.', opaque: { family: 'google', value: 'c2ln' } },
          { kind: 'tool-call', callId: 'c1', name: 'tide', input: '{"port":"Rye"}' },
        ],
      },
      { role: 'user', parts: [{ kind: 'tool-result', callId: 'c1', parts: [{ text: 'high' }], isError: false }] },
      { role: 'assistant', parts: [{ kind: 'text', text: expect.stringMatching(/google_search[\s\S]*It is high\./) }] },
      { role: 'user', parts: [{ text: 'And' }, { text: ' now?' }] },
    ])
    expect(dialogue.unread).toBeUndefined()
  })

  it('has its settings, tools and form of answer', () => {
    const schema = { type: 'object', properties: { tide: { type: 'string' } } }
    const tool = { type: 'function', name: 'tide', description: 'The tide', parameters: schema }
    const dialogue = read({
      system_instruction: 'Be brief.',
      tools: [tool, { type: 'google_search' }],
      response_format: { type: 'text', mime_type: 'application/json', schema },
      generation_config: {
        ...{ temperature: 0.5, top_p: 0.9, seed: 3, stop_sequences: ['x'], max_output_tokens: 99, thinking_level: 'low' },
        ...{ thinking_summaries: 'auto', tool_choice: { allowed_tools: { mode: 'any', tools: ['tide'] } } },
      },
    })
    expect(dialogue).toMatchObject({
      from: 'gemini.interactions',
      system: [{ text: 'Be brief.' }],
      tools: [{ name: 'tide', description: 'The tide', schema }],
      toolChoice: { kind: 'tool', name: 'tide' },
      search: {},
      sampling: { temperature: 0.5, topP: 0.9, seed: 3 },
      stop: ['x'],
      outputTokensMax: 99,
      reasoning: { mode: { effort: 'low' }, show: 'summary' },
      output: { kind: 'schema', schema },
      extra: {},
    })
    expect(read({ generation_config: { thinking_level: 'xhigh' } }).reasoning?.mode).toEqual({ effort: 'xhigh' })
  })

  it('names what has no neutral form', () => {
    const dialogue = read({
      safety_settings: [{ type: 'x' }],
      labels: { a: 'b' },
      generation_config: { image_config: { size: '4K' } },
      tools: [{ type: 'function', name: 'a', behavior: 'x' }, { type: 'code_execution' }],
      input: [{ type: 'video', uri: 'https://example.test/v', mime_type: 'video/mp4', processing: 'fast' }],
    })
    expect(Object.keys(dialogue.extra)).toEqual(['safety_settings', 'labels'])
    expect(dialogue.unread).toEqual(['generation_config.image_config', 'tools.behavior', 'input.processing'])
    expect(dialogue.vendorOnly).toMatchObject([{ name: 'tools.code_execution' }])
  })

  it.each([
    ['previous_interaction_id', { previous_interaction_id: 'v1_x' }],
    ['background', { background: true }],
    ['environment', { environment: 'env' }],
    ['continuation_token', { continuation_token: 't' }],
    ['response_format', { response_format: { type: 'audio' } }],
    ['response_modalities', { response_modalities: ['image'] }],
    ['input[0].type', { input: [{ type: 'strange' }] }],
  ])('is refused for %s', (field, body) => expect(refusalOf(() => read(body))?.field).toBe(field))
})

const usage = used({ input: 9, cacheRead: 1, output: 7, reasoning: 3 })

describe('a reply to a client of interactions', () => {
  it('is a stream of steps, whose last event has the whole interaction', () => {
    const events = told([
      start,
      ...block(0, 'reasoning', 'Hm.'),
      ...block(1, 'text', 'It is', ' high.'),
      openCall(2, 'tide'),
      openCall(3, 'wind'),
      delta(2, '{"port":'),
      delta(3, '{}'),
      delta(2, '"Rye"}'),
      close(2),
      close(3),
      finish('tool-calls'),
      usage,
      end,
    ])
    expect(events.map(({ event_type: type, index }) => (index === undefined ? type : `${type} ${index}`))).toEqual([
      'interaction.created',
      ...['step.start 0', 'step.delta 0', 'step.stop 0'],
      ...['step.start 1', 'step.delta 1', 'step.delta 1', 'step.stop 1'],
      ...['step.start 2', 'step.start 3', 'step.delta 2', 'step.delta 3', 'step.delta 2', 'step.stop 2', 'step.stop 3'],
      'interaction.completed',
    ])
    expect(events.map(({ event_id: id }) => id)).toEqual(events.map((_, number) => String(number)))
    expect(events.at(-1)?.interaction).toMatchObject({
      id: `int_${context.id}`,
      status: 'requires_action',
      model: 'asked',
      steps: [
        { type: 'thought', summary: [{ type: 'text', text: 'Hm.' }] },
        { type: 'model_output', content: [{ type: 'text', text: 'It is high.' }] },
        { type: 'function_call', id: 'call_2', name: 'tide', arguments: { port: 'Rye' } },
        { type: 'function_call', id: 'call_3', name: 'wind', arguments: {} },
      ],
      usage: {
        total_input_tokens: 10,
        total_cached_tokens: 1,
        total_output_tokens: 4,
        total_thought_tokens: 3,
        total_tokens: 17,
      },
    })
  })

  it('hides thoughts that were not asked for', () => {
    const dialogue = dialogueOf({ from: 'gemini.interactions' })
    const { steps } = writeReply([start, ...block(0, 'reasoning', 'Hm.'), ...block(1, 'text', 'Hi'), finish('stop'), end], {
      ...context,
      dialogue,
    })
    expect(steps).toEqual([{ type: 'model_output', content: [{ type: 'text', text: 'Hi' }] }])
  })

  it.each([
    ['stop', 'completed'],
    ['stop-sequence', 'completed'],
    ['tool-calls', 'requires_action'],
    ['length', 'incomplete'],
    ['content-filter', 'incomplete'],
  ] as const)('that ends by %s is %s', (reason, status) => {
    expect(writeReply([start, ...block(0, 'text', 'Hi'), finish(reason), end], context)).toMatchObject({ status })
  })

  it('that fails ends with the event of the vendor; in the background it is a failed interaction', () => {
    const events = [start, open(0, 'text'), delta(0, 'Hi'), failed()]
    expect(told(events).at(-1)).toEqual({ event_type: 'error', error: { code: expect.any(String), message: 'busy' } })
    const stored = told(events, { kept: { previousId: '', isBackground: true } })
    expect(stored[0]).toMatchObject({ event_type: 'step.start', event_id: '1' })
    expect(stored.at(-1)).toMatchObject({
      event_type: 'interaction.completed',
      interaction: { status: 'failed', errors: [{ message: 'busy' }], steps: [{ content: [{ text: 'Hi' }] }] },
    })
  })

  it('is the same streamed and whole, for any reply', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const events = anyReply(seed)
      const whole = writeReply(events, context)
      const streamed = told(events)
      expect(streamed.at(-1)?.interaction).toEqual(whole)
      const steps = gatherInteraction(streamed.slice(0, -1)).steps as JsonObject[]
      expect(steps.map(({ type }) => type)).toEqual((whole.steps as JsonObject[]).map(({ type }) => type))
    }
  })
})

describe('the forms of an interaction', () => {
  it('become each other', () => {
    const annotations = [{ type: 'url_citation', url: 'https://example.test/a', start_index: 0, end_index: 2 }]
    const reply = {
      ...{ id: 'v1_1', status: 'completed', model: 'm', usage: { total_tokens: 3 } },
      steps: [
        { type: 'thought', summary: [{ type: 'text', text: 'Hm.' }], signature: 'c2ln' },
        { type: 'model_output', content: [{ type: 'text', text: 'Hi', annotations }] },
        { type: 'function_call', id: 'c', name: 'tide', arguments: { port: 'Rye' } },
        { type: 'google_search_call', id: 's', arguments: { queries: ['a'] } },
      ],
    }
    const events = replayInteraction(reply)
    expect(gatherInteraction(events)).toEqual(reply)
    const { interaction, ...last } = events.at(-1) as { interaction: JsonObject }
    const { steps: _, ...head } = interaction
    expect(gatherInteraction([...events.slice(0, -1), { ...last, interaction: head }])).toEqual(reply)
  })

  it('have the usage of generateContent under other names', () => {
    const counts = {
      ...{ total_input_tokens: 20, total_cached_tokens: 5, total_output_tokens: 8, total_thought_tokens: 4 },
      ...{ total_tool_use_tokens: 3, total_tokens: 35 },
      input_tokens_by_modality: [{ modality: 'image', tokens: 6 }],
      grounding_tool_count: [
        { type: 'google_search', count: 2 },
        { type: 'google_maps', count: 1 },
      ],
    }
    expect(readInteractionUsage({ usage: counts })).toEqual({
      ...noUsage,
      ...{ input: 12, cacheRead: 5, imageInput: 6, output: 12, reasoning: 4, searches: 2, toolCalls: { google_maps: 1 } },
    })
    const written = writeInteractionUsage({ ...noUsage, input: 12, cacheRead: 5, imageInput: 6, output: 12, reasoning: 4 })
    expect(written).toMatchObject({ total_input_tokens: 23, total_cached_tokens: 5, total_output_tokens: 8, total_tokens: 35 })
    expect(readInteractionUsage({})).toBeUndefined()
  })
})
