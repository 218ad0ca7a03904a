import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  grammarFaults,
  readContext,
  readerFaults,
  readFrames,
  readSse,
  seeded,
  summary,
} from '../../../../../test/helpers/codecs.ts'
import { eventsIn } from '../../../base/lib/bytes/sse.ts'
import type { Quirks } from '../codec.ts'
import type { ReplyEvent } from '../reply-events.ts'
import type { JsonObject, StreamEvent } from '../wire-format.ts'
import { openAiChatFormat } from './format.ts'

const { codec } = openAiChatFormat
const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8')
const read = (name: string) => summary(readSse(codec, fixture(`openai/${name}.sse`)))

const chunk = (delta: unknown, finish_reason: unknown = null, more: object = {}) =>
  JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }], ...more })
const usage = (more: object) => ({ usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...more } })
const calls = (...tool_calls: object[]) => chunk({ tool_calls })
const fn = (index: number | undefined, id: string | undefined, name: unknown, args: unknown) => ({
  ...(index === undefined ? {} : { index }),
  ...(id === undefined ? {} : { id }),
  type: 'function',
  function: { ...(name === undefined ? {} : { name }), ...(args === undefined ? {} : { arguments: args }) },
})
const done = '[DONE]'
const stop = chunk({}, 'stop')

/** All events of a stream of these frames; checks their grammar. */
function events(frames: readonly string[], quirks: Quirks = {}): ReplyEvent[] {
  const made = readFrames(codec, frames, quirks)
  expect(grammarFaults(made)).toEqual([])
  return made
}

function stream(...frames: string[]) {
  return summary(events(frames))
}

/** Blocks as short strings: `text:…`, `tool-call:name(input)`. */
function said(...frames: string[]): string[] {
  return shortly(events([...frames, stop, done]))
}

function shortly(made: readonly ReplyEvent[]): string[] {
  return summary(made).blocks.map(({ block, text, name }) => (name === undefined ? `${block}:${text}` : `${name}(${text})`))
}

function whole(message: object, more: object = {}, quirks: Quirks = {}): ReplyEvent[] {
  const body = { choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }], ...more }
  const made = codec.readReply(body, readContext(quirks))
  expect(grammarFaults(made)).toEqual([])
  return made
}

describe('a stream of Chat', () => {
  it('[1] has its text unchanged, in any script', () => {
    expect(read('text')).toMatchObject({
      blocks: [{ block: 'text', text: 'The harbor is calm.' }],
      usage: { input: 21, output: 5 },
      finish: 'stop',
      isComplete: true,
    })
    expect(read('unicode').blocks[0]?.text).toBe('潮位は３.２m 🌊👩🏽‍🚀é')
  })

  it.each(['crlf', 'comments_keepalive', 'no_done', 'azure_prompt_filter_first', 'usage_in_last_choice_chunk'])(
    '[2] [5] [11] [40] [44] [45] is read the same in spite of %s',
    (name) => {
      expect(read(name)).toMatchObject({
        blocks: [{ block: 'text', text: 'ok' }],
        usage: { input: 21, output: 5 },
        finish: 'stop',
        isComplete: true,
      })
    },
  )

  it('[6] [10] has no content from empty events or after its end', () => {
    expect(stream('', chunk({ content: 'a' }), '', stop, done, chunk({ content: 'b' }), done).blocks).toEqual([
      { block: 'text', text: 'a' },
    ])
  })

  it('[12] is not complete when it ends without a reason', () => {
    expect(stream(chunk({ content: 'a' }))).toMatchObject({ isComplete: false, finish: undefined, blocks: [{ text: 'a' }] })
  })

  it('[13] is not a reply when no data arrived', () => {
    expect(events([])).toEqual([])
    expect(events([done])).toEqual([])
    expect(stream(chunk({ role: 'assistant', content: '' }), done).error?.message).toContain('no answer')
  })

  it('[24] ends with the error that the upstream sends', () => {
    expect(read('error_midstream')).toMatchObject({ error: { type: 'server_error' }, isComplete: false })
    const late = events([chunk({ content: 'a' }), '{"error":{"message":"busy","code":429}}', chunk({ content: 'b' }), done])
    expect(late.at(-1)).toEqual({
      type: 'error',
      error: { message: 'busy', type: '', code: '429', param: null, status: 429 },
    })
  })

  it('[41] [43] has the last reported usage, never a sum', () => {
    expect(
      stream(
        chunk({ content: 'a' }, null, usage({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })),
        chunk({ content: 'b' }, null, usage({ completion_tokens: 1 })),
        chunk({}, 'stop', usage({ completion_tokens: 7, total_tokens: 17 })),
        done,
      ).usage,
    ).toMatchObject({ input: 10, output: 7 })
  })

  it('[42] has the usage of an event without choices', () => {
    expect(stream(chunk({ content: 'a' }), stop, JSON.stringify(usage({})), done).usage).toMatchObject({ input: 10, output: 5 })
    expect(stream(chunk({ content: 'a' }), stop, JSON.stringify({ choices: null, ...usage({}) }), done).usage?.output).toBe(5)
  })

  it('[167] [214] [215] has usage in the forms of other vendors', () => {
    const told = (more: object, place: (value: object) => object = (value) => ({ usage: value })) =>
      stream(chunk({ content: 'a' }), chunk({}, 'stop', place({ ...usage({}).usage, ...more })), done).usage
    expect(told({ reasoning_tokens: 300, total_tokens: 315 })).toMatchObject({ output: 305, reasoning: 300 })
    expect(told({ prompt_cache_hit_tokens: 8, prompt_cache_miss_tokens: 2 })).toMatchObject({ input: 2, cacheRead: 8 })
    expect(told({ cached_tokens: 4 })).toMatchObject({ input: 6, cacheRead: 4 })
    expect(told({}, (value) => ({ x_groq: { usage: value } }))).toMatchObject({ input: 10 })
    const inChoice = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: 'stop', ...usage({}) }] })
    expect(stream(chunk({ content: 'a' }), inChoice, done).usage).toMatchObject({ input: 10 })
  })

  it('[46] [47] [48] [49] has no block for empty content', () => {
    const nothing = [
      null,
      {},
      { content: '' },
      { content: null, tool_calls: null },
      { tool_calls: [] },
      { reasoning_content: '' },
    ]
    expect(said(...nothing.map((delta) => chunk(delta)))).toEqual([])
    expect(said(chunk({ content: 'a', tool_calls: [] }))).toEqual(['text:a'])
  })

  it.each(['', 'null', null])('[50] is not complete after the finish reason %j', (reason) => {
    expect(stream(chunk({ content: 'a' }, reason), chunk({ content: 'b' }, reason)).isComplete).toBe(false)
  })

  it('[51] [52] finishes with tool-calls if it has calls, and never without calls', () => {
    expect(stream(calls(fn(0, 'a', 'f', '{}')), stop, done).finish).toBe('tool-calls')
    expect(stream(chunk({ content: 'a' }), chunk({}, 'tool_calls'), done).finish).toBe('stop')
  })

  it.each(['eos', 'end_turn', 'COMPLETE'])('[53] finishes with stop for the finish reason %s', (word) => {
    expect(stream(chunk({ content: 'a' }), chunk({}, word), done)).toMatchObject({ finish: 'stop', isComplete: true })
  })

  it.each([
    ['length', 'length'],
    ['function_call', 'stop'],
    ['content_filter', 'content-filter'],
    ['sensitive', 'content-filter'],
    ['model_context_window_exceeded', 'context-full'],
  ])('finishes for %s with %s', (word, finish) => {
    expect(stream(chunk({ content: 'a' }), chunk({}, word), done)).toMatchObject({ finish, isComplete: true })
  })

  it.each(['insufficient_system_resource', 'network_error', 'error'])('[54] fails for the finish reason %s', (word) => {
    expect(stream(chunk({ content: 'a' }), chunk({}, word), done)).toMatchObject({ isComplete: false, error: { status: 503 } })
  })

  it('[55] includes text after the finish reason', () => {
    expect(stream(chunk({ content: 'a' }), stop, chunk({ content: 'b' }), done)).toMatchObject({
      blocks: [{ text: 'ab' }],
      finish: 'stop',
    })
  })

  it('[60] may be empty', () => {
    expect(read('empty_content')).toMatchObject({ blocks: [], finish: 'stop', isComplete: true })
  })

  it('[204] has a refusal as a separate block', () => {
    expect(read('refusal')).toMatchObject({ blocks: [{ block: 'refusal', text: 'I can’t help with that.' }], finish: 'stop' })
  })

  it('finishes with length at the output limit', () => {
    expect(read('length')).toMatchObject({ blocks: [{ text: 'The har' }], finish: 'length', isComplete: true })
  })

  it('ignores additional choices', () => {
    const other = JSON.stringify({ choices: [{ index: 1, delta: { content: 'b' } }] })
    expect(said(chunk({ content: 'a' }), other)).toEqual(['text:a'])
  })

  it('may contain a complete message, which is ignored if it repeats the deltas', () => {
    const message = JSON.stringify({ choices: [{ index: 0, message: { content: 'all' }, finish_reason: 'stop' }] })
    expect(shortly(events([message, done]))).toEqual(['text:all'])
    expect(said(chunk({ content: 'all' }), message)).toEqual(['text:all'])
  })
})

describe('reasoning in a stream of Chat', () => {
  it('[163] precedes the text', () => {
    expect(read('reasoning_content')).toMatchObject({
      blocks: [
        { block: 'reasoning', text: 'Two ports; compare heights.' },
        { block: 'text', text: 'Rye is higher.' },
      ],
      usage: { output: 40, reasoning: 33 },
    })
    expect(said(chunk({ content: 'b', reasoning_content: 'a' }))).toEqual(['reasoning:a', 'text:b'])
  })

  it('[164] is yielded once when several members contain it', () => {
    const details = [{ type: 'reasoning.text', text: 'a' }]
    expect(said(chunk({ reasoning: 'a', reasoning_content: 'a', reasoning_details: details }))).toEqual(['reasoning:a'])
    expect(said(chunk({ reasoning: 'a', reasoning_details: details }))).toEqual(['reasoning:a'])
    expect(said(chunk({ reasoning_details: details }))).toEqual(['reasoning:a'])
  })

  it('of Mistral is read from the content', () => {
    expect(shortly(readSse(codec, fixture('mistral/thinking.sse')))).toEqual(['reasoning:Two ports.', 'text:Rye.'])
    expect(summary(readSse(codec, fixture('mistral/text.sse')))).toMatchObject({ isComplete: true })
  })

  it('[160] is read from between tags, wherever the tags are split', () => {
    const text = ' <think>\nfirst < second</think>\n\nThe <think> answer'
    const expected = ['reasoning:first < second', 'text:The <think> answer']
    for (let cut = 1; cut < text.length; cut++) {
      const frames = [chunk({ content: text.slice(0, cut) }), chunk({ content: text.slice(cut) }), stop, done]
      expect(shortly(events(frames, { thinkTags: true }))).toEqual(expected)
    }
    const letters = [...text].map((content) => chunk({ content }))
    expect(shortly(events([...letters, stop, done], { thinkTags: true }))).toEqual(expected)
    expect(shortly(events([chunk({ content: '<thi' }), chunk({ content: 'nk>a' }), stop, done], { thinkTags: true }))).toEqual([
      'reasoning:a',
    ])
  })

  it('[161] is text if it is between tags that the provider does not declare', () => {
    expect(said(chunk({ content: '<think>a</think>b' }))).toEqual(['text:<think>a</think>b'])
  })

  it('[152] has the opaque state of Claude, streamed and not', () => {
    const state = { family: 'anthropic', kind: 'signature', value: 'sig' }
    const signed = { thinking_blocks: [{ type: 'thinking', thinking: 'ab', signature: 'sig' }] }
    const made = events([chunk({ reasoning_content: 'a' }), chunk({ reasoning_content: 'b' }), chunk(signed), stop, done])
    expect(shortly(made)).toEqual(['reasoning:ab'])
    expect(made).toContainEqual({ type: 'opaque', index: 0, opaque: state })

    const redacted = { type: 'redacted_thinking', data: 'sealed' }
    const thinking_blocks = [...signed.thinking_blocks, redacted]
    const all = whole({ content: 'c', reasoning_content: 'ab', thinking_blocks })
    expect(shortly(all)).toEqual(['reasoning:ab', 'reasoning:', 'text:c'])
    expect(all.filter(({ type }) => type === 'opaque')).toEqual([
      { type: 'opaque', index: 0, opaque: state },
      { type: 'opaque', index: 1, opaque: { family: 'anthropic', kind: 'redacted', value: 'sealed' } },
    ])
  })

  it('[152] has the opaque state of Gemini on the call that it belongs to', () => {
    const extra_content = { google: { thought_signature: 'sig' } }
    const made = events([calls({ ...fn(0, 'a', 'f', '{}'), extra_content }, fn(1, 'b', 'g', '{}')), stop, done])
    expect(made.filter(({ type }) => type === 'opaque')).toEqual([
      { type: 'opaque', index: 0, opaque: { family: 'google', kind: 'signature', value: 'sig' } },
    ])
    const text = whole({ content: 'a', extra_content, tool_calls: [fn(undefined, 'a', 'f', '{}')] })
    expect(text.filter(({ type }) => type === 'opaque')).toMatchObject([{ index: 0, opaque: { family: 'google' } }])
  })

  it("[165] keeps its host's signed list complete, on the reasoning or on the call", () => {
    const piece = (text: string, more: object = {}) => ({ type: 'reasoning.text', index: 0, text, ...more })
    const signed = [piece('ab', { signature: 'sig' })]
    const made = events([
      chunk({ reasoning: 'a', reasoning_details: [piece('a')] }),
      chunk({ reasoning: 'b', reasoning_details: [piece('b', { signature: 'sig' })] }),
      chunk({ content: 'c' }),
      stop,
      done,
    ])
    const state = { family: 'openai', kind: 'signature', value: `reasoning_details:${JSON.stringify(signed)}` }
    expect(made.filter(({ type }) => type === 'opaque')).toEqual([{ type: 'opaque', index: 0, opaque: state }])

    const sealed = [{ type: 'reasoning.encrypted', data: 'x', id: 'a' }]
    const called = events([calls(fn(0, 'a', 'f', '{}')), chunk({ reasoning_details: sealed }), stop, done])
    expect(called.filter(({ type }) => type === 'opaque')).toEqual([
      { type: 'opaque', index: 0, opaque: { ...state, value: `reasoning_details:${JSON.stringify(sealed)}` } },
    ])
  })
})

describe('calls in a stream of Chat', () => {
  it('are read as the vendor sends them', () => {
    expect(read('tool_call')).toMatchObject({
      blocks: [{ block: 'tool-call', name: 'get_tide', callId: 'call_fxA1', text: '{"port":"Rye"}' }],
      finish: 'tool-calls',
    })
    expect(read('parallel_tools').blocks.map(({ text }) => text)).toEqual([
      'Checking both.',
      '{"port":"Rye"}',
      '{"port":"Hythe"}',
    ])
  })

  it('[61] are complete when their pieces alternate', () => {
    const pieces = [fn(0, 'a', 'f', ''), fn(1, 'b', 'g', ''), fn(0, '', undefined, '{"x"'), fn(1, '', undefined, '{"y"')]
    expect(said(...[...pieces, fn(0, '', undefined, ':1}'), fn(1, '', undefined, ':2}')].map((piece) => calls(piece)))).toEqual([
      'f({"x":1})',
      'g({"y":2})',
    ])
  })

  it('[62] are two when one index has two ids, or two complete inputs', () => {
    expect(said(calls(fn(0, 'a', 'f', '{"x":1}')), calls(fn(0, 'b', 'f', '{"x":2}')))).toEqual(['f({"x":1})', 'f({"x":2})'])
    expect(said(calls(fn(0, '', 'f', '{"x":1}')), calls(fn(0, '', 'f', '{"x":2}')))).toEqual(['f({"x":1})', 'f({"x":2})'])
  })

  it('[63] without an index are matched by id, by position, or continue the last one', () => {
    const a = [fn(undefined, 'a', 'f', '{"x"'), fn(undefined, 'b', 'g', '{"y"')]
    const b = [fn(undefined, 'b', undefined, ':2}'), fn(undefined, 'a', undefined, ':1}')]
    expect(said(calls(...a), calls(...b))).toEqual(['f({"x":1})', 'g({"y":2})'])
    const places = [fn(undefined, undefined, undefined, ':1}'), fn(undefined, undefined, undefined, ':2}')]
    expect(said(calls(...a), calls(...places))).toEqual(['f({"x":1})', 'g({"y":2})'])
    expect(said(calls(fn(undefined, '', 'f', '{"x"')), calls(fn(undefined, '', undefined, ':1}')))).toEqual(['f({"x":1})'])
    expect(said(calls(fn(undefined, '', 'f', '{}')), calls(fn(undefined, '', 'g', '{}')))).toEqual(['f({})', 'g({})'])
  })

  it('[64] have their name once if it is sent in every piece', () => {
    const pieces = ['{"x"', ':1', '}'].map((args) => calls(fn(0, 'a', 'f', args)))
    expect(said(...pieces)).toEqual(['f({"x":1})'])
    expect(said(calls(fn(0, '', 'f', '{"x"')), calls(fn(0, '', 'f', ':1}')))).toEqual(['f({"x":1})'])
  })

  it('[65] have their name joined if it is sent in pieces', () => {
    expect(said(calls(fn(0, 'a', 'get_', '')), calls(fn(0, '', 'tide', '')), calls(fn(0, '', '', '{}')))).toEqual([
      'get_tide({})',
    ])
    expect(said(calls(fn(0, 'a', 'get_', '')), calls(fn(0, 'a', 'get_tide', '')))).toEqual(['get_tide({})'])
  })

  it('[66] open only when their name arrives', () => {
    const made = events([calls(fn(0, 'a', undefined, '{"x"')), calls(fn(0, 'a', 'f', ':1}')), stop, done])
    expect(shortly(made)).toEqual(['f({"x":1})'])
    expect(said(calls(fn(0, 'a', undefined, '{}')))).toEqual([])
  })

  it('[67] get a new id if they have none or a duplicate', () => {
    const ids = (...pieces: object[]) =>
      stream(...pieces.map((piece) => calls(piece)), stop, done).blocks.map(({ callId }) => callId)
    expect(ids(fn(0, '', 'f', '{'), fn(0, '', undefined, '}'), fn(1, undefined, 'g', '{}'))).toEqual([
      'call_made_1',
      'call_made_2',
    ])
    expect(ids(fn(0, 'same', 'f', '{}'), fn(1, 'same', 'g', '{}'))).toEqual(['same', 'call_made_1'])
  })

  it.each([
    ['[68] nothing', '', '{}'],
    ['[68] no member', undefined, '{}'],
    ['[69] the word null', 'null', '{}'],
    ['[70] an object', { a: 1 }, '{"a":1}'],
    ['[71] JSON in JSON', '"{\\"a\\":1}"', '"{\\"a\\":1}"'],
    ['[72] no JSON', '{"a":', '{"a":'],
  ])('have their input unchanged, or an empty object, if it is %s', (_, args, input) => {
    expect(said(calls(fn(0, 'a', 'f', args)))).toEqual([`f(${input})`])
    expect(shortly(whole({ tool_calls: [fn(undefined, 'a', 'f', args)] }))).toEqual([`f(${input})`])
  })

  it('[73] have an incomplete input if they are cut off', () => {
    const cut = [calls(fn(0, 'a', 'f', '{"po')), chunk({}, 'length'), done]
    expect(summary(events(cut))).toMatchObject({ finish: 'length', blocks: [{ text: '{"po' }] })
    expect(summary(events([calls(fn(0, 'a', 'f', '')), chunk({}, 'length'), done])).blocks).toMatchObject([{ text: '' }])
  })

  it('[74] [75] lose no text before or after them', () => {
    expect(
      said(
        chunk({ content: 'before' }),
        calls(fn(0, 'a', 'f', '{"x"')),
        chunk({ content: 'after' }),
        calls(fn(0, '', '', ':1}')),
      ),
    ).toEqual(['text:before', 'f({"x":1})', 'text:after'])
    expect(said(calls(fn(0, 'a', 'f', '{}')), chunk({ content: '\n' }))).toEqual(['f({})'])
    expect(said(calls(fn(0, 'a', 'f', '{}')), chunk({ reasoning_content: 'so', content: ' b' }))).toEqual([
      'f({})',
      'reasoning:so',
      'text: b',
    ])
  })

  it('[112] may be free text', () => {
    const made = events([
      calls({ index: 0, id: 'a', type: 'custom', custom: { name: 'sh', input: 'ls ' } }),
      calls({ index: 0, custom: { input: '-l' } }),
      stop,
      done,
    ])
    expect(made[1]).toEqual({ type: 'open', index: 0, block: 'custom-tool-call', callId: 'a', name: 'sh' })
    expect(shortly(made)).toEqual(['sh(ls -l)'])
  })

  it('[115] of undeclared tools are passed on', () => {
    expect(said(calls(fn(0, 'a', 'made_up', '{}')))).toEqual(['made_up({})'])
  })

  it('[111] may be in the older form', () => {
    const made = stream(
      chunk({ function_call: { name: 'f', arguments: '{"x"' } }),
      chunk({ function_call: { arguments: ':1}' } }),
      chunk({}, 'function_call'),
      done,
    )
    expect(made).toMatchObject({ finish: 'tool-calls', blocks: [{ name: 'f', text: '{"x":1}', callId: 'call_made_1' }] })
  })

  it('are opened in the order in which they began', () => {
    expect(said(calls(fn(0, 'a', 'f', '')), calls(fn(1, 'b', 'g', '{"y":2}')), calls(fn(0, '', '', '{"x":1}')))).toEqual([
      'f({"x":1})',
      'g({"y":2})',
    ])
  })
})

describe('other content of a Chat stream', () => {
  const png = Buffer.from('\x89PNG1234', 'latin1').toString('base64')

  it('[179] may be images, as bytes or by URL', () => {
    const image = (url: string) => chunk({ content: 'Look: ', images: [{ type: 'image_url', image_url: { url } }] })
    const made = events([image(`data:image/jpeg;base64,${png}`), stop, done])
    expect(made).toContainEqual({ type: 'open', index: 1, block: 'image', mediaType: 'image/png' })
    expect(shortly(made)).toEqual(['text:Look: ', `image:${png}`])
    expect(said(image('https://a.example/b.png'))).toEqual(['text:Look: ![image](https://a.example/b.png)'])
  })

  it('may be audio, with its transcript first and its data at the end', () => {
    const sound = Buffer.from('RIFF1234WAVEdata', 'latin1')
    const pieces = [sound.subarray(0, 4), sound.subarray(4)].map((part) => part.toString('base64'))
    const [first = '', second = ''] = pieces
    const made = events([
      chunk({ audio: { id: 'x', data: first, transcript: 'hi' } }),
      chunk({ audio: { data: second } }),
      stop,
      done,
    ])
    expect(shortly(made)).toEqual(['text:hi', `audio:${sound.toString('base64')}`])
  })

  it('may be citations of the text', () => {
    const cited = { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', start_index: 1, end_index: 3 } }
    expect(events([chunk({ content: 'text' }), chunk({ annotations: [cited] }), stop, done])).toContainEqual({
      type: 'cite',
      index: 0,
      citation: { url: 'https://a.example', title: 'A', start: 1, end: 3 },
    })
    const beside = { search_results: [{ url: 'https://b.example', title: 'B' }] }
    expect(events([chunk({ content: 'text' }, null, beside), chunk({}, 'stop', beside), done])).toContainEqual({
      type: 'cite',
      index: 0,
      citation: { url: 'https://b.example', title: 'B', start: 4, end: 4 },
    })
  })
})

describe('a whole reply of Chat', () => {
  it('has the same events as a stream', () => {
    const body = JSON.parse(fixture('openai/nonstream_tools.json')) as JsonObject
    const streamed = read('tool_call')
    const usage = { ...streamed.usage, tier: { service_tier: 'default' } }
    expect(summary(codec.readReply(body, readContext()))).toEqual({ ...streamed, usage })
  })

  it('[60] may be empty', () => {
    expect(summary(whole({ content: null }))).toMatchObject({ blocks: [], finish: 'stop', isComplete: true })
  })

  it.each([
    ['an error', { error: { message: 'no', code: 503 } }, { message: 'no', status: 503 }],
    ['[14] an error beside choices', { choices: [], error: { message: 'no' } }, { message: 'no' }],
    [
      '[247] an error of MiniMax',
      { base_resp: { status_code: 1008, status_msg: 'no balance' } },
      { message: 'no balance', status: 402 },
    ],
    [
      '[254] an error of Cloudflare',
      { success: false, errors: [{ code: 7003, message: 'no route' }] },
      { message: 'no route', code: '7003' },
    ],
    ['an error of SiliconFlow', { code: 20012, message: 'no model', data: null }, { message: 'no model', code: '20012' }],
    ['nothing', {}, { message: 'the upstream sent no valid answer' }],
  ])('is an error when it is %s', (_, body, error) => {
    expect(codec.readReply(body, readContext())).toEqual([{ type: 'error', error: expect.objectContaining(error) }])
  })

  it('[54] is an error when the generation was aborted', () => {
    const body = { choices: [{ message: { content: 'a' }, finish_reason: 'insufficient_system_resource' }] }
    expect(summary(codec.readReply(body, readContext())).error?.status).toBe(503)
  })
})

describe('any stream of Chat', () => {
  const samples: StreamEvent[] = [
    ...readdirSync(new URL('fixtures/openai/', import.meta.url))
      .filter((name) => name.endsWith('.sse'))
      .flatMap((name) => eventsIn(fixture(`openai/${name}`))),
    ...eventsIn(fixture('mistral/thinking.sse')),
    ...[
      chunk({
        images: [{ image_url: { url: 'data:image/png;base64,AAAA' } }],
        refusal: 'no',
        audio: { data: 'AA', transcript: 'x' },
      }),
      chunk({
        reasoning_details: [{ type: 'reasoning.text', text: 'a', signature: 's' }],
        annotations: [{ url_citation: { url: 'u' } }],
      }),
      chunk({
        thinking_blocks: [{ type: 'thinking', thinking: 'a', signature: 's' }],
        function_call: { name: 'f', arguments: '{' },
      }),
      calls({
        index: 1,
        type: 'custom',
        custom: { name: 'c', input: 'x' },
        extra_content: { google: { thought_signature: 's' } },
      }),
      calls(fn(undefined, 'b', 'g', { a: 1 })),
    ].map((data) => ({ name: '', data })),
  ]

  it('keeps the grammar of events for any input', () => expect(readerFaults(codec, samples)).toEqual([]))

  it('keeps the grammar of events with quirks', () => {
    const random = seeded(7)
    for (let round = 0; round < 300; round++) {
      const frames = Array.from({ length: 8 }, () => samples[Math.floor(random() * samples.length)]?.data ?? '')
      events(frames, { thinkTags: true })
    }
  })
})
