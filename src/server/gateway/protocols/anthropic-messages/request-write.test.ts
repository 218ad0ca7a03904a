import { describe, expect, it } from 'vitest'
import { written } from '../../../../../test/helpers/codecs.ts'
import {
  assistant,
  call,
  image,
  instruction,
  media,
  result,
  text,
  thought,
  tideTool,
  toolTurns,
  user,
} from '../../../../../test/helpers/dialogue.ts'
import type { RequestContext } from '../codec.ts'
import type { Dialogue, MediaPart, MediaSource, Part, Tool, Turn } from '../dialogue.ts'
import { readMediaUrl } from '../media.ts'
import { anthropicMessagesFormat } from './format.ts'

const { codec } = anthropicMessagesFormat
const write = (dialogue: Partial<Dialogue>, model = 'claude-sonnet-4-5') => written(codec, dialogue, { model })
const bodyOf = (dialogue: Partial<Dialogue>, model?: string) => write(dialogue, model).body
const signed = (value: string) => thought('Hm', { family: 'anthropic', kind: 'signature', value })
const tools = [tideTool]
const writeWith = (settings: Partial<RequestContext['settings']>, dialogue: Partial<Dialogue>, model: string) =>
  written(codec, dialogue, { model, settings }).body
const messagesOf = (turns: Turn[], model?: string) => bodyOf({ turns, tools }, model).messages

describe('messages for Claude', () => {
  it("[79] [81] have all tool results first, in one message, followed by the user's text", () => {
    const turns = [
      user('Hi'),
      assistant(call('a'), call('b'), call('c')),
      user(result('a', '1')),
      user(result('b', '2')),
      user(result('c', '3')),
      user('Go on'),
    ]
    expect(messagesOf(turns)).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [{ type: 'tool_use' }, { type: 'tool_use' }, { type: 'tool_use' }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: '1' },
          { type: 'tool_result', tool_use_id: 'b', content: '2' },
          { type: 'tool_result', tool_use_id: 'c', content: '3' },
          { type: 'text', text: 'Go on' },
        ],
      },
    ])
  })

  it('[82] have a result before the text that preceded it', () => {
    const turns = [user('Hi'), assistant(call('a')), user('and', result('a', '1'))]
    expect(messagesOf(turns)).toMatchObject([{}, {}, { content: [{ type: 'tool_result' }, { type: 'text', text: 'and' }] }])
  })

  it('[83] [84] leaves out a result without a call, and adds a placeholder for a missing result', () => {
    expect(JSON.stringify(messagesOf([user(result('gone', 'lost'), 'Hi')]))).not.toContain('lost')
    const turns = [user('Hi'), assistant(call('a')), user('Well?')]
    expect(messagesOf(turns)).toMatchObject([
      {},
      {},
      { content: [{ type: 'tool_result', tool_use_id: 'a', content: '(no result)', is_error: true }, { type: 'text' }] },
    ])
  })

  it('[85] [89] leaves out empty content, and marks failures', () => {
    const turns = [user('Hi'), assistant(call('a')), user({ ...result('a'), isError: true })]
    expect(messagesOf(turns)).toMatchObject([{}, {}, { content: [{ type: 'tool_result', tool_use_id: 'a', is_error: true }] }])
    expect(JSON.stringify(messagesOf(turns))).not.toContain('"content":""')
  })

  it('[87] keep an image in a result', () => {
    const turns = [user('Hi'), assistant(call('a')), user(result('a', 'see', image()))]
    expect(messagesOf(turns)).toMatchObject([
      {},
      {},
      { content: [{ content: [{ type: 'text' }, { type: 'image', source: { type: 'url' } }] }] },
    ])
  })

  it('[90] [91] have the same valid id in a call and its result, with valid ids unchanged', () => {
    for (const id of ['functions.get_tide:0|x', 'x'.repeat(120)]) {
      const turns = [user('Hi'), assistant(call(id)), user(result(id, '1'))]
      const [, asked, answered] = messagesOf(turns) as { content: { id?: string; tool_use_id?: string }[] }[]
      expect(asked?.content[0]?.id).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
      expect(answered?.content[0]?.tool_use_id).toBe(asked?.content[0]?.id)
    }
    expect(JSON.stringify(messagesOf([user('Hi'), ...toolTurns('1', 'toolu_01FX')]))).toContain('"id":"toolu_01FX"')
  })

  it('[68] [69] [72] [71] have the input of past calls as an object, without loss', () => {
    const inputOf = (input: string) =>
      (
        messagesOf([user('Hi'), assistant(call('a', { name: 'f', input })), user(result('a', '1'))]) as {
          content: { input?: unknown }[]
        }[]
      )[1]?.content[0]?.input
    expect(['', 'null', '{"a":', '[1]', '"{\\"a\\":1}"'].map(inputOf)).toEqual([
      {},
      {},
      { input: '{"a":' },
      { value: [1] },
      { a: 1 },
    ])
  })

  it('begin with the user, and consecutive turns of one role are joined', () => {
    expect(messagesOf([assistant('Hello'), user('a'), user('b')])).toEqual([
      { role: 'user', content: [{ type: 'text', text: '.' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ])
  })

  it('[139] have no blank texts, keep an image next to them, and are never empty', () => {
    expect(messagesOf([user('', image(), ' \n')])).toMatchObject([{ content: [{ type: 'image' }] }])
    expect(messagesOf([user('Hi'), assistant('Yo'), user(' ')])).toMatchObject([
      {},
      {},
      { role: 'user', content: [{ text: '.' }] },
    ])
    expect(messagesOf([user('Hi'), assistant(''), user('Go')])).toMatchObject([{ role: 'user', content: [{}, {}] }])
    expect(() => messagesOf([user('')])).toThrow('messages')
  })

  it('have the name of the speaker in the text', () => {
    expect(messagesOf([{ ...user('Hi'), name: 'Ann' }])).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Ann: Hi' }] }])
  })

  it('[135] end with a prefilled answer for models that accept it, without trailing white space; for others it is refused', () => {
    const begun = { turns: [user('Hi'), assistant('The answer is  \n')], beginsAnswer: true } as const
    expect(bodyOf(begun).messages).toMatchObject([{}, { role: 'assistant', content: [{ text: 'The answer is' }] }])
    expect(() => bodyOf(begun, 'claude-sonnet-4-6')).toThrow('messages')
    expect(() => write({ ...begun, reasoning: { mode: { budgetTokens: 2000 }, show: undefined } })).toThrow('messages')
  })

  it('[136] have instructions in the middle where the model accepts them, or else as a reminder in user text', () => {
    const turns = [user('Hi'), instruction('Be brief.'), assistant('Yo'), user('Go')]
    expect(messagesOf(turns, 'claude-opus-5')).toMatchObject([
      { role: 'user' },
      { role: 'system', content: [{ text: 'Be brief.' }] },
      {},
      {},
    ])
    expect(messagesOf(turns)).toMatchObject([
      { role: 'user', content: [{ text: 'Hi' }, { text: '<system-reminder>\nBe brief.\n</system-reminder>' }] },
      {},
      {},
    ])
    // The vendor accepts none directly before a user message or directly after an assistant message.
    const roles = (list: Turn[]) => (messagesOf(list, 'claude-opus-5') as { role: string }[]).map(({ role }) => role)
    expect(roles([user('Hi'), instruction('a'), user('Go')])).toEqual(['user'])
    expect(roles([user('Hi'), assistant('Yo'), instruction('a'), user('Go')])).toEqual(['user', 'assistant', 'user'])
    expect(roles([user('Hi'), instruction('a'), instruction('b')])).toEqual(['user', 'system'])
    // Instructions between a call and its result would be invalid: they follow both.
    expect(roles([user('Hi'), assistant(call('x')), instruction('a'), user(result('x', '1'))])).toEqual([
      'user',
      'assistant',
      'user',
      'system',
    ])
  })

  it('[137] [138] keep all instructions at the head, in order', () => {
    expect(bodyOf({ system: [text('First.'), text(' '), text('Second.')] }).system).toBe('First.\n\nSecond.')
    expect(bodyOf({ system: [text('First.', { cache: { ttl: '1h' } }), text('Second.')] }).system).toEqual([
      { type: 'text', text: 'First.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'Second.' },
    ])
  })

  // Quadratic time would exceed the test's timeout.
  it('[183] are written in linear time', () => {
    const turns = Array.from({ length: 15_000 }, (_, at) => [user(`q${at}`), ...toolTurns('1', `c${at}`)]).flat()
    expect(messagesOf(turns)).toHaveLength(30_001)
  })
})

describe('media for Claude', () => {
  const png = 'iVBORw0KGgoAAAANSUhEUg=='
  const pdf = Buffer.from('%PDF-1.7 x').toString('base64')
  const blockOf = (kind: MediaPart['media'], source: MediaSource, more: Partial<MediaPart> = {}) =>
    (messagesOf([user(media(kind, source, more))]) as { content: unknown[] }[])[0]?.content[0]

  it('[172] [173] [178] may be an image as bytes with their actual type, or by URL', () => {
    expect(blockOf('image', readMediaUrl(`data:image/jpeg;base64,${png.slice(0, 8)}\n${png.slice(8)}`))).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: png },
    })
    expect(blockOf('image', readMediaUrl('https://a.test/i.png'))).toEqual({
      type: 'image',
      source: { type: 'url', url: 'https://a.test/i.png' },
    })
  })

  it('[174] [175] may be a PDF as a document, also without the prefix of a data URL', () => {
    const document = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: pdf }, title: 'a.pdf' }
    expect(blockOf('document', readMediaUrl(`data:application/pdf;base64,${pdf}`), { title: 'a.pdf' })).toEqual(document)
    expect(blockOf('document', readMediaUrl(pdf), { title: 'a.pdf' })).toEqual(document)
  })

  it('may be plain text as a text document', () => {
    expect(blockOf('document', readMediaUrl('data:text/csv;charset=utf-8;base64,YSxi'))).toEqual({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'a,b' },
    })
  })

  it('[176] [177] are refused by name if they are audio, video, unsupported images, or files of others', () => {
    expect(() => blockOf('audio', { kind: 'base64', mediaType: 'audio/mp3', data: 'SUQz' })).toThrow('input_audio')
    expect(() => blockOf('video', { kind: 'url', url: 'https://a.test/v.mp4' })).toThrow('video_url')
    expect(() => blockOf('image', { kind: 'base64', mediaType: 'image/bmp', data: 'Qk0=' })).toThrow('image/bmp')
    expect(() => blockOf('document', { kind: 'file', id: 'file-1', family: 'openai' })).toThrow('file_id')
    expect(() => blockOf('image', { kind: 'url', url: 'gs://bucket/i.png' })).toThrow('image_url')
  })

  it('lose an image detail, which is reported if it changes the result', () => {
    expect(write({ turns: [user(image({ detail: 'low' }))] }).lost).toEqual(['detail'])
    expect(write({ turns: [user(image({ detail: 'auto' }))] }).lost).toEqual([])
  })
})

describe('tools for Claude', () => {
  const toolOf = (more: Partial<Tool>, model?: string) => {
    const { body, lost } = write({ tools: [{ ...tideTool, ...more }] }, model)
    return { tool: (body.tools as Record<string, unknown>[])[0], lost }
  }

  it('[95] [96] have an object schema for every tool', () => {
    expect(toolOf({ schema: undefined }).tool).toMatchObject({
      name: 'get_tide',
      input_schema: { type: 'object', properties: {} },
    })
    expect(toolOf({ schema: { properties: { a: {} } } }).tool).toMatchObject({
      input_schema: { type: 'object', properties: { a: {} } },
    })
  })

  it('[103] [104] have valid names instead of invalid ones everywhere, with a map to restore them', () => {
    const name = 'mcp__server.tool/x y'
    const turns: Turn[] = [user('Hi'), assistant(call('a', { name })), user(result('a', '1'))]
    const { body, toolNames } = write({ tools: [{ ...tideTool, name }], turns, toolChoice: { kind: 'tool', name } })
    expect(body).toMatchObject({
      tools: [{ name: 'mcp__server_tool_x_y' }],
      tool_choice: { type: 'tool', name: 'mcp__server_tool_x_y' },
    })
    expect(JSON.stringify(body.messages)).toContain('"name":"mcp__server_tool_x_y"')
    expect(toolNames?.get('mcp__server_tool_x_y')).toBe(name)
  })

  it('[112] include a free-text tool as a function with one string, and its name in `customTools`', () => {
    const custom = { format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } } }
    const free: Part = { kind: 'tool-call', callId: 'a', name: 'patch', input: '*** Begin', isCustom: true }
    const turns: Turn[] = [user('Hi'), assistant(free), user(result('a', 'ok'))]
    const { body, customTools, lost } = write({ tools: [{ ...tideTool, name: 'patch', schema: undefined, custom }], turns })
    expect(body.tools).toMatchObject([{ input_schema: { properties: { input: { type: 'string' } }, required: ['input'] } }])
    expect(JSON.stringify(body.tools)).toContain('lark')
    expect(JSON.stringify(body.messages)).toContain('"input":{"input":"*** Begin"}')
    expect([...(customTools ?? [])]).toEqual(['patch'])
    expect(lost).toEqual(['tools.format'])
  })

  it('are refused if two have the same name, unless they are equal', () => {
    expect(() => write({ tools: [tideTool, { ...tideTool, description: 'other' }] })).toThrow('get_tide')
    expect(bodyOf({ tools: [tideTool, tideTool] }).tools).toHaveLength(1)
  })

  it('[110] are left out if the list is empty, with the tool choice', () => {
    const { body, lost } = write({ tools: [], toolChoice: { kind: 'required' }, parallelTools: false })
    expect(body).not.toHaveProperty('tools')
    expect(body).not.toHaveProperty('tool_choice')
    expect(lost).toEqual([])
  })

  it.each([
    [{ kind: 'auto' }, { type: 'auto' }],
    [{ kind: 'none' }, { type: 'none' }],
    [{ kind: 'required' }, { type: 'any' }],
    [
      { kind: 'tool', name: 'get_tide' },
      { type: 'tool', name: 'get_tide' },
    ],
    [{ kind: 'allowed', names: ['get_tide'], isRequired: true }, { type: 'any' }],
    [{ kind: 'allowed', names: ['get_tide'], isRequired: false }, { type: 'auto' }],
  ] as const)('writes the choice %o', (toolChoice, expected) => {
    const body = bodyOf({ tools: [tideTool, { ...tideTool, name: 'other' }], toolChoice })
    expect(body.tool_choice).toEqual(expected)
    expect(body.tools).toHaveLength(toolChoice.kind === 'allowed' ? 1 : 2)
  })

  it('[109] are called one at a time if requested, with or without a tool choice', () => {
    expect(bodyOf({ tools, parallelTools: false }).tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true })
    expect(bodyOf({ tools, parallelTools: false, toolChoice: { kind: 'required' } }).tool_choice).toEqual({
      type: 'any',
      disable_parallel_tool_use: true,
    })
    expect(bodyOf({ tools, parallelTools: true })).not.toHaveProperty('tool_choice')
  })

  it("[107] are left to the model's choice when thinking forbids a forced tool, which is reported", () => {
    const reasoning = { mode: { effort: 'high' }, show: undefined } as const
    const forced = { tools, toolChoice: { kind: 'required' } } as const
    expect(write({ ...forced, reasoning })).toMatchObject({ body: { tool_choice: { type: 'auto' } }, lost: ['tool_choice'] })
    expect(write({ ...forced, reasoning }, 'claude-opus-5')).toMatchObject({ body: { tool_choice: { type: 'any' } }, lost: [] })
    expect(write({ ...forced, reasoning }, 'claude-haiku-5-5')).toMatchObject({ lost: ['tool_choice'] })
    expect(write(forced, 'claude-opus-5-5')).toMatchObject({ body: { tool_choice: { type: 'auto' } }, lost: ['tool_choice'] })
    expect(write(forced, 'claude-haiku-5-5')).toMatchObject({
      body: { tool_choice: { type: 'any' }, thinking: { type: 'disabled' } },
      lost: [],
    })
    expect(write(forced, 'claude-sonnet-5')).toMatchObject({ body: { tool_choice: { type: 'any' } }, lost: [] })
  })

  it('are strict where the model supports it, or else reported as not strict', () => {
    expect(toolOf({ strict: true }).tool).toMatchObject({ strict: true, input_schema: { additionalProperties: false } })
    expect(toolOf({ strict: true }, 'claude-opus-4')).toMatchObject({ lost: ['tools.strict'] })
    const many = Array.from({ length: 25 }, (_, at) => ({ ...tideTool, name: `t${at}`, strict: true }))
    const { body, lost } = write({ tools: many })
    expect((body.tools as { strict?: boolean }[]).filter(({ strict }) => strict)).toHaveLength(20)
    expect(lost).toEqual(['tools.strict'])
    const optional = Object.fromEntries(Array.from({ length: 25 }, (_, at) => [`p${at}`, { type: 'string' }]))
    expect(toolOf({ strict: true, schema: { type: 'object', properties: optional } }).tool).not.toHaveProperty('strict')
  })

  it("include the vendor's own web search, if the model has one", () => {
    const search = { contextSize: 'medium', location: { city: 'Rye', country: 'GB' } } as const
    expect(bodyOf({ search, tools }, 'claude-opus-5').tools).toMatchObject([
      { name: 'get_tide' },
      {
        type: 'web_search_20260209',
        name: 'web_search',
        max_uses: 5,
        user_location: { type: 'approximate', city: 'Rye', country: 'GB' },
      },
    ])
    expect(bodyOf({ search }).tools).toMatchObject([{ type: 'web_search_20250305' }])
    expect(() => write({ search }, 'glm-4.6')).toThrow('web_search_options')
  })
})

describe('a request for Claude', () => {
  it('[127] [128] leaves out sampling parameters that the model refuses, and defaults without a receipt', () => {
    expect(write({ sampling: { temperature: 0.7, topP: 0.9, topK: 5 } }, 'claude-sonnet-5-5')).toMatchObject({
      lost: ['temperature', 'top_k', 'top_p'],
    })
    const { body, lost } = write({ sampling: { temperature: 1, topP: 1 } }, 'claude-sonnet-5-5')
    expect(body).not.toHaveProperty('temperature')
    expect(lost).toEqual([])
  })

  it('[129] reduces a temperature above 1 to 1', () => {
    expect(write({ sampling: { temperature: 1.7 } }, 'claude-sonnet-4-6')).toMatchObject({
      body: { temperature: 1 },
      lost: ['temperature'],
    })
  })

  it('[130] keeps the temperature if it excludes top_p', () => {
    const { body, lost } = write({ sampling: { temperature: 0.5, topP: 0.9 } }, 'claude-opus-4-5')
    expect(body).toMatchObject({ temperature: 0.5 })
    expect(body).not.toHaveProperty('top_p')
    expect(lost).toEqual(['top_p'])
    expect(bodyOf({ sampling: { temperature: 1, topP: 0.9 } }, 'claude-opus-4-5')).toMatchObject({ top_p: 0.9 })
    expect(bodyOf({ sampling: { temperature: 0.5, topP: 0.9 } }, 'claude-opus-4')).toMatchObject({ temperature: 0.5, top_p: 0.9 })
  })

  it('[134] removes members that thinking forbids', () => {
    const reasoning = { mode: { budgetTokens: 2000 }, show: undefined } as const
    const { body, lost } = write({ reasoning, sampling: { temperature: 0.2, topK: 4, topP: 0.97 } })
    expect(body).not.toHaveProperty('temperature')
    expect(body).not.toHaveProperty('top_k')
    expect(body).toMatchObject({ top_p: 0.97 })
    expect(lost).toEqual(['temperature', 'top_k'])
    expect(write({ reasoning, sampling: { temperature: 1, topP: 0.5 } })).toMatchObject({
      body: { temperature: 1 },
      lost: ['top_p'],
    })
  })

  it('reports penalties and seeds, which have no equivalent', () => {
    const sampling = { presencePenalty: 0.5, frequencyPenalty: 0, seed: 7 }
    expect(write({ sampling }).lost).toEqual(['presence_penalty', 'seed'])
  })

  it('[142] [143] leaves out blank stop sequences', () => {
    const { body, lost } = write({ stop: ['\n', '', 'END'] })
    expect(body.stop_sequences).toEqual(['END'])
    expect(lost).toEqual(['stop'])
    expect(bodyOf({ stop: ['\n'] })).not.toHaveProperty('stop_sequences')
  })

  it("[131] always has a limit, never above the model's maximum", () => {
    expect(bodyOf({}).max_tokens).toBe(8192)
    expect(bodyOf({}, 'claude-3-haiku-20240307').max_tokens).toBe(4096)
    expect(bodyOf({}, 'claude-next').max_tokens).toBe(8192)
    expect(write({ outputTokensMax: 100_000 })).toMatchObject({ body: { max_tokens: 64_000 }, lost: ['max_tokens'] })
    expect(bodyOf({ outputTokensMax: 100_000 }, 'claude-next').max_tokens).toBe(100_000)
  })

  it("reports every member of another family that has an effect, and contains its own family's", () => {
    const extra = { logit_bias: { 50256: -100 }, store: false, service_tier: 'auto', metadata: {}, verbosity: 'low' }
    expect(write({ extra }).lost).toEqual(['logit_bias', 'verbosity'])
    expect(bodyOf({ from: 'anthropic.messages', extra: { service_tier: 'standard_only' } })).toMatchObject({
      service_tier: 'standard_only',
    })
  })

  it('has a shortened user id', () => {
    expect(bodyOf({ user: 'ann' }).metadata).toEqual({ user_id: 'ann' })
    expect(JSON.stringify(bodyOf({ user: 'x'.repeat(400) }).metadata).length).toBeLessThan(100)
  })

  it('leaves out members that its provider declares as refused', () => {
    const more = written(codec, { user: 'ann' }, { model: 'claude-sonnet-4-5', quirks: { refuses: ['metadata'] } })
    expect(more.body).not.toHaveProperty('metadata')
    expect(more.lost).toEqual(['metadata'])
  })

  it('[140] keeps the last four cache breakpoints, none of an hour after one of five minutes', () => {
    const short = { cache: { ttl: '5m' } } as const
    const long = { cache: { ttl: '1h' } } as const
    const body = bodyOf({
      tools: [{ ...tideTool, ...long }],
      system: [text('a', long), text('b', long)],
      turns: [user(text('c', short), text('d', long), text('e', short))],
    })
    const marks = JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g)
    expect(marks).toEqual([
      '"cache_control":{"type":"ephemeral","ttl":"1h"}',
      '"cache_control":{"type":"ephemeral"}',
      '"cache_control":{"type":"ephemeral"}',
      '"cache_control":{"type":"ephemeral"}',
    ])
    const automatic = { from: 'anthropic.messages', extra: { cache_control: { type: 'ephemeral' } } } as const
    const four = bodyOf({ ...automatic, turns: [user(...['a', 'b', 'c', 'd'].map((value) => text(value, short)))] })
    expect(JSON.stringify(four.messages).match(/cache_control/g)).toHaveLength(3)

    const inside = result('1', ...['a', 'b', 'c', 'd', 'e'].map((value) => text(value, short)))
    const results = bodyOf({ turns: [user('Hi'), assistant(call('1')), user({ ...inside, ...long })] })
    expect(JSON.stringify(results.messages).match(/"text":"[a-e]"|"cache_control":\{[^}]*\}/g)).toEqual([
      ...['"text":"a"', '"text":"b"'],
      ...['c', 'd', 'e'].flatMap((value) => [`"text":"${value}"`, '"cache_control":{"type":"ephemeral"}']),
      '"cache_control":{"type":"ephemeral"}',
    ])
  })
})

describe('thinking of Claude', () => {
  type Mode = NonNullable<Dialogue['reasoning']>['mode']
  const think = (mode: Mode, model: string, more: Partial<Dialogue> = {}) =>
    write({ reasoning: { mode, show: undefined }, ...more }, model)

  const adaptive = { thinking: { type: 'adaptive' } }
  it.each<[Mode, string, object]>([
    [{ effort: 'high' }, 'claude-sonnet-4-5', { thinking: { type: 'enabled', budget_tokens: 38_400 }, max_tokens: 46_592 }],
    [{ effort: 'minimal' }, 'claude-sonnet-4-5', { thinking: { budget_tokens: 1280 } }],
    [{ effort: 'high' }, 'claude-opus-4-8', { ...adaptive, output_config: { effort: 'high' } }],
    [{ budgetTokens: 5000 }, 'claude-sonnet-4-6', { thinking: { type: 'enabled', budget_tokens: 5000 } }],
    [{ effort: 'medium' }, 'claude-sonnet-4-6', { ...adaptive, output_config: { effort: 'medium' } }],
    [{ budgetTokens: 5000 }, 'claude-opus-5', { ...adaptive, output_config: { effort: 'medium' } }],
    ['auto', 'claude-opus-5', { ...adaptive, output_config: undefined }],
    ['auto', 'claude-sonnet-4-5', { thinking: { type: 'enabled', budget_tokens: 19_200 } }],
  ])('has for %j on %s a budget where the model has budgets, and else an effort', (mode, model, members) => {
    const { output_config, ...body } = think(mode, model).body
    expect({ ...body, output_config }).toMatchObject(members)
  })

  it('has the next lower effort where the model does not support the requested one', () => {
    const effortOf = (effort: 'minimal' | 'xhigh' | 'max', model: string) => think({ effort }, model).body.output_config
    expect(effortOf('minimal', 'claude-opus-5')).toEqual({ effort: 'low' })
    expect(effortOf('xhigh', 'claude-opus-4-6')).toEqual({ effort: 'high' })
    expect(effortOf('max', 'claude-opus-4-6')).toEqual({ effort: 'max' })
    expect(effortOf('xhigh', 'claude-opus-4-7')).toEqual({ effort: 'xhigh' })
  })

  it.each<[Mode, number, number, number]>([
    [{ budgetTokens: 10_000 }, 4000, 10_000, 14_000],
    [{ budgetTokens: 90_000 }, 4000, 62_976, 64_000],
    [{ budgetTokens: 2000 }, 3000, 2000, 3000],
    [{ effort: 'low' }, 500, 1024, 2048],
  ])("[132] always leaves room for an answer in addition to a budget, within the model's maximum", (mode, limit, budget, max) => {
    expect(think(mode, 'claude-sonnet-4-5', { outputTokensMax: limit }).body).toMatchObject({
      thinking: { budget_tokens: budget },
      max_tokens: max,
    })
  })

  it("[133] is turned off, or reduced to the model's minimum", () => {
    expect(think('off', 'claude-sonnet-4-5').body).not.toHaveProperty('thinking')
    expect(think('off', 'claude-opus-5')).toMatchObject({ body: { thinking: { type: 'disabled' } }, lost: [] })
    expect(think('off', 'claude-sonnet-5-5')).toMatchObject({
      body: { thinking: { type: 'between_tools' } },
      lost: ['reasoning_effort'],
    })
    expect(think('off', 'claude-opus-5-5')).toMatchObject({
      body: { output_config: { effort: 'low' } },
      lost: ['reasoning_effort'],
    })
    expect(think({ effort: 'high' }, 'claude-3-haiku-20240307')).toMatchObject({ lost: ['reasoning_effort'] })
  })

  it('is shown as far as the caller requests', () => {
    const shown = (show: 'none' | 'summary' | undefined) =>
      write({ reasoning: { mode: 'auto', show } }, 'claude-opus-5').body.thinking
    expect(shown('none')).toEqual({ type: 'adaptive', display: 'omitted' })
    expect(shown('summary')).toEqual({ type: 'adaptive', display: 'summarized' })
    expect(shown(undefined)).toEqual({ type: 'adaptive', display: 'summarized' })
  })

  it('[149] has no budget while a call is pending whose thinking is lost', () => {
    const turns = [user('Hi'), ...toolTurns()]
    const lost = think({ effort: 'high' }, 'claude-sonnet-4-5', { turns, tools })
    expect(lost.body).not.toHaveProperty('thinking')
    expect(lost.lost).toEqual(['reasoning_effort'])
    // Models that decide themselves may have made the call without thinking.
    for (const model of ['claude-opus-5', 'claude-opus-5-5']) {
      expect(think({ effort: 'high' }, model, { turns, tools }).body.thinking).toMatchObject({ type: 'adaptive' })
    }
    expect(think({ budgetTokens: 9000 }, 'claude-sonnet-4-6', { turns, tools }).body.thinking).toMatchObject({ type: 'adaptive' })
    expect(think({ effort: 'high' }, 'glm-4.6', { turns, tools }).body.thinking).toEqual({ type: 'disabled' })

    const kept = turns.map((turn) => (turn.role === 'assistant' ? { ...turn, parts: [signed('c2ln'), ...turn.parts] } : turn))
    expect(think({ effort: 'high' }, 'claude-sonnet-4-5', { turns: kept, tools }).body).toHaveProperty('thinking')
    expect(
      think({ effort: 'high' }, 'claude-sonnet-4-5', { turns: [...turns, assistant('ok'), user('Go')], tools }).body,
    ).toHaveProperty('thinking')
  })

  it('[153] [155] of earlier turns is sent back at its position, byte for byte, but not that of another family', () => {
    const parts: Part[] = [
      signed('EqQBfixture=='),
      { kind: 'reasoning', text: '', opaque: { family: 'anthropic', kind: 'redacted', value: 'EmwKAhgBfixture' } },
      { kind: 'reasoning', text: 'plain' },
      { kind: 'reasoning', text: 'other', opaque: { family: 'google', kind: 'signature', value: 'x' } },
      text('Hi'),
    ]
    expect(messagesOf([user('a'), assistant(...parts), user('b')])).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'Hm', signature: 'EqQBfixture==' },
          { type: 'redacted_thinking', data: 'EmwKAhgBfixture' },
          { type: 'text', text: 'Hi' },
        ],
      },
      {},
    ])
  })

  it('is a share of the limit for a model name that ends in -thinking, which is sent without the suffix', () => {
    const asking = (asked: string, model: string, claudeThinkingShare: number | undefined, more: Partial<Dialogue> = {}) =>
      writeWith({ claudeThinkingShare }, { model: asked, ...more }, model)
    const name = 'claude-3-7-sonnet-20250219'
    expect(asking(`${name}-thinking`, `${name}-thinking`, 0.8)).toMatchObject({
      model: name,
      max_tokens: 8192,
      thinking: { type: 'enabled', budget_tokens: 6553 },
    })
    expect(asking(`${name}-thinking`, name, 0.8, { outputTokensMax: 20_000 })).toMatchObject({
      model: name,
      thinking: { budget_tokens: 16_000 },
    })
    expect(asking('claude-opus-5-thinking', 'claude-opus-5-thinking', 0.8)).toMatchObject({
      model: 'claude-opus-5',
      thinking: { type: 'adaptive' },
    })
    expect(asking(`${name}-thinking`, `${name}-thinking`, undefined).model).toBe(`${name}-thinking`)
    expect(asking('mine', `${name}-thinking`, 0.8)).toMatchObject({ model: `${name}-thinking` })
    expect(asking('kimi-k2-thinking', 'kimi-k2-thinking', 0.8)).toMatchObject({ model: 'kimi-k2-thinking' })
    expect(asking(`${name}-thinking`, name, 0.1)).toMatchObject({ thinking: { budget_tokens: 1024 } })
  })

  it.each([
    ['claude-3-7-sonnet-20250219', 8192],
    ['claude-sonnet-4-5', 8192],
    ['claude-opus-4-1', 8192],
    ['claude-opus-4-6', 8192],
    ['us.anthropic.claude-sonnet-4-6', 8192],
    ['claude-nova-7', 8192],
    ['my-claude', 8192],
  ])('has for %s-thinking the share of the limit that the operator set', (model, limit) => {
    const named = `${model}-thinking`
    expect(writeWith({ claudeThinkingShare: 0.5 }, { model: named }, named)).toMatchObject({
      model,
      max_tokens: limit,
      thinking: { type: 'enabled', budget_tokens: limit / 2 },
    })
  })

  it.each(['claude-opus-4-7', 'claude-opus-5', 'claude-sonnet-5-5', 'claude-fable-5'])(
    'is adaptive for %s-thinking, because the model is known to refuse a budget',
    (model) => {
      const named = `${model}-thinking`
      const body = writeWith({ claudeThinkingShare: 0.5 }, { model: named }, named)
      expect(body).toMatchObject({ max_tokens: 8192, thinking: { type: 'adaptive' } })
    },
  )

  it("uses the operator's limit for a model rather than the general one", () => {
    const claudeDefaultMaxTokens = { default: 8192, 'claude-sonnet-4-5': 20_000, 'claude-next': 9000 }
    const limit = (model: string) => writeWith({ claudeDefaultMaxTokens }, { model }, model).max_tokens
    expect([limit('claude-sonnet-4-5'), limit('claude-next'), limit('claude-opus-5')]).toEqual([20_000, 9000, 8192])
  })

  it.each([
    ['claude-opus-5', 100_000],
    ['claude-nova-7', 100_000],
    ['claude-sonnet-4-5', 64_000],
    ['claude-opus-4-1', 32_000],
    ['claude-3-5-sonnet-20241022', 8192],
    ['claude-3-haiku-20240307', 4096],
    ['constructor', 100_000],
  ])("has for %s the operator's default limit, up to the model's maximum", (model, limit) => {
    expect(writeWith({ claudeDefaultMaxTokens: { default: 100_000 } }, { model }, model).max_tokens).toBe(limit)
  })
})

describe('an answer in JSON from Claude', () => {
  const schema = { type: 'object', properties: { port: { type: 'string', minLength: 2 } }, required: ['port'] }
  const output = { kind: 'schema', name: 'tide', description: undefined, schema, strict: true } as const

  it('[184] [189] is requested with its schema in the format, with unsupported rules as text', () => {
    const { body, lost, answerTool } = write({ output }, 'claude-sonnet-4-6')
    expect(body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { port: { type: 'string', description: '(minLength: 2)' } },
          required: ['port'],
          additionalProperties: false,
        },
      },
    })
    expect(answerTool).toBeUndefined()
    expect(lost).toEqual([])
  })

  it('[185] is the input of a forced tool on models without a format', () => {
    const { body, answerTool, lost } = write({ output }, 'claude-3-haiku-20240307')
    expect(answerTool).toBe('json_response')
    expect(body).toMatchObject({
      tools: [{ name: 'json_response', input_schema: schema }],
      tool_choice: { type: 'tool', name: 'json_response', disable_parallel_tool_use: true },
    })
    expect(lost).toEqual([])
    const beside = write({ output, tools: [{ ...tideTool, name: 'json_response' }] }, 'claude-3-haiku-20240307')
    expect(beside).toMatchObject({ answerTool: 'json_response_2', body: { tool_choice: { type: 'any' } } })
  })

  it('is requested in the system prompt when no tool can be forced', () => {
    const reasoning = { mode: { effort: 'low' }, show: undefined } as const
    const inWords = [
      write({ output, reasoning }, 'claude-opus-4-1'),
      write({ output: { kind: 'json' }, system: [text('Be brief.')] }),
      write({ output: { ...output, schema: { type: 'array' } } }, 'claude-3-haiku-20240307'),
      write({ output }, 'glm-4.6'),
    ]
    for (const { body, lost, answerTool } of inWords) {
      expect(body.system).toContain('JSON')
      expect(answerTool).toBeUndefined()
      expect(lost).toEqual(['response_format'])
    }
  })
})
