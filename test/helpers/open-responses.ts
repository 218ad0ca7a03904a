import { z } from 'zod'

/** The published schema of Open Responses for a response and the events of its stream, written for these tests. */

const text = z.string()
const whole = z.int()
const status = z.enum(['in_progress', 'completed', 'incomplete'])

const citation = z.looseObject({ type: z.literal('url_citation'), url: text, start_index: whole, end_index: whole, title: text })
const part = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('output_text'),
    text,
    annotations: z.array(citation),
    logprobs: z.array(z.unknown()).optional(),
  }),
  z.looseObject({ type: z.literal('refusal'), refusal: text }),
  z.looseObject({ type: z.literal('summary_text'), text }),
  z.looseObject({ type: z.literal('reasoning_text'), text }),
])
const item = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('message'),
    id: text,
    status,
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: z.array(part),
  }),
  z.looseObject({ type: z.literal('function_call'), id: text, call_id: text, name: text, arguments: text, status }),
  z.looseObject({
    type: z.literal('reasoning'),
    id: text,
    summary: z.array(part),
    content: z.array(part).optional(),
    encrypted_content: text.optional(),
  }),
])
const tool = z.looseObject({
  type: z.literal('function'),
  name: text,
  description: text.nullable(),
  parameters: z.record(text, z.unknown()).nullable(),
  strict: z.boolean().nullable(),
})
const choice = z.enum(['none', 'auto', 'required'])
const format = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('text') }),
  z.looseObject({ type: z.literal('json_object') }),
  z.looseObject({ type: z.literal('json_schema'), name: text, description: text.nullable(), strict: z.boolean() }),
])

export const responseResource = z.looseObject({
  id: text,
  object: z.literal('response'),
  created_at: whole,
  completed_at: whole.nullable(),
  status: text,
  incomplete_details: z.looseObject({ reason: text }).nullable(),
  model: text,
  previous_response_id: text.nullable(),
  instructions: text.nullable(),
  output: z.array(item),
  error: z.looseObject({ code: text, message: text }).nullable(),
  tools: z.array(tool),
  tool_choice: z.union([choice, z.looseObject({ type: z.enum(['function', 'allowed_tools']) })]),
  truncation: z.enum(['auto', 'disabled']),
  parallel_tool_calls: z.boolean(),
  text: z.looseObject({ format, verbosity: z.enum(['low', 'medium', 'high']).optional() }),
  top_p: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  top_logprobs: whole,
  temperature: z.number(),
  reasoning: z
    .looseObject({
      effort: z.enum(['none', 'low', 'medium', 'high', 'xhigh']).nullable(),
      summary: z.enum(['concise', 'detailed', 'auto']).nullable(),
    })
    .nullable(),
  user: text.nullable(),
  usage: z
    .looseObject({
      input_tokens: whole,
      output_tokens: whole,
      total_tokens: whole,
      input_tokens_details: z.looseObject({ cached_tokens: whole }),
      output_tokens_details: z.looseObject({ reasoning_tokens: whole }),
    })
    .nullable(),
  max_output_tokens: whole.nullable(),
  max_tool_calls: whole.nullable(),
  store: z.boolean(),
  background: z.boolean(),
  service_tier: text,
  metadata: z.record(text, text),
  safety_identifier: text.nullable(),
  prompt_cache_key: text.nullable(),
})

const numbered = { sequence_number: whole }
const ofItem = { ...numbered, item_id: text, output_index: whole }
const ofPart = { ...ofItem, content_index: whole }
const ofSummary = { ...ofItem, summary_index: whole }
const event = <Shape extends z.ZodRawShape>(type: string, shape: Shape) => z.looseObject({ type: z.literal(type), ...shape })

const events: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  [
    ...['created', 'queued', 'in_progress', 'completed', 'failed', 'incomplete'].map((name) =>
      event(`response.${name}`, { ...numbered, response: responseResource }),
    ),
    ...['added', 'done'].flatMap((name) => [
      event(`response.output_item.${name}`, { ...numbered, output_index: whole, item }),
      event(`response.content_part.${name}`, { ...ofPart, part }),
      event(`response.reasoning_summary_part.${name}`, { ...ofSummary, part }),
    ]),
    event('response.output_text.delta', { ...ofPart, delta: text }),
    event('response.output_text.done', { ...ofPart, text }),
    event('response.refusal.delta', { ...ofPart, delta: text }),
    event('response.refusal.done', { ...ofPart, refusal: text }),
    event('response.output_text.annotation.added', { ...ofPart, annotation_index: whole, annotation: citation.nullable() }),
    event('response.reasoning_summary_text.delta', { ...ofSummary, delta: text }),
    event('response.reasoning_summary_text.done', { ...ofSummary, text }),
    event('response.function_call_arguments.delta', { ...ofItem, delta: text }),
    event('response.function_call_arguments.done', { ...ofItem, arguments: text }),
  ].map((schema) => [[...schema.shape.type.values][0], schema]),
)

/** Throws for an event that the schema does not contain or that violates it. */
export function requireEvent(data: { readonly type?: unknown }): void {
  const schema = events[String(data.type)]
  if (!schema) throw new Error(`Open Responses has no event ${String(data.type)}`)
  schema.parse(data)
}
