import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { describe, expect, it } from 'vitest'
import { readContext, readSse, summary } from '../../../../../test/helpers/codecs.ts'
import { dialogueOf, text as textPart, tideTool } from '../../../../../test/helpers/dialogue.ts'
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
  sealed,
  start,
  used,
} from '../../../../../test/helpers/reply-events.ts'
import type { WriteContext } from '../codec.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import { openAiResponsesFormat } from './format.ts'
import { writeEvents, writeReply } from './reply-write.ts'

const responsesCodec = openAiResponsesFormat.codec

function contextOf(more: Partial<WriteContext> = {}): WriteContext {
  let ids = 0
  return {
    id: 'r1',
    createdAt: 1_790_000_000,
    model: 'asked',
    dialogue: dialogueOf({ from: 'openai.responses', tools: [tideTool] }),
    newId: (prefix) => `${prefix}${++ids}`,
    ...more,
  }
}

interface Told extends JsonObject {
  readonly type: string
}

function streamOf(events: readonly ReplyEvent[], more: Partial<WriteContext> = {}): string {
  const writer = writeEvents(contextOf(more))
  return events.map((event) => writer.push(event)).join('')
}

/** The data of each event; also checks its name. */
function told(events: readonly ReplyEvent[], more: Partial<WriteContext> = {}): Told[] {
  return [...streamOf(events, more).matchAll(/^event: (.*)\ndata: (.*)\n\n/gm)].map(([, name, data]) => {
    const event = JSON.parse(data ?? '') as Told
    expect(name).toBe(event.type)
    return event
  })
}

/** All items, from the last event, which repeats them. */
function outputOf(events: readonly Told[]): unknown {
  const response = events.at(-1)?.response
  return isObject(response) ? response.output : undefined
}

const usage = used({ input: 9, cacheRead: 3, cacheWrite: 2, output: 4, reasoning: 1 })
const reply = (inner: readonly ReplyEvent[], reason: FinishReason = 'stop') => [start, ...inner, finish(reason), usage, end]
const text = (index: number, ...pieces: string[]) => block(index, 'text', ...pieces)

/** Thinking, text, and two calls that are open at the same time. */
const rich = reply(
  [
    open(0, 'reasoning'),
    delta(0, 'Two '),
    delta(0, 'ports.'),
    sealed(0, { family: 'anthropic', kind: 'signature', value: 'c2ln' }),
    close(0),
    ...text(1, 'Checking ', 'both.'),
    openCall(2),
    delta(2, '{"port":'),
    openCall(3),
    delta(3, '{"port":"Hythe"}'),
    delta(2, '"Rye"}'),
    close(3),
    close(2),
  ],
  'tool-calls',
)

/** Violations of the order of events that strict clients rely on. Source: protocols notes 1.3 and edge cases 190 to 194. */
function orderFaults(events: readonly Told[]): string[] {
  const faults: string[] = []
  const open = new Map<unknown, Told>()
  const parts = new Set<string>()
  const done: unknown[] = []
  for (const [at, event] of events.entries()) {
    if (event.sequence_number !== at) faults.push(`${event.type} has number ${event.sequence_number}`)
    const item = isObject(event.item) ? event.item : {}
    const place = `${event.output_index}/${event.content_index}`
    switch (event.type) {
      case 'response.output_item.added':
        if (event.output_index !== open.size + done.length) faults.push('an output index is left out')
        if (item.type !== 'function_call' && item.type !== 'custom_tool_call' && open.size > 0) faults.push('two items are open')
        open.set(event.output_index, event)
        break
      case 'response.output_item.done':
        if (!open.delete(event.output_index)) faults.push('an item is done that is not open')
        done[Number(event.output_index)] = item
        break
      case 'response.content_part.added':
        parts.add(place)
        break
      case 'response.content_part.done':
        if (!parts.delete(place)) faults.push('a part is done that is not open')
        break
      case 'response.completed':
      case 'response.incomplete':
        if (open.size > 0 || parts.size > 0) faults.push('the reply ends before its items')
        if (JSON.stringify(outputOf([event])) !== JSON.stringify(done)) faults.push('the end tells other items')
        break
      default:
        if ('output_index' in event && !open.has(event.output_index)) faults.push(`${event.type} outside of its item`)
        if ('content_index' in event && !parts.has(place)) faults.push(`${event.type} outside of its part`)
    }
  }
  return faults
}

describe('a stream for callers of Responses', () => {
  it('[190] [191] [192] [193] [194] has every event in its place, and repeats all items at the end', () => {
    const events = told(rich)
    expect(orderFaults(events)).toEqual([])
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'function_call_arguments.done',
      'output_item.done',
      'output_item.done',
      'completed',
    ])
    expect(outputOf(events)).toEqual([
      {
        id: 'rs_1',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Two ports.' }],
        encrypted_content: 'sluice:anthropic:signature::c2ln',
      },
      {
        id: 'msg_2',
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', annotations: [], logprobs: [], text: 'Checking both.' }],
      },
      {
        id: 'fc_3',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_2',
        name: 'get_tide',
        arguments: '{"port":"Rye"}',
      },
      {
        id: 'fc_4',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_3',
        name: 'get_tide',
        arguments: '{"port":"Hythe"}',
      },
    ])
  })

  it('keeps that order for every reply that the grammar allows, and has the same content not streamed', () => {
    for (let seed = 1; seed <= 400; seed++) {
      const events = anyReply(seed)
      const written = told(events)
      expect([seed, orderFaults(written)]).toEqual([seed, []])
      expect(written.at(-1)?.response).toEqual(writeReply(events, contextOf()))
    }
  })

  it('is read back unchanged', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const events = anyReply(seed).filter((event) => event.type !== 'cite')
      const written = summary(readSse(responsesCodec, streamOf(events)))
      const whole = summary(responsesCodec.readReply(writeReply(events, contextOf()), readContext()))
      expect(whole.blocks).toEqual(written.blocks)
      expect(whole.finish).toBe(written.finish)
      const said = (blocks: (typeof written)['blocks']) =>
        blocks.filter(({ block, text }) => (block === 'text' || block === 'custom-tool-call' ? text !== '' : false))
      const before = summary(events).blocks.filter((block) => block !== undefined)
      expect(said(written.blocks)).toEqual(said(before))
    }
  })

  it('has no item for empty blocks', () => {
    const nothing = [...block(0, 'text'), ...block(1, 'reasoning'), ...block(2, 'refusal')]
    expect(told(reply(nothing)).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.completed',
    ])
  })

  it('[68] writes an empty object for a call without arguments, in a separate delta', () => {
    const types = told(reply([openCall(0), close(0)], 'tool-calls'))
    expect(types.find(({ type }) => type.endsWith('arguments.delta'))).toMatchObject({ delta: '{}' })
    expect(types.find(({ type }) => type.endsWith('arguments.done'))).toMatchObject({ arguments: '{}' })
  })

  it('[112] has the input of a free-text tool unchanged', () => {
    const events = told(reply([openCall(0, 'sh', 'custom-tool-call'), delta(0, '*** Begin'), close(0)], 'tool-calls'))
    expect(outputOf(events)).toMatchObject([{ id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_0', input: '*** Begin' }])
  })

  it('[204] has a refusal as a part of the message, and the status completed', () => {
    const events = told(reply([...block(0, 'refusal', 'No.')]))
    expect(events.map(({ type }) => type)).toContain('response.refusal.delta')
    expect(events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [{ content: [{ type: 'refusal', refusal: 'No.' }] }] },
    })
  })

  it.each<[FinishReason, string]>([
    ['length', 'max_output_tokens'],
    ['context-full', 'max_output_tokens'],
    ['content-filter', 'content_filter'],
    ['pause', 'max_output_tokens'],
    ['other', 'max_output_tokens'],
  ])('[205] is incomplete for %s, and so is its last item', (reason, told_reason) => {
    const last = told(reply(text(0, 'The har'), reason)).at(-1)
    expect(last).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        incomplete_details: { reason: told_reason },
        output: [{ type: 'message', status: 'incomplete' }],
      },
    })
  })

  it('[73] marks only the truncated call', () => {
    const inner = [openCall(0), delta(0, '{}'), close(0), openCall(1), delta(1, '{"po'), close(1)]
    expect(told(reply(inner, 'length')).at(-1)).toMatchObject({
      response: { output: [{ status: 'completed' }, { status: 'incomplete', arguments: '{"po' }] },
    })
  })

  it("has a classifier's explanation when there is no other text", () => {
    const events = told([start, finish('content-filter', { explanation: 'Not that.' }), usage, end])
    expect(orderFaults(events)).toEqual([])
    expect(events.at(-1)).toMatchObject({ response: { output: [{ content: [{ type: 'refusal', refusal: 'Not that.' }] }] } })
  })

  it('has the status, the usage and the terminal event only at the end', () => {
    const writer = writeEvents(contextOf())
    const before = [start, ...text(0, 'Hi'), finish('length'), usage].map((event) => writer.push(event)).join('')
    expect(before).not.toContain('response.incomplete"')
    expect(before).not.toContain('input_tokens"')
    expect(writer.push(end)).toMatch(/^event: response\.incomplete\n/)
  })

  it('[206] ends with the failed response if it has begun, [24] or else with a bare error', () => {
    const error = failed({ message: 'Overloaded' })
    expect(told([start, ...text(0, 'Hi'), open(1, 'text'), delta(1, 'yo'), error]).at(-1)).toMatchObject({
      type: 'response.failed',
      response: { id: 'resp_r1', status: 'failed', error: { code: 'server_error', message: 'Overloaded' }, output: [{}] },
    })
    expect(told([error])).toEqual([
      {
        type: 'error',
        sequence_number: 0,
        message: 'Overloaded',
        code: null,
        param: null,
        error: { type: 'server_error', message: 'Overloaded', code: null, param: null },
      },
    ])
  })

  it('has the opaque state of calls and text in items that the caller sends back', () => {
    const opaque = { family: 'google', kind: 'signature', value: 'dGhv:x' } as const
    const inner: ReplyEvent[] = [
      open(0, 'text'),
      delta(0, 'Hi'),
      sealed(0, opaque),
      close(0),
      openCall(1),
      sealed(1, opaque),
      close(1),
    ]
    const events = told(reply(inner, 'tool-calls'))
    expect(orderFaults(events)).toEqual([])
    expect(outputOf(events)).toMatchObject([
      { type: 'message' },
      { type: 'reasoning', summary: [], encrypted_content: 'sluice:google:signature:text:dGhv:x' },
      { type: 'function_call', arguments: '{}' },
      { type: 'reasoning', summary: [], encrypted_content: expect.stringMatching(/^sluice:google:signature:call=\w+:dGhv:x$/) },
    ])
  })

  it("has the vendor's own encrypted reasoning unchanged", () => {
    const opaque = { family: 'openai', kind: 'encrypted', value: 'gAAA' } as const
    const events = told(reply([open(0, 'reasoning'), sealed(0, opaque), close(0), ...text(1, 'Hi')]))
    expect(outputOf(events)).toMatchObject([{ type: 'reasoning', encrypted_content: 'gAAA' }, {}])
  })
})

describe('a whole reply for callers of Responses', () => {
  it('[196] has every key that strict clients need, and store false', () => {
    const dialogue = dialogueOf({
      from: 'openai.responses',
      system: [textPart('Be brief')],
      tools: [tideTool, { ...tideTool, name: 'patch', custom: { format: undefined } }],
      toolChoice: { kind: 'tool', name: 'patch' },
      output: { kind: 'schema', name: 'tide', description: undefined, schema: { type: 'object' }, strict: true },
      reasoning: { mode: { effort: 'low' }, show: 'summary' },
      sampling: { temperature: 0.5 },
      extra: { metadata: { a: 'b' }, truncation: 'auto' },
    })
    const written = writeReply(reply(text(0, 'Hi')), contextOf({ dialogue }))
    const strict = ['id', 'object', 'created_at', 'status', 'error', 'incomplete_details', 'instructions', 'metadata', 'model']
    const more = ['output', 'parallel_tool_calls', 'temperature', 'tool_choice', 'tools', 'top_p', 'usage', 'text', 'reasoning']
    for (const key of [...strict, ...more]) expect(written).toHaveProperty(key)
    expect(written).toMatchObject({
      id: 'resp_r1',
      object: 'response',
      created_at: 1_790_000_000,
      status: 'completed',
      model: 'asked',
      instructions: 'Be brief',
      metadata: { a: 'b' },
      temperature: 0.5,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      completed_at: 1_790_000_000,
      user: null,
      store: false,
      previous_response_id: null,
      truncation: 'auto',
      reasoning: { effort: 'low', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'tide', strict: true } },
      tool_choice: { type: 'custom', name: 'patch' },
      tools: [
        { type: 'function', name: 'get_tide' },
        { type: 'custom', name: 'patch' },
      ],
      usage: {
        input_tokens: 14,
        input_tokens_details: { cached_tokens: 3, cache_write_tokens: 2 },
        output_tokens: 4,
        output_tokens_details: { reasoning_tokens: 1 },
        total_tokens: 18,
      },
    })
  })
})

describe.each([
  ['openai 7', OpenAI],
  // The calls used here are the same in both major versions; their types differ only in name.
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const)('%s', (_name, Client) => {
  const clientOf = (body: string, type: string) =>
    new Client({
      apiKey: 'sk-x',
      baseURL: 'http://127.0.0.1/v1',
      maxRetries: 0,
      fetch: async () => new Response(body, { headers: { 'content-type': type } }),
    })
  const params = { model: 'asked', input: 'Hi' }

  it('[191] reads every stream with its helper, which returns the text of the reply', async () => {
    for (let seed = 1; seed <= 120; seed++) {
      const events = anyReply(seed)
      const final = await clientOf(streamOf(events), 'text/event-stream').responses.stream(params).finalResponse()
      const texts = summary(events).blocks.filter(({ block }) => block === 'text')
      expect(final.output_text).toBe(texts.map((block) => block.text).join(''))
      const { output_text: _, ...plain } = final
      expect(plain.output.length).toBe((writeReply(events, contextOf()).output as unknown[]).length)
      expect(plain.status).toBe(writeReply(events, contextOf()).status)
    }
  })

  it('reads a complete reply', async () => {
    const body = JSON.stringify(writeReply(rich, contextOf()))
    const read = await clientOf(body, 'application/json').responses.create(params)
    expect(read.output_text).toBe('Checking both.')
    expect(read.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'function_call'])
    expect(read.usage?.total_tokens).toBe(18)
  })

  it('throws for an error before the reply has begun, and writes a later one as an event', async () => {
    const error = failed({ message: 'Overloaded' })
    const early = clientOf(streamOf([error]), 'text/event-stream')
    await expect(early.responses.stream(params).finalResponse()).rejects.toThrow('Overloaded')
    const late = clientOf(streamOf([start, ...text(0, 'Hi'), error]), 'text/event-stream')
    const final = await late.responses.stream(params).finalResponse()
    expect(final).toMatchObject({ status: 'failed', error: { code: 'server_error', message: 'Overloaded' } })
  })
})
