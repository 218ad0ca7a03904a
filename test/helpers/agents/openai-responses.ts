import { z } from 'zod'
import { faultOfSchema } from './json-schemas.ts'
import { compact, imageOf, joined } from './openai-chat.ts'
import { piecesOf, type Step, steps } from './scenario.ts'
import { type Issued, type ModelTurn, requireShape, type Transcript, type UserTurn } from './transcript.ts'
import { refuse, type VendorReply } from './vendor-server.ts'

/**
 * GPT-5.4 and, without reasoning, GPT-4.1 on Responses, stateless. Source: API reference and types of openai 7.51, error texts in
 * the wording of the vendor.
 */
export function answerResponses(issued: Issued, json: unknown): VendorReply {
  const body = requireShape(bodyShape, json, ({ path, message, unknown }) =>
    unknown.length > 0
      ? `Unknown parameter: '${[...path, unknown[0]].join('.')}'.`
      : `Invalid value at '${path.join('.')}': ${message}`,
  )
  const items = typeof body.input === 'string' ? [] : body.input
  requireStateless(body, items)
  requireSchemas(body)
  requireOutputs(items)
  const at = issued.stepAsked(transcriptOf(body, items))
  const step = steps[at]
  if (!step) return refuse('the scenario is over')
  if (body.text?.format?.type !== 'json_schema') refuse('the scenario asks for an answer in JSON: text.format is missing')
  const reasons = body.model === 'gpt-5.4'
  if (reasons && !body.reasoning?.effort) refuse('the scenario asks for reasoning')
  if (!reasons && body.reasoning) refuse("Unsupported parameter: 'reasoning.effort' is not supported with this model.")
  const ids = step.calls.map(() => issued.newId())
  const sealed = `gAAAAAB${Buffer.from(`${at} ${ids.join(' ')} ${step.thought}`).toString('base64url')}`
  issued.note(at, ids, [
    ...(reasons ? [{ type: 'reasoning', encrypted_content: sealed }] : []),
    ...(step.text === '' ? [] : [{ type: 'message', text: step.text }]),
    ...step.calls.map(({ name, input }, place) => ({
      type: 'function_call',
      call_id: ids[place],
      name,
      arguments: JSON.stringify(input),
    })),
  ])
  const events = eventsOf(step, {
    ids,
    at,
    sealed: reasons ? sealed : undefined,
    showsThoughts: Boolean(body.reasoning?.summary),
  })
  return {
    contentType: 'text/event-stream; charset=utf-8',
    pieces: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  }
}

const callId = z.string().min(1).max(64)
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/)
const status = z.enum(['in_progress', 'completed', 'incomplete']).nullish()
const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() })
const inputImage = z.strictObject({
  type: z.literal('input_image'),
  image_url: z.string().regex(/^(https:\/\/|data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$)/),
  detail: z.enum(['auto', 'low', 'high', 'original']).optional(),
})
const outputText = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()).optional(),
  logprobs: z.array(z.unknown()).optional(),
})
const idOf = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_`), `Expected an ID that begins with '${prefix}'.`)
const item = z.union([
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'system', 'developer']),
    content: z.union([z.string(), z.array(z.union([inputText, inputImage])).min(1)]),
    status,
  }),
  z.strictObject({
    type: z.literal('message').optional(),
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(outputText)]),
    id: idOf('msg').optional(),
    status,
    phase: z.enum(['commentary', 'final_answer']).nullish(),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id: idOf('fc').optional(),
    call_id: callId,
    name: toolName,
    arguments: z.string(),
    status,
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    id: idOf('fc').nullish(),
    call_id: callId,
    output: z.union([z.string(), z.array(z.union([inputText, inputImage])).min(1)]),
    status,
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: idOf('rs').optional(),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    content: z.array(z.strictObject({ type: z.literal('reasoning_text'), text: z.string() })).nullish(),
    encrypted_content: z.string().nullish(),
    status,
  }),
  z.strictObject({ type: z.literal('item_reference').nullish(), id: z.string() }),
])
const tool = z.strictObject({
  type: z.literal('function'),
  name: toolName,
  description: z.string().nullish(),
  parameters: z.looseObject({ type: z.literal('object'), properties: z.record(z.string(), z.unknown()) }).nullable(),
  strict: z.boolean().nullish(),
})
const bodyShape = z.strictObject({
  model: z.enum(['gpt-5.4', 'gpt-4.1']),
  input: z.union([z.string(), z.array(item).min(1)]),
  instructions: z.string().nullish(),
  stream: z.literal(true, 'the agents of this scenario stream'),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullish(),
  store: z.boolean().nullish(),
  include: z.array(z.enum(['reasoning.encrypted_content', 'message.output_text.logprobs'])).nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  reasoning: z
    .strictObject({
      effort: z.enum(['none', 'low', 'medium', 'high', 'xhigh']).nullish(),
      summary: z.enum(['auto', 'concise', 'detailed']).nullish(),
    })
    .nullish(),
  text: z
    .strictObject({
      format: z
        .discriminatedUnion('type', [
          z.strictObject({ type: z.literal('text') }),
          z.strictObject({ type: z.literal('json_object') }),
          z.strictObject({
            type: z.literal('json_schema'),
            name: toolName,
            description: z.string().optional(),
            schema: z.record(z.string(), z.unknown()),
            strict: z.boolean().nullish(),
          }),
        ])
        .optional(),
      verbosity: z.enum(['low', 'medium', 'high']).nullish(),
    })
    .optional(),
  tools: z.array(tool).min(1).max(128).optional(),
  tool_choice: z
    .union([z.enum(['none', 'auto', 'required']), z.strictObject({ type: z.literal('function'), name: toolName })])
    .optional(),
  truncation: z.enum(['auto', 'disabled']).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  user: z.string().optional(),
  safety_identifier: z.string().max(64).optional(),
  prompt_cache_key: z.string().max(64).optional(),
  service_tier: z.enum(['auto', 'default', 'flex', 'priority']).nullish(),
})

type ResponsesBody = z.infer<typeof bodyShape>
type Item = z.infer<typeof item>
type MessageItem = Extract<Item, { role: string }>

/** The vendor stores nothing: the complete output of the model has to be sent back. */
function requireStateless(body: ResponsesBody, items: readonly Item[]): void {
  for (const item of items) {
    if (isOf(item, 'item_reference')) {
      refuse(`Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`)
    }
    if (isOf(item, 'reasoning') && !item.encrypted_content) {
      refuse(`Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`)
    }
  }
  if (body.store !== false) refuse('the scenario is stateless: store has to be false')
  const asksSeals = body.include?.includes('reasoning.encrypted_content') ?? false
  if (asksSeals && body.model === 'gpt-4.1') refuse('Encrypted content is not supported with this model.')
  if (!asksSeals && body.model === 'gpt-5.4') refuse('the scenario is stateless: include lacks reasoning.encrypted_content')
}

function requireSchemas({ tools = [], text }: ResponsesBody): void {
  for (const { name, strict, parameters } of tools) {
    const fault = strict ? faultOfSchema(parameters, 'openai-strict') : undefined
    if (fault) refuse(`Invalid schema for function '${name}': ${fault}`)
  }
  if (text?.format?.type !== 'json_schema' || !text.format.strict) return
  const fault = faultOfSchema(text.format.schema, 'openai-strict')
  if (fault) refuse(`Invalid schema for response_format '${text.format.name}': ${fault}`)
}

/** Every call must be followed by an output, every output preceded by a call, and reasoning must precede the items that followed it. */
function requireOutputs(items: readonly Item[]): void {
  const calls = new Set<string>()
  const outputs = new Set<string>()
  for (const [at, item] of items.entries()) {
    if (isOf(item, 'reasoning')) {
      const next = items[at + 1]
      const follows =
        next && (isOf(next, 'function_call') || isOf(next, 'reasoning') || ('role' in next && next.role === 'assistant'))
      if (!follows) refuse(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`)
    }
    if (isOf(item, 'function_call')) {
      if (calls.has(item.call_id)) refuse(`Duplicate function call with call_id ${item.call_id}.`)
      calls.add(item.call_id)
    }
    if (!isOf(item, 'function_call_output')) continue
    if (!calls.has(item.call_id)) refuse(`No tool call found for function call output with call_id ${item.call_id}.`)
    outputs.add(item.call_id)
  }
  const missing = [...calls].find((id) => !outputs.has(id))
  if (missing !== undefined) refuse(`No tool output found for function call ${missing}.`)
}

function isOf<Type extends string>(item: Item, type: Type): item is Extract<Item, { type?: Type | null | undefined }> {
  return item.type === type
}

function transcriptOf({ instructions, tools = [] }: ResponsesBody, items: readonly Item[]): Transcript {
  const system = [instructions ?? '']
  const turns: (UserTurn | (ModelTurn & { content: unknown[]; callIds: string[] }))[] = []
  const model = () => {
    const last = turns.at(-1)
    if (last?.role === 'model') return last
    const turn = { role: 'model' as const, callIds: [] as string[], content: [] as unknown[] }
    turns.push(turn)
    return turn
  }
  const user = (turn: UserTurn) => {
    const last = turns.at(-1)
    if (last?.role === 'user') turns[turns.length - 1] = joined(last, turn)
    else turns.push(turn)
  }
  for (const item of items) {
    if (isOf(item, 'function_call')) {
      const { call_id, name } = item
      const turn = model()
      turn.callIds.push(call_id)
      turn.content.push({ type: 'function_call', call_id, name, arguments: compact(item.arguments) })
    } else if (isOf(item, 'reasoning')) {
      model().content.push({ type: 'reasoning', encrypted_content: item.encrypted_content })
    } else if (isOf(item, 'function_call_output')) {
      user({ role: 'user', texts: [], images: [], results: [{ id: item.call_id, text: textOf(item.output) }] })
    } else if ('role' in item) {
      // LangChain sends a turn of only calls with an empty message before them.
      if (item.role === 'assistant') {
        if (item.content.length > 0) model().content.push({ type: 'message', text: textOf(item.content) })
      } else if (item.role === 'user') user(questionOf(item))
      else system.push(textOf(item.content))
    }
  }
  return { system: system.filter((text) => text !== '').join('\n\n'), tools, turns }
}

function questionOf({ content }: MessageItem): UserTurn {
  const parts = typeof content === 'string' ? [{ type: 'input_text' as const, text: content }] : content
  return {
    role: 'user',
    texts: parts.flatMap((part) => (part.type === 'input_text' ? [part.text] : [])),
    images: parts.flatMap((part) => (part.type === 'input_image' ? [imageOf(part.image_url)] : [])),
    results: [],
  }
}

function textOf(content: string | readonly { readonly type: string; readonly text?: string }[]): string {
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '[image]').join('\n')
}

interface Event {
  readonly type: string
  readonly [member: string]: unknown
}

interface Said {
  readonly ids: readonly string[]
  readonly sealed: string | undefined
  readonly at: number
  readonly showsThoughts: boolean
}

function eventsOf(step: Step, { ids, sealed, at, showsThoughts }: Said): Event[] {
  const reasoning = `rs_${at}`
  const message = `msg_${at}`
  const summary = showsThoughts ? [{ type: 'summary_text', text: step.thought }] : []
  const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] })
  const calls = step.calls.map(({ name, input }, place) => ({
    id: `fc_${ids[place]}`,
    type: 'function_call',
    status: 'completed',
    call_id: ids[place],
    name,
    arguments: JSON.stringify(input),
  }))
  const output: Event[] = [
    ...(sealed === undefined ? [] : [{ id: reasoning, type: 'reasoning', summary, encrypted_content: sealed }]),
    ...(step.text === ''
      ? []
      : [{ id: message, type: 'message', status: 'completed', role: 'assistant', content: [part(step.text)] }]),
    ...calls,
  ]
  const events: Event[] = [
    { type: 'response.created', response: responseOf('in_progress', [], undefined) },
    { type: 'response.in_progress', response: responseOf('in_progress', [], undefined) },
    ...output.flatMap((item, output_index) => eventsOfItem(item, output_index, step)),
    { type: 'response.completed', response: responseOf('completed', output, step) },
  ]
  return events.map((event, sequence_number) => ({ ...event, sequence_number }))
}

function eventsOfItem(item: Event, output_index: number, step: Step): Event[] {
  const at = { item_id: item.id, output_index }
  const added = (shell: object): Event => ({ type: 'response.output_item.added', output_index, item: { ...item, ...shell } })
  const done: Event = { type: 'response.output_item.done', output_index, item }
  if (item.type === 'reasoning') {
    const place = { ...at, summary_index: 0 }
    const isShown = Array.isArray(item.summary) && item.summary.length > 0
    const told: Event[] = [
      { type: 'response.reasoning_summary_part.added', ...place, part: { type: 'summary_text', text: '' } },
      ...piecesOf(step.thought).map((delta) => ({ type: 'response.reasoning_summary_text.delta', ...place, delta })),
      { type: 'response.reasoning_summary_text.done', ...place, text: step.thought },
      { type: 'response.reasoning_summary_part.done', ...place, part: { type: 'summary_text', text: step.thought } },
    ]
    return [added({ summary: [], encrypted_content: 'gAAAAABbegun' }), ...(isShown ? told : []), done]
  }
  if (item.type === 'message') {
    const place = { ...at, content_index: 0 }
    const part = { type: 'output_text', annotations: [], logprobs: [] }
    return [
      added({ status: 'in_progress', content: [] }),
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      ...piecesOf(step.text).map((delta) => ({
        type: 'response.output_text.delta',
        ...place,
        delta,
        logprobs: [],
        obfuscation: 'xY',
      })),
      { type: 'response.output_text.done', ...place, text: step.text, logprobs: [] },
      { type: 'response.content_part.done', ...place, part: { ...part, text: step.text } },
      done,
    ]
  }
  const input = String(item.arguments)
  return [
    added({ status: 'in_progress', arguments: '' }),
    ...piecesOf(input).map((delta) => ({ type: 'response.function_call_arguments.delta', ...at, delta })),
    { type: 'response.function_call_arguments.done', ...at, arguments: input },
    done,
  ]
}

function responseOf(status: string, output: readonly unknown[], step: Step | undefined): object {
  const { input, cached, output: produced, reasoning } = step?.usage ?? { input: 0, cached: 0, output: 0, reasoning: 0 }
  return {
    id: 'resp_harbor',
    object: 'response',
    created_at: 1_760_000_000,
    status,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    model: 'gpt-5.4-2026-03-05',
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: 'medium', summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    truncation: 'disabled',
    usage: step
      ? {
          input_tokens: input,
          input_tokens_details: { cached_tokens: cached },
          output_tokens: produced,
          output_tokens_details: { reasoning_tokens: reasoning },
          total_tokens: input + produced,
        }
      : null,
    user: null,
    metadata: {},
  }
}
