import { describe, expect, it } from 'vitest'
import { refusalOf, seeded, written } from '../../../../../test/helpers/codecs.ts'
import {
  assistant,
  base64,
  call,
  instruction,
  media,
  result,
  text,
  tideTool,
  toolTurns,
  user,
} from '../../../../../test/helpers/dialogue.ts'
import { AppError } from '../../../base/lib/failure.ts'
import type { Quirks } from '../codec.ts'
import type { Dialogue, MediaPart, Part, Turn } from '../dialogue.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import { bedrockConverseFormat } from './format.ts'

const bedrockConverse = bedrockConverseFormat.codec
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const nova = 'amazon.nova-pro-v1:0'
const llama = 'us.meta.llama3-3-70b-instruct-v1:0'
const mistral = 'mistral.mistral-large-2402-v1:0'

const write = (dialogue: Partial<Dialogue>, model = nova, quirks: Quirks = {}) =>
  written(bedrockConverse, dialogue, { model, quirks })
const messages = (turns: readonly Turn[], model = nova) => write({ turns }, model).body.messages
const refusal = (dialogue: Partial<Dialogue>, model?: string) => refusalOf(() => write(dialogue, model))
/** A text with a cache point behind it. */
const marked = (words: string, ttl: '5m' | '1h') => text(words, { cache: { ttl } })
const picture = media('image', base64('image/png', 'YWJj'))
const pdf = base64('application/pdf', 'YWJj')
const spec = (tool: unknown) => (isObject(tool) ? tool.toolSpec : undefined)
const toolConfig = (dialogue: Partial<Dialogue>, model = nova) => {
  const config = write(dialogue, model).body.toolConfig
  return isObject(config) ? config : undefined
}

describe('a request to Converse', () => {
  it('has neither model nor stream in the body, since they are in the URL', () => {
    expect(write({ stream: true }).body).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hello' }] }] })
  })

  it('[137][138] keeps all instructions: those at the head, and later ones as a reminder', () => {
    const system = [text('One.'), text('Two.'), text(' ')] as const
    const later: Turn = instruction('Be brief.')
    const { body } = write({ system, turns: [user('Hi'), later] })
    expect(body.system).toEqual([{ text: 'One.' }, { text: 'Two.' }])
    expect(body.messages).toEqual([
      { role: 'user', content: [{ text: 'Hi' }, { text: '<system-reminder>\nBe brief.\n</system-reminder>' }] },
    ])
  })

  it('puts the instructions before the user text for models without a system prompt', () => {
    const { body } = write({ system: [text('One.')] }, 'amazon.titan-text-express-v1')
    expect(body).toEqual({ messages: [{ role: 'user', content: [{ text: 'One.' }, { text: 'Hello' }] }] })
  })

  it('alternates, begins with the user, and has no blank text', () => {
    expect(messages([assistant('Yo'), user('a'), user(' '), user('b'), assistant(''), user('c')])).toEqual([
      { role: 'user', content: [{ text: '.' }] },
      { role: 'assistant', content: [{ text: 'Yo' }] },
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] },
    ])
    expect(messages([user('a'), assistant('b'), user(' ')])).toMatchObject([{}, {}, { content: [{ text: '.' }] }])
  })

  it('is refused when it has no content', () => {
    expect(refusal({ turns: [user(' ')] })).toMatchObject({ code: 'untranslatable', field: 'messages' })
  })

  it('[135] prefills the answer, without trailing white space, if the model supports it, and is refused otherwise', () => {
    const begun = { turns: [user('a'), assistant('Once upon \n')], beginsAnswer: true } as const
    expect(write(begun).body.messages).toMatchObject([{}, { role: 'assistant', content: [{ text: 'Once upon' }] }])
    expect(refusal(begun, llama)?.code).toBe('untranslatable')
    expect(refusal(begun, 'anthropic.claude-opus-4-6-v1')?.code).toBe('untranslatable')
  })

  it("reports lost members by the caller's names", () => {
    const { lost } = write({
      sampling: { seed: 1, presencePenalty: 1, topK: 3 },
      parallelTools: false,
      tools: [tideTool],
      user: 'u',
      extra: { logit_bias: { 1: 2 }, store: false },
    })
    expect(lost).toEqual(['logit_bias', 'parallel_tool_calls', 'presence_penalty', 'seed', 'user'])
  })
})

describe('sampling and length for Converse', () => {
  it('are in inferenceConfig, within its ranges', () => {
    const { body, lost } = write({ sampling: { temperature: 1.7, topP: 0.9 }, outputTokensMax: 50, stop: ['END', ' ', ''] })
    expect(body.inferenceConfig).toEqual({ maxTokens: 50, temperature: 1, topP: 0.9, stopSequences: ['END'] })
    expect(lost).toEqual(['stop', 'temperature'])
  })

  it.each([
    [nova, { inferenceConfig: { topK: 5 } }],
    [mistral, { top_k: 5 }],
    ['cohere.command-r-plus-v1:0', { k: 5 }],
    ['us.anthropic.claude-3-7-sonnet-20250219-v1:0', { top_k: 5 }],
  ])('have top_k where %s wants it', (model, own) => {
    expect(write({ sampling: { topK: 5 } }, model)).toMatchObject({ body: { additionalModelRequestFields: own }, lost: [] })
  })

  it('report top_k and stop sequences as lost for models that do not support them', () => {
    expect(write({ sampling: { topK: 5 }, stop: ['x'] }, 'openai.gpt-oss-120b-1:0').lost).toEqual(['stop', 'top_k'])
    expect(write({ stop: ['a', 'b', 'c', 'd', 'e'] })).toMatchObject({
      body: { inferenceConfig: { stopSequences: ['a', 'b', 'c', 'd'] } },
      lost: ['stop'],
    })
  })

  it('[130][131] obey the rules of Claude models', () => {
    const { body } = write({ sampling: { temperature: 0.2, topP: 0.5 }, stop: ['END'] }, claude)
    expect(body.inferenceConfig).toEqual({ maxTokens: 8192, temperature: 0.2, stopSequences: ['END'] })
    expect(body.additionalModelResponseFieldPaths).toEqual(['/stop_sequence', '/delta/stop_sequence'])
    expect(write({ sampling: { temperature: 0.7 } }, 'global.anthropic.claude-sonnet-5-5').lost).toEqual(['temperature'])
  })
})

describe('reasoning for Converse', () => {
  const effort = (level: 'low' | 'medium' | 'high'): Partial<Dialogue> => ({
    reasoning: { mode: { effort: level }, show: undefined },
  })

  it('is a budget or an effort for Claude models, with sampling left out', () => {
    const budget = write({ ...effort('high'), sampling: { temperature: 0.2 }, outputTokensMax: 10_000 }, claude).body
    expect(budget.additionalModelRequestFields).toEqual({ thinking: { type: 'enabled', budget_tokens: 6000 } })
    expect(budget.inferenceConfig).toEqual({ maxTokens: 10_000 })
    const adaptive = write(effort('high'), 'anthropic.claude-opus-4-8').body
    expect(adaptive).toMatchObject({
      additionalModelRequestFields: { thinking: { type: 'adaptive' } },
      outputConfig: { effort: 'high' },
    })
  })

  it('has the member of the model’s vendor for other models, or is reported as lost', () => {
    const own = (dialogue: Partial<Dialogue>, model: string) => write(dialogue, model).body.additionalModelRequestFields
    expect(own(effort('medium'), 'openai.gpt-oss-20b-1:0')).toEqual({ reasoning_effort: 'medium' })
    expect(own(effort('high'), 'us.amazon.nova-2-lite-v1:0')).toEqual({
      reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' },
    })
    expect(write({ ...effort('high'), outputTokensMax: 9 }, 'us.amazon.nova-2-lite-v1:0')).toMatchObject({
      body: { additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'medium' } } },
      lost: ['reasoning_effort'],
    })
    expect(write(effort('high'), llama)).toMatchObject({ body: {}, lost: ['reasoning_effort'] })
    expect(write({ reasoning: { mode: 'auto', show: undefined } }, 'openai.gpt-oss-20b-1:0')).toMatchObject({ lost: [] })
  })

  const thought: Turn = assistant(
    { kind: 'reasoning', text: 'Hm.', opaque: { family: 'anthropic', kind: 'signature', value: 'sig' } },
    { kind: 'reasoning', text: '', opaque: { family: 'anthropic', kind: 'redacted', value: 'cmVk' } },
    { kind: 'reasoning', text: 'Unsealed.' },
    { kind: 'reasoning', text: 'Other.', opaque: { family: 'google', kind: 'signature', value: 'g' } },
    text('Yes.'),
  )

  it('[155] of earlier turns is sent back to Claude in its place, if Claude signed or encrypted it', () => {
    expect(messages([user('a'), thought, user('b')], claude)).toMatchObject([
      {},
      {
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
          { reasoningContent: { redactedContent: 'cmVk' } },
          { text: 'Yes.' },
        ],
      },
      {},
    ])
  })

  it('[153] of earlier turns is not sent to other models', () => {
    const other = messages([user('a'), thought, user('b')], 'openai.gpt-oss-20b-1:0')
    expect(other).toMatchObject([{}, { content: [{ text: 'Yes.' }] }, {}])
  })
})

describe('tools for Converse', () => {
  it('are toolSpecs, each with an object schema', () => {
    const bare = { ...tideTool, name: 'bare', description: ' ', schema: undefined }
    expect(toolConfig({ tools: [tideTool, bare, tideTool] })).toEqual({
      tools: [
        { toolSpec: { name: 'get_tide', description: 'Tide of a port', inputSchema: { json: tideTool.schema } } },
        { toolSpec: { name: 'bare', inputSchema: { json: { type: 'object', properties: {} } } } },
      ],
    })
  })

  it('[79] have results with the ids of their calls', () => {
    const turns = [user('a'), ...toolTurns('high', 'call_1')]
    expect(messages(turns)).toEqual([
      { role: 'user', content: [{ text: 'a' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'call_1', name: 'get_tide', input: { port: 'Rye' } } }] },
      { role: 'user', content: [{ toolResult: { toolUseId: 'call_1', content: [{ text: 'high' }] } }] },
    ])
  })

  it('[85] have a placeholder block in an empty result', () => {
    expect(messages(toolTurns(''))).toMatchObject([{}, {}, { content: [{ toolResult: { content: [{ text: '(empty)' }] } }] }])
  })

  it('[89] mark a result as an error, or by a text for models without that status', () => {
    const failed = [assistant(call('a')), user({ ...result('a', 'no port'), isError: true })]
    expect(messages(failed)).toMatchObject([{}, {}, { content: [{ toolResult: { status: 'error' } }] }])
    expect(messages(failed, llama)).toMatchObject([
      {},
      {},
      { content: [{ toolResult: { content: [{ text: 'Error: ' }, { text: 'no port' }] } }] },
    ])
  })

  it('[90][91] have call ids that Bedrock accepts, the same for call and result', () => {
    const long = `call:${'x'.repeat(120)}`
    // The writer only produces messages of this type.
    const [, call, result] = messages([user('a'), ...toolTurns('high', long)]) as JsonObject[]
    const used = JSON.stringify(call).match(/"toolUseId":"([^"]+)"/)?.[1]
    expect(used).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(JSON.stringify(result)).toContain(`"toolUseId":"${used}"`)
  })

  it('[92] have call ids of nine characters for Mistral', () => {
    expect(JSON.stringify(messages([user('a'), ...toolTurns()], mistral))).toMatch(/"toolUseId":"[a-zA-Z0-9]{9}"/)
  })

  it("[103][104] have names that Bedrock accepts, mapped back to the caller's", () => {
    const name = `mcp__server.tool/${'x'.repeat(60)}`
    const { body, toolNames } = write({ tools: [{ ...tideTool, name }], turns: [user('a')] })
    const given = JSON.stringify(body).match(/"name":"([^"]+)"/)?.[1] ?? ''
    expect(given).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(toolNames?.get(given)).toBe(name)
  })

  it('[112] have free-text input in the member input', () => {
    const custom = { ...tideTool, name: 'shell', schema: undefined, custom: { format: undefined } }
    const free = call('c', { name: 'shell', input: 'ls -l', isCustom: true })
    const { body, customTools } = write({ tools: [custom], turns: [user('a'), assistant(free)] })
    expect(body.messages).toMatchObject([{}, { content: [{ toolUse: { input: { input: 'ls -l' } } }] }, {}])
    expect(customTools).toEqual(new Set(['shell']))
  })

  it('are refused for models without tools, and when two tools have the same name', () => {
    expect(refusal({ tools: [tideTool] }, 'us.deepseek.r1-v1:0')).toMatchObject({ code: 'untranslatable', field: 'tools' })
    expect(refusal({ tools: [tideTool, { ...tideTool, description: 'Other' }] })?.code).toBe('untranslatable')
    expect(write({ tools: [tideTool], toolChoice: { kind: 'none' } }, 'us.deepseek.r1-v1:0').lost).toEqual([])
  })

  it('are strict if the model enforces schemas, otherwise strict is reported as lost', () => {
    const strict = { ...tideTool, strict: true }
    const config = toolConfig({ tools: [strict] }, claude)
    expect(spec(Array.isArray(config?.tools) ? config.tools[0] : undefined)).toMatchObject({
      strict: true,
      inputSchema: { json: { additionalProperties: false } },
    })
    expect(write({ tools: [strict] })).toMatchObject({ lost: ['tools.strict'] })
  })

  it('get a non-streamed reply from models that cannot stream with tools', () => {
    expect(write({ tools: [tideTool], stream: true }, llama).isWhole).toBe(true)
    expect(write({ tools: [tideTool], stream: true }).isWhole).toBeUndefined()
    expect(write({ stream: true }, llama).isWhole).toBeUndefined()
  })
})

describe('the choice of tools for Converse', () => {
  const choose = (toolChoice: Dialogue['toolChoice'], model = nova) => write({ tools: [tideTool], toolChoice }, model)

  it.each<[string, Dialogue['toolChoice'], string, JsonObject | undefined, string[]]>([
    ['auto', { kind: 'auto' }, nova, undefined, []],
    ['required', { kind: 'required' }, nova, { any: {} }, []],
    ['one tool', { kind: 'tool', name: 'get_tide' }, nova, { tool: { name: 'get_tide' } }, []],
    ['one tool, where only any is known', { kind: 'tool', name: 'get_tide' }, mistral, { any: {} }, []],
    ['required, where only auto is known', { kind: 'required' }, llama, undefined, ['tool_choice']],
    ['some tools', { kind: 'allowed', names: ['get_tide'], isRequired: true }, nova, { any: {} }, []],
    [
      'required, for a model that cannot be made to',
      { kind: 'required' },
      'anthropic.claude-sonnet-5-5',
      undefined,
      ['tool_choice'],
    ],
  ])('is written for %s', (_name, toolChoice, model, expected, lost) => {
    const request = choose(toolChoice, model)
    const config = request.body.toolConfig
    expect(isObject(config) ? config.toolChoice : 'no tools').toEqual(expected)
    expect(request.lost).toEqual(lost)
  })

  it('[107] is auto while a Claude model thinks', () => {
    const request = write(
      { tools: [tideTool], toolChoice: { kind: 'required' }, reasoning: { mode: { effort: 'low' }, show: undefined } },
      claude,
    )
    expect(request.body.toolConfig).not.toHaveProperty('toolChoice')
    expect(request.lost).toContain('tool_choice')
  })

  it('leaves out the tools that are not allowed', () => {
    const other = { ...tideTool, name: 'other' }
    const allowed = toolConfig({ tools: [tideTool, other], toolChoice: { kind: 'allowed', names: ['other'], isRequired: false } })
    expect(JSON.stringify(allowed)).not.toContain('get_tide')
    const only = toolConfig({ tools: [tideTool, other], toolChoice: { kind: 'tool', name: 'other' } }, mistral)
    expect(JSON.stringify(only)).not.toContain('get_tide')
  })

  it('[108] none leaves out the tools, but keeps them and adds an instruction if the history has calls', () => {
    expect(choose({ kind: 'none' })).toMatchObject({ lost: [] })
    expect(choose({ kind: 'none' }).body).not.toHaveProperty('toolConfig')

    const turns = [user('a'), ...toolTurns(), user('and now?')]
    const { body, lost } = write({ tools: [tideTool], toolChoice: { kind: 'none' }, turns })
    expect(body.toolConfig).toEqual({
      tools: [expect.objectContaining({ toolSpec: expect.objectContaining({ name: 'get_tide' }) })],
    })
    expect(body.system).toEqual([{ text: 'Do not call any tool. Answer in text.' }])
    expect(lost).toEqual(['tool_choice'])
  })

  it('[108] declares tools for calls in the history if the caller declared none', () => {
    const { body, lost } = write({ turns: [user('a'), ...toolTurns(), user('and now?')] })
    expect(body.toolConfig).toEqual({
      tools: [{ toolSpec: { name: 'get_tide', inputSchema: { json: { type: 'object', properties: {} } } } }],
    })
    expect(body.system).toEqual([{ text: 'Do not call any tool. Answer in text.' }])
    expect(lost).toEqual([])
  })
})

describe('an answer in JSON from Converse', () => {
  const schema = { type: 'object', properties: { a: { type: 'string', minLength: 2 } }, required: ['a'] }
  const output = { kind: 'schema', name: 'my answer', description: 'D', schema, strict: true } as const

  it('has a format with the schema if the model supports it', () => {
    const { body, lost } = write({ output }, claude)
    expect(body.outputConfig).toMatchObject({
      textFormat: { type: 'json_schema', structure: { jsonSchema: { name: 'my_answer', description: 'D' } } },
    })
    const written = JSON.stringify(body.outputConfig)
    expect(written).toContain('\\"additionalProperties\\":false')
    expect(lost).toEqual([])
  })

  it('[185] is the input of a tool if the model supports no schema', () => {
    const { body, answerTool } = write({ output })
    expect(answerTool).toBe('json_response')
    expect(body.toolConfig).toMatchObject({ toolChoice: { tool: { name: 'json_response' } } })
    expect(toolConfig({ output, tools: [tideTool] })).toMatchObject({ toolChoice: { any: {} }, tools: [{}, {}] })
  })

  it('is requested in the system prompt when no tool can be forced', () => {
    const { body, lost } = write({ output }, llama)
    expect(JSON.stringify(body.system)).toContain('JSON schema')
    expect(lost).toEqual(['response_format'])
    expect(write({ output: { kind: 'json' } }).lost).toEqual(['response_format'])
  })
})

describe('cache points for Converse', () => {
  it('[141] follow the marked parts: tools, instructions, messages and results', () => {
    const { body, lost } = write(
      {
        system: [marked('S', '1h')],
        tools: [{ ...tideTool, cache: { ttl: '1h' } }],
        turns: [user(marked('a', '5m')), assistant(call('a')), user({ ...result('a', 'high'), cache: { ttl: '5m' } })],
      },
      claude,
    )
    const short = { cachePoint: { type: 'default' } }
    const long = { cachePoint: { type: 'default', ttl: '1h' } }
    expect(body).toMatchObject({
      toolConfig: { tools: [{ toolSpec: {} }, long] },
      system: [{ text: 'S' }, long],
      messages: [{ content: [{ text: 'a' }, short] }, {}, { content: [{ toolResult: {} }, short] }],
    })
    expect(lost).toEqual([])
  })

  it('[140] are limited to the last four, without a one-hour point after a shorter one', () => {
    const turns = [user(...['a', 'b', 'c', 'd', 'e'].map((value, at) => marked(value, at === 2 ? '5m' : '1h')))]
    const points = JSON.stringify(messages(turns, claude)).match(/"cachePoint":\{[^}]*\}/g)
    expect(points).toEqual([
      '"cachePoint":{"type":"default","ttl":"1h"}',
      '"cachePoint":{"type":"default"}',
      '"cachePoint":{"type":"default"}',
      '"cachePoint":{"type":"default"}',
    ])
  })

  it('are not sent to models that refuse them', () => {
    const turns = [user(marked('a', '1h'))]
    expect(write({ turns }, llama)).toMatchObject({ lost: ['cache_control'], body: { messages: [{ content: [{ text: 'a' }] }] } })
    expect(write({ turns, tools: [{ ...tideTool, cache: { ttl: '5m' } }] })).toMatchObject({
      lost: ['cache_control'],
      body: { toolConfig: { tools: [{ toolSpec: {} }] }, messages: [{ content: [{}, { cachePoint: { type: 'default' } }] }] },
    })
    const old = JSON.stringify(messages(turns, 'anthropic.claude-3-5-haiku-20241022-v1:0'))
    expect(old).toContain('"cachePoint":{"type":"default"}')
  })
})

describe('media for Converse', () => {
  it('[139] are bytes with their format', () => {
    const video = media('video', { kind: 'url', url: 's3://bucket/film.mp4' })
    const { body, lost } = write({ turns: [user('', { ...picture, detail: 'high' }, video)] })
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { image: { format: 'png', source: { bytes: 'YWJj' } } },
          { video: { format: 'mp4', source: { s3Location: { uri: 's3://bucket/film.mp4' } } } },
        ],
      },
    ])
    expect(lost).toEqual(['detail'])
  })

  it('have unique document names that Bedrock accepts, and a text next to documents', () => {
    const long = `${'a'.repeat(179)} b.pdf`
    const titles = ['Q1_report (final).pdf', 'Q1_report (final).pdf', '报告.pdf', undefined, 'a  b\t[c]-d!', long, long]
    const documents = titles.map((title) => media('document', pdf, title ? { title } : {}))
    // The writer only produces messages of this type.
    const [message] = messages([user(...documents)]) as { content: JsonObject[] }[]
    const names = message?.content.map(({ document }) => (isObject(document) ? document.name : 'text'))
    const cut = 'a'.repeat(179)
    const given = ['Q1 report (final)', 'Q1 report (final) 2', 'Document', 'Document 2', 'a b [c]-d', cut, `${cut} 2`]
    expect(names).toEqual([...given, 'text'])
    expect(message?.content.at(-1)).toEqual({ text: '.' })
  })

  it.each([
    [{ kind: 'text', mediaType: 'text/plain', text: '中' } as const, 'txt', '5Lit'],
    [base64('text/csv'), 'csv', 'AAAA'],
    [base64('application/json'), 'txt', 'AAAA'],
    [base64('text/x-python'), 'txt', 'AAAA'],
    [base64('application/vnd.openxmlformats-officedocument.wordprocessingml.document'), 'docx', 'AAAA'],
  ])('take the document %j', (source, format, bytes) => {
    expect(messages([user(media('document', source))])).toMatchObject([
      { content: [{ document: { format, source: { bytes } } }, {}] },
    ])
  })

  it('are valid in tool results too', () => {
    expect(messages([assistant(call('a')), user(result('a', media('image', base64('image/jpeg'))))])).toMatchObject([
      {},
      {},
      { content: [{ toolResult: { content: [{ image: { format: 'jpeg' } }] } }] },
    ])
  })

  it.each<[string, MediaPart, string]>([
    ['a recording', media('audio', base64('audio/wav')), nova],
    ['an unknown picture', media('image', base64('image/tiff')), nova],
    ['a file of another vendor', media('document', { kind: 'file', id: 'file-1', family: 'openai' }), nova],
    ['an address elsewhere', media('image', { kind: 'url', url: 'gs://bucket/a.png' }), nova],
    ['a picture for a model that does not see', picture, llama],
    ['a document for a model that does not read', media('document', pdf), 'amazon.nova-micro-v1:0'],
  ])('are refused for %s', (_name, part, model) => {
    expect(refusal({ turns: [user(part)] }, model)).toMatchObject({ code: 'untranslatable', field: 'messages' })
  })

  it('in assistant turns become text', () => {
    const { body, lost } = write({ turns: [user('a'), assistant(picture), user('b')] })
    expect(body.messages).toMatchObject([{}, { content: [{ text: '[image]' }] }, {}])
    expect(lost).toEqual(['messages.image'])
  })
})

describe('any conversation for Converse', () => {
  const models = [claude, nova, llama, mistral, 'openai.gpt-oss-120b-1:0', 'amazon.titan-text-express-v1', 'some.new-model-v1:0']
  const marks = [undefined, { ttl: '5m' }, { ttl: '1h' }] as const

  function randomTurns(random: () => number): Turn[] {
    const pick = <T>(values: readonly [T, ...T[]]): T => values[Math.floor(random() * values.length)] ?? values[0]
    const part = (): Part => {
      const cache = pick(marks)
      const marked = cache ? { cache } : {}
      switch (Math.floor(random() * 6)) {
        case 0:
          return { kind: 'tool-call', callId: pick(['a', 'b', '', 'x:1']), name: pick(['f', 'g']), input: '{', isCustom: false }
        case 1:
          return {
            kind: 'tool-result',
            callId: pick(['a', 'b', '']),
            parts: [],
            isError: random() < 0.5,
            isCustom: false,
            ...marked,
          }
        case 2:
          return { kind: 'reasoning', text: 'Hm.', opaque: { family: 'anthropic', kind: 'signature', value: 's' } }
        case 3:
          return { kind: 'refusal', text: pick(['', 'No.']) }
        default:
          return { kind: 'text', text: pick(['', ' ', 'x', 'y']), ...marked }
      }
    }
    return Array.from({ length: Math.floor(random() * 7) }, () => ({
      role: pick(['user', 'user', 'assistant', 'system']),
      parts: Array.from({ length: Math.floor(random() * 4) }, part),
    }))
  }

  /** The reasons for which Bedrock would return 400. */
  function faultsOf(body: JsonObject): string[] {
    const faults: string[] = []
    // The writer only produces messages of this type.
    const told = (Array.isArray(body.messages) ? body.messages : []) as { role: string; content: JsonObject[] }[]
    const ids = (message: (typeof told)[number] | undefined, kind: 'toolUse' | 'toolResult') =>
      (message?.content ?? []).flatMap((block) => (isObject(block[kind]) ? [String(block[kind].toolUseId)] : []))
    for (const [at, message] of told.entries()) {
      if (message.role !== (at % 2 === 0 ? 'user' : 'assistant')) faults.push('the roles do not alternate from the user on')
      if (message.content.length === 0) faults.push('a message is empty')
      if (message.content.some(({ text: said }) => typeof said === 'string' && said.trim() === '')) faults.push('a text is blank')
      const called = ids(message, 'toolUse')
      if (new Set(called).size < called.length) faults.push('two calls have one id')
      if (called.join() !== ids(told[at + 1], 'toolResult').join()) faults.push('calls and results do not fit together')
    }
    const text = JSON.stringify(body)
    if (text.includes('toolUse') && body.toolConfig === undefined) faults.push('calls without tools')
    if ((text.match(/"cachePoint"/g)?.length ?? 0) > 4) faults.push('too many cache points')
    return faults
  }

  it('is written in a form that Bedrock accepts, or refused', () => {
    let count = 0
    for (let seed = 1; seed <= 1500; seed++) {
      const random = seeded(seed)
      const dialogue: Partial<Dialogue> = {
        turns: randomTurns(random),
        system: random() < 0.5 ? [text('S', { cache: { ttl: '1h' } })] : [],
        tools: random() < 0.5 ? [{ ...tideTool, cache: { ttl: '5m' } }] : [],
        toolChoice: random() < 0.5 ? { kind: 'none' } : undefined,
      }
      const model = models[seed % models.length] ?? nova
      try {
        expect(faultsOf(write(dialogue, model).body), JSON.stringify([model, dialogue])).toEqual([])
        count++
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        expect(error.code).toBe('untranslatable')
      }
    }
    expect(count).toBeGreaterThan(700)
  })
})
