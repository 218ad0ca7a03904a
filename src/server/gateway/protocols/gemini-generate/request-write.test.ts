import { describe, expect, it } from 'vitest'
import { written as writtenBy } from '../../../../../test/helpers/codecs.ts'
import {
  assistant,
  base64,
  call,
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
import type { Dialogue, MediaPart, Opaque, Part, Reasoning, ToolResultPart } from '../dialogue.ts'
import { isObject, type JsonObject } from '../wire-format.ts'
import { geminiGenerateFormat } from './format.ts'

const { codec } = geminiGenerateFormat
const flash3 = 'gemini-3.7-flash'
const flash2 = 'gemini-2.5-flash'

function written(dialogue: Partial<Dialogue>, model = flash3, quirks: Quirks = {}) {
  return writtenBy(codec, dialogue, { model, quirks })
}

interface Content {
  readonly role: string
  readonly parts: readonly JsonObject[]
}

/** The writer always produces contents of this type. */
const contentsOf = (dialogue: Partial<Dialogue>, model = flash3) => written(dialogue, model).body.contents as readonly Content[]
const partsOf = (parts: readonly Part[], model = flash3) => contentsOf({ turns: [user(...parts)] }, model)[0]?.parts
const configOf = (dialogue: Partial<Dialogue>, model = flash3) => written(dialogue, model).body.generationConfig ?? {}
const thinkingOf = (mode: Reasoning['mode'], model: string, more: Partial<Dialogue> = {}) => {
  const config = configOf({ reasoning: { mode, show: 'none' }, ...more }, model)
  return isObject(config) ? config.thinkingConfig : undefined
}
const png = base64('image/png', 'iVBORw0KGgo=')
const image = (more: Partial<MediaPart> = {}) => media('image', png, more)
const code = (expected: string, params = {}) =>
  expect.objectContaining({ code: expected, params: expect.objectContaining(params) })
const seal: Opaque = { family: 'google', kind: 'signature', value: 'c2ln' }

describe('a conversation for Gemini', () => {
  it('has every instruction at the head in order, one part each, and no model in the body', () => {
    const { body } = written({
      system: [text('Be brief.'), text('Be kind.')],
    })
    expect(body.systemInstruction).toEqual({ parts: [{ text: 'Be brief.' }, { text: 'Be kind.' }] })
    expect(body).not.toHaveProperty('model')
    expect(body).not.toHaveProperty('stream')
  })

  it('has instructions in the middle as marked user text', () => {
    const turns = [user('Hi'), assistant('Yes?'), instruction('Speak French.')]
    expect(contentsOf({ turns }).at(-1)).toEqual({
      role: 'user',
      parts: [{ text: '<system-reminder>\nSpeak French.\n</system-reminder>' }],
    })
  })

  it('alternates and begins with the user', () => {
    const turns = [assistant('Hello'), user('a'), user('b'), assistant(''), user('c')]
    expect(contentsOf({ turns })).toEqual([
      { role: 'user', parts: [{ text: '.' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }, { text: 'c' }] },
    ])
  })

  it('is refused with a prefilled answer, or without content', () => {
    const begun = { turns: [user('a'), assistant('b')], beginsAnswer: true } as const
    expect(() => written(begun)).toThrow(code('untranslatable', { field: 'messages' }))
    expect(() => written({ turns: [user('')] })).toThrow(code('untranslatable', { field: 'messages' }))
  })

  it('[181] has the replacement character for lone surrogates', () => {
    expect(partsOf([text('a\ud800b\u0000')])).toEqual([{ text: 'a\ufffdb\u0000' }])
    const args = contentsOf({
      turns: [user('a'), assistant(call('c', { input: '{"port":"\\ud83d"}' }))],
    })[1]?.parts[0]
    expect(args).toMatchObject({ functionCall: { args: { port: '\ufffd' } } })
  })
})

describe('calls and results for Gemini', () => {
  it("[78] have the call's id on its result, and results in the order of the calls", () => {
    const turns = [user('tides'), assistant(call('a'), call('b')), user(result('b', 'two'), result('a', 'one'))]
    expect(contentsOf({ turns }).at(-1)?.parts).toEqual([
      { functionResponse: { id: 'a', name: 'get_tide', response: { result: 'one' } } },
      { functionResponse: { id: 'b', name: 'get_tide', response: { result: 'two' } } },
    ])
  })

  it('[77] get an id if they have none', () => {
    const turns = [
      user('tides'),
      assistant(call(''), call('')),
      user({ ...result('', 'one'), name: 'get_tide' }, { ...result('', 'two'), name: 'get_tide' }),
    ]
    const [, calls, results] = contentsOf({ turns })
    const ids = calls?.parts.map((part) => isObject(part.functionCall) && part.functionCall.id)
    expect(new Set(ids).size).toBe(2)
    expect(results?.parts).toMatchObject([
      { functionResponse: { id: ids?.[0], response: { result: 'one' } } },
      { functionResponse: { id: ids?.[1], response: { result: 'two' } } },
    ])
  })

  it('[80] are in one content for three tool messages', () => {
    const turns = [
      user('tides'),
      assistant(call('a'), call('b'), call('c')),
      ...['a', 'b', 'c'].map((id) => user(result(id, 'high'))),
      user('and now?'),
    ]
    const last = contentsOf({ turns }).at(-1)
    expect(contentsOf({ turns })).toHaveLength(3)
    expect(last?.parts.map((part) => Object.keys(part)[0])).toEqual([
      'functionResponse',
      'functionResponse',
      'functionResponse',
      'text',
    ])
  })

  const responseFor = (part: Part, model = flash3) => {
    const turns = [user('t'), assistant(call('a')), user(part)]
    return contentsOf({ turns }, model).at(-1)?.parts
  }
  it.each<[string, ToolResultPart, object]>([
    ['[85] include an empty result as an empty string', result('a', ''), { result: '' }],
    ['[86] have the texts of one result joined', result('a', 'a', 'b'), { result: 'a\nb' }],
    ['[88] include an object unchanged', result('a', '{"level":3.2}'), { level: 3.2 }],
    ['[88] include other JSON as text', result('a', '[1]'), { result: '[1]' }],
    ['[88] include what is no JSON as text', result('a', '{not json'), { result: '{not json' }],
    ['[88] include an object with a reference as text', result('a', '{"a":[{"$ref":"x"}]}'), { result: '{"a":[{"$ref":"x"}]}' }],
    ['[89] have a failed tool result as an error', { ...result('a', 'no port'), isError: true }, { error: 'no port' }],
  ])('%s', (_, part, response) => {
    expect(responseFor(part)?.[0]).toMatchObject({ functionResponse: { response } })
  })

  it('[87] keep an image of a result: inside it for newer models, after the results for older ones', () => {
    const pictured = result('a', 'see', image())
    const inlineData = { mimeType: 'image/png', data: 'iVBORw0KGgo=' }
    expect(responseFor(pictured)).toEqual([
      { functionResponse: { id: 'a', name: 'get_tide', response: { result: 'see' }, parts: [{ inlineData }] } },
    ])
    expect(responseFor(pictured, flash2)).toEqual([
      { functionResponse: { id: 'a', name: 'get_tide', response: { result: 'see' } } },
      { inlineData },
    ])
  })

  it('[68] have empty arguments for a call without input', () => {
    const turns = [user('t'), assistant(call('a', { input: '' }))]
    expect(contentsOf({ turns })[1]?.parts[0]).toMatchObject({ functionCall: { args: {} } })
  })
})

describe('signatures', () => {
  const modelParts = (parts: readonly Part[], model = flash3) =>
    contentsOf({ turns: [user('t'), assistant(...parts)] }, model)[1]?.parts

  it('[150] are replaced by the sentinel on the first call of a model turn if it has none', () => {
    const turns = [user('t'), ...toolTurns(), ...toolTurns('low', 'call_2')]
    const signed = contentsOf({ turns }).filter(({ role }) => role === 'model')
    expect(signed.map(({ parts }) => parts[0]?.thoughtSignature)).toEqual(Array(2).fill('skip_thought_signature_validator'))
    expect(contentsOf({ turns }, flash2)[1]?.parts[0]).not.toHaveProperty('thoughtSignature')
  })

  it('[151] stay on the call that they belong to, and are copied to no other', () => {
    expect(modelParts([call('a', { opaque: seal }), call('b')])).toMatchObject([{ thoughtSignature: 'c2ln' }, {}])
    expect(modelParts([call('a', { opaque: seal }), call('b')])?.[1]).not.toHaveProperty('thoughtSignature')
  })

  it('[152] are sent back on their text, and those of a thought on the part after it', () => {
    expect(modelParts([text('Hi', { opaque: seal }), call('a')])).toMatchObject([
      { text: 'Hi', thoughtSignature: 'c2ln' },
      { thoughtSignature: 'skip_thought_signature_validator' },
    ])
    expect(modelParts([thought('Hm', seal), call('a')])).toMatchObject([{ thoughtSignature: 'c2ln' }])
  })

  it('[153] of other families are left out, with their thoughts', () => {
    const foreign: Opaque = { family: 'anthropic', kind: 'signature', value: 'sonnet' }
    const parts = modelParts([thought('Hm', foreign), call('a', { opaque: foreign })])
    expect(JSON.stringify(parts)).not.toContain('sonnet')
    expect(parts).toHaveLength(1)
  })
})

describe('media for Gemini', () => {
  it('[171] are all accepted only as bytes, so that URLs are fetched first', () => {
    expect(codec.inlines).toEqual(['image', 'document', 'audio', 'video'])
    expect(partsOf([image()])).toEqual([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }])
  })

  it('[174] include a PDF inline', () => {
    expect(partsOf([media('document', base64('application/pdf', 'JVBERi0='))])).toEqual([
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
    ])
  })

  it("[176] include audio inline with Gemini's name of its type", () => {
    expect(partsOf([media('audio', base64('audio/mpeg', 'SUQz'))])).toEqual([
      { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
    ])
  })

  it('[177] are refused rather than dropped if Gemini cannot read them', () => {
    const gif = media('image', base64('image/gif', 'R0lGODlh'))
    const file = image({ source: { kind: 'file', id: 'file-1', family: 'openai' } })
    const sheet = media('document', base64('application/msword', 'AA=='))
    for (const part of [gif, file, sheet]) expect(() => partsOf([part])).toThrow(code('untranslatable', { field: 'messages' }))
  })

  it('include plain text inline, and files stored at Google by their URI', () => {
    const plain = media('document', { kind: 'text', mediaType: 'text/plain', text: 'hi' })
    const stored = image({ source: { kind: 'file', id: 'gs://bucket/a.png', family: 'google' } })
    expect(partsOf([plain, stored])).toEqual([
      { inlineData: { mimeType: 'text/plain', data: 'aGk=' } },
      { fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/a.png' } },
    ])
  })

  it('have a resolution for each image where the model supports it, and report it as lost elsewhere', () => {
    const turns = [user(image({ detail: 'low' }))]
    expect(contentsOf({ turns })[0]?.parts[0]).toMatchObject({ mediaResolution: { level: 'MEDIA_RESOLUTION_LOW' } })
    const older = written({ turns }, flash2)
    expect([JSON.stringify(older.body).includes('mediaResolution'), older.lost]).toEqual([false, ['detail']])
    const inResult = written({ turns: [user('Hi'), assistant(call('c')), user(result('c', image({ detail: 'low' })))] })
    expect([JSON.stringify(inResult.body).includes('mediaResolution'), inResult.lost]).toEqual([false, ['detail']])
  })

  it('are reported as lost in a turn of the model', () => {
    const turns = [user('Draw'), assistant('Here', image()), user('Another')]
    expect(written({ turns, from: 'openai.responses' })).toMatchObject({
      body: { contents: [{ role: 'user' }, { role: 'model', parts: [{ text: 'Here' }] }, { role: 'user' }] },
      lost: ['input.image'],
    })
  })
})

describe('tools for Gemini', () => {
  it('are all declared in one tool, under valid names', () => {
    const tools = [tideTool, { ...tideTool, name: '9 lives!', description: undefined, schema: undefined }]
    const { body, toolNames } = written({ tools })
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          {
            name: 'get_tide',
            description: 'Tide of a port',
            parametersJsonSchema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
          },
          { name: '_9_lives_' },
        ],
      },
    ])
    expect(toolNames).toEqual(new Map([['_9_lives_', '9 lives!']]))
  })

  it('[276] have the same new name everywhere: tools, choice, history, results', () => {
    const name = 'mcp server/tool'
    const turns = [user('t'), assistant(call('a', { name })), user(result('a', 'high'))]
    const { body } = written({ tools: [{ ...tideTool, name }], toolChoice: { kind: 'tool', name }, turns })
    expect(JSON.stringify(body)).not.toContain(name)
    expect(body.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['mcp_server_tool'] } })
    expect(body.contents).toMatchObject([
      {},
      { parts: [{ functionCall: { name: 'mcp_server_tool' } }] },
      { parts: [{ functionResponse: { name: 'mcp_server_tool' } }] },
    ])
  })

  it('have schemas in the older form for the oldest models and for upstreams that require it', () => {
    const older = { name: 'get_tide', parameters: { type: 'OBJECT', properties: { port: { type: 'STRING' } } } }
    expect(written({ tools: [tideTool] }, 'gemini-1.5-pro').body.tools).toMatchObject([{ functionDeclarations: [older] }])
    expect(written({ tools: [tideTool] }, flash3, { openApiSchemas: true }).body.tools).toMatchObject([
      { functionDeclarations: [older] },
    ])
  })

  it('include a free-text tool as a function with the string `input`', () => {
    const tool = { ...tideTool, schema: undefined, custom: { format: { type: 'grammar' } } }
    const { body, customTools, lost } = written({ tools: [tool] })
    expect(customTools).toEqual(new Set(['get_tide']))
    expect(lost).toEqual(['tools.format'])
    expect(body.tools).toMatchObject([
      { functionDeclarations: [{ parametersJsonSchema: { properties: { input: { type: 'string' } }, required: ['input'] } }] },
    ])
  })

  const choice = (toolChoice: Dialogue['toolChoice'], model = flash3) =>
    written({ tools: [tideTool, { ...tideTool, name: 'other' }], toolChoice }, model).body.toolConfig

  it.each([
    [{ kind: 'auto' }, { mode: 'AUTO' }],
    [{ kind: 'auto', isValidated: true }, { mode: 'VALIDATED' }],
    [{ kind: 'none' }, { mode: 'NONE' }],
    [{ kind: 'required' }, { mode: 'ANY' }],
    [
      { kind: 'tool', name: 'other' },
      { mode: 'ANY', allowedFunctionNames: ['other'] },
    ],
    [
      { kind: 'allowed', names: ['other'], isRequired: true },
      { mode: 'ANY', allowedFunctionNames: ['other'] },
    ],
    [
      { kind: 'allowed', names: ['other'], isRequired: false },
      { mode: 'VALIDATED', allowedFunctionNames: ['other'] },
    ],
  ] as const)('says the choice %j', (given, config) => {
    expect(choice(given)).toEqual({ functionCallingConfig: config })
  })

  it('have no tool choice without tools, and are refused with a choice of an undeclared tool', () => {
    expect(written({ toolChoice: { kind: 'required' } }).body).not.toHaveProperty('toolConfig')
    expect(() => choice({ kind: 'tool', name: 'unknown' })).toThrow(code('untranslatable', { field: 'tool_choice' }))
  })

  it('include the web search as a tool, which is refused together with functions', () => {
    const search = { contextSize: 'low' as const, location: undefined }
    const { body, lost } = written({ search })
    expect(body.tools).toEqual([{ googleSearch: {} }])
    expect(lost).toEqual(['web_search_options.search_context_size'])
    expect(() => written({ search, tools: [tideTool] })).toThrow(code('untranslatable', { field: 'web_search_options' }))
  })
})

describe('limits and sampling for Gemini', () => {
  it("respect the model's limits, and report losses", () => {
    const { body, lost } = written({
      sampling: { temperature: 3, topP: 0.5, topK: 40, seed: 2 ** 40 + 5, presencePenalty: 1, frequencyPenalty: 2 },
      stop: ['a', '', 'b', 'c', 'd', 'e', 'f'],
      outputTokensMax: 1_000_000,
      parallelTools: false,
      tools: [tideTool],
      user: 'u',
    })
    expect(body.generationConfig).toEqual({
      temperature: 2,
      topP: 0.5,
      topK: 40,
      seed: 5,
      stopSequences: ['a', 'b', 'c', 'd', 'e'],
      maxOutputTokens: 65_536,
    })
    expect(lost).toEqual([
      ...['frequency_penalty', 'max_tokens', 'parallel_tool_calls', 'presence_penalty', 'seed', 'stop', 'temperature', 'user'],
    ])
  })

  it('include penalties for models that support them', () => {
    expect(configOf({ sampling: { presencePenalty: -3, frequencyPenalty: 2 } }, 'gemini-2.0-flash')).toEqual({
      presencePenalty: -2,
      frequencyPenalty: 1.99,
    })
  })

  it('include nothing that was not requested', () => {
    expect(written({}).body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] })
  })

  it("include the operator's safety thresholds, by category or by default", () => {
    const own = { HARM_CATEGORY_CIVIC_INTEGRITY: 'BLOCK_NONE', HARM_CATEGORY_JAILBREAK: 'BLOCK_NONE' }
    const { body } = writtenBy(codec, {}, { model: flash3, settings: { geminiSafety: { default: 'OFF', ...own } } })
    expect(body.safetySettings).toEqual([
      { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' },
      { category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'OFF' },
      { category: 'HARM_CATEGORY_SEXUALLY_EXPLICIT', threshold: 'OFF' },
      { category: 'HARM_CATEGORY_DANGEROUS_CONTENT', threshold: 'OFF' },
      { category: 'HARM_CATEGORY_CIVIC_INTEGRITY', threshold: 'BLOCK_NONE' },
      { category: 'HARM_CATEGORY_JAILBREAK', threshold: 'BLOCK_NONE' },
    ])
  })
})

describe('thinking of Gemini', () => {
  it.each<[string, Reasoning['mode'], object]>([
    ['gemini-2.5-pro', 'off', { thinkingBudget: 128 }],
    ['gemini-2.5-flash', 'off', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'auto', { thinkingBudget: -1 }],
    ['gemini-2.5-pro', { budgetTokens: 10 }, { thinkingBudget: 128 }],
    ['gemini-2.5-pro', { budgetTokens: 5000 }, { thinkingBudget: 5000 }],
    ['gemini-2.5-flash-lite', { budgetTokens: 100 }, { thinkingBudget: 512 }],
    ['gemini-2.5-flash', { budgetTokens: 90_000 }, { thinkingBudget: 24_576 }],
    ['gemini-2.5-flash', { effort: 'minimal' }, { thinkingBudget: 1024 }],
    ['gemini-2.5-flash', { effort: 'low' }, { thinkingBudget: 2457 }],
    ['gemini-2.5-flash', { effort: 'medium' }, { thinkingBudget: 7372 }],
    ['gemini-2.5-pro', { effort: 'high' }, { thinkingBudget: 19_660 }],
    ['gemini-2.5-pro', { effort: 'max' }, { thinkingBudget: 32_768 }],
    ['models/gemini-3.7-flash', 'off', { thinkingLevel: 'MINIMAL' }],
    ['gemini-3-pro-preview', 'off', { thinkingLevel: 'LOW' }],
    ['gemini-3-pro-preview', { effort: 'medium' }, { thinkingLevel: 'HIGH' }],
    ['gemini-3.1-pro-preview', { effort: 'medium' }, { thinkingLevel: 'MEDIUM' }],
    ['gemini-3.7-flash', { effort: 'xhigh' }, { thinkingLevel: 'HIGH' }],
    ['gemini-3.7-flash', { budgetTokens: 4000 }, { thinkingLevel: 'LOW' }],
    ['gemini-9-ultra', { effort: 'high' }, { thinkingLevel: 'HIGH' }],
  ])('[169] of %s for %j is %j', (model, mode, config) => {
    expect(thinkingOf(mode, model)).toEqual(config)
  })

  it('leaves room for the answer within a small limit', () => {
    expect(thinkingOf({ effort: 'max' }, 'gemini-2.5-flash', { outputTokensMax: 1000 })).toEqual({ thinkingBudget: 900 })
  })

  it('is requested for callers that want reasoning and do not hide it', () => {
    expect(configOf({ reasoning: { mode: { effort: 'high' }, show: undefined } })).toEqual({
      thinkingConfig: { thinkingLevel: 'HIGH', includeThoughts: true },
    })
    expect(configOf({ reasoning: { mode: 'auto', show: 'none' } })).toEqual({})
  })

  it('[170] is reported as lost for models that do not think', () => {
    const { body, lost } = written({ reasoning: { mode: { effort: 'high' }, show: undefined } }, 'gemini-2.0-flash')
    expect([body.generationConfig, lost]).toEqual([undefined, ['reasoning_effort']])
    expect(written({ reasoning: { mode: 'off', show: undefined } }, 'gemini-2.0-flash').lost).toEqual([])
  })
})

describe('JSON answers of Gemini', () => {
  const output: Dialogue['output'] = {
    kind: 'schema',
    name: 'tide',
    description: undefined,
    strict: true,
    schema: { type: 'object', properties: { level: { type: 'number' } }, required: ['level', 'x'], additionalProperties: false },
  }

  it('follow a schema', () => {
    expect(configOf({ output })).toEqual({
      responseMimeType: 'application/json',
      responseJsonSchema: {
        type: 'object',
        properties: { level: { type: 'number' } },
        required: ['level'],
        additionalProperties: false,
      },
    })
    expect(configOf({ output }, 'gemini-1.5-pro')).toEqual({
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { level: { type: 'NUMBER' } }, required: ['level'] },
    })
    expect(configOf({ output: { kind: 'json' } })).toEqual({ responseMimeType: 'application/json' })
  })

  it('[186] are requested by instruction if the model refuses them together with tools, which is reported as lost', () => {
    const { body, lost } = written({ output, tools: [tideTool] }, flash2)
    expect(body).not.toHaveProperty('generationConfig')
    expect(JSON.stringify(body.systemInstruction)).toContain('level')
    expect(lost).toEqual(['response_format'])
    expect(written({ output, tools: [tideTool] }, flash3).lost).toEqual([])
  })
})

describe('Gemini models with other outputs', () => {
  it('get requests for images without a thinking level', () => {
    expect(configOf({ reasoning: { mode: { effort: 'high' }, show: 'none' } }, 'gemini-3-pro-image-preview')).toEqual({
      responseModalities: ['TEXT', 'IMAGE'],
    })
  })

  it('get requests for speech', () => {
    expect(configOf({}, 'gemini-2.5-flash-preview-tts')).toEqual({ responseModalities: ['AUDIO'] })
  })
})

describe("a request of Gemini's own callers", () => {
  it("has Gemini's own members at their paths", () => {
    const dialogue = geminiGenerateFormat.inbound.readRequest(
      {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
        generation_config: { media_resolution: 'MEDIA_RESOLUTION_LOW', temperature: 1 },
      },
      { model: flash3, stream: true },
    )
    const { body, lost } = written(dialogue)
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW', temperature: 1 },
    })
    expect(lost).toEqual([])
  })

  it('loses and reports the own members of other families', () => {
    expect(written({ extra: { logit_bias: { 1: 2 }, metadata: null } }).lost).toEqual(['logit_bias'])
  })
})
