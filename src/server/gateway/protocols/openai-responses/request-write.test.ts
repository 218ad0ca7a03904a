import { describe, expect, it } from 'vitest'
import { refusalOf, written as writtenBy } from '../../../../../test/helpers/codecs.ts'
import {
  assistant,
  base64,
  call,
  dialogueOf,
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
import type { Quirks } from '../codec.ts'
import type { Dialogue, Part } from '../dialogue.ts'
import type { JsonObject } from '../wire-format.ts'
import { openAiResponsesFormat } from './format.ts'

const responsesCodec = openAiResponsesFormat.codec
const write = (dialogue: Partial<Dialogue> = {}, model = 'gpt-5.6', quirks: Quirks = {}) =>
  writtenBy(responsesCodec, dialogue, { model, quirks })
const bodyOf = (dialogue: Partial<Dialogue> = {}, model?: string, quirks?: Quirks) => write(dialogue, model, quirks).body
const inputOf = (...parts: Part[]) => bodyOf({ turns: [user(...parts)] }).input

const refusal = (dialogue: Partial<Dialogue>) => refusalOf(() => write(dialogue))

describe('a written Responses request', () => {
  it('[113] of a Chat caller stores nothing, and requests encrypted reasoning', () => {
    const { body, lost } = write({
      system: [text('Be brief')],
      tools: [tideTool],
      toolChoice: { kind: 'auto' },
      outputTokensMax: 100,
      user: 'u',
      stream: true,
    })
    expect(body).toEqual({
      model: 'gpt-5.6',
      instructions: 'Be brief',
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello' }] }],
      tools: [
        {
          type: 'function',
          name: 'get_tide',
          description: 'Tide of a port',
          parameters: tideTool.schema,
          strict: false,
        },
      ],
      tool_choice: 'auto',
      max_output_tokens: 100,
      include: ['reasoning.encrypted_content'],
      store: false,
      stream: true,
      user: 'u',
    })
    expect(lost).toEqual([])
  })

  it('[93] [94] has no ids of items, only those of calls', () => {
    expect(bodyOf({ turns: [user('Hi'), ...toolTurns('high', 'toolu_1')] }).input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'function_call', call_id: 'toolu_1', name: 'get_tide', arguments: '{"port":"Rye"}' },
      { type: 'function_call_output', call_id: 'toolu_1', output: 'high' },
    ])
  })

  it('[90] has a shorter id for one that is too long, the same for the call and its result', () => {
    const [call, result] = bodyOf({ turns: toolTurns('high', 'x'.repeat(120)) }).input as JsonObject[]
    expect(call?.call_id).toMatch(/^call_\w{24}$/)
    expect(result?.call_id).toBe(call?.call_id)
  })

  it('[83] has no result without a call, [84] and a placeholder for a missing result', () => {
    const [asked, answered] = toolTurns()
    expect(bodyOf({ turns: [user('Hi'), answered] }).input).toHaveLength(1)
    expect(bodyOf({ turns: [asked, user('Well?')] }).input).toMatchObject([
      { type: 'function_call' },
      { type: 'function_call_output', output: 'Error: (no result)' },
      { type: 'message', role: 'user' },
    ])
  })

  it('[153] [156] [157] has reasoning only if the vendor encrypted it, and never as the last item of a turn', () => {
    const own = thought('Hm', { family: 'openai', kind: 'encrypted', value: 'gAAA' })
    const foreign = thought('Hm', { family: 'anthropic', kind: 'signature', value: 's' })
    const turns = (...parts: Part[]) => [assistant(...parts), user('And?')]
    expect(bodyOf({ turns: turns(thought('Hm'), foreign, own, text('Yes'), own) }).input).toEqual([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'gAAA' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Yes' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ])
    expect(bodyOf({ turns: turns(own) }).input).toHaveLength(1)
  })

  it("[81] has results before the user's text, [89] with failures marked, [201] and with their images", () => {
    const turns = (...parts: readonly (string | Part)[]) => [assistant(call('c', { input: '' })), user(...parts)]
    expect(bodyOf({ turns: turns('Look', { ...result('c', 'no'), isError: true }) }).input).toMatchObject([
      { arguments: '{}' },
      { type: 'function_call_output', output: 'Error: no' },
      { type: 'message', content: [{ text: 'Look' }] },
    ])
    expect(bodyOf({ turns: turns(result('c', image())) }).input).toMatchObject([
      {},
      { output: [{ type: 'input_image', image_url: 'https://a.example/b.png', detail: 'auto' }] },
    ])
  })

  it('accepts images and documents, also plain text, but no audio', () => {
    const pdf = base64('application/pdf', 'JVBERg==')
    expect(
      inputOf(
        media('image', base64('image/png', 'iVBO'), { detail: 'low' }),
        media('image', { kind: 'file', id: 'file_1', family: 'openai' }),
        media('document', pdf, { title: 'a.pdf' }),
        media('document', { kind: 'url', url: 'https://a.test/c.pdf' }),
        media('document', { kind: 'text', mediaType: 'text/plain', text: 'hello' }),
        text(''),
      ),
    ).toMatchObject([
      {
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'low' },
          { type: 'input_image', file_id: 'file_1', detail: 'auto' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
          { type: 'input_file', file_url: 'https://a.test/c.pdf' },
          { type: 'input_file', filename: 'document.txt', file_data: 'data:text/plain;base64,aGVsbG8=' },
        ],
      },
    ])
    const foreign = media('image', { kind: 'file', id: 'f', family: 'google' })
    expect(refusal({ turns: [user(foreign)] })).toMatchObject({ code: 'untranslatable', field: 'messages' })
    expect(refusal({ turns: [user(media('audio', pdf))] })?.code).toBe('untranslatable')
  })

  it('has an image that the model generated in a user message', () => {
    const turns = [user('Draw'), assistant(media('image', base64('image/png', 'iVBO'))), user('Bigger')]
    expect(bodyOf({ turns }).input).toMatchObject([{ role: 'user' }, { role: 'user', content: [{ type: 'input_image' }] }, {}])
  })

  it('[103] has new names for tools that the vendor would refuse, in choices and history too, and a map to restore them', () => {
    const name = 'mcp__server.tool/x y'
    const { body, toolNames } = write({
      tools: [{ ...tideTool, name }],
      toolChoice: { kind: 'tool', name },
      turns: [user('Hi'), assistant(call('c', { name }))],
    })
    const given = [...(toolNames ?? [])][0]?.[0]
    expect(toolNames?.get(given ?? '')).toBe(name)
    expect(body).toMatchObject({ tools: [{ name: given }], tool_choice: { type: 'function', name: given } })
    expect((body.input as JsonObject[])[1]).toMatchObject({ name: given })
  })

  it('has free-text tools for models that support them, [112] or else functions', () => {
    const format = { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } }
    const patch = { ...tideTool, name: 'patch', schema: undefined, custom: { format } }
    const free = call('c', { name: 'patch', input: '***', isCustom: true })
    const turns = [user('Hi'), assistant(free), user(result('c', 'high'))]
    const choice = { kind: 'tool', name: 'patch' } as const
    const native = write({ tools: [patch], turns, toolChoice: choice })
    expect(native.body).toMatchObject({
      tools: [{ type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } }],
      tool_choice: { type: 'custom', name: 'patch' },
      input: [{}, { type: 'custom_tool_call', input: '***' }, { type: 'custom_tool_call_output' }],
    })
    expect(native.customTools).toBeUndefined()
    const emulated = write({ tools: [patch], turns, toolChoice: choice }, 'gpt-4o')
    expect(emulated.body).toMatchObject({
      tools: [{ type: 'function', name: 'patch', parameters: { required: ['input'] }, strict: false }],
      tool_choice: { type: 'function', name: 'patch' },
      input: [{}, { type: 'function_call', arguments: '{"input":"***"}' }, { type: 'function_call_output' }],
    })
    expect(emulated.customTools).toEqual(new Set(['patch']))
  })

  it('declares a tool as not strict, unless strict was requested, because strict is the default here', () => {
    const strictOf = (tool: Partial<Dialogue['tools'][number]>, from: Dialogue['from'] = 'openai.chat') =>
      (bodyOf({ from, tools: [{ ...tideTool, ...tool }] }).tools as JsonObject[])[0]?.strict
    expect(strictOf({})).toBe(false)
    expect(strictOf({ strict: true })).toBe(true)
    expect(strictOf({ strict: true }, 'anthropic.messages')).toBe(false)
    expect(strictOf({}, 'openai.responses')).toBeUndefined()
    expect(bodyOf({ tools: [{ ...tideTool, strict: true }] }, 'm', { takesStrictTools: false }).tools).toEqual([
      expect.not.objectContaining({ strict: true }),
    ])
  })

  it('[95] [96] has an object schema for every tool', () => {
    const tools = [
      { ...tideTool, name: 'a', schema: undefined },
      { ...tideTool, name: 'b', schema: { properties: {} } },
      { ...tideTool, name: 'a' },
    ]
    expect(bodyOf({ tools }).tools).toMatchObject([
      { name: 'a', parameters: { type: 'object', properties: {} } },
      { name: 'b', parameters: { type: 'object', properties: {} } },
    ])
  })

  it('[110] has no tool choice without tools, and allows some of them by name', () => {
    expect(bodyOf({ toolChoice: { kind: 'required' }, parallelTools: false })).not.toHaveProperty('tool_choice')
    expect(
      bodyOf({
        tools: [tideTool],
        toolChoice: { kind: 'allowed', names: ['get_tide'], isRequired: false },
        parallelTools: false,
      }),
    ).toMatchObject({
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'get_tide' }] },
      parallel_tool_calls: false,
    })
  })

  it('uses the vendor’s own search tool', () => {
    const search = { contextSize: 'low', location: { city: 'Rye' } } as const
    expect(bodyOf({ search }).tools).toEqual([
      { type: 'web_search', search_context_size: 'low', user_location: { type: 'approximate', city: 'Rye' } },
    ])
    expect(bodyOf({ search, reasoning: { mode: { effort: 'minimal' }, show: undefined } }, 'gpt-5')).toMatchObject({
      reasoning: { effort: 'low' },
    })
  })

  it.each<[string, Dialogue['reasoning'], unknown]>([
    ['gpt-5.6', { mode: 'off', show: undefined }, { effort: 'none' }],
    ['gpt-5', { mode: 'off', show: undefined }, { effort: 'minimal' }],
    ['o3', { mode: { effort: 'minimal' }, show: 'summary' }, { effort: 'low', summary: 'auto' }],
    ['gpt-5.6', { mode: { effort: 'minimal' }, show: undefined }, { effort: 'low' }],
    ['gpt-5.6', { mode: { effort: 'max' }, show: undefined }, { effort: 'max' }],
    ['gpt-5.2', { mode: { effort: 'max' }, show: undefined }, { effort: 'xhigh' }],
    ['gpt-5-pro', { mode: { effort: 'low' }, show: undefined }, { effort: 'high' }],
    ['gpt-5.1-codex', { mode: { budgetTokens: 9000 }, show: 'full' }, { effort: 'medium', summary: 'auto' }],
    ['gpt-5.6', { mode: 'auto', show: 'summary' }, { summary: 'auto' }],
    ['gpt-5.6', { mode: 'off', show: 'summary' }, { effort: 'none' }],
    ['unheard-of', { mode: { effort: 'max' }, show: undefined }, { effort: 'high' }],
    ['unheard-of', { mode: 'off', show: undefined }, undefined],
    ['gpt-5.6', undefined, undefined],
  ])('%s: has for the reasoning %j the members %j', (model, reasoning, expected) => {
    expect(bodyOf({ reasoning }, model).reasoning).toEqual(expected)
  })

  it('[170] has no reasoning, encrypted or not, for a model that does not reason', () => {
    const { body, lost } = write({ reasoning: { mode: { effort: 'high' }, show: undefined } }, 'gpt-4o')
    expect(body).not.toHaveProperty('reasoning')
    expect(body).not.toHaveProperty('include')
    expect(lost).toEqual(['reasoning_effort'])
  })

  it('turns thinking off where the host has a switch for it', () => {
    const quirks = { thinkingSwitch: 'thinking-type' } as const
    expect(bodyOf({ reasoning: { mode: 'off', show: undefined } }, 'doubao-seed', quirks)).toMatchObject({
      thinking: { type: 'disabled' },
    })
  })

  it('has sampling parameters only for models that accept them, and reports the rest', () => {
    const sampling = { temperature: 0.2, topP: 0.9, topK: 40, presencePenalty: 1, seed: 7 }
    expect(write({ sampling, stop: ['END'] })).toMatchObject({
      lost: ['presence_penalty', 'seed', 'stop', 'temperature', 'top_k', 'top_p'],
    })
    expect(bodyOf({ sampling }, 'gpt-4o')).toMatchObject({ temperature: 0.2, top_p: 0.9 })
    const off = { mode: 'off', show: undefined } as const
    expect(bodyOf({ sampling, reasoning: off }, 'gpt-5.4')).toMatchObject({ temperature: 0.2, reasoning: { effort: 'none' } })
  })

  it('[199] raises an output limit below 16, [126] and is refused if it requests no output', () => {
    expect(bodyOf({ outputTokensMax: 5 }).max_output_tokens).toBe(16)
    expect(refusal({ outputTokensMax: 0 })).toMatchObject({ code: 'untranslatable', field: 'max_tokens' })
  })

  it('[188] has the schema of the answer next to its name', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const output = { kind: 'schema', name: 'the tide', description: undefined, schema, strict: true } as const
    expect(bodyOf({ output, extra: { verbosity: 'low' } }).text).toEqual({
      format: { type: 'json_schema', name: 'the_tide', schema, strict: true },
      verbosity: 'low',
    })
    const loose = { ...output, name: undefined, strict: undefined, schema: { type: 'object' } }
    expect(bodyOf({ output: loose, from: 'anthropic.messages' }).text).toEqual({
      format: { type: 'json_schema', name: 'response', schema: { type: 'object' }, strict: false },
    })
  })

  it('[187] contains the word JSON where a JSON answer requires it', () => {
    const output = { kind: 'json' } as const
    expect(bodyOf({ output }).input).toMatchObject([
      { role: 'developer', content: [{ text: expect.stringContaining('JSON') }] },
      {},
    ])
    expect(bodyOf({ output, turns: [user('Answer in JSON')] }).input).toHaveLength(1)
  })

  it("keeps members shared by OpenAI's formats, and reports those of others", () => {
    const extra = { metadata: { a: 'b' }, service_tier: 'flex', logit_bias: { 1: 2 }, store: true }
    expect(write({ extra }, 'gpt-5')).toMatchObject({
      body: { metadata: { a: 'b' }, service_tier: 'flex', store: false },
      lost: ['logit_bias', 'store'],
    })
    expect(write({ extra }, 'o1').lost).toEqual(['logit_bias', 'service_tier', 'store'])
    expect(write({ from: 'anthropic.messages', extra: { container: 'c', metadata: { a: 'b' } } })).toMatchObject({
      body: expect.not.objectContaining({ metadata: expect.anything() }),
      lost: ['container', 'metadata'],
    })
    const own = { 'reasoning.mode': 'pro', include: ['web_search_call.action.sources'], truncation: 'auto' }
    expect(bodyOf({ from: 'openai.responses', extra: own })).toMatchObject({
      reasoning: { mode: 'pro' },
      include: ['reasoning.encrypted_content', 'web_search_call.action.sources'],
      truncation: 'auto',
    })
  })

  it('leaves out members that the host refuses, and reports them', () => {
    const quirks = { refuses: ['parallel_tool_calls', 'user'] }
    const { body, lost } = write({ tools: [tideTool], parallelTools: false, user: 'u' }, 'm', quirks)
    expect(body).not.toHaveProperty('parallel_tool_calls')
    expect(body).not.toHaveProperty('user')
    expect(lost).toEqual(['parallel_tool_calls', 'user'])
  })

  it('[144] has a shorter user for one that is too long', () => {
    expect(String(bodyOf({ user: 'u'.repeat(400) }).user).length).toBeLessThanOrEqual(64)
  })

  it('[136] has later instructions at their position, without the billing header of Claude Code', () => {
    const system = ['x-anthropic-billing-header: cc_version=2', 'Be brief', 'In English'].map(
      (text) => ({ kind: 'text', text }) as const,
    )
    const later = instruction('Now in French')
    const { instructions, input } = bodyOf({ system, turns: [user('Hi'), later] })
    expect(instructions).toBe('Be brief\n\nIn English')
    expect(input).toMatchObject([{ role: 'user' }, { role: 'developer', content: [{ text: 'Now in French' }] }])
    expect(bodyOf({ turns: [user('Hi'), later] }, 'gpt-4o').input).toMatchObject([{}, { role: 'system' }])
  })

  it('may have only instructions, but is refused if it is empty', () => {
    const system = [text('Say hi')]
    expect(bodyOf({ system, turns: [] })).toMatchObject({ input: [{ role: 'developer', content: [{ text: 'Say hi' }] }] })
    expect(refusal({ turns: [user('')] })).toMatchObject({ code: 'untranslatable', field: 'messages' })
  })

  it('is refused with a prefilled answer, while a last message of the model is one like all others', () => {
    const turns = [user('Hi'), assistant('The answer is')]
    expect(refusal({ turns, beginsAnswer: true })).toMatchObject({ code: 'untranslatable', field: 'messages' })
    expect(refusal({ turns })).toBeUndefined()
  })

  it('keeps a prompt-cache breakpoint for models that support it', () => {
    const part: Part = text('Long', { cache: { ttl: '1h' } })
    const content = (model: string) => bodyOf({ turns: [user(part)] }, model).input as readonly { content: JsonObject[] }[]
    expect(content('gpt-5.6')[0]?.content[0]).toMatchObject({ prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } })
    expect(content('gpt-5')[0]?.content[0]).not.toHaveProperty('prompt_cache_breakpoint')
  })

  it('keeps a breakpoint in a part of a tool result, and names it for other models', () => {
    const inside = result('call_1', text('Low'), text('High', { cache: { ttl: '5m' } }))
    const turns = (part: Part) => ({ turns: [user('Hi'), assistant(call('call_1')), user(part)] })
    const output = [
      { type: 'input_text', text: 'Low' },
      { type: 'input_text', text: 'High', prompt_cache_breakpoint: { mode: 'explicit' } },
    ]
    const kept = write(turns(inside))
    expect([(kept.body.input as readonly JsonObject[]).at(-1)?.output, kept.lost]).toEqual([output, []])
    expect(write(turns(inside), 'gpt-5').lost).toEqual(['cache_control'])
  })

  it('has the level of detail of a file', () => {
    const file = media('document', base64('application/pdf'), { detail: 'high', title: 'a.pdf' })
    expect(inputOf(file)).toMatchObject([{ content: [{ type: 'input_file', filename: 'a.pdf', detail: 'high' }] }])
  })

  it('keeps a breakpoint of a whole tool result', () => {
    const cache = { ttl: '5m' as const }
    const output = (answer: Part) => bodyOf({ turns: [user('Hi'), assistant(call('1')), user(answer)] }, 'gpt-5.6').input
    const marked = [{ type: 'input_text', text: 'High', prompt_cache_breakpoint: { mode: 'explicit' } }]
    expect(output(result('1', text('High', { cache })))).toMatchObject([{}, {}, { output: marked }])
    expect(output({ ...result('1', text('High')), cache })).toMatchObject([{}, {}, { output: marked }])
    expect(output(result('1', text('High')))).toMatchObject([{}, {}, { output: 'High' }])
  })

  it('is equal to the request of a Responses caller', () => {
    const body = {
      model: 'gpt-5.6',
      instructions: 'Be brief',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
        { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c', output: 'ok' },
      ],
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }],
      tool_choice: 'auto',
      reasoning: { effort: 'high', summary: 'auto' },
      text: { format: { type: 'json_schema', name: 'x', schema: { type: 'object' }, strict: false } },
      include: ['reasoning.encrypted_content'],
      store: false,
    }
    const dialogue = openAiResponsesFormat.inbound.readRequest(body, {})
    expect(write(dialogue ?? dialogueOf())).toMatchObject({ body, lost: [] })
  })
})
