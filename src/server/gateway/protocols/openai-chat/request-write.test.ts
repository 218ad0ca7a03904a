import { describe, expect, it } from 'vitest'
import { refusalOf, written as writtenBy } from '../../../../../test/helpers/codecs.ts'
import {
  assistant,
  base64,
  call,
  dialogueOf,
  instruction,
  media,
  result,
  text,
  thought,
  tideTool,
  toolTurns,
  user,
} from '../../../../../test/helpers/dialogue.ts'
import type { Quirks } from '../codec.ts'
import type { Dialogue, MediaPart, Opaque, Turn } from '../dialogue.ts'
import { arrayAt, isObject, type JsonObject } from '../wire-format.ts'
import { openAiChatFormat } from './format.ts'
import { readRequest } from './request-read.ts'

const { codec } = openAiChatFormat

/** By default the dialogue of a Messages caller. */
function written(dialogue: Partial<Dialogue>, more: { model?: string; quirks?: Quirks } = {}) {
  return writtenBy(codec, { from: 'anthropic.messages', ...dialogue }, more)
}

function messages(dialogue: Partial<Dialogue>, more: { model?: string; quirks?: Quirks } = {}): JsonObject[] {
  return arrayAt(written(dialogue, more).body, 'messages').filter(isObject)
}

const failure = (...given: Parameters<typeof written>) => refusalOf(() => written(...given))
const image = (more: Partial<MediaPart> = {}) => media('image', base64('image/png'), more)
const shown = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

describe('the messages of a written Chat request', () => {
  it('[137] begin with all instructions as one, without the billing header that changes with every call', () => {
    const system = [text('x-anthropic-billing-header: cc_version=1'), text('One'), text('Two')]
    expect(messages({ system })).toEqual([
      { role: 'system', content: 'One\n\nTwo' },
      { role: 'user', content: 'Hello' },
    ])
  })

  it('have instructions in a role that the model and the host support', () => {
    const system = [text('One')]
    expect(messages({ system }, { model: 'gpt-5.1' })[0]?.role).toBe('developer')
    expect(messages({ system }, { model: 'gpt-5.1', quirks: { systemRole: 'system' } })[0]?.role).toBe('system')
    expect(messages({ system }, { model: 'o1-mini' })).toEqual([
      { role: 'user', content: 'One' },
      { role: 'user', content: 'Hello' },
    ])
  })

  it('[136] have instructions in the middle at their position', () => {
    const turns = [user('Hi'), assistant('Hm'), instruction('Three'), user('Go')]
    expect(messages({ turns }).map(({ role, content }) => `${role} ${content}`)).toEqual([
      'user Hi',
      'assistant Hm',
      'system Three',
      'user Go',
    ])
  })

  it("[81] [86] have a message for each result, its texts joined, followed by the user's text", () => {
    const turns = [
      user('Hi'),
      assistant(text('Looking.'), call('1'), call('2')),
      user(text('So?'), result('1', text('a'), text('b')), result('2')),
    ]
    expect(messages({ turns, tools: [tideTool] })).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: ['1', '2'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'get_tide', arguments: '{"port":"Rye"}' },
        })),
      },
      { role: 'tool', tool_call_id: '1', content: 'a\nb' },
      { role: 'tool', tool_call_id: '2', content: '' },
      { role: 'user', content: 'So?' },
    ])
  })

  it('[83] [84] [85] have exactly one result for each call', () => {
    const turns = [user(result('9', text('x')), text('Hi')), assistant(call('1')), user('never mind')]
    expect(messages({ turns }).map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Hi'],
      ['assistant', null],
      ['tool', 'Error: (no result)'],
      ['user', 'never mind'],
    ])
  })

  it('[87] have an image of a tool result in the message after it', () => {
    const turns = [user('Hi'), assistant(call('1')), user(result('1', text('a chart'), image()), text('So?'))]
    expect(messages({ turns }).slice(2)).toEqual([
      { role: 'tool', tool_call_id: '1', content: 'a chart\n[image attached]' },
      { role: 'user', content: [shown, { type: 'text', text: 'So?' }] },
    ])
  })

  it('have an image that the assistant generated in the next user message', () => {
    const turns = [user('Draw'), assistant(text('Here.'), image()), user('Bigger')]
    expect(messages({ turns }).slice(1)).toEqual([
      { role: 'assistant', content: 'Here.' },
      { role: 'user', content: [shown, { type: 'text', text: 'Bigger' }] },
    ])
  })

  it('[89] mark a result that is an error', () => {
    const turns = [user('Hi'), assistant(call('1')), user({ ...result('1', text('no port')), isError: true })]
    expect(messages({ turns }).at(-1)).toMatchObject({ role: 'tool', content: 'Error: no port' })
  })

  it.each([
    ['[90]', 'x'.repeat(120), {}, /^call_[0-9A-Za-z]{24}$/],
    ['[91]', 'functions.get_tide:0', {}, /^functions\.get_tide:0$/],
    ['[92]', 'call_1', { callIds: 'nine-alphanumerics' }, /^[0-9A-Za-z]{9}$/],
  ] as const)('%s have the same valid id in a call and in its result', (_, id, quirks, form) => {
    const [, called, answered] = messages({ turns: [user('Hi'), ...toolTurns('high', id)] }, { quirks })
    const [first] = arrayAt(called ?? {}, 'tool_calls').filter(isObject)
    expect(first?.id).toMatch(form)
    expect(answered?.tool_call_id).toBe(first?.id)
  })

  it('[103] [104] [276] have the changed names of tools everywhere, with a map to restore them', () => {
    const long = `${'n'.repeat(64)}x`
    const tools = ['mcp__server.tool/x y', long].map((name) => ({ ...tideTool, name }))
    const { body, toolNames } = written({
      tools,
      toolChoice: { kind: 'tool', name: long },
      turns: [user('Hi'), assistant(call('1', { name: 'mcp__server.tool/x y' })), user(result('1', text('a')))],
    })
    const [first, second] = arrayAt(body, 'tools').map((tool) => (tool as { function: { name: string } }).function.name)
    expect(first).toBe('mcp__server_tool_x_y')
    expect(second).toMatch(/^[a-zA-Z0-9_-]{64}$/)
    expect(JSON.stringify(body.messages)).toContain('"name":"mcp__server_tool_x_y"')
    expect(body.tool_choice).toEqual({ type: 'function', function: { name: second } })
    expect([...(toolNames ?? [])]).toEqual([
      [first, 'mcp__server.tool/x y'],
      [second, long],
    ])
    expect(written({ tools: [tideTool] }).toolNames).toBeUndefined()
  })

  it('[68] [71] [72] have the input of a call as the model wrote it', () => {
    for (const input of ['{"a":1.0}', '"{}"', '{"a":']) {
      const turns = [user('Hi'), assistant(call('1', { input })), user(result('1', text('a')))]
      expect(JSON.stringify(messages({ turns })[1])).toContain(JSON.stringify(input))
    }
    expect(JSON.stringify(messages({ turns: [user('Hi'), assistant(call('1', { input: '' }))] }))).toContain('"arguments":"{}"')
  })

  it('alternate between user and assistant where the host requires it', () => {
    const quirks: Quirks = { strictTurns: true }
    const said = (turns: readonly Turn[]) =>
      messages({ turns, tools: [tideTool] }, { quirks }).map(({ role, content }) => [role, content])
    const later: Turn = instruction('later')
    expect(said([user('a'), later, user('b'), assistant(call('1')), user(result('1', text('x')), text('c'))])).toEqual([
      ['user', 'a\n\nlater\n\nb'],
      ['assistant', null],
      ['tool', 'x'],
      ['assistant', '.'],
      ['user', 'c'],
    ])
    expect(said([assistant('a'), user('b')])).toEqual([
      ['user', '.'],
      ['assistant', 'a'],
      ['user', 'b'],
    ])
    expect(said([user('a'), assistant(call('1')), user(result('1', image()))]).slice(2)).toEqual([
      ['tool', '[image attached]'],
      ['assistant', '.'],
      ['user', [shown]],
    ])
  })

  it('are refused if they end with a prefilled answer, unless the host has a member for it', () => {
    const begun = { turns: [user('JSON!'), assistant('{')], beginsAnswer: true } as const
    expect(failure(begun)).toMatchObject({ code: 'untranslatable', field: 'messages' })
    expect(messages(begun, { quirks: { prefill: 'prefix' } }).at(-1)).toEqual({
      role: 'assistant',
      content: '{',
      prefix: true,
    })
  })

  it('[182] have a string as content when all parts are text', () => {
    expect(messages({ turns: [user(text('a'), text('b'))] })).toEqual([{ role: 'user', content: 'a\n\nb' }])
    expect(messages({ turns: [user(text('a'), image())] })).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'a' }, shown] },
    ])
  })

  it('have a refusal where the model supports it, or else its text', () => {
    const turns = [user('Hi'), assistant({ kind: 'refusal', text: 'No.' }), user('Please')]
    expect(messages({ turns }, { model: 'gpt-4o' })[1]).toEqual({ role: 'assistant', content: null, refusal: 'No.' })
    expect(messages({ turns })[1]).toEqual({ role: 'assistant', content: 'No.' })
  })
})

describe('media of a written Chat request', () => {
  const part = (media: MediaPart, model = 'm') => {
    const content = messages({ turns: [user(media)] }, { model })[0]?.content
    return Array.isArray(content) ? content[0] : content
  }

  it('[178] may be images by URL or bytes', () => {
    expect(part(image({ source: { kind: 'url', url: 'https://a.example/b.png' }, detail: 'low' }))).toEqual({
      type: 'image_url',
      image_url: { url: 'https://a.example/b.png', detail: 'low' },
    })
    expect(part(image({ detail: 'original' }))).toMatchObject({ image_url: { detail: 'high' } })
    expect(part(image({ detail: 'original' }), 'gpt-6')).toMatchObject({ image_url: { detail: 'original' } })
  })

  it('are documents without a level of detail, which is reported', () => {
    const file = media('document', base64('application/pdf'), { detail: 'high' })
    expect(written({ turns: [user(file)] }).lost).toEqual(['detail'])
  })

  it('[174] may be documents: PDF as a file, text as text', () => {
    const document = (source: MediaPart['source'], title?: string) => part(media('document', source, title ? { title } : {}))
    expect(document(base64('application/pdf'), 'a.pdf')).toEqual({
      type: 'file',
      file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
    })
    expect(document({ kind: 'text', mediaType: 'text/plain', text: 'words' }, 'a.txt')).toEqual({
      type: 'text',
      text: 'a.txt\n\nwords',
    })
    expect(document({ kind: 'file', id: 'file-1', family: 'openai' })).toEqual({ type: 'file', file: { file_id: 'file-1' } })
  })

  it('[176] may be audio and video', () => {
    expect(part(media('audio', base64('audio/mpeg')))).toEqual({
      type: 'input_audio',
      input_audio: { data: 'AAAA', format: 'mp3' },
    })
    expect(part(media('video', { kind: 'url', url: 'https://a.example/v' }))).toEqual({
      type: 'video_url',
      video_url: { url: 'https://a.example/v' },
    })
  })

  it.each<[string, MediaPart, string?]>([
    ['a Word document', media('document', base64('application/msword'))],
    ['an ogg recording', media('audio', base64('audio/ogg'))],
    ['a film for OpenAI', media('video', { kind: 'url', url: 'https://a.example' }), 'gpt-4o'],
    ['a file of another vendor', media('document', { kind: 'file', id: 'f', family: 'google' })],
    ['an image that is kept by its vendor', image({ source: { kind: 'file', id: 'f', family: 'openai' } })],
  ])('are refused if Chat has no part for them: %s', (_, media, model) => {
    expect(failure({ turns: [user(media)] }, { model: model ?? 'm' })).toMatchObject({
      code: 'untranslatable',
      field: 'messages',
    })
  })

  it('are fetched first where the format has no URL for them', () => expect(codec.inlines).toEqual(['audio', 'document']))
})

describe('prompt-cache breakpoints', () => {
  const marked = {
    system: [text('One', { cache: { ttl: '1h' } })],
    turns: [user(text('Hi', { cache: { ttl: '5m' } }))],
    tools: [{ ...tideTool, cache: { ttl: '5m' } as const }],
  }

  it('are kept where the host accepts them', () => {
    const { body, lost } = written(marked, { quirks: { takesCacheControl: true } })
    expect(body.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 'One', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      { role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] },
    ])
    expect(body.tools).toMatchObject([{ cache_control: { type: 'ephemeral' } }])
    expect(lost).toEqual([])
  })

  it('are written in OpenAI’s form for models that support them', () => {
    expect(messages(marked, { model: 'gpt-5.6' })[0]?.content).toEqual([
      { type: 'text', text: 'One', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
    ])
  })

  it('are after the whole tool result, also those inside of it', () => {
    const inside = result('1', text('Low', { cache: { ttl: '5m' } }), text('High'))
    const turns = [user('Hi'), assistant(call('1')), user(inside)]
    const content = (more: Parameters<typeof messages>[1]) => messages({ turns }, more).at(-1)?.content
    const told = { type: 'text', text: 'Low\nHigh' }
    expect(content({ model: 'gpt-5.6' })).toEqual([{ ...told, prompt_cache_breakpoint: { mode: 'explicit' } }])
    expect(content({ quirks: { takesCacheControl: true } })).toEqual([{ ...told, cache_control: { type: 'ephemeral' } }])
    expect(content({})).toBe('Low\nHigh')
    expect(written({ turns }).lost).toEqual(['cache_control'])
  })

  it('in a tool result are kept after its text; OpenAI’s tools have none, which is reported', () => {
    const turns = [user('Hi'), assistant(call('1')), user(result('1', text('x', { cache: { ttl: '5m' } })))]
    const { body, lost } = written({ ...marked, turns }, { model: 'gpt-5.6' })
    expect((body.messages as unknown[]).at(-1)).toMatchObject({
      role: 'tool',
      content: [{ type: 'text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit' } }],
    })
    expect(lost).toEqual(['cache_control'])
    expect(written({ turns }).lost).toEqual(['cache_control'])
  })

  it('are reported where they are lost', () => {
    const { body, lost } = written(marked)
    expect(JSON.stringify(body)).not.toContain('cache')
    expect(lost).toEqual(['cache_control'])
  })
})

describe('reasoning of earlier turns', () => {
  const turns = [
    user('Hi'),
    assistant(thought('Hm'), text('Ho')),
    user('Go'),
    assistant(thought('So'), call('1')),
    user(result('1', text('x'))),
  ]
  const replayed = (quirks: Quirks, more: readonly Turn[] = turns) =>
    messages({ turns: more, tools: [tideTool] }, { quirks })
      .filter(({ role }) => role === 'assistant')
      .map(({ reasoning_content }) => reasoning_content)

  it('[159] [267] is not sent to hosts that refuse it', () => {
    expect(replayed({})).toEqual([undefined, undefined])
    expect(replayed({ replayReasoning: 'never' })).toEqual([undefined, undefined])
  })

  it('[158] is sent where it is required, with a placeholder where it is unknown', () => {
    const unknown = [user('Hi'), assistant('Ho'), user('Go'), assistant(call('1')), user(result('1', text('x')))]
    expect(replayed({ replayReasoning: 'always', emptyReasoning: '' })).toEqual(['Hm', 'So'])
    expect(replayed({ replayReasoning: 'always', emptyReasoning: '' }, unknown)).toEqual(['', ''])
    expect(replayed({ replayReasoning: 'tool-turns', emptyReasoning: ' ' })).toEqual([undefined, 'So'])
    expect(replayed({ replayReasoning: 'tool-turns', emptyReasoning: ' ' }, unknown)).toEqual([undefined, ' '])
    expect(replayed({ replayReasoning: 'tool-turns' }, unknown)).toEqual([undefined, undefined])
  })

  it('is written between tags for hosts that use tags', () => {
    const [, said] = messages({ turns }, { quirks: { replayReasoning: 'always', thinkTags: true } })
    expect(said).toEqual({ role: 'assistant', content: '<think>\nHm\n</think>\n\nHo' })
  })

  it('[269] is sent back unchanged to a host with its own list', () => {
    const details = [{ type: 'reasoning.text', text: 'So', signature: 's' }]
    const opaque: Opaque = { family: 'openai', kind: 'signature', value: `reasoning_details:${JSON.stringify(details)}` }
    const signed = [user('Hi'), assistant(thought('So', opaque), call('1')), user(result('1', text('x')))]
    const quirks: Quirks = { replayReasoning: 'tool-turns', thinkingSwitch: 'reasoning-object' }
    expect(messages({ turns: signed }, { quirks })[1]).toMatchObject({ reasoning: 'So', reasoning_details: details })
    expect(JSON.stringify(messages({ turns: signed }, { quirks: { replayReasoning: 'tool-turns' } }))).not.toContain('details')
  })

  it('[153] has no opaque state for another family', () => {
    const states: Opaque[] = [
      { family: 'anthropic', kind: 'signature', value: 'SEALED' },
      { family: 'anthropic', kind: 'redacted', value: 'SEALED' },
      { family: 'google', kind: 'signature', value: 'SEALED' },
      { family: 'openai', kind: 'encrypted', value: 'SEALED' },
    ]
    for (const opaque of states) {
      const sealed = [
        user('Hi'),
        assistant(thought('So', opaque), text('a', { opaque }), call('1', { opaque })),
        user(result('1', text('x'))),
      ]
      expect(JSON.stringify(messages({ turns: sealed }, { model: 'gpt-4o' }))).not.toContain('SEALED')
    }
  })

  it('[150] has the opaque state for a Claude or Gemini model of the host', () => {
    const google: Opaque = { family: 'google', kind: 'signature', value: 'g' }
    const claude: Opaque = { family: 'anthropic', kind: 'signature', value: 'a' }
    const sealed = [user('Hi'), assistant(thought('So', claude), call('1', { opaque: google })), user(result('1', text('x')))]
    expect(messages({ turns: sealed }, { model: 'gemini-3-pro' })[1]).toMatchObject({
      tool_calls: [{ extra_content: { google: { thought_signature: 'g' } } }],
    })
    expect(messages({ turns: sealed }, { model: 'claude-sonnet-4-6' })[1]).toMatchObject({
      thinking_blocks: [{ type: 'thinking', thinking: 'So', signature: 'a' }],
    })
  })
})

describe('tools of a written Chat request', () => {
  it('[95] [96] [110] have a valid schema, or are left out', () => {
    const declared = (schema: Dialogue['tools'][number]['schema']) =>
      written({ tools: [{ ...tideTool, description: undefined, schema }] }).body.tools
    expect(declared(undefined)).toEqual([{ type: 'function', function: { name: 'get_tide' } }])
    expect(declared({ properties: { a: {} } })).toMatchObject([
      { function: { parameters: { type: 'object', properties: { a: {} } } } },
    ])
    expect(declared({ type: 'object' })).toMatchObject([{ function: { parameters: { type: 'object', properties: {} } } }])
    const none = written({ tools: [], toolChoice: { kind: 'required' }, parallelTools: false }).body
    expect(Object.keys(none)).toEqual(['model', 'messages'])
  })

  it('[114] are strict where the host supports it and the schema follows the rules', () => {
    const schema = { ...tideTool.schema, additionalProperties: false }
    const strict = { ...tideTool, schema, strict: true }
    const isStrict = (tools: Dialogue['tools'], more: Parameters<typeof written>[1] = {}, dialogue: Partial<Dialogue> = {}) => {
      const { body, lost } = written({ tools, ...dialogue }, more)
      return [JSON.stringify(body.tools).includes('"strict":true'), lost]
    }
    expect(isStrict([strict])).toEqual([true, []])
    expect(isStrict([strict], { quirks: { takesStrictTools: false } })).toEqual([false, ['strict']])
    expect(isStrict([{ ...tideTool, strict: true }])).toEqual([false, ['strict']])
    expect(isStrict([{ ...tideTool, strict: true }], {}, { from: 'openai.responses' })).toEqual([true, []])
  })

  it.each<[Dialogue['toolChoice'], unknown]>([
    [{ kind: 'auto' }, 'auto'],
    [{ kind: 'none' }, 'none'],
    [{ kind: 'required' }, 'required'],
    [
      { kind: 'tool', name: 'get_tide' },
      { type: 'function', function: { name: 'get_tide' } },
    ],
  ])('are chosen by %j', (toolChoice, choice) => {
    expect(written({ tools: [tideTool], toolChoice }).body.tool_choice).toEqual(choice)
  })

  it("are required with the host's value of `tool_choice`", () => {
    const quirks: Quirks = { requiredChoice: 'any' }
    expect(written({ tools: [tideTool], toolChoice: { kind: 'required' } }, { quirks }).body.tool_choice).toBe('any')
  })

  it('are limited to the allowed ones, with `allowed_tools` if the model supports it', () => {
    const dialogue: Partial<Dialogue> = {
      tools: [tideTool, { ...tideTool, name: 'other' }],
      toolChoice: { kind: 'allowed', names: ['other'], isRequired: true },
    }
    expect(written(dialogue).body).toMatchObject({ tool_choice: 'required', tools: [{ function: { name: 'other' } }] })
    const { tools, tool_choice } = written(dialogue, { model: 'gpt-5' }).body
    expect(tools).toHaveLength(2)
    expect(tool_choice).toEqual({
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'other' } }] },
    })
  })

  it('[109] are called one at a time when parallel calls are disabled', () => {
    expect(written({ tools: [tideTool], parallelTools: false }).body.parallel_tool_calls).toBe(false)
    expect(written({ tools: [tideTool] }).body).not.toHaveProperty('parallel_tool_calls')
  })

  it('[112] with free-text input are kept where the model accepts them, or else become functions', () => {
    const shell = {
      ...tideTool,
      name: 'sh',
      schema: undefined,
      custom: { format: { type: 'grammar', syntax: 'lark', definition: 'a' } },
    }
    const turns = [user('Hi'), assistant(call('1', { name: 'sh', input: 'ls', isCustom: true })), user(result('1', text('a')))]
    const own = written({ tools: [shell], turns, from: 'openai.responses' }, { model: 'gpt-5' })
    expect(own.body.tools).toMatchObject([
      { type: 'custom', custom: { name: 'sh', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'a' } } } },
    ])
    expect(own.body.messages).toMatchObject([{}, { tool_calls: [{ type: 'custom', custom: { name: 'sh', input: 'ls' } }] }, {}])
    expect(own.customTools).toBeUndefined()

    const other = written({ tools: [shell], turns, from: 'openai.responses' })
    expect(other.body.tools).toMatchObject([{ type: 'function', function: { parameters: { required: ['input'] } } }])
    expect(other.body.messages).toMatchObject([{}, { tool_calls: [{ function: { arguments: '{"input":"ls"}' } }] }, {}])
    expect([...(other.customTools ?? [])]).toEqual(['sh'])
  })

  it('[111] in the older form are sent upstream in the new one', () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const dialogue = readRequest({ model: 'm', messages, functions: [{ name: 'f' }], function_call: 'auto' }, {})
    expect(written(dialogue).body).toMatchObject({
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
    })
  })
})

describe('a written Chat request', () => {
  const body = (dialogue: Partial<Dialogue>, more: Parameters<typeof written>[1] = {}) => written(dialogue, more).body

  it('[268] limits the output with the host’s member', () => {
    expect(body({ outputTokensMax: 9 })).toMatchObject({ max_tokens: 9 })
    expect(body({ outputTokensMax: 9 }, { model: 'gpt-5' })).toMatchObject({ max_completion_tokens: 9 })
    expect(body({ outputTokensMax: 9 }, { quirks: { outputLimit: 'max_completion_tokens' } })).toMatchObject({
      max_completion_tokens: 9,
    })
    const fromChat = readRequest({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_completion_tokens: 9 }, {})
    expect(body(fromChat, { model: 'mistral-large', quirks: { outputLimit: 'max_tokens' } })).toMatchObject({ max_tokens: 9 })
  })

  it('[126] is refused if it requests no output', () => {
    expect(failure({ outputTokensMax: 0 })).toMatchObject({ code: 'untranslatable', field: 'max_tokens' })
  })

  it('has the supported sampling members, and reports the others', () => {
    const sampling = { temperature: 1.7, topP: 0.5, topK: 4, seed: 3, presencePenalty: 1, frequencyPenalty: 1 }
    const { body: sent, lost } = written({ sampling, stop: ['a', 'b', 'c', 'd', 'e'] }, { quirks: { temperatureMax: 1 } })
    expect(sent).toMatchObject({ temperature: 1, top_p: 0.5, seed: 3, presence_penalty: 1, stop: ['a', 'b', 'c', 'd'] })
    expect(sent).not.toHaveProperty('top_k')
    expect(lost).toEqual(['stop_sequences', 'temperature', 'top_k'])
  })

  it("leaves out members that the host refuses, and reports the caller's names", () => {
    const quirks: Quirks = { refuses: ['seed', 'stop', 'stream_options', 'user', 'metadata'] }
    const { body: sent, lost } = written(
      { sampling: { seed: 3 }, stop: ['a'], stream: true, user: 'ann', extra: { metadata: { a: 1 } } },
      { quirks },
    )
    expect(sent).toEqual({ model: 'm', messages: expect.anything(), stream: true })
    expect(lost).toEqual(['metadata', 'metadata.user_id', 'seed', 'stop_sequences'])
  })

  it('[128] leaves out members that the model refuses', () => {
    const sampling = { temperature: 0.5, topP: 0.9, presencePenalty: 1 }
    expect(written({ sampling }, { model: 'gpt-5' })).toMatchObject({
      body: { model: 'gpt-5', messages: expect.anything() },
      lost: ['presence_penalty', 'temperature', 'top_p'],
    })
    const off = written({ sampling, reasoning: { mode: 'off', show: undefined } }, { model: 'gpt-5.1' })
    expect(off.body).toMatchObject({ temperature: 0.5, top_p: 0.9, reasoning_effort: 'none' })
    expect(off.lost).toEqual(['presence_penalty'])
  })

  it('[36] [266] asks for the usage of a stream', () => {
    expect(body({ stream: true })).toMatchObject({ stream: true, stream_options: { include_usage: true } })
    expect(body({ stream: false })).not.toHaveProperty('stream_options')
  })

  it('[144] contains the user in at most 64 characters, the same each time', () => {
    const long = JSON.stringify({ device: 'x'.repeat(400) })
    expect(String(body({ user: long }).user)).toMatch(/^\w{40}$/)
    expect(body({ user: long }).user).toBe(body({ user: long }).user)
    expect(body({ user: 'ann' })).not.toHaveProperty('prompt_cache_key')
    expect(body({ user: 'ann' }, { model: 'gpt-5' }).prompt_cache_key).toMatch(/^\w{40}$/)
  })

  it('has the key of the prompt cache where the host has one', () => {
    const dialogue: Partial<Dialogue> = { from: 'openai.responses', cacheKey: 'thread-1' }
    expect(body(dialogue, { model: 'mistral-large-4', quirks: { takesCacheKey: true } }).prompt_cache_key).toBe('thread-1')
    expect(body({ from: 'openai.responses', user: 'ann' }, { quirks: { takesCacheKey: true } })).not.toHaveProperty(
      'prompt_cache_key',
    )
    const { body: sent, lost } = written(dialogue, { model: 'glm-5.3' })
    expect(sent).not.toHaveProperty('prompt_cache_key')
    expect(lost).toEqual(['prompt_cache_key'])
  })

  it("has members of OpenAI's platform only for OpenAI's models", () => {
    const extra = { metadata: { a: 'b' }, store: false, truncation: 'auto' }
    const dialogue: Partial<Dialogue> = { from: 'openai.responses', extra }
    expect(written(dialogue, { model: 'gpt-4o' })).toMatchObject({
      body: { metadata: { a: 'b' }, store: false },
      lost: ['truncation'],
    })
    expect(written(dialogue).lost).toEqual(['metadata', 'truncation'])
    expect(written({ extra: { container: 'c' } }).lost).toEqual(['container'])
  })

  it('[106] is refused with a search that the model does not support', () => {
    const search = { contextSize: 'low' as const, location: { city: 'Rye' } }
    expect(failure({ search })).toMatchObject({ code: 'untranslatable', field: 'tools.web_search' })
    expect(body({ search }, { model: 'gpt-4o-search-preview' })).toMatchObject({
      web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'Rye' } } },
    })
    expect(body({ search }, { model: 'sonar-pro' })).toHaveProperty('web_search_options')
  })

  it('round-trips for a caller of the same format', () => {
    const asked = {
      model: 'm',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: '1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: '1', content: 'x' },
      ],
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} }, strict: true } }],
      tool_choice: 'auto',
      max_tokens: 5,
      temperature: 0.5,
      top_k: 3,
      stop: ['x'],
      user: 'ann',
      reasoning_effort: 'none',
      web_search_options: {},
      logit_bias: { 1: 2 },
      min_p: 0.1,
    }
    const { body: sent, lost } = written(readRequest(asked, {}))
    expect(sent).toEqual(asked)
    expect(lost).toEqual([])
  })
})

describe('reasoning in a written Chat request', () => {
  type Mode = NonNullable<Dialogue['reasoning']>['mode']
  const asked = (mode: Mode, more: Parameters<typeof written>[1] = {}, dialogue: Partial<Dialogue> = {}) => {
    const { body, lost } = written({ reasoning: { mode, show: undefined }, ...dialogue }, more)
    const { model: _, messages: __, ...members } = body
    return { ...members, ...(lost.length > 0 ? { lost } : {}) }
  }

  it.each<[string, Mode, unknown]>([
    ['gpt-5', 'off', 'minimal'],
    ['gpt-5', { effort: 'xhigh' }, 'high'],
    ['gpt-5.1', 'off', 'none'],
    ['gpt-5.2', { effort: 'xhigh' }, 'xhigh'],
    ['gpt-5.6', { effort: 'minimal' }, 'low'],
    ['o3', { budgetTokens: 1_000 }, 'low'],
    ['gpt-5', { budgetTokens: 1_000 }, 'minimal'],
    ['gpt-5', { budgetTokens: 4_000 }, 'low'],
    ['gpt-5', { budgetTokens: 16_000 }, 'medium'],
    ['gpt-5', { budgetTokens: 60_000 }, 'high'],
    ['openai/gpt-5', { effort: 'max' }, 'high'],
    ['gpt-5', 'auto', undefined],
  ])('for %s with the mode %j is the effort %s', (model, mode, effort) => {
    expect(asked(mode, { model })).toEqual(effort === undefined ? {} : { reasoning_effort: effort })
  })

  it('[170] is left out and reported for models that do not reason', () => {
    expect(asked({ effort: 'high' }, { model: 'gpt-4o' })).toEqual({ lost: ['thinking'] })
    expect(asked('off', { model: 'gpt-4o' })).toEqual({})
    expect(asked({ effort: 'high' })).toEqual({ lost: ['thinking'] })
    expect(asked({ effort: 'high' }, {}, { from: 'openai.responses' })).toEqual({ reasoning_effort: 'high' })
  })

  it('[113] is turned off where the model does not accept it together with tools', () => {
    const tools = [tideTool]
    const effort = (model: string, mode: Mode | undefined) => {
      const { body, lost } = written({ tools, ...(mode ? { reasoning: { mode, show: undefined } } : {}) }, { model })
      return [body.reasoning_effort, lost]
    }
    expect(effort('gpt-5.4', { effort: 'high' })).toEqual(['none', ['thinking']])
    expect(effort('gpt-5.4', undefined)).toEqual([undefined, []])
    expect(effort('gpt-5.6', undefined)).toEqual(['none', []])
    expect(effort('gpt-5.2', { effort: 'high' })).toEqual(['high', []])
  })

  it.each<[string, Quirks, string, Mode, unknown]>([
    ['a switch', { thinkingSwitch: 'thinking-type' }, 'glm-4.6', { effort: 'low' }, { thinking: { type: 'enabled' } }],
    ['a switch', { thinkingSwitch: 'thinking-type' }, 'glm-4.6', 'auto', { thinking: { type: 'enabled' } }],
    ['a switch', { thinkingSwitch: 'thinking-type' }, 'glm-4.6', 'off', { thinking: { type: 'disabled' } }],
    [
      'a switch with steps',
      { thinkingSwitch: 'thinking-type' },
      'deepseek-chat',
      { effort: 'medium' },
      { thinking: { type: 'enabled' }, reasoning_effort: 'high' },
    ],
    ['another word for on', { thinkingSwitch: 'thinking-type' }, 'MiniMax-M3', 'auto', { thinking: { type: 'adaptive' } }],
    ['steps in place of a switch', { thinkingSwitch: 'thinking-type' }, 'kimi-k3', 'off', { reasoning_effort: 'low' }],
    ['a flag', { thinkingSwitch: 'enable_thinking' }, 'glm', { effort: 'low' }, { enable_thinking: true }],
    [
      'a flag with a budget',
      { thinkingSwitch: 'enable_thinking' },
      'glm',
      { budgetTokens: 99 },
      { enable_thinking: true, thinking_budget: 99 },
    ],
    ['a flag', { thinkingSwitch: 'enable_thinking' }, 'glm', 'off', { enable_thinking: false }],
    ['an object', { thinkingSwitch: 'reasoning-object' }, 'x/y', { effort: 'max' }, { reasoning: { effort: 'xhigh' } }],
    ['an object', { thinkingSwitch: 'reasoning-object' }, 'x/y', { budgetTokens: 99 }, { reasoning: { max_tokens: 99 } }],
    ['an object', { thinkingSwitch: 'reasoning-object' }, 'x/y', 'off', { reasoning: { enabled: false } }],
    ['OpenAI’s word', { thinkingSwitch: 'reasoning_effort' }, 'grok-3-mini', { effort: 'medium' }, { reasoning_effort: 'high' }],
    ['OpenAI’s word', { thinkingSwitch: 'reasoning_effort' }, 'new', { effort: 'max' }, { reasoning_effort: 'high' }],
    ['OpenAI’s word', { thinkingSwitch: 'reasoning_effort' }, 'new', 'off', {}],
    ['nothing', { thinkingSwitch: 'none' }, 'new', { effort: 'low' }, { lost: ['thinking'] }],
    ['nothing', { thinkingSwitch: 'none' }, 'new', 'off', {}],
  ])('is requested with %s', (_, quirks, model, mode, members) => expect(asked(mode, { model, quirks })).toEqual(members))

  it('is switched off for models that only think in streams', () => {
    const quirks: Quirks = { thinkingSwitch: 'enable_thinking', thinksOnlyInStreams: true }
    expect(written({}, { model: 'qwen3-32b', quirks }).body).toMatchObject({ enable_thinking: false })
    expect(asked({ effort: 'low' }, { model: 'qwen3-32b', quirks })).toEqual({ enable_thinking: false, lost: ['thinking'] })
    expect(asked({ effort: 'low' }, { model: 'qwen3-32b', quirks }, { stream: true, wantsUsage: false })).toEqual({
      stream: true,
      enable_thinking: true,
    })
  })

  it("is read from the model's name where that ends in an effort", () => {
    expect(written({ outputTokensMax: 5 }, { model: 'o3-mini-high' }).body).toMatchObject({
      model: 'o3-mini',
      reasoning_effort: 'high',
      max_completion_tokens: 5,
    })
  })
})

describe('the response format of a written Chat request', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
  const output = { kind: 'schema' as const, name: undefined, description: undefined, schema, strict: undefined }
  const first = (body: JsonObject) => arrayAt(body, 'messages').filter(isObject)[0]

  it('[188] contains the schema, strict if it follows the rules', () => {
    expect(written({ output }).body.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'response', schema, strict: true },
    })
    const loose = { ...schema, required: [] }
    expect(written({ output: { ...output, schema: loose, strict: true } })).toMatchObject({
      body: { response_format: { json_schema: { strict: false } } },
      lost: ['strict'],
    })
    expect(written({ output: { ...output, name: 'a b', strict: true }, from: 'openai.responses' }).body).toMatchObject({
      response_format: { json_schema: { name: 'a_b', strict: true } },
    })
  })

  it('becomes an instruction where the host does not support it', () => {
    const object = written({ output }, { quirks: { jsonSchema: 'object' } })
    expect(object.body.response_format).toEqual({ type: 'json_object' })
    expect(first(object.body)).toMatchObject({ role: 'system', content: expect.stringContaining(JSON.stringify(schema)) })
    expect(object.lost).toEqual(['output_config.format'])
    const none = written({ output }, { quirks: { jsonSchema: 'none' } })
    expect(none.body).not.toHaveProperty('response_format')
    expect(first(none.body)?.content).toContain('JSON')
    expect(written({ output }, { model: 'gpt-3.5-turbo' }).body.response_format).toEqual({ type: 'json_object' })
  })

  it('[187] adds an instruction with the word JSON when the conversation has none', () => {
    const json = { output: { kind: 'json' as const }, system: [text('Be brief')] }
    expect(first(written(json).body)?.content).toBe('Be brief\n\nAnswer with one JSON object and nothing else.')
    expect(first(written({ ...json, turns: [user('Give me JSON')] }).body)?.content).toBe('Be brief')
    expect(written(json).lost).toEqual([])
  })
})

describe('any conversation', () => {
  it('is written as the same request each time', () => {
    const dialogue = dialogueOf({ turns: [user('Hi'), ...toolTurns()], tools: [tideTool] })
    expect(written(dialogue)).toEqual(written(dialogue))
  })
})
