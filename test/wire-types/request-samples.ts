import { isObject, type JsonObject } from '../../src/server/gateway/protocols/wire-format.ts'

/** Values for the members of requests: small, valid, and other than the default. */

export const dialects = ['openai.chat', 'openai.responses', 'anthropic.messages', 'gemini.generate'] as const
export type Dialect = (typeof dialects)[number]

const schema = { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] }
const chatTool = { type: 'function', function: { name: 'get_tide', description: 'Tide of a port', parameters: schema } }
const chatCall = { id: 'call_1', type: 'function', function: { name: 'get_tide', arguments: '{"port":"Rye"}' } }

/** The list that a member is put into, so that the request stays whole: a call comes before, and the user speaks last. */
const lists: Readonly<
  Record<Dialect, Readonly<Record<string, { readonly before: readonly unknown[]; readonly behind: readonly unknown[] }>>>
> = {
  'openai.chat': {
    messages: {
      before: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Let me see.', tool_calls: [chatCall] },
      ],
      behind: [{ role: 'user', content: 'And now?' }],
    },
    tools: { before: [chatTool], behind: [] },
  },
  'openai.responses': {
    input: {
      before: [
        { role: 'user', content: 'Hi' },
        { type: 'function_call', call_id: 'call_1', name: 'get_tide', arguments: '{"port":"Rye"}' },
      ],
      behind: [{ role: 'user', content: 'And now?' }],
    },
    tools: {
      before: [{ type: 'function', name: 'get_tide', description: 'Tide of a port', parameters: schema, strict: false }],
      behind: [],
    },
  },
  'anthropic.messages': {
    messages: {
      before: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'call_1', name: 'get_tide', input: { port: 'Rye' } },
          ],
        },
      ],
      behind: [{ role: 'user', content: 'And now?' }],
    },
    tools: {
      before: [
        { name: 'get_tide', description: 'Tide of a port', input_schema: schema },
        // It is not offered before a message adds it.
        { name: 'get_level', description: 'Level at a port', input_schema: schema, defer_loading: true },
      ],
      behind: [],
    },
  },
  'gemini.generate': {
    contents: {
      before: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        { role: 'model', parts: [{ functionCall: { id: 'call_1', name: 'get_tide', args: { port: 'Rye' } } }] },
      ],
      behind: [{ role: 'user', parts: [{ text: 'And now?' }] }],
    },
    tools: {
      before: [{ functionDeclarations: [{ name: 'get_tide', description: 'Tide of a port', parametersJsonSchema: schema }] }],
      behind: [],
    },
  },
}

/** The body with these members, completed to a request. */
export function wholeBody(from: Dialect, members: JsonObject): JsonObject {
  const needed = from === 'anthropic.messages' ? { max_tokens: 4096 } : {}
  const whole = Object.fromEntries(
    Object.entries(lists[from]).map(([name, { before, behind }]) => {
      const own = members[name]
      return [name, [...before, ...(Array.isArray(own) ? own.map(spoken) : []), ...behind]]
    }),
  )
  const texts = Object.fromEntries(
    Object.keys(whole).flatMap((name) => (typeof members[name] === 'string' ? [[name, members[name]]] : [])),
  )
  const single = from === 'openai.chat' && members.functions !== undefined ? { tools: undefined } : {}
  return { model: 'm', ...needed, ...members, ...whole, ...texts, ...single }
}

/** Calls of Gemini's model are in its own turn. */
function spoken(turn: unknown): unknown {
  if (!isObject(turn) || !Array.isArray(turn.parts)) return turn
  const isCall = turn.parts.some((part) => isObject(part) && partsOfModel.some((name) => name in part))
  return { ...turn, role: isCall ? 'model' : (turn.role ?? 'user') }
}

const partsOfModel = ['functionCall', 'executableCode', 'codeExecutionResult', 'toolCall', 'thought', 'thoughtSignature']

/** Whether the path is that of a block of Messages in a turn in which it cannot stand. */
export function standsElsewhere(from: Dialect, path: string): boolean {
  if (from !== 'anthropic.messages') return false
  const [, role = '', type = ''] = /^messages\[\]\{role:(\w+)\}\.content\[\]\{type:(\w+)\}/.exec(path) ?? []
  if (type === '' || type === 'text') return false
  const place = ofModel.test(type) ? 'assistant' : /^tool_(addition|removal)$/.test(type) ? 'system' : 'user'
  return role !== place
}

const ofModel =
  /^(thinking|redacted_thinking|tool_use|server_tool_use|mcp_tool_use|mcp_tool_listing|compaction|fallback|[a-z_]+_tool_result)$/

/** The object that a member is put into. A part of Gemini has one kind of data, which its other members are about. */
export function baseOf(from: Dialect, path: string, name: string, whole: JsonObject): JsonObject {
  if (path === '') return {}
  if (isOnlySource(name, whole)) return Object.fromEntries(Object.entries(whole).filter(([member]) => !sources.has(member)))
  if (from === 'gemini.generate' && name === 'logprobs') return { responseLogprobs: true }
  // A type of media is read where the bytes do not show it.
  if (path.endsWith('.inlineData') && name === 'mimeType') return { data: 'aGVsbG8=' }
  if (from !== 'gemini.generate' || !/(^|\.)parts\[\]$/.test(path)) return whole
  if (name === 'videoMetadata' || name === 'mediaProcessing')
    return { fileData: { fileUri: 'https://a.example/b.mp4', mimeType: 'video/mp4' } }
  if (name === 'mediaResolution') return { inlineData: { mimeType: 'image/png', data: png } }
  return ofPart.has(name) ? whole : { text: 'Hello' }
}

/** Whether a member is one of those that each alone say where a file or an image is. */
export function isOnlySource(name: string, whole: JsonObject): boolean {
  return sources.has(name) && (whole.type === 'computer_screenshot' || Object.keys(whole).some((member) => sources.has(member)))
}

const sources: ReadonlySet<string> = new Set(['file_data', 'file_id', 'file_url', 'image_url'])

/** Members that an object needs although its type requires none of them. */
export function extraOf(path: string): JsonObject {
  return extras.find(([pattern]) => pattern.test(path))?.[1] ?? {}
}

const pdf = 'data:application/pdf;base64,JVBERi0xLjQK'

const extras: readonly (readonly [RegExp, JsonObject])[] = [
  [/\{type:file\}\.file$/, { file_data: pdf }],
  [/\{type:input_file\}$/, { file_data: pdf, filename: 'a.pdf' }],
  [/\{type:input_image\}$/, { image_url: 'https://a.example/b.png' }],
  [/\{type:computer_call\}$/, { action: { type: 'wait' } }],
  [/\{type:json_schema\}\.json_schema$/, { schema }],
  [/^tools\[\].*user_location\{type:approximate\}$/, { country: 'GB' }],
  [/^web_search_options\.user_location\{type:approximate\}\.approximate$/, { country: 'GB' }],
  [/\{type:mcp_tool_result\}$/, { content: 'high' }],
  [/\{type:tool_removal\}$/, { tool: { type: 'tool_reference', name: 'get_tide' } }],
  [/\{type:tool_addition\}$/, { tool: { type: 'tool_reference', name: 'get_level' } }],
  [/\{type:tool_addition\}\.tool\{type:tool_reference\}$/, { name: 'get_level' }],
  [/^tools\[\]\{type:custom\}$/, { name: 'get_wind' }],
  [/\.user_location\{type:approximate\}$/, { city: 'Rye' }],
  [/^contents\[\]$/, { parts: [{ text: 'Hello' }] }],
  [/\.toolResponse$/, { toolType: 'URL_CONTEXT', response: { result: 'high' } }],
  [/\.functionCallingConfig$/, { mode: 'ANY' }],
  [/\.inlineData$/, { mimeType: 'image/png', data: 'iVBORw0KGgo=' }],
  [/\.fileData$/, { mimeType: 'image/png', fileUri: 'https://a.example/b.png' }],
  [/\.functionCall$/, { name: 'get_tide', args: { port: 'Rye' } }],
  [/\.functionResponse$/, { name: 'get_tide', response: { result: 'high' } }],
  [/\.functionDeclarations\[\]$/, { name: 'get_wind', description: 'Wind at a port' }],
  [/\.executableCode$/, { code: 'print(1)', language: 'PYTHON' }],
  [/\.codeExecutionResult$/, { output: '1', outcome: 'OUTCOME_OK' }],
]

/** The kinds of data of a part. */
const ofPart = new Set([
  ...['text', 'functionCall', 'functionResponse', 'inlineData', 'fileData', 'executableCode', 'codeExecutionResult'],
  ...['toolCall', 'toolResponse', 'audioTranscription'],
])

const png = 'iVBORw0KGgo='

/** A value for a member with any JSON, by its name. */
export function openSample(name: string): unknown {
  return anyJson[name]
}

/** An entry of a list with any JSON, by its path: a tool that may be called is one of the request. */
export function openEntry(path: string): unknown {
  if (path === 'tool_choice{type:allowed_tools}.allowed_tools.tools[]')
    return { type: 'function', function: { name: 'get_tide' } }
  return path === 'tool_choice{type:allowed_tools}.tools[]' ? { type: 'function', name: 'get_tide' } : { a: 'b' }
}

const anyJson: Readonly<Record<string, unknown>> = {
  ...Object.fromEntries(
    ['parameters', 'schema', 'input_schema', 'parametersJsonSchema', 'responseSchema', 'responseJsonSchema'].map((name) => [
      name,
      schema,
    ]),
  ),
  args: { port: 'Rye' },
  response: { result: 'high' },
  labels: { team: 'a' },
  logit_bias: { 50256: -100 },
}

interface Asked {
  readonly literals: readonly (string | number | boolean)[]
  readonly primitives: readonly ('string' | 'number' | 'boolean')[]
  readonly path: string
  readonly name: string
}

/** A scalar for a member; undefined when it has none. Of the literals the first that is no default. */
export function sampleOf({ literals, primitives, path, name }: Asked): string | number | boolean | undefined {
  if (name === 'role' && literals.includes('user')) return 'user'
  if (primitives.includes('string')) return textFor(path, name)
  const literal = literals.find((value) => !defaults.has(value) && !/_UNSPECIFIED$/.test(String(value))) ?? literals[0]
  if (literal !== undefined) return literal
  if (primitives.includes('number')) return numbers[name] ?? 3
  return primitives.includes('boolean') ? !falsy.has(name) : undefined
}

const defaults: ReadonlySet<unknown> = new Set([
  ...['auto', 'default', 'none', 'text', 'medium', 'disabled', 'standard', 'in_memory', 'global', 'implicit', 'false'],
  ...['5m', 'TEXT', 'AUTO', 'STANDARD'],
])

/** Flags whose default is true. */
const falsy = new Set(['parallel_tool_calls'])

const numbers: Readonly<Record<string, number>> = {
  ...{ temperature: 0.5, top_p: 0.5, topP: 0.5, top_k: 7, topK: 7, presence_penalty: 0.5, frequency_penalty: 0.5 },
  ...{ presencePenalty: 0.5, frequencyPenalty: 0.5, max_tokens: 2000, max_completion_tokens: 2000, max_output_tokens: 2000 },
  ...{
    maxOutputTokens: 2000,
    budget_tokens: 2048,
    thinkingBudget: 2048,
    top_logprobs: 2,
    logprobs: 2,
    seed: 7,
    n: 2,
    candidateCount: 2,
  },
}

function textFor(path: string, name: string): string {
  const special = textsByPath.find(([pattern]) => pattern.test(path))
  if (special) return special[1]
  if (/data$/i.test(name)) {
    if (/document|file/.test(path)) return name === 'file_data' ? 'data:application/pdf;base64,JVBERi0xLjQK' : 'JVBERi0xLjQK'
    return path.includes('audio') ? 'UklGRiQAAABXQVZF' : png
  }
  // A tool beside that of the request has another name.
  if (name === 'name' && path.startsWith('tools[]')) return 'get_wind'
  return texts[name] ?? 'hello'
}

/** Values other than those that the request has without them: a result of another call, a turn of the model. */
const textsByPath: readonly (readonly [RegExp, string])[] = [
  [/\.functionResponse\.id$/, 'call_2'],
  [/\.functionResponse\.name$/, 'get_wind'],
  [/\.inlineData\.mimeType$/, 'text/plain'],
  [/^contents\[\]\.role$/, 'model'],
  [/\.allowedFunctionNames\[\]$/, 'get_tide'],
]

const link = 'https://a.example/b.png'

const texts: Readonly<Record<string, string>> = {
  ...{
    url: link,
    image_url: link,
    file_url: 'https://a.example/b.pdf',
    fileUri: link,
    uri: link,
    media_type: 'image/png',
    mimeType: 'image/png',
  },
  ...{ arguments: '{"port":"Rye"}', call_id: 'call_1', tool_call_id: 'call_1', tool_use_id: 'call_1', id: 'call_1' },
  ...{ signature: 'c2ln', encrypted_content: 'ZW5j', thoughtSignature: 'c2ln', timezone: 'Europe/London', country: 'GB' },
  ...{ role: 'user', responseMimeType: 'application/json', summary: 'auto', name: 'get_tide' },
}
