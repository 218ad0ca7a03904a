/** Names of members that every object inherits. */
export const inheritedNames = ['constructor', 'toString', '__proto__', 'hasOwnProperty'] as const

interface Mutation {
  /** The changed place, for failure messages. */
  readonly place: string
  readonly value: unknown
}

/** The value with every text in turn replaced by one of the names, and every object in turn with a member of each name. */
export function* mutationsOf(value: unknown): Generator<Mutation> {
  for (const [position, path] of placesIn(value).entries()) {
    const at = path.join('.') || 'the top'
    if (typeof valueAt(value, path) !== 'string') {
      yield { place: `members of ${at}`, value: changedAt(value, path, withNames) }
      continue
    }
    const name = position % 2 === 0 ? 'constructor' : '__proto__'
    yield { place: `${name} as ${at}`, value: changedAt(value, path, () => name) }
  }
}

type Path = readonly string[]

/** Every text and every object below a value. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path]
  if (typeof value !== 'object' || value === null) return []
  const below = Object.entries(value).flatMap(([key, inner]) => placesIn(inner, [...path, key]))
  return Array.isArray(value) ? below : [path, ...below]
}

function valueAt(value: unknown, path: Path): unknown {
  // The path was found in the value.
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], value)
}

function changedAt(value: unknown, [key, ...rest]: Path, change: (old: unknown) => unknown): unknown {
  if (key === undefined) return change(value)
  if (Array.isArray(value)) return value.map((entry, at) => (String(at) === key ? changedAt(entry, rest, change) : entry))
  const entries = Object.entries(Object(value))
  return Object.fromEntries(entries.map(([name, inner]) => [name, name === key ? changedAt(inner, rest, change) : inner]))
}

/** A member of each name, each with a value of another kind. An object literal would lose `__proto__`. */
function withNames(object: unknown): unknown {
  const values = ['text', { type: 'toString' }, ['constructor'], 1]
  return Object.fromEntries([...Object.entries(Object(object)), ...inheritedNames.map((name, at) => [name, values[at]])])
}

const schema = { type: 'object', properties: { city: { type: 'string', enum: ['a'] } }, required: ['city'] }

interface Sample {
  readonly path: string
  readonly body: Readonly<Record<string, unknown>>
}

/** One rich request of every dialect. */
export function bodies(model: string): readonly Sample[] {
  return [
    {
      path: '/v1/chat/completions',
      body: {
        model,
        messages: [
          { role: 'system', content: 'short' },
          { role: 'user', content: [{ type: 'text', text: 'one two three' }] },
          { role: 'assistant', tool_calls: [{ id: 'c1', type: 'function', function: { name: 'tide', arguments: '{"a":"b"}' } }] },
          { role: 'tool', tool_call_id: 'c1', content: 'high' },
        ],
        tools: [{ type: 'function', function: { name: 'tide', parameters: schema } }],
        tool_choice: 'auto',
        reasoning_effort: 'low',
        max_tokens: 20,
        metadata: { a: 'b' },
      },
    },
    {
      path: '/v1/chat/completions',
      body: {
        model,
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=', detail: 'low' } }] },
        ],
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
        tool_choice: { type: 'function', function: { name: 'tide' } },
        service_tier: 'auto',
        web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', approximate: { city: 'x' } } },
        modalities: ['text'],
        stop: 'x',
        stream_options: {},
        logit_bias: { 1: 1 },
        user: 'me',
      },
    },
    {
      path: '/v1/messages',
      body: {
        model,
        max_tokens: 20,
        system: [{ type: 'text', text: 'short', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        messages: [
          { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'tide', input: { city: 'x' } }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'high' }] },
        ],
        tools: [{ name: 'tide', input_schema: schema }],
        tool_choice: { type: 'auto' },
        thinking: { type: 'disabled' },
        metadata: { user_id: 'me' },
        service_tier: 'auto',
      },
    },
    {
      path: '/v1/responses',
      body: {
        model,
        input: [
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'one' }] },
          { type: 'function_call', call_id: 'c1', name: 'tide', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c1', output: 'high' },
        ],
        tools: [{ type: 'function', name: 'tide', parameters: schema }],
        tool_choice: 'auto',
        reasoning: { effort: 'low', summary: 'auto' },
        text: { format: { type: 'text' }, verbosity: 'low' },
        include: ['reasoning.encrypted_content'],
        truncation: 'disabled',
        store: false,
        metadata: { a: 'b' },
      },
    },
    {
      path: `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
      body: {
        systemInstruction: { parts: [{ text: 'short' }] },
        contents: [
          { role: 'user', parts: [{ text: 'one' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
          { role: 'model', parts: [{ functionCall: { name: 'tide', args: { city: 'x' } } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'tide', response: { result: 'high' } } }] },
        ],
        tools: [
          { functionDeclarations: [{ name: 'tide', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } } }] },
        ],
        toolConfig: { functionCallingConfig: { mode: 'AUTO', allowedFunctionNames: ['tide'] } },
        generationConfig: {
          maxOutputTokens: 20,
          responseMimeType: 'text/plain',
          thinkingConfig: { thinkingLevel: 'low' },
          responseModalities: ['TEXT'],
        },
        safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      },
    },
    { path: '/v1/completions', body: { model, prompt: 'one', suffix: 'two', max_tokens: 5, stop: ['x'] } },
    { path: '/v1/embeddings', body: { model, input: ['one'], encoding_format: 'float', user: 'me' } },
    {
      path: '/v1/images/generations',
      body: { model, prompt: 'one', size: '1024x1024', quality: 'high', style: 'vivid', response_format: 'url' },
    },
    { path: '/v1/audio/speech', body: { model, input: 'one', voice: 'alloy', response_format: 'mp3', instructions: 'x' } },
    { path: '/v1/rerank', body: { model, query: 'one', documents: ['a', { text: 'b' }] } },
    { path: '/v1/moderations', body: { model, input: [{ type: 'text', text: 'x' }] } },
    { path: '/v1/messages/count_tokens', body: { model, messages: [{ role: 'user', content: 'one' }] } },
    { path: '/v1/responses/input_tokens', body: { model, input: 'one' } },
  ]
}

/** Requests whose body is a form. */
export const forms: readonly { readonly path: string; readonly fields: Readonly<Record<string, string>> }[] = [
  { path: '/v1/images/edits', fields: { prompt: 'one', size: '1024x1024' } },
  { path: '/v1/audio/transcriptions', fields: { response_format: 'json', language: 'en' } },
]
