import { chatReply, geminiReply, messagesReply, responsesReply, type VendorSays } from '../helpers/vendor-replies.ts'

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

interface Refusal {
  readonly status: number
  readonly body: unknown
}

export interface Dialect {
  readonly path: RegExp
  read(body: Json): Read
  write(
    turn: Turn,
    asked: { readonly body: Json; readonly path: string; readonly tokens: number },
  ): { type: string; text: string }
  /** The refusal of a prompt that is too long, in the wording of the vendor. */
  tooLong(tokens: number, most: number): Refusal
  /** The refusal by a vendor that has too many requests. */
  readonly overload: Refusal
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value : [])
const lastTextOf = (turns: readonly Json[]): string => JSON.stringify(turns.filter(({ role }) => role === 'user').at(-1) ?? '')
const offer = (name: unknown, schema: unknown, namespace?: string): ToolOffer => {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Json; required?: string[] }
  return { name: String(name), namespace, properties, required }
}
/** The content type and the text of a reply. */
const replied = (text: string) => ({ type: text.startsWith('{') ? 'application/json' : 'text/event-stream', text })
const says = ({ text, call }: Turn, model: unknown, tokens: number): VendorSays => ({
  model,
  ...(call ? { calls: [call] } : { text }),
  usage: [tokens, 20],
})

const chat: Dialect = {
  path: /\/chat\/completions$/,
  read: ({ tools, messages }) => ({
    tools: listOf(tools).map(({ function: each }) => offer((each as Json).name, (each as Json).parameters)),
    results: listOf(messages).filter(({ role }) => role === 'tool').length,
    lastText: lastTextOf(listOf(messages)),
  }),
  write: (turn, { body: { model, stream }, tokens }) => replied(chatReply(says(turn, model, tokens), stream === true)),
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
  overload: {
    status: 503,
    body: { error: { message: 'The server is overloaded or not ready yet.', type: 'server_error', code: null } },
  },
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
  write: (turn, { body: { model, stream }, tokens }) => replied(responsesReply(says(turn, model, tokens), stream === true)),
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
  overload: {
    status: 503,
    body: { error: { message: 'The server is overloaded or not ready yet.', type: 'server_error', code: null } },
  },
}

const messages: Dialect = {
  path: /\/messages(\?.*)?$/,
  read: ({ tools, messages: all }) => ({
    tools: listOf(tools).map(({ name, input_schema }) => offer(name, input_schema)),
    results: listOf(all).flatMap(({ content }) => listOf(content).filter(({ type }) => type === 'tool_result')).length,
    lastText: lastTextOf(listOf(all)),
  }),
  write: (turn, { body: { model, stream }, tokens }) => replied(messagesReply(says(turn, model, tokens), stream === true)),
  tooLong: (tokens, most) => ({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: `prompt is too long: ${tokens} tokens > ${most} maximum` },
    },
  }),
  overload: { status: 529, body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } },
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
  write: (turn, { path, tokens }) =>
    replied(geminiReply({ ...says(turn, 'gemini-test', tokens), signature: 'c2lnbmF0dXJl' }, path.includes(':stream'))),
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
  overload: {
    status: 503,
    body: { error: { code: 503, message: 'The model is overloaded. Please try again later.', status: 'UNAVAILABLE' } },
  },
}

/** The format of the upstream for each kind of channel. */
export const dialects = {
  openai: [responses, chat],
  anthropic: [messages],
  gemini: [gemini],
  'chat only': [chat],
} as const satisfies Readonly<Record<string, readonly Dialect[]>>
