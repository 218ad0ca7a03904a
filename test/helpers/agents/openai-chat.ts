import { z } from 'zod'
import { faultOfSchema } from './json-schemas.ts'
import { piecesOf, type Step, steps } from './scenario.ts'
import { type Issued, type ModelTurn, requireShape, type Transcript, type UserTurn } from './transcript.ts'
import { refuse, type VendorReply } from './vendor-server.ts'

/** GPT-4.1 on Chat Completions. Source: API reference and types of openai 7.51, error texts in the wording of the vendor. */
export function answerChat(issued: Issued, json: unknown): VendorReply {
  const body = requireShape(bodyShape, json, ({ path, message, unknown }) =>
    unknown.length > 0
      ? `Unknown parameter: '${[...path, unknown[0]].join('.')}'.`
      : `Invalid value at '${path.join('.')}': ${message}`,
  )
  requireTools(body)
  requireResults(body)
  const at = issued.stepAsked(transcriptOf(body))
  const step = steps[at]
  if (!step) return refuse('the scenario is over')
  if (body.response_format?.type !== 'json_schema') refuse('the scenario asks for an answer in JSON: response_format is missing')
  const ids = step.calls.map(() => issued.newId())
  issued.note(at, ids, {
    text: step.text,
    calls: step.calls.map(({ name, input }, place) => ({ id: ids[place], name, arguments: JSON.stringify(input) })),
  })
  const chunks = chunksOf(step, ids, body.stream_options?.include_usage === true)
  return {
    contentType: 'text/event-stream; charset=utf-8',
    pieces: [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'],
  }
}

const text = z.strictObject({ type: z.literal('text'), text: z.string() })
const texts = z.union([z.string(), z.array(text).min(1)])
const image = z.strictObject({
  type: z.literal('image_url'),
  image_url: z.strictObject({
    url: z.string().regex(/^(https:\/\/|data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$)/),
    detail: z.enum(['auto', 'low', 'high']).optional(),
  }),
})
const callId = z.string().min(1).max(64)
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const call = z.strictObject({
  id: callId,
  type: z.literal('function'),
  function: z.strictObject({ name: toolName, arguments: z.string() }),
})
const name = z.string().max(64).optional()
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: texts, name }),
  z.strictObject({ role: z.literal('developer'), content: texts, name }),
  z.strictObject({ role: z.literal('user'), content: z.union([z.string(), z.array(z.union([text, image])).min(1)]), name }),
  z.strictObject({
    role: z.literal('assistant'),
    content: texts.nullish(),
    refusal: z.string().nullish(),
    audio: z.null().optional(),
    annotations: z.array(z.unknown()).optional(),
    tool_calls: z.array(call).min(1).optional(),
    name,
  }),
  // Undocumented, but accepted: LangGraph sends the name of the tool with each result.
  z.strictObject({ role: z.literal('tool'), content: texts, tool_call_id: callId, name }),
])
const parameters = z.looseObject({ type: z.literal('object'), properties: z.record(z.string(), z.unknown()) })
const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: toolName,
    description: z.string().max(1024).optional(),
    parameters: parameters.optional(),
    strict: z.boolean().nullish(),
  }),
})
const bodyShape = z.strictObject({
  model: z.literal('gpt-4.1'),
  messages: z.array(message).min(1),
  stream: z.literal(true, 'the agents of this scenario stream'),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .optional(),
  store: z.boolean().nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  user: z.string().optional(),
  safety_identifier: z.string().max(64).optional(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  n: z.literal(1).nullish(),
  stop: z.union([z.string().min(1), z.array(z.string().min(1)).min(1).max(4)]).nullish(),
  seed: z.int().nullish(),
  presence_penalty: z.number().min(-2).max(2).nullish(),
  frequency_penalty: z.number().min(-2).max(2).nullish(),
  logprobs: z.boolean().nullish(),
  max_tokens: z.int().min(1).max(32_768).optional(),
  max_completion_tokens: z.int().min(1).max(32_768).optional(),
  prompt_cache_key: z.string().max(64).optional(),
  service_tier: z.enum(['auto', 'default', 'flex', 'priority']).nullish(),
  tools: z.array(tool).min(1).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: toolName }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('json_object') }),
      z.strictObject({
        type: z.literal('json_schema'),
        json_schema: z.strictObject({
          name: toolName,
          description: z.string().optional(),
          schema: z.record(z.string(), z.unknown()),
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .optional(),
})

type ChatBody = z.infer<typeof bodyShape>
type Message = ChatBody['messages'][number]

function requireTools({ tools, tool_choice, parallel_tool_calls, response_format, ...rest }: ChatBody): void {
  if (!tools && tool_choice !== undefined) refuse("'tool_choice' is only allowed when 'tools' are specified.")
  if (!tools && parallel_tool_calls !== undefined) refuse("'parallel_tool_calls' is only allowed when 'tools' are specified.")
  if (rest.max_tokens !== undefined && rest.max_completion_tokens !== undefined) {
    refuse("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
  }
  for (const { function: declared } of tools ?? []) {
    const fault = declared.strict ? faultOfSchema(declared.parameters ?? {}, 'openai-strict') : undefined
    if (fault) refuse(`Invalid schema for function '${declared.name}': ${fault}`)
  }
  if (response_format?.type !== 'json_schema' || !response_format.json_schema.strict) return
  const fault = faultOfSchema(response_format.json_schema.schema, 'openai-strict')
  if (fault) refuse(`Invalid schema for response_format '${response_format.json_schema.name}': ${fault}`)
}

/** A message with calls must be followed by the results of all of them, and results must not occur elsewhere. */
function requireResults({ messages }: ChatBody): void {
  let owed: string[] = []
  for (const [at, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!owed.includes(message.tool_call_id)) {
        refuse(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. " +
            `messages.[${at}]`,
        )
      }
      owed = owed.filter((id) => id !== message.tool_call_id)
      continue
    }
    requireNothingOwed(owed)
    if (message.role !== 'assistant') continue
    if (!message.content && !message.tool_calls) {
      refuse(`Invalid value for 'content': expected a string, got null. messages.[${at}].content`)
    }
    owed = message.tool_calls?.map(({ id }) => id) ?? []
  }
  requireNothingOwed(owed)
}

function requireNothingOwed(owed: readonly string[]): void {
  if (owed.length === 0) return
  refuse(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${owed.join(', ')}`,
  )
}

function transcriptOf({ messages, tools = [] }: ChatBody): Transcript {
  const turns: (UserTurn | ModelTurn)[] = []
  const said = messages.filter(({ role }) => role !== 'system' && role !== 'developer')
  for (const message of said) {
    const last = turns.at(-1)
    const turn = message.role === 'assistant' ? modelTurn(message) : userTurn(message)
    if (turn.role === 'user' && last?.role === 'user') turns[turns.length - 1] = joined(last, turn)
    else turns.push(turn)
  }
  const instructions = messages.filter(({ role }) => role === 'system' || role === 'developer')
  return {
    system: instructions.map(({ content }) => textOf(content)).join('\n\n'),
    tools: tools.map(({ function: declared }) => declared),
    turns,
  }
}

function modelTurn({ content, tool_calls = [] }: Message & { role: 'assistant' }): ModelTurn {
  const calls = tool_calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: compact(text) }))
  return { role: 'model', callIds: calls.map(({ id }) => id), content: { text: textOf(content), calls } }
}

function userTurn(message: Message): UserTurn {
  if (message.role === 'tool') {
    return { role: 'user', texts: [], images: [], results: [{ id: message.tool_call_id, text: textOf(message.content) }] }
  }
  const parts = typeof message.content === 'string' ? [{ type: 'text' as const, text: message.content }] : (message.content ?? [])
  return {
    role: 'user',
    texts: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
    images: parts.flatMap((part) => (part.type === 'image_url' ? [imageOf(part.image_url.url)] : [])),
    results: [],
  }
}

/** A data URL as type and bytes. */
export function imageOf(url: string): { mediaType: string; data: string } {
  const [, mediaType = '', data = ''] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? []
  return { mediaType, data }
}

export function joined(one: UserTurn, other: UserTurn): UserTurn {
  return {
    role: 'user',
    texts: [...one.texts, ...other.texts],
    images: [...one.images, ...other.images],
    results: [...one.results, ...other.results],
  }
}

function textOf(content: Message['content']): string {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('\n')
}

/** The same JSON without the spaces that an agent may put into it. */
export function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text))
  } catch {
    return text
  }
}

function chunksOf(step: Step, ids: readonly string[], tellsUsage: boolean): object[] {
  const chunk = (choices: readonly object[], usage: object | null = null) => ({
    id: 'chatcmpl-harbor',
    object: 'chat.completion.chunk',
    created: 1_760_000_000,
    model: 'gpt-4.1-2025-04-14',
    service_tier: 'default',
    system_fingerprint: 'fp_1',
    choices,
    ...(tellsUsage ? { usage } : {}),
  })
  const delta = (delta: object, finish_reason: string | null = null) =>
    chunk([{ index: 0, delta, logprobs: null, finish_reason }])
  const { input, cached, output, reasoning } = step.usage
  const usage = {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
  return [
    delta({ role: 'assistant', content: step.text === '' ? null : '', refusal: null }),
    ...piecesOf(step.text).map((content) => delta({ content })),
    ...step.calls.flatMap(({ name, input }, index) => [
      delta({ tool_calls: [{ index, id: ids[index], type: 'function', function: { name, arguments: '' } }] }),
      ...piecesOf(JSON.stringify(input)).map((piece) => delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    delta({}, step.calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(tellsUsage ? [chunk([], usage)] : []),
  ]
}
