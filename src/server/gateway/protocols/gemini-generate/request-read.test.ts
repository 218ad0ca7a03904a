import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../wire-format.ts'
import { geminiGenerateFormat } from './format.ts'

const { readRequest } = geminiGenerateFormat.inbound
const hello = [{ role: 'user', parts: [{ text: 'Hello' }] }]
const read = (body: JsonObject) => readRequest({ contents: hello, ...body }, { model: 'gemini-asked', stream: true })
const partsOf = (parts: readonly JsonObject[], role = 'user') => read({ contents: [{ role, parts }] }).turns[0]?.parts
const code = (expected: string, params = {}) =>
  expect.objectContaining({ code: expected, params: expect.objectContaining(params) })
const refused = (body: JsonObject, field: string) => expect(() => read(body)).toThrow(code('untranslatable', { field }))

describe('a generateContent request', () => {
  it('has its model and stream flag from the path', () => {
    expect(read({})).toMatchObject({ from: 'gemini.generate', model: 'gemini-asked', stream: true, wantsUsage: true })
    expect(() => readRequest({ contents: hello }, {})).toThrow(code('model_required'))
    expect(() => readRequest({ contents: [] }, { model: 'm' })).toThrow(code('field_invalid', { field: 'contents' }))
  })

  it('is read the same in camel case and in snake case', () => {
    const camel = read({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      generationConfig: { maxOutputTokens: 5, topK: 3, stopSequences: ['x'], thinkingConfig: { thinkingBudget: 0 } },
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: { type: 'object' } }] }],
    })
    const snake = read({
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      generation_config: { max_output_tokens: 5, top_k: 3, stop_sequences: ['x'], thinking_config: { thinking_budget: 0 } },
      tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['f'] } },
      tools: [{ function_declarations: [{ name: 'f', parameters_json_schema: { type: 'object' } }] }],
    })
    expect(snake).toEqual(camel)
    expect(camel).toMatchObject({
      system: [{ kind: 'text', text: 'Be brief.' }],
      outputTokensMax: 5,
      sampling: { topK: 3 },
      stop: ['x'],
      reasoning: { mode: 'off', show: 'none' },
      toolChoice: { kind: 'tool', name: 'f' },
      tools: [{ name: 'f', schema: { type: 'object' } }],
    })
    expect(partsOf([{ inline_data: { mime_type: 'image/png', data: 'iVBORw0KGgo=' } }])).toEqual(
      partsOf([{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]),
    )
  })

  it('has turns of the model and the user, and function results with either role', () => {
    const contents = [
      { parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ text: 'Hm', thought: true, thoughtSignature: 'c2ln' }, { text: 'Yes' }] },
      { role: 'function', parts: [{ functionResponse: { name: 'f', response: { output: 'x' } } }] },
    ]
    expect(read({ contents }).turns).toEqual([
      { role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Hm', opaque: { family: 'google', kind: 'signature', value: 'c2ln' } },
          { kind: 'text', text: 'Yes' },
        ],
      },
      {
        role: 'user',
        parts: [
          {
            kind: 'tool-result',
            callId: '',
            name: 'f',
            parts: [{ kind: 'text', text: 'x' }],
            isError: false,
            isCustom: false,
          },
        ],
      },
    ])
  })

  it('has one turn of the model where a client sends back the chunks of a stream', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      { role: 'model', parts: [{ text: 'Let me', thought: true }] },
      { role: 'model', parts: [{ text: ' see.', thought: true }] },
      { role: 'model', parts: [{ text: 'I ' }] },
      { role: 'model', parts: [{ text: 'look' }, { text: '', thoughtSignature: 'c2ln' }] },
      { role: 'model', parts: [{ functionCall: { id: '1', name: 'f', args: {} } }] },
      { role: 'model', parts: [{ functionCall: { id: '2', name: 'f', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: '1', name: 'f', response: { output: 'x' } } }] },
    ]
    const opaque = { family: 'google', kind: 'signature', value: 'c2ln' }
    expect(read({ contents }).turns).toMatchObject([
      { role: 'user', parts: [{ text: 'a' }, { text: 'b' }] },
      {
        role: 'assistant',
        parts: [
          { kind: 'reasoning', text: 'Let me see.' },
          { kind: 'text', text: 'I look', opaque },
          { kind: 'tool-call', callId: '1' },
          { kind: 'tool-call', callId: '2' },
        ],
      },
      { role: 'user', parts: [{ kind: 'tool-result', callId: '1' }] },
    ])
  })

  it('[152] has the signature of a call, but not the sentinel', () => {
    const call = { functionCall: { id: 'a', name: 'f', args: { x: 1 } } }
    expect(partsOf([{ ...call, thoughtSignature: 'c2ln' }], 'model')).toEqual([
      {
        kind: 'tool-call',
        callId: 'a',
        name: 'f',
        input: '{"x":1}',
        isCustom: false,
        opaque: { family: 'google', kind: 'signature', value: 'c2ln' },
      },
    ])
    const passedOver = partsOf([{ ...call, thought_signature: 'skip_thought_signature_validator' }], 'model')
    expect(passedOver?.[0]).not.toHaveProperty('opaque')
  })

  it.each([
    [{ result: 'high' }, 'high', false],
    [{ output: { level: 3 } }, '{"level":3}', false],
    [{ error: 'no port' }, 'no port', true],
    [{ level: 3, unit: 'm' }, '{"level":3,"unit":"m"}', false],
    [{ name: 'f', content: 'high' }, 'high', false],
    [{ name: 'f', content: { level: 3 } }, '{"level":3}', false],
    [{ name: 'other', content: 'high' }, '{"name":"other","content":"high"}', false],
    [{}, '{}', false],
  ])('has a tool result that is read from %j', (response, text, isError) => {
    expect(partsOf([{ functionResponse: { id: 'a', name: 'f', response } }])).toMatchObject([
      { callId: 'a', isError, parts: [{ kind: 'text', text }] },
    ])
  })

  it('[180] has the media of a tool result', () => {
    const parts = [{ inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } }]
    expect(partsOf([{ functionResponse: { name: 'f', response: { result: '' }, parts } }])).toMatchObject([
      { parts: [{ kind: 'media', media: 'document', source: { mediaType: 'application/pdf' } }] },
    ])
  })

  it('[178] distinguishes kinds of media, and URLs from files stored at Google', () => {
    expect(
      partsOf([
        { inlineData: { mimeType: 'image/jpeg', data: 'iVBORw0KGgo=' } },
        { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
        { inlineData: { mimeType: 'text/plain', data: 'aGk=' } },
        { fileData: { mimeType: 'image/png', fileUri: 'https://example.test/a.png' } },
        { fileData: { fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/x' } },
        { fileData: { fileUri: 'https://www.youtube.com/watch?v=x' } },
      ]),
    ).toEqual([
      { kind: 'media', media: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'iVBORw0KGgo=' } },
      { kind: 'media', media: 'audio', source: { kind: 'base64', mediaType: 'audio/mp3', data: 'SUQz' } },
      { kind: 'media', media: 'document', source: { kind: 'text', mediaType: 'text/plain', text: 'hi' } },
      { kind: 'media', media: 'image', source: { kind: 'url', url: 'https://example.test/a.png', mediaType: 'image/png' } },
      {
        kind: 'media',
        media: 'document',
        source: { kind: 'file', id: 'https://generativelanguage.googleapis.com/v1beta/files/x', family: 'google' },
      },
      { kind: 'media', media: 'video', source: { kind: 'url', url: 'https://www.youtube.com/watch?v=x' } },
    ])
  })

  it("has uses of Google's own tools as text", () => {
    const parts = partsOf(
      [
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_FAILED', output: '1' } },
        { tool_call: { id: 't', tool_type: 'GOOGLE_SEARCH_WEB', args: { queries: ['q'] } } },
        { toolResponse: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', response: { found: 1 } } },
      ],
      'model',
    )
    const lines = [
      '\n[Called the tool code_execution with print(1)]\n',
      '\n[The tool code_execution answered] Error: 1\n',
      '\n[Called the tool google_search_web with {"queries":["q"]}]\n',
      '\n[The tool google_search_web answered] {"found":1}\n',
    ]
    expect(parts).toEqual([{ kind: 'text', text: lines.join('') }])
  })

  it('[177] is refused with parts and members that only Gemini can read', () => {
    refused({ contents: [{ role: 'user', parts: [{ scent: {} }] }] }, 'contents[0].parts[0]')
    refused({ cachedContent: 'cachedContents/x' }, 'cachedContent')
    refused({ generationConfig: { candidateCount: 2 } }, 'generationConfig.candidateCount')
    refused({ generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } }, 'generationConfig.responseModalities')
    refused({ generationConfig: { speechConfig: {} } }, 'generationConfig.speechConfig')
    refused({ generationConfig: { responseMimeType: 'text/x.enum' } }, 'generationConfig.responseMimeType')
    refused({ systemInstruction: { parts: [{ inlineData: {} }] } }, 'systemInstruction')
    expect(() => read({ contents: [{ role: 'robot', parts: [] }] })).toThrow(code('field_invalid', { field: 'contents[0].role' }))
  })

  it('has tools that only Gemini has in a separate list', () => {
    expect(read({ tools: [{ codeExecution: {} }, { url_context: {} }] }).vendorOnly).toMatchObject([
      { field: 'tools.codeExecution', name: 'tools.codeExecution' },
      { field: 'tools.urlContext', name: 'tools.urlContext' },
    ])
  })

  it('ignores members with default values', () => {
    const config = { candidateCount: 1, responseLogprobs: false, responseModalities: ['TEXT'], responseMimeType: 'text/plain' }
    expect(read({ generationConfig: config, cachedContent: null })).toMatchObject({ output: undefined, extra: {} })
  })

  it('has its search, and other members by their paths', () => {
    const read1 = read({
      tools: [{ google_search: {} }],
      safety_settings: [],
      generationConfig: { mediaResolution: 'X' },
      toolConfig: { retrievalConfig: {} },
    })
    expect(read1.search).toEqual({ contextSize: undefined, location: undefined })
    expect(read1.extra).toEqual({
      safetySettings: [],
      'generationConfig.mediaResolution': 'X',
      'toolConfig.retrievalConfig': {},
    })
  })

  it.each([
    [
      { thinkingBudget: -1, includeThoughts: true },
      { mode: 'auto', show: 'summary' },
    ],
    [{ thinkingBudget: 0 }, { mode: 'off', show: 'none' }],
    [{ thinkingBudget: 2048 }, { mode: { budgetTokens: 2048 }, show: 'none' }],
    [
      { thinkingLevel: 'HIGH', includeThoughts: true },
      { mode: { effort: 'high' }, show: 'summary' },
    ],
  ])('has reasoning that is read from %j', (thinkingConfig, reasoning) => {
    expect(read({ generationConfig: { thinkingConfig } }).reasoning).toEqual(reasoning)
  })

  it.each([
    [{ mode: 'AUTO' }, { kind: 'auto' }],
    [{ mode: 'ANY' }, { kind: 'required' }],
    [{ mode: 'NONE' }, { kind: 'none' }],
    [
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
      { kind: 'allowed', names: ['f', 'g'], isRequired: true },
    ],
    [
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
      { kind: 'allowed', names: ['f'], isRequired: false },
    ],
    [{}, undefined],
  ])('has a tool choice that is read from %j', (functionCallingConfig, choice) => {
    const tools = [{ functionDeclarations: [{ name: 'f' }, { name: 'g' }] }]
    expect(read({ tools, toolConfig: { functionCallingConfig } }).toolChoice).toEqual(choice)
    expect(read({ toolConfig: { functionCallingConfig } }).toolChoice).toBeUndefined()
  })

  it('has schemas of either form as JSON schema', () => {
    const responseSchema = { type: 'OBJECT', properties: { a: { type: 'STRING' } } }
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    expect(read({ generationConfig: { responseMimeType: 'application/json', responseSchema } }).output).toMatchObject({ schema })
    expect(read({ generationConfig: { responseMimeType: 'application/json' } }).output).toEqual({ kind: 'json' })
    const tools = [{ functionDeclarations: [{ name: 'f', parameters: responseSchema }] }]
    expect(read({ tools }).tools).toMatchObject([{ schema }])
  })
})
