/** Requests and replies of the simulated model, in the protocols of the vendors. */

export interface ToolOffer {
  readonly name: string
  readonly namespace?: string | undefined
  readonly properties: Readonly<Record<string, unknown>>
  readonly required: readonly string[]
}

/** One turn of the model: a text, or one call. */
export interface Turn {
  readonly text: string
  readonly call?: { readonly name: string; readonly namespace?: string | undefined; readonly input: object }
}

type Json = Readonly<Record<string, unknown>>

interface Read {
  readonly tools: readonly ToolOffer[]
  /** The number of calls with a result. */
  readonly results: number
  /** The last text of the user. */
  readonly lastText: string
}

export interface Dialect {
  readonly path: RegExp
  read(body: Json): Read
  write(
    turn: Turn,
    asked: { readonly body: Json; readonly path: string; readonly tokens: number },
  ): { type: string; text: string }
  /** The refusal of a prompt that is too long, in the wording of the vendor. */
  tooLong(tokens: number, most: number): { status: number; body: unknown }
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value : [])
const lastTextOf = (turns: readonly Json[]): string => JSON.stringify(turns.filter(({ role }) => role === 'user').at(-1) ?? '')
const offer = (name: unknown, schema: unknown, namespace?: string): ToolOffer => {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Json; required?: string[] }
  return { name: String(name), namespace, properties, required }
}
const json = (value: unknown) => ({ type: 'application/json', text: JSON.stringify(value) })
const events = (all: readonly object[], isNamed: boolean, end = '') => ({
  type: 'text/event-stream',
  text:
    all
      .map((event) => `${isNamed ? `event: ${(event as { type: string }).type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
      .join('') + end,
})
let made = 0
const newId = (prefix: string) => `${prefix}${(++made).toString(36).padStart(24, '0')}`

const chat: Dialect = {
  path: /\/chat\/completions$/,
  read: ({ tools, messages }) => ({
    tools: listOf(tools).map(({ function: each }) => offer((each as Json).name, (each as Json).parameters)),
    results: listOf(messages).filter(({ role }) => role === 'tool').length,
    lastText: lastTextOf(listOf(messages)),
  }),
  write: ({ text, call }, { body: { model, stream }, tokens }) => {
    const tool_calls = call && [
      { index: 0, id: newId('call_'), type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } },
    ]
    const message = { role: 'assistant', content: text || null, ...(tool_calls ? { tool_calls } : {}) }
    const finish_reason = call ? 'tool_calls' : 'stop'
    const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 }
    const head = { id: newId('chatcmpl-'), created: 1, model }
    if (!stream) return json({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage })
    const chunk = (delta: object, reason: string | null) => ({
      ...head,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    })
    const last = { ...head, object: 'chat.completion.chunk', choices: [], usage }
    return events([chunk(message, null), chunk({}, finish_reason), last], false, 'data: [DONE]\n\n')
  },
  tooLong: (tokens, most) => ({
    status: 400,
    body: {
      error: {
        message: `This model's maximum context length is ${most} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
  }),
}

const responses: Dialect = {
  path: /\/responses$/,
  read: ({ tools, input }) => ({
    tools: listOf(tools).flatMap((tool) =>
      tool.type === 'namespace'
        ? listOf(tool.tools).map((each) => offer(each.name, each.parameters, String(tool.name)))
        : tool.type === 'function'
          ? [offer(tool.name, tool.parameters)]
          : [],
    ),
    results: listOf(input).filter(({ type }) => /_output$/.test(String(type))).length,
    lastText: lastTextOf(listOf(input)),
  }),
  write: ({ text, call }, { body: { model, stream }, tokens }) => {
    const item = call
      ? {
          id: newId('fc_'),
          type: 'function_call',
          status: 'completed',
          call_id: newId('call_'),
          name: call.name,
          ...(call.namespace ? { namespace: call.namespace } : {}),
          arguments: JSON.stringify(call.input),
        }
      : {
          id: newId('msg_'),
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [] }],
        }
    const usage = {
      input_tokens: tokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens + 20,
    }
    const response = { id: newId('resp_'), object: 'response', created_at: 1, model, status: 'completed', output: [item], usage }
    if (!stream) return json(response)
    const begun = { ...response, status: 'in_progress', output: [], usage: null }
    const empty = call ? { ...item, status: 'in_progress', arguments: '' } : { ...item, status: 'in_progress', content: [] }
    const at = { item_id: item.id, output_index: 0 }
    const inner = call
      ? [
          { type: 'response.function_call_arguments.delta', ...at, delta: JSON.stringify(call.input) },
          { type: 'response.function_call_arguments.done', ...at, arguments: JSON.stringify(call.input), name: call.name },
        ]
      : [
          {
            type: 'response.content_part.added',
            ...at,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          { type: 'response.output_text.delta', ...at, content_index: 0, delta: text, logprobs: [] },
          { type: 'response.output_text.done', ...at, content_index: 0, text, logprobs: [] },
          {
            type: 'response.content_part.done',
            ...at,
            content_index: 0,
            part: { type: 'output_text', text, annotations: [] },
          },
        ]
    const all = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: empty },
      ...inner,
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ]
    return events(
      all.map((event, sequence_number) => ({ ...event, sequence_number })),
      true,
    )
  },
  tooLong: () => ({
    status: 400,
    body: {
      error: {
        message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
        type: 'invalid_request_error',
        param: 'input',
        code: 'context_length_exceeded',
      },
    },
  }),
}

const messages: Dialect = {
  path: /\/messages(\?.*)?$/,
  read: ({ tools, messages: all }) => ({
    tools: listOf(tools).map(({ name, input_schema }) => offer(name, input_schema)),
    results: listOf(all).flatMap(({ content }) => listOf(content).filter(({ type }) => type === 'tool_result')).length,
    lastText: lastTextOf(listOf(all)),
  }),
  write: ({ text, call }, { body: { model, stream }, tokens }) => {
    const block = call ? { type: 'tool_use', id: newId('toolu_'), name: call.name, input: call.input } : { type: 'text', text }
    const stop_reason = call ? 'tool_use' : 'end_turn'
    const message = {
      id: newId('msg_'),
      type: 'message',
      role: 'assistant',
      model,
      content: [block],
      stop_reason,
      stop_sequence: null,
      usage: { input_tokens: tokens, output_tokens: 20, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    }
    if (!stream) return json(message)
    const delta = call ? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) } : { type: 'text_delta', text }
    return events(
      [
        { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
        { type: 'content_block_start', index: 0, content_block: call ? { ...block, input: {} } : { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
        { type: 'message_stop' },
      ],
      true,
    )
  },
  tooLong: (tokens, most) => ({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: `prompt is too long: ${tokens} tokens > ${most} maximum` },
    },
  }),
}

const gemini: Dialect = {
  path: /:(streamG|g)enerateContent/,
  read: ({ tools, contents }) => ({
    tools: listOf(tools).flatMap(({ functionDeclarations }) =>
      listOf(functionDeclarations).map(({ name, parametersJsonSchema, parameters }) =>
        offer(name, parametersJsonSchema ?? parameters),
      ),
    ),
    results: listOf(contents).flatMap(({ parts }) =>
      listOf(parts).filter(({ functionResponse }) => functionResponse !== undefined),
    ).length,
    lastText: lastTextOf(listOf(contents)),
  }),
  write: ({ text, call }, { path, tokens }) => {
    const part = call ? { functionCall: { name: call.name, args: call.input }, thoughtSignature: 'c2lnbmF0dXJl' } : { text }
    const reply = {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: tokens, candidatesTokenCount: 20, totalTokenCount: tokens + 20 },
      modelVersion: 'gemini-test',
      responseId: newId('r'),
    }
    return path.includes(':stream') ? events([reply], false) : json(reply)
  },
  tooLong: (tokens, most) => ({
    status: 400,
    body: {
      error: {
        code: 400,
        message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${most}).`,
        status: 'INVALID_ARGUMENT',
      },
    },
  }),
}

/** The format of the upstream for each kind of channel. */
export const dialects = {
  openai: [responses, chat],
  anthropic: [messages],
  gemini: [gemini],
  'chat only': [chat],
} as const satisfies Readonly<Record<string, readonly Dialect[]>>
