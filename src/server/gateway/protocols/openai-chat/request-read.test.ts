import { describe, expect, it } from 'vitest'
import { refusalOf, seeded } from '../../../../../test/helpers/codecs.ts'
import { text } from '../../../../../test/helpers/dialogue.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Dialogue } from '../dialogue.ts'
import { repairToolResults } from '../turns.ts'
import { readRequest } from './request-read.ts'

const user = (content: unknown, more: object = {}) => ({ role: 'user', content, ...more })
const tool = (tool_call_id: string, content: unknown) => ({ role: 'tool', tool_call_id, content })
const call = (id: string, name: string, args: unknown = '{}', more: object = {}) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
  ...more,
})
const png = Buffer.from('\x89PNG1234', 'latin1').toString('base64')

function read(body: object): Dialogue {
  return readRequest({ model: 'm', messages: [user('Hi')], ...body }, {})
}

function turns(...messages: object[]) {
  return read({ messages }).turns
}

const failure = (body: object) => refusalOf(() => read(body))

describe('the messages of a Chat request', () => {
  it('[137] [138] have all instructions at the head separately, and later ones at their position', () => {
    const { system, turns: said } = read({
      messages: [
        { role: 'system', content: 'One' },
        { role: 'developer', content: [{ type: 'text', text: 'Two' }] },
        user('Hi'),
        { role: 'system', content: 'Three' },
      ],
    })
    expect(system).toEqual([text('One'), text('Two')])
    expect(said).toEqual([
      { role: 'user', parts: [text('Hi')] },
      { role: 'system', parts: [text('Three')] },
    ])
  })

  it("[79] [81] have the results of parallel calls in one turn, and the user's text after them in another", () => {
    const said = turns(
      user('Hi'),
      { role: 'assistant', content: null, tool_calls: [call('1', 'f'), call('2', 'g')] },
      tool('1', 'one'),
      tool('2', [
        { type: 'text', text: 'two' },
        { type: 'image_url', image_url: { url: `data:;base64,${png}` } },
      ]),
      user('So?'),
    )
    expect(said.map(({ role, parts }) => [role, parts.map(({ kind }) => kind)])).toEqual([
      ['user', ['text']],
      ['assistant', ['tool-call', 'tool-call']],
      ['user', ['tool-result', 'tool-result']],
      ['user', ['text']],
    ])
    expect(said[2]?.parts[1]).toMatchObject({ callId: '2', parts: [{ kind: 'text' }, { kind: 'media', media: 'image' }] })
  })

  it('keep the order of thinking, text, refusal, images and calls', () => {
    const [, said] = turns(user('Hi'), {
      role: 'assistant',
      content: 'Text',
      refusal: 'No',
      reasoning_content: 'Hm',
      images: [{ type: 'image_url', image_url: { url: 'https://a.example/b.png' } }],
      tool_calls: [call('1', 'f', { a: 1 })],
    })
    expect(said?.parts.map(({ kind }) => kind)).toEqual(['reasoning', 'text', 'refusal', 'media', 'tool-call'])
    expect(said?.parts.at(-1)).toMatchObject({ input: '{"a":1}', isCustom: false })
  })

  it.each([
    ['reasoning', { reasoning: 'Hm' }],
    ['reasoning_details', { reasoning_details: [{ type: 'reasoning.summary', summary: 'Hm' }] }],
    ['content', { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm' }] }], reasoning_content: 'again' }],
    ['thinking_blocks', { thinking_blocks: [{ type: 'thinking', thinking: 'Hm' }], reasoning_content: 'Hm' }],
  ])('have earlier reasoning from %s', (_, message) => {
    expect(turns(user('Hi'), { role: 'assistant', ...message })[1]?.parts).toEqual([{ kind: 'reasoning', text: 'Hm' }])
  })

  it('[152] [155] have the opaque state that clients send back at its position', () => {
    const extra_content = { google: { thought_signature: 'g' } }
    const [, said] = turns(user('Hi'), {
      role: 'assistant',
      content: 'Text',
      extra_content,
      thinking_blocks: [
        { type: 'thinking', thinking: 'Hm', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
      ],
      tool_calls: [call('1', 'f', '{}', { extra_content }), call('2', 'f')],
    })
    const google = { family: 'google', kind: 'signature', value: 'g' }
    expect(said?.parts).toEqual([
      { kind: 'reasoning', text: 'Hm', opaque: { family: 'anthropic', kind: 'signature', value: 's' } },
      { kind: 'reasoning', text: '', opaque: { family: 'anthropic', kind: 'redacted', value: 'd' } },
      { ...text('Text'), opaque: google },
      { kind: 'tool-call', callId: '1', name: 'f', input: '{}', isCustom: false, opaque: google },
      { kind: 'tool-call', callId: '2', name: 'f', input: '{}', isCustom: false },
    ])
  })

  it("[165] have a host's reasoning list as opaque state, only for hosts of the same kind", () => {
    const details = [{ type: 'reasoning.text', text: 'Hm', signature: 's' }]
    const [, said] = turns(user('Hi'), { role: 'assistant', content: 'a', reasoning: 'Hm', reasoning_details: details })
    expect(said?.parts[0]).toEqual({
      kind: 'reasoning',
      text: 'Hm',
      opaque: { family: 'openai', kind: 'signature', value: `reasoning_details:${JSON.stringify(details)}` },
    })
  })

  it('[112] distinguish results of free-text calls', () => {
    const custom = { id: '1', type: 'custom', custom: { name: 'sh', input: 'ls' } }
    const said = turns(user('Hi'), { role: 'assistant', tool_calls: [custom] }, tool('1', 'a'))
    expect(said[1]?.parts[0]).toMatchObject({ isCustom: true, input: 'ls', name: 'sh' })
    expect(said[2]?.parts[0]).toMatchObject({ isCustom: true })
  })

  it('[111] may be in the older form, with results matched by name', () => {
    const { turns: said, ...dialogue } = read({
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
      messages: [
        user('Hi'),
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
        { role: 'function', name: 'f', content: 'one' },
      ],
    })
    expect(dialogue).toMatchObject({
      usesFunctions: true,
      parallelTools: false,
      tools: [{ name: 'f' }],
      toolChoice: { kind: 'tool', name: 'f' },
    })
    const [called, result] = [said[1]?.parts[0], said[2]?.parts[0]]
    expect(called).toMatchObject({ name: 'f', callId: expect.stringMatching(/./) })
    expect(result).toMatchObject({ name: 'f', callId: called?.kind === 'tool-call' ? called.callId : undefined })
  })

  it('are left out if they are empty, and refused if all are', () => {
    expect(turns(user(''), { role: 'assistant', content: null }, user('Hi'))).toEqual([{ role: 'user', parts: [text('Hi')] }])
    expect(failure({ messages: [user('')] })).toMatchObject({ code: 'field_invalid', field: 'messages' })
    expect(read({ messages: [{ role: 'system', content: 'Go' }] }).turns).toEqual([])
  })

  it('keep the names of speakers', () =>
    expect(turns(user('Hi', { name: 'ann' }))).toEqual([{ role: 'user', parts: [text('Hi')], name: 'ann' }]))

  it('[181] contain nothing that UTF-8 cannot encode', () => {
    expect(turns(user('a\ud800b\u0000'))[0]?.parts).toEqual([text('a\ufffdb\u0000')])
  })

  it('[182] are the same with a string and with a list of one text part', () => {
    expect(turns(user('Hi'))).toEqual(turns(user([{ type: 'text', text: 'Hi' }])))
  })

  // Quadratic time would exceed the test's timeout.
  it('[183] are read in linear time', () => {
    const messages = Array.from({ length: 30_000 }, (_, at) =>
      at % 3 === 0 ? user('Hi') : at % 3 === 1 ? { role: 'assistant', tool_calls: [call(`${at}`, 'f')] } : tool(`${at - 1}`, 'x'),
    )
    expect(repairToolResults(read({ messages }).turns).length).toBeGreaterThan(15_000)
  })
})

describe('the parts of a message', () => {
  const parts = (...content: object[]) => turns(user(content))[0]?.parts

  it.each([
    ['document_url', 'https://a.example/b.pdf', { document_name: 'tides' }, 'tides'],
    ['document_url', { url: 'https://a.example/b.pdf' }, {}, undefined],
    ['file_url', { url: 'https://a.example/b.pdf' }, {}, undefined],
  ])('[283] may be documents by URL, as hosts have them: %s %j', (type, url, more, title) => {
    const source = { kind: 'url', url: 'https://a.example/b.pdf' }
    expect(parts({ type, [type]: url, ...more })).toEqual([
      { kind: 'media', media: 'document', source, ...(title ? { title } : {}) },
    ])
    expect(read({ messages: [user([{ type, [type]: url, ...more }])] }).unread).toBeUndefined()
  })

  it('[139] do not include empty text, but the parts next to it', () => {
    expect(parts({ type: 'text', text: '' }, { type: 'image_url', image_url: 'https://a.example' })).toHaveLength(1)
  })

  it('[172] [173] [178] may be images by URL or bytes, with their detail', () => {
    const image = (url: string, more: object = {}) => parts({ type: 'image_url', image_url: { url, ...more } })?.[0]
    expect(image('https://a.example/b.png', { detail: 'high' })).toEqual({
      kind: 'media',
      media: 'image',
      source: { kind: 'url', url: 'https://a.example/b.png' },
      detail: 'high',
    })
    expect(image(`data:image/jpeg;base64,${png.slice(0, 4)}\n${png.slice(4)}`)).toMatchObject({
      source: { kind: 'base64', mediaType: 'image/png', data: png },
    })
  })

  it('[174] [175] [176] may be documents and audio', () => {
    const pdf = Buffer.from('%PDF-1').toString('base64')
    const file = (more: object) => parts({ type: 'file', file: { filename: 'a', ...more } })?.[0]
    const read = { kind: 'media', media: 'document', title: 'a' }
    expect(file({ file_data: `data:application/pdf;base64,${pdf}` })).toMatchObject({
      ...read,
      source: { kind: 'base64', mediaType: 'application/pdf', data: pdf },
    })
    expect(file({ file_data: pdf })).toMatchObject({ source: { mediaType: 'application/pdf' } })
    expect(file({ file_data: 'data:text/plain;charset=utf-8;base64,w6k=' })).toMatchObject({
      ...read,
      source: { kind: 'text', mediaType: 'text/plain', text: 'é' },
    })
    expect(file({ file_id: 'file-1' })).toEqual({ ...read, source: { kind: 'file', id: 'file-1', family: 'openai' } })
    expect(parts({ type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } })).toEqual([
      { kind: 'media', media: 'audio', source: { kind: 'base64', mediaType: 'audio/mp3', data: 'AAAA' } },
    ])
    expect(parts({ type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } })).toMatchObject([{ media: 'video' }])
  })

  it('keep breakpoints of prompt caches', () => {
    expect(
      parts(
        { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
        { type: 'text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
      ),
    ).toEqual([
      { ...text('a'), cache: { ttl: '1h' } },
      { ...text('b'), cache: { ttl: '5m' } },
    ])
  })

  it('[177] of unknown types are refused, never dropped', () => {
    expect(failure({ messages: [user([{ type: 'hologram' }])] })).toMatchObject({
      code: 'untranslatable',
      field: 'messages[0].content[0].type',
    })
  })

  it.each([
    ['no object', 5, 'messages[0].content[0]'],
    ['an image without an address', { type: 'image_url' }, 'messages[0].content[0].image_url.url'],
    ['a file without anything', { type: 'file', file: {} }, 'messages[0].content[0].file.file_data'],
    [
      'a recording without sound',
      { type: 'input_audio', input_audio: { format: 'wav' } },
      'messages[0].content[0].input_audio.data',
    ],
  ])('are refused with their path when they are %s', (_, part, field) => {
    expect(failure({ messages: [user([part])] })).toMatchObject({ code: 'field_invalid', field })
  })
})

describe('other members of a Chat request', () => {
  it('are read into neutral members, or stored in `extra`', () => {
    const dialogue = read({
      max_tokens: 5,
      max_completion_tokens: 9,
      temperature: 0.5,
      top_p: 1,
      top_k: 3,
      seed: 4,
      presence_penalty: 1,
      frequency_penalty: -1,
      stop: 'x',
      stream: true,
      stream_options: { include_usage: true },
      user: 'ann',
      prompt_cache_key: 'k',
      parallel_tool_calls: true,
      logit_bias: { 1: 2 },
      store: true,
      metadata: null,
      n: 1,
      logprobs: false,
    })
    expect(dialogue).toMatchObject({
      from: 'openai.chat',
      model: 'm',
      outputTokensMax: 9,
      sampling: { temperature: 0.5, topP: 1, topK: 3, seed: 4, presencePenalty: 1, frequencyPenalty: -1 },
      stop: ['x'],
      stream: true,
      wantsUsage: true,
      user: 'ann',
      cacheKey: 'k',
      parallelTools: true,
      usesFunctions: false,
      extra: { logit_bias: { 1: 2 }, store: true },
    })
    expect(Object.keys(dialogue.extra)).toEqual(['logit_bias', 'store'])
  })

  it('[143] have no empty stop sequence', () => {
    expect(read({ stop: ['', 'a'] }).stop).toEqual(['a'])
    expect(read({ stop: '' }).stop).toEqual([])
    expect(read({ stop: null }).stop).toEqual([])
  })

  it.each([
    [{ reasoning_effort: 'none' }, 'off'],
    [{ reasoning_effort: 'xhigh' }, { effort: 'xhigh' }],
    [{ reasoning: { effort: 'low' } }, { effort: 'low' }],
    [{ reasoning: { max_tokens: 2000 } }, { budgetTokens: 2000 }],
    [{ reasoning: { enabled: false } }, 'off'],
    [{ reasoning: { enabled: true } }, 'auto'],
    [{ thinking: { type: 'disabled' } }, 'off'],
    [{ thinking: { type: 'enabled' } }, 'auto'],
    [{ thinking: { type: 'enabled', budget_tokens: 1024 } }, { budgetTokens: 1024 }],
    [{ enable_thinking: false }, 'off'],
    [{ enable_thinking: true, thinking_budget: 99 }, { budgetTokens: 99 }],
    [{ chat_template_kwargs: { enable_thinking: true } }, 'auto'],
  ])('have reasoning that is read from %j', (body, mode) => {
    const dialogue = read(body)
    expect(dialogue.reasoning?.mode).toEqual(mode)
    expect(dialogue.extra).toEqual({})
  })

  it('have no reasoning when the request has none', () => expect(read({}).reasoning).toBeUndefined())

  it('[105] [110] [95] may be tools of every kind', () => {
    const { tools } = read({
      tools: [
        { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } },
        { function: { name: 'g', parameters: null } },
        { type: 'custom', custom: { name: 'sh', format: { type: 'text' } }, cache_control: { type: 'ephemeral' } },
      ],
    })
    expect(tools).toEqual([
      { name: 'f', description: 'd', schema: { type: 'object' }, strict: true, custom: undefined },
      { name: 'g', description: undefined, schema: undefined, strict: undefined, custom: undefined },
      {
        name: 'sh',
        description: undefined,
        schema: undefined,
        strict: undefined,
        custom: { format: { type: 'text' } },
        cache: { ttl: '5m' },
      },
    ])
    expect(read({ tools: [], tool_choice: 'required' })).toMatchObject({ tools: [], toolChoice: undefined })
  })

  it.each([
    ['auto', { kind: 'auto' }],
    ['any', { kind: 'required' }],
    ['validated', { kind: 'auto', isValidated: true }],
    [
      { type: 'function', function: { name: 'f' } },
      { kind: 'tool', name: 'f' },
    ],
    [
      { type: 'custom', custom: { name: 'f' } },
      { kind: 'tool', name: 'f' },
    ],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'f' } }] } },
      { kind: 'allowed', names: ['f'], isRequired: true },
    ],
  ])('have a tool choice that is read from %j', (tool_choice, choice) => {
    expect(read({ tools: [{ type: 'function', function: { name: 'f' } }], tool_choice }).toolChoice).toEqual(choice)
  })

  it('[188] may select the form of the answer', () => {
    const schema = { type: 'object' }
    expect(read({ response_format: { type: 'text' } }).output).toBeUndefined()
    expect(read({ response_format: { type: 'json_object' } }).output).toEqual({ kind: 'json' })
    expect(read({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema, strict: true } } }).output).toEqual({
      kind: 'schema',
      name: 'a',
      description: undefined,
      schema,
      strict: true,
    })
  })

  it('may enable the web search', () => {
    const approximate = { city: 'Rye' }
    expect(
      read({ web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate } } }).search,
    ).toEqual({ contextSize: 'low', location: approximate })
    expect(read({ web_search_options: {} }).search).toEqual({ contextSize: undefined, location: undefined })
  })

  it('have tools that only their vendor has in a separate list', () => {
    expect(read({ tools: [{ type: 'web_search' }] })).toMatchObject({
      tools: [],
      vendorOnly: [{ field: 'tools[0].type', name: 'tools.web_search' }],
    })
  })

  it.each([
    ['n', { n: 2 }],
    ['modalities', { modalities: ['text', 'audio'] }],
    ['response_format.type', { response_format: { type: 'grammar' } }],
    ['messages[0].audio', { messages: [{ role: 'assistant', audio: { id: 'a' } }] }],
  ])('are refused as untranslatable with %s', (field, body) =>
    expect(failure(body)).toMatchObject({ code: 'untranslatable', field }),
  )

  it.each([
    ['messages[0].role', { messages: [{ role: 'narrator', content: 'a' }] }],
    ['messages', { messages: ['Hi'] }],
    ['messages', { messages: [] }],
    ['temperature', { temperature: '1' }],
    ['stop', { stop: [5] }],
    ['reasoning_effort', { reasoning_effort: 'heroic' }],
    ['response_format.json_schema', { response_format: { type: 'json_schema' } }],
    ['tools[0].name', { tools: [{ type: 'function', function: {} }] }],
    ['tools[0]', { tools: [5] }],
    ['tool_choice', { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'maybe' }],
    ['stream', { stream: 'yes' }],
  ])('are refused as invalid because of %s', (field, body) =>
    expect(failure(body)).toMatchObject({ code: 'field_invalid', field }),
  )

  it('are read or refused by name, for any value', () => {
    const values = [
      null,
      '',
      0,
      -1,
      1.5,
      true,
      [],
      {},
      [null],
      'x',
      [{}],
      [[]],
      { type: 'function' },
      { name: 5 },
      [{ type: 'text' }],
    ]
    const members = [
      'messages',
      'tools',
      'tool_choice',
      'functions',
      'function_call',
      'response_format',
      'stop',
      'n',
      'user',
      'reasoning',
    ]
    const inner = [
      'role',
      'content',
      'tool_calls',
      'tool_call_id',
      'name',
      'images',
      'thinking_blocks',
      'reasoning_details',
      'refusal',
    ]
    const random = seeded(3)
    const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)]
    for (let round = 0; round < 3_000; round++) {
      const message = { ...user('Hi'), role: pick(['user', 'assistant', 'tool', 'system']), [pick(inner) ?? '']: pick(values) }
      const body = { messages: [message, { ...message, [pick(inner) ?? '']: pick(values) }], [pick(members) ?? '']: pick(values) }
      try {
        read(body)
      } catch (error) {
        if (!(error instanceof AppError)) throw new Error(JSON.stringify(body), { cause: error })
      }
    }
  })
})
