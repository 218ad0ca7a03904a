import { z } from 'zod'
import { faultOfSchema } from './json-schemas.ts'
import { piecesOf, type Step, steps } from './scenario.ts'
import { Issued, type ModelTurn, requireShape, type Transcript, type UserTurn } from './transcript.ts'
import { Refusal, refuse, type VendorRequest, type VendorRules } from './vendor-server.ts'

/**
 * Claude Sonnet 4.6 behind Messages, as strict as the vendor. Source: API reference and types of @anthropic-ai/sdk 1.10, error
 * texts in the wording of the vendor.
 */
export function anthropicRules(): VendorRules {
  const issued = new Issued('toolu_01')
  return {
    answer(request) {
      if (request.path !== '/v1/messages') refuse('Not found', 404)
      requireHeaders(request)
      const { body, thinks } = readMessages(request.body, { isHosted: false })
      if (request.headers['anthropic-version'] === '2026-10-21') requireNewerVersion(body)
      // The tool runner of the SDK first requests a thread, and retries without one when that is refused.
      if (body.thread) throw new Refusal('`thread` cannot be combined with `thinking`.', 400, noThread)
      if (body.model !== 'claude-sonnet-4-6') refuse(`model: ${body.model}`, 404)
      if (body.stream !== true) refuse('the agents of this scenario stream')
      const { events } = answerMessages(issued, body, thinks)
      const pieces = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      return { contentType: 'text/event-stream; charset=utf-8', pieces }
    },
    refusalBody: ({ message, status, details }) => ({
      headers: { 'request-id': 'req_011' },
      body: {
        type: 'error',
        error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error', message, ...(details ? { details } : {}) },
        request_id: 'req_011',
      },
    }),
  }
}

const noThread = { error_code: 'thread_unsupported_request', unsupported: ['thinking'] }

function requireHeaders({ headers }: VendorRequest): void {
  if (!headers['x-api-key'] && !/^Bearer \S+$/.test(headers.authorization ?? '')) refuse('x-api-key header is required', 401)
  if (!['2023-06-01', '2026-10-21'].includes(String(headers['anthropic-version']))) {
    refuse('anthropic-version: header is required')
  }
}

/** Version 2026-10-21 has no sampling parameters, and no citations in texts of the user. */
function requireNewerVersion(body: MessagesBody): void {
  for (const member of ['temperature', 'top_p', 'top_k'] as const)
    if (body[member] !== undefined) refuse(`${member}: Extra inputs are not permitted`)
  for (const said of body.messages.filter(({ role }) => role === 'user'))
    for (const block of blocksOf(said))
      if (block.type === 'text' && block.citations?.length) refuse('citations: Extra inputs are not permitted')
}

const cacheControl = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish()
const text = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/, 'text content blocks must contain non-whitespace text'),
  cache_control: cacheControl,
  citations: z.array(z.unknown()).nullish(),
})
const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/, 'Input should be valid base64')
const image = z.strictObject({
  type: z.literal('image'),
  source: z.union([
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: base64,
    }),
    z.strictObject({ type: z.literal('url'), url: z.url() }),
  ]),
  cache_control: cacheControl,
})
const callId = z.string().regex(/^[a-zA-Z0-9_-]+$/, "String should match pattern '^[a-zA-Z0-9_-]+$'")
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")
const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: callId,
  content: z.union([z.string(), z.array(z.union([text, image]))]).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControl,
})
const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: callId,
  name: toolName,
  input: z.record(z.string(), z.unknown()),
  cache_control: cacheControl,
  caller: z.strictObject({ type: z.literal('direct') }).optional(),
})
const thinkingBlock = z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().min(1) })
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) })
const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string().min(1), z.array(z.union([text, image, toolResult])).min(1)]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([z.string().min(1), z.array(z.union([text, toolUse, thinkingBlock, redacted]))]),
  }),
])
const inputSchema = z.looseObject({
  type: z.literal('object'),
  properties: z.record(z.string(), z.unknown()).nullish(),
  required: z.array(z.string()).nullish(),
})
const tool = z.strictObject({
  type: z.literal('custom').nullish(),
  name: toolName,
  description: z.string().optional(),
  input_schema: inputSchema,
  strict: z.boolean().optional(),
  cache_control: cacheControl,
  eager_input_streaming: z.boolean().nullish(),
})
const single = z.boolean().optional()
const bodyShape = z.strictObject({
  model: z.string().optional(),
  anthropic_version: z.string().optional(),
  anthropic_beta: z.array(z.string()).optional(),
  stream: z.boolean().optional(),
  messages: z.array(message).min(1, 'messages: at least one message is required'),
  max_tokens: z.int().min(1).max(128_000),
  system: z.union([z.string(), z.array(text)]).optional(),
  stop_sequences: z.array(z.string().regex(/\S/, 'each stop sequence must contain non-whitespace')).optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use: single }),
      z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: single }),
      z.strictObject({ type: z.literal('tool'), name: toolName, disable_parallel_tool_use: single }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('enabled'),
        budget_tokens: z.int().min(1024),
        display: z.enum(['summarized', 'omitted']).nullish(),
      }),
      z.strictObject({ type: z.literal('adaptive'), display: z.enum(['summarized', 'omitted']).nullish() }),
      z.strictObject({ type: z.literal('disabled') }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      format: z.strictObject({ type: z.literal('json_schema'), schema: z.unknown() }).nullish(),
      effort: z.enum(['low', 'medium', 'high', 'max']).nullish(),
    })
    .optional(),
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  cache_control: cacheControl,
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  thread: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('create') }),
      z.strictObject({ type: z.literal('continue'), previous_message_id: z.string() }),
    ])
    .nullish(),
})

type MessagesBody = z.infer<typeof bodyShape>

/** Checks a body by all rules that need no state. Throws a Refusal. */
export function readMessages(json: unknown, { isHosted }: { isHosted: boolean }): { body: MessagesBody; thinks: boolean } {
  const body = requireShape(bodyShape, json, ({ path, message, unknown }) =>
    unknown.length > 0 ? `${[...path, unknown[0]].join('.')}: Extra inputs are not permitted` : `${path.join('.')}: ${message}`,
  )
  if (isHosted !== (body.model === undefined)) refuse('model: Extra inputs are not permitted, or Field required')
  if (isHosted !== (body.anthropic_version !== undefined)) refuse('anthropic_version: belongs to hosted models')
  if (isHosted && body.thread !== undefined) refuse('thread: Extra inputs are not permitted')
  if (isHosted && body.stream !== undefined) refuse('stream: Extra inputs are not permitted')
  const names = body.tools?.map(({ name }) => name) ?? []
  if (new Set(names).size < names.length) refuse('tools: Tool names must be unique.')
  if (body.tool_choice && names.length === 0) refuse('tool_choice: may only be specified while providing tools')
  const fault = body.output_config?.format && faultOfSchema(body.output_config.format.schema, 'anthropic-output')
  if (fault) refuse(`output_config.format.${fault}`)
  requireSampling(body)
  requireResults(body)
  requireThinking(body)
  return { body, thinks: thinks(body) }
}

function thinks({ thinking }: MessagesBody): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive'
}

function requireSampling(body: MessagesBody): void {
  const { thinking, temperature, top_p, top_k, tool_choice, max_tokens } = body
  if (!thinks(body)) return
  if (thinking?.type === 'enabled' && thinking.budget_tokens >= max_tokens)
    refuse('`max_tokens` must be greater than `thinking.budget_tokens`.')
  if ((temperature ?? 1) !== 1) refuse('`temperature` may only be set to 1 when thinking is enabled.')
  if (top_k !== undefined) refuse('`top_k` must be unset when thinking is enabled.')
  if (top_p !== undefined && top_p < 0.95) refuse('`top_p` must be greater than or equal to 0.95 when thinking is enabled.')
  if (tool_choice?.type === 'any' || tool_choice?.type === 'tool')
    refuse('Thinking may not be enabled when tool_choice forces tool use.')
}

type Block = Exclude<MessagesBody['messages'][number]['content'], string>[number]

function blocksOf({ content }: MessagesBody['messages'][number]): Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

/** Every call must have its result at the beginning of the next message, and every result its call in the previous one. */
function requireResults({ messages }: MessagesBody): void {
  if (messages[0]?.role !== 'user') refuse('messages: first message must use the "user" role')
  const last = messages.at(-1)
  if (last?.role === 'assistant') refuse('This model does not support assistant message prefill with these settings.')
  for (const [at, { role }] of messages.entries()) {
    const before = messages[at - 1]
    if (before?.role === role) refuse(`messages.${at}: roles must alternate in this scenario`)
    const calls =
      before && role === 'user' ? blocksOf(before).flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])) : []
    if (new Set(calls).size < calls.length) refuse(`messages.${at - 1}: \`tool_use\` ids must be unique`)
    const blocks = blocksOf(messages[at] ?? { role: 'user', content: [] })
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []))
    const missing = calls.filter((id) => !results.includes(id))
    if (missing.length > 0 || blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) {
      refuse(
        `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}. ` +
          'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
      )
    }
    const orphan = results.find((id) => !calls.includes(id))
    if (orphan !== undefined) {
      refuse(`messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}.`)
    }
  }
}

function requireThinking(body: MessagesBody): void {
  const { messages } = body
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const message = messages[last]
  if (!thinks(body) || !message) return
  const [first] = blocksOf(message)
  if (first?.type !== 'thinking' && first?.type !== 'redacted_thinking') {
    refuse(
      `messages.${last}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, ` +
        'a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
    )
  }
}

/** The events of the requested step. */
export function answerMessages(issued: Issued, body: MessagesBody, thinks: boolean): { events: Event[] } {
  const at = issued.stepAsked(transcriptOf(body))
  const step = steps[at]
  if (!step) throw new Refusal('the scenario is over')
  if (!body.output_config?.format) refuse('the scenario asks for an answer in JSON: output_config.format is missing')
  if (!thinks) refuse('the scenario asks for thinking')
  const ids = step.calls.map(() => issued.newId())
  const signature = `Eq${Buffer.from(`${at} ${ids.join(' ')} ${step.thought}`).toString('base64')}`
  const blocks = [
    { type: 'thinking', thinking: step.thought, signature },
    ...(step.text === '' ? [] : [{ type: 'text', text: step.text }]),
    ...step.calls.map(({ name, input }, place) => ({ type: 'tool_use', id: ids[place], name, input })),
  ]
  issued.note(at, ids, blocks)
  return { events: eventsOf(step, ids, signature) }
}

function transcriptOf({ system = '', tools = [], messages }: MessagesBody): Transcript {
  return {
    system: typeof system === 'string' ? system : system.map((block) => block.text).join('\n\n'),
    tools,
    turns: messages.map((message): UserTurn | ModelTurn => {
      const blocks = blocksOf(message)
      if (message.role === 'user') return userTurn(blocks)
      return {
        role: 'model',
        callIds: blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])),
        content: blocks.map(withoutMarks),
      }
    }),
  }
}

function userTurn(blocks: readonly Block[]): UserTurn {
  return {
    role: 'user',
    texts: blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
    images: blocks.flatMap((block) =>
      block.type === 'image' && block.source.type === 'base64'
        ? [{ mediaType: block.source.media_type, data: block.source.data }]
        : [],
    ),
    results: blocks.flatMap((block) =>
      block.type === 'tool_result' ? [{ id: block.tool_use_id, text: resultText(block) }] : [],
    ),
  }
}

function resultText({ content = '' }: z.infer<typeof toolResult>): string {
  return typeof content === 'string'
    ? content
    : content.map((block) => (block.type === 'text' ? block.text : '[image]')).join('\n')
}

function withoutMarks(block: Block): unknown {
  const {
    cache_control: _,
    caller: __,
    citations: ___,
    ...rest
  } = { caller: undefined, citations: undefined, ...block } as Block & {
    cache_control?: unknown
    caller?: unknown
    citations?: unknown
  }
  return rest
}

interface Event {
  readonly type: string
  readonly [member: string]: unknown
}

function eventsOf(step: Step, ids: readonly string[], signature: string): Event[] {
  const { input, cached, output, reasoning } = step.usage
  const counts = {
    input_tokens: input - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  }
  const shell = { id: 'msg_01Harbor', type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content: [] }
  const usage = { ...counts, output_tokens: 1, service_tier: 'standard', inference_geo: 'global' }
  const blocks: Block_[] = [
    {
      start: { type: 'thinking', thinking: '', signature: '' },
      deltas: [
        ...piecesOf(step.thought).map((thinking) => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ],
    },
    ...(step.text === ''
      ? []
      : [{ start: { type: 'text', text: '' }, deltas: piecesOf(step.text).map((text) => ({ type: 'text_delta', text })) }]),
    ...step.calls.map(({ name, input }, place) => ({
      start: { type: 'tool_use', id: ids[place], name, input: {} },
      deltas: ['', ...piecesOf(JSON.stringify(input))].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    })),
  ]
  return [
    { type: 'message_start', message: { ...shell, stop_reason: null, stop_sequence: null, usage } },
    { type: 'ping' },
    ...blocks.flatMap(({ start, deltas }, index) => [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: step.calls.length > 0 ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { ...counts, output_tokens: output, output_tokens_details: { thinking_tokens: reasoning } },
    },
    { type: 'message_stop' },
  ]
}

interface Block_ {
  readonly start: Readonly<Record<string, unknown>>
  readonly deltas: readonly Readonly<Record<string, unknown>>[]
}
