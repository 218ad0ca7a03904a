import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { describe, expect, it } from 'vitest'
import { grammarFaults, readContext, readSse, summary } from '../../../../../test/helpers/codecs.ts'
import { call, dialogueOf, text, thought } from '../../../../../test/helpers/dialogue.ts'
import { anyReply } from '../../../../../test/helpers/replies.ts'
import {
  block,
  called,
  cite,
  close,
  delta,
  end,
  failed,
  finish,
  open,
  openCall,
  openMedia,
  sealed,
  start,
  used,
} from '../../../../../test/helpers/reply-events.ts'
import { cacheWritesOf, writtenTokens } from '../../../../contract/usage.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { Codec, WriteContext } from '../codec.ts'
import type { Dialogue, Opaque } from '../dialogue.ts'
import type { ReplyEvent } from '../reply-events.ts'
import { arrayAt, isObject, type JsonObject, objectAt } from '../wire-format.ts'
import { openAiChatFormat } from './format.ts'
import { writeEvents, writeReply } from './reply-write.ts'
import { readRequest } from './request-read.ts'

const codec: Codec = openAiChatFormat.codec

function context(dialogue: Partial<Dialogue> = {}): WriteContext {
  return {
    id: 'r1',
    createdAt: 1_790_000_000,
    model: 'asked',
    dialogue: dialogueOf(dialogue),
    newId: (prefix) => `${prefix}new`,
  }
}

function stream(events: readonly ReplyEvent[], dialogue: Partial<Dialogue> = {}): string {
  const writer = writeEvents(context(dialogue))
  return events.map((event) => writer.push(event)).join('')
}

/** The chunks of a stream that is complete. */
function chunks(events: readonly ReplyEvent[], dialogue: Partial<Dialogue> = {}): JsonObject[] {
  const frames = stream([start, ...events, end], dialogue).split('\n\n')
  expect(frames.slice(-2)).toEqual(['data: [DONE]', ''])
  return frames.slice(0, -2).map((frame) => JSON.parse(frame.replace(/^data: /, '')) as JsonObject)
}

function choiceOf(chunk: JsonObject): JsonObject {
  return arrayAt(chunk, 'choices').find(isObject) ?? {}
}

function deltas(events: readonly ReplyEvent[], dialogue: Partial<Dialogue> = {}): unknown[] {
  return chunks(events, dialogue)
    .slice(1, -1)
    .map((chunk) => choiceOf(chunk).delta)
}

function whole(events: readonly ReplyEvent[], dialogue: Partial<Dialogue> = {}): JsonObject {
  return writeReply([start, ...events, end], context(dialogue))
}

function message(events: readonly ReplyEvent[], dialogue: Partial<Dialogue> = {}): JsonObject {
  return objectAt(choiceOf(whole(events, dialogue)), 'message') ?? {}
}

const quiet = { wantsUsage: false }

describe('a stream to a client of Chat', () => {
  it('[36] [37] [56] [57] has the role only in its first chunk, and the same id, time and model in every chunk', () => {
    const all = chunks([...block(0, 'text', 'Hi'), ...called(1, '{}'), finish()], quiet)
    expect(choiceOf(all[0] ?? {})).toEqual({
      index: 0,
      delta: { role: 'assistant', content: '' },
      logprobs: null,
      finish_reason: null,
    })
    expect(all.filter((chunk) => 'role' in (objectAt(choiceOf(chunk), 'delta') ?? {}))).toHaveLength(1)
    for (const { id, object, created, model } of all) {
      expect({ id, object, created, model }).toEqual({
        id: 'chatcmpl-r1',
        object: 'chat.completion.chunk',
        created: 1_790_000_000,
        model: 'asked',
      })
    }
  })

  it('[38] leaves usage out unless it was requested', () => {
    expect(stream([start, ...block(0, 'text', 'Hi'), used({ input: 3 }), finish(), end], quiet)).not.toContain('usage')
  })

  it('[39] [40] [41] writes usage last and once, after the finish reason', () => {
    const all = chunks([used({ input: 1 }), ...block(0, 'text', 'Hi'), finish(), used({ input: 3, cacheRead: 4, output: 2 })])
    expect(all.slice(0, -1).map(({ usage }) => usage)).toEqual([null, null, null])
    expect(choiceOf(all.at(-2) ?? {})).toMatchObject({ delta: {}, finish_reason: 'stop' })
    expect(all.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, prompt_tokens_details: { cached_tokens: 4 } },
    })
  })

  it('has every kind of block in its own member', () => {
    expect(
      deltas([...block(0, 'reasoning', 'Hm'), ...block(1, 'text', 'Hi'), ...block(2, 'refusal', 'No'), finish()], quiet),
    ).toEqual([{ reasoning_content: 'Hm' }, { content: 'Hi' }, { refusal: 'No' }])
  })

  it('[61] [66] [76] numbers calls separately, with id and name once, and contains their deltas unchanged', () => {
    const events = [
      ...block(0, 'text', 'Hi'),
      openCall(1),
      openCall(2, 'g'),
      delta(2, '{"y"'),
      delta(1, '{}'),
      delta(2, ':1}'),
      close(1),
      close(2),
    ]
    expect(deltas([...events, finish('tool-calls')], quiet).slice(1)).toEqual([
      { tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name: 'get_tide', arguments: '' } }] },
      { tool_calls: [{ index: 1, id: 'call_2', type: 'function', function: { name: 'g', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{"y"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { tool_calls: [{ index: 1, function: { arguments: ':1}' } }] },
    ])
  })

  it('[68] has an empty object as input of a call without one', () => {
    expect(deltas([...called(0), finish('tool-calls')], quiet).at(-1)).toEqual({
      tool_calls: [{ index: 0, function: { arguments: '{}' } }],
    })
  })

  it('[112] contains free-text input unchanged', () => {
    expect(deltas([openCall(0, 'sh', 'custom-tool-call'), delta(0, 'ls'), close(0), finish('tool-calls')], quiet)).toEqual([
      { tool_calls: [{ index: 0, id: 'call_0', type: 'custom', custom: { name: 'sh', input: '' } }] },
      { tool_calls: [{ index: 0, custom: { input: 'ls' } }] },
    ])
  })

  it('[111] is in the older form if the request was, with one call', () => {
    const events = [...called(0, '{}'), ...called(1, '{"b":1}'), finish('tool-calls')]
    const old = { ...quiet, usesFunctions: true }
    expect(deltas(events, old)).toEqual([
      { function_call: { name: 'get_tide', arguments: '' } },
      { function_call: { arguments: '{}' } },
    ])
    expect(choiceOf(chunks(events, old).at(-1) ?? {}).finish_reason).toBe('function_call')
    expect(message(events, old)).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      function_call: { name: 'get_tide', arguments: '{}' },
    })
  })

  it('[179] contains images in one piece', () => {
    const events = [openMedia(0, 'image/png'), delta(0, 'AAAA'), delta(0, 'BBBB'), close(0), finish()]
    const shown = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAABBBB' } }]
    expect(deltas(events, quiet)).toEqual([{ images: shown }])
    expect(message(events)).toMatchObject({ content: '', images: shown })
  })

  it('has citations with offsets in the complete text', () => {
    const events = [...block(0, 'text', 'One '), ...called(1, '{}'), open(2), delta(2, 'two'), cite(2, 0, 3), close(2), finish()]
    expect(message(events).annotations).toEqual([
      { type: 'url_citation', url_citation: { start_index: 4, end_index: 7, title: 'A', url: 'https://a.example' } },
    ])
  })

  it.each([
    ['stop', 'stop'],
    ['stop-sequence', 'stop'],
    ['length', 'length'],
    ['context-full', 'length'],
    ['tool-calls', 'tool_calls'],
    ['content-filter', 'content_filter'],
    ['pause', 'length'],
    ['other', 'length'],
  ] as const)('[146] ends by %s as %s', (reason, word) => {
    expect(choiceOf(chunks([finish(reason)], quiet).at(-1) ?? {}).finish_reason).toBe(word)
  })

  it('[145] contains the explanation of a refusal by a classifier', () => {
    const events = [finish('content-filter', { explanation: 'Not this.' })]
    expect(deltas(events, quiet)).toEqual([{ refusal: 'Not this.' }])
    expect(message(events)).toEqual({ role: 'assistant', content: '', refusal: 'Not this.' })
    expect(message([finish('content-filter')])).toEqual({ role: 'assistant', content: '', refusal: null })
  })

  it('[24] [27] ends with an error and nothing else', () => {
    const sent = stream([start, open(0), delta(0, 'Hi'), failed({ code: 'overloaded' })])
    expect(sent.endsWith('\n\n')).toBe(true)
    expect(sent).not.toContain('[DONE]')
    const [last] = eventsIn(sent).slice(-1)
    expect(JSON.parse(last?.data ?? '')).toEqual({
      error: { message: 'busy (request id: r1)', type: 'server_error', param: null, code: 'overloaded' },
    })
  })

  it('[162] has no reasoning member when there was no reasoning', () => {
    expect(stream([start, open(0, 'reasoning'), close(0), ...block(1, 'text', 'Hi'), finish(), end])).not.toContain(
      'reasoning_content',
    )
  })
})

describe('state that a client of Chat may send back', () => {
  const claude: Opaque = { family: 'anthropic', kind: 'signature', value: 's' }
  const redacted: Opaque = { family: 'anthropic', kind: 'redacted', value: 'd' }
  const google: Opaque = { family: 'google', kind: 'signature', value: 'g' }
  const reply = [
    ...[open(0, 'reasoning'), delta(0, 'H'), delta(0, 'm'), sealed(0, claude), close(0)],
    ...[open(1, 'reasoning'), sealed(1, redacted), close(1)],
    ...[open(2), delta(2, 'Hi'), sealed(2, google), close(2)],
    ...[openCall(3), sealed(3, google), delta(3, '{}'), close(3), openCall(4), delta(4, '{}'), close(4)],
    finish('tool-calls'),
  ]

  it('[152] [155] is written next to its content, streamed and not', () => {
    const extra_content = { google: { thought_signature: 'g' } }
    expect(deltas(reply, quiet)).toEqual([
      { reasoning_content: 'H' },
      { reasoning_content: 'm' },
      { thinking_blocks: [{ type: 'thinking', thinking: 'Hm', signature: 's' }] },
      { thinking_blocks: [{ type: 'redacted_thinking', data: 'd' }] },
      { content: 'Hi' },
      { extra_content },
      { tool_calls: [{ index: 0, id: 'call_3', type: 'function', function: { name: 'get_tide', arguments: '' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '' }, extra_content }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      expect.anything(),
      expect.anything(),
    ])
    expect(message(reply)).toMatchObject({
      content: 'Hi',
      reasoning_content: 'Hm',
      thinking_blocks: [
        { type: 'thinking', thinking: 'Hm', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
      ],
      tool_calls: [{ id: 'call_3', extra_content }, { id: 'call_4' }],
    })
  })

  it('[151] is read back at the same position', () => {
    const { turns } = readRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }, message(reply)] }, {})
    expect(turns[1]?.parts).toEqual([
      thought('Hm', claude),
      thought('', redacted),
      text('Hi', { opaque: google }),
      call('call_3', { input: '{}', opaque: google }),
      call('call_4', { input: '{}' }),
    ])
  })

  it('excludes other state, which is not written', () => {
    const other: Opaque = { family: 'openai', kind: 'encrypted', value: 'SEALED' }
    const events = [
      open(0, 'reasoning'),
      sealed(0, other),
      close(0),
      openCall(1),
      sealed(1, other),
      sealed(1, claude),
      close(1),
      finish(),
    ]
    expect(stream([start, ...events, end])).not.toMatch(/SEALED|"s"/)
    expect(JSON.stringify(whole(events))).not.toMatch(/SEALED|"s"/)
  })
})

describe('a whole reply to a client of Chat', () => {
  it('[59] [60] has every key that clients look for, also when it is empty', () => {
    expect(whole([used({ input: 3, output: 1 }), finish()])).toEqual({
      id: 'chatcmpl-r1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'asked',
      choices: [{ index: 0, message: { role: 'assistant', content: '', refusal: null }, logprobs: null, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 1,
        total_tokens: 4,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
    })
  })

  it('joins the pieces of calls', () => {
    expect(message([...called(0, '{"a"', ':1}'), ...called(1), finish('tool-calls')])).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        { id: 'call_0', type: 'function', function: { name: 'get_tide', arguments: '{"a":1}' } },
        { id: 'call_1', type: 'function', function: { name: 'get_tide', arguments: '{}' } },
      ],
    })
  })

  it('has audio next to its text', () => {
    const audio = openMedia(1, 'audio/wav')
    expect(message([...block(0, 'text', 'Hi'), audio, delta(1, 'AAAA'), delta(1, 'BBBB'), close(1), finish()]).audio).toEqual({
      id: 'audio_new',
      data: 'AAAABBBB',
      expires_at: 1_790_000_000,
      transcript: '',
    })
  })

  it('[124] [216] writes usage as totals with their details', () => {
    expect(
      whole([used({ input: 100, cacheRead: 9_000, cacheWrite: 600, cacheWrite1h: 300, output: 50, reasoning: 30 }), finish()]),
    ).toMatchObject({
      usage: {
        prompt_tokens: 10_000,
        prompt_tokens_details: { cached_tokens: 9_000, cache_write_tokens: 900 },
        completion_tokens: 50,
        completion_tokens_details: { reasoning_tokens: 30 },
        total_tokens: 10_050,
      },
    })
  })
})

/** The content of a reply that Chat can express: non-empty blocks, in Chat's order. */
function sayable(events: readonly ReplyEvent[]) {
  const { blocks, finish: reason, usage } = summary(events)
  const joined = (kind: string) => blocks.flatMap(({ block: of, text }) => (of === kind ? [text] : [])).join('')
  const calls = blocks.filter(({ name }) => name !== undefined)
  return {
    text: joined('text'),
    reasoning: joined('reasoning'),
    refusal: joined('refusal'),
    images: joined('image'),
    calls: calls.map(({ block: of, text, ...rest }) => ({ ...rest, of, text: text === '' && of === 'tool-call' ? '{}' : text })),
    isComplete: reason !== undefined,
    usage: usage && { ...usage, ...cacheWritesOf(writtenTokens(usage)) },
  }
}

function lettersOf(text: string): string {
  return [...text].sort().join('')
}

describe('any reply', () => {
  const seeds = Array.from({ length: 300 }, (_, seed) => seed + 1)

  it('[217] is the same after it is written and read again, streamed and not', () => {
    for (const seed of seeds) {
      const events = anyReply(seed).filter(({ type }) => type !== 'finish')
      const complete = [...events.slice(0, -1), finish(), end]
      const streamed = readSse(codec, stream(complete))
      expect(grammarFaults(streamed)).toEqual([])
      expect(sayable(streamed), `seed ${seed}`).toEqual(sayable(complete))

      const whole = codec.readReply(writeReply(complete, context()), readContext())
      expect(grammarFaults(whole)).toEqual([])
      // A complete message has all reasoning as one text: if only parts of it were signed, their order is lost.
      const [said, again] = [sayable(complete), sayable(whole)].map((reply) => ({
        ...reply,
        reasoning: lettersOf(reply.reasoning),
      }))
      expect(again, `seed ${seed}`).toEqual(said)
    }
  })
})

describe('the official clients', () => {
  let body = ''
  const options = () => ({
    apiKey: 'k',
    fetch: async () =>
      new Response(body, { headers: { 'content-type': body.startsWith('data:') ? 'text/event-stream' : 'application/json' } }),
  })
  const request = {
    model: 'asked',
    messages: [{ role: 'user' as const, content: 'Hi' }],
    stream_options: { include_usage: true },
  }
  // The two major versions have the same calls, but different types.
  const older = () => new OpenAI6(options()) as unknown as OpenAI
  const clients = [
    ['newest', () => new OpenAI(options()), true],
    ['of the major before', older, false],
  ] as const

  it.each(clients)('%s reads any stream', async (_, client, takesCustom) => {
    for (let seed = 1; seed <= 60; seed++) {
      const events = anyReply(seed)
      if (!takesCustom && events.some((event) => event.type === 'open' && event.block === 'custom-tool-call')) continue
      body = stream(events)
      const said = sayable(events)
      const completion = await client().chat.completions.stream(request).finalChatCompletion()
      const read = completion.choices[0]?.message
      expect(completion.choices[0]?.finish_reason, `seed ${seed}`).toBeTruthy()
      expect(read?.content ?? '').toBe(said.text)
      expect(read?.tool_calls?.map(({ id }) => id) ?? []).toEqual(said.calls.map(({ callId }) => callId))
      if (said.usage) expect(completion.usage?.total_tokens).toBeGreaterThanOrEqual(said.usage.input)
    }
  })

  it.each(clients)('%s reads any complete reply', async (_, client) => {
    for (let seed = 1; seed <= 30; seed++) {
      const events = anyReply(seed)
      body = JSON.stringify(writeReply(events, context()))
      const completion = await client().chat.completions.create({ ...request, stream_options: null })
      expect(completion.choices[0]?.message.content ?? '').toBe(sayable(events).text)
    }
  })
})
