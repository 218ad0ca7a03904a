/** Replies as the vendors of the four formats write them, whole or as the events of a stream: a text, or calls. */
export interface VendorSays {
  readonly model: unknown
  readonly text?: string
  readonly calls?: readonly { readonly name: string; readonly namespace?: string | undefined; readonly input: object }[]
  readonly usage: readonly [input: number, output: number]
  /** Of thoughts that Gemini attaches to its calls. */
  readonly signature?: string
}

let made = 0
/** An id that no other reply has. */
const newId = (prefix: string) => `${prefix}${(++made).toString(36).padStart(24, '0')}`
const eventOf = (data: object) => `data: ${JSON.stringify(data)}\n\n`
const namedEvents = (events: readonly { readonly type: string; readonly [member: string]: unknown }[]) =>
  events.map((event) => `event: ${event.type}\n${eventOf(event)}`).join('')

export function chatReply({ model, text = '', calls, usage: [input, output] }: VendorSays, isStream: boolean): string {
  const tool_calls = calls?.map(({ name, input: given }, index) => ({
    index,
    id: newId('call_'),
    type: 'function',
    function: { name, arguments: JSON.stringify(given) },
  }))
  const message = { role: 'assistant', content: calls ? null : text, ...(calls ? { tool_calls } : {}) }
  const finish_reason = calls ? 'tool_calls' : 'stop'
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output }
  const head = { id: newId('chatcmpl-'), created: 1, model }
  if (!isStream)
    return JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage })
  const chunk = (choices: object[], more: object = {}) => eventOf({ ...head, object: 'chat.completion.chunk', choices, ...more })
  const said = chunk([{ index: 0, delta: message, finish_reason: null }]) + chunk([{ index: 0, delta: {}, finish_reason }])
  return `${said}${chunk([], { usage })}data: [DONE]\n\n`
}

export function messagesReply({ model, text = '', calls, usage: [input, output] }: VendorSays, isStream: boolean): string {
  const blocks = calls
    ? calls.map(({ name, input: given }) => ({ type: 'tool_use', id: newId('toolu_'), name, input: given }))
    : [{ type: 'text', text }]
  const stop_reason = calls ? 'tool_use' : 'end_turn'
  const usage = { input_tokens: input, output_tokens: output, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = { id: newId('msg_'), type: 'message', role: 'assistant', model, stop_sequence: null, usage }
  if (!isStream) return JSON.stringify({ ...message, content: blocks, stop_reason })
  return namedEvents([
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: 'text' in block ? { ...block, text: '' } : { ...block, input: {} } },
      {
        type: 'content_block_delta',
        index,
        delta:
          'text' in block
            ? { type: 'text_delta', text: block.text }
            : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
      },
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ])
}

export function geminiReply(
  { model, text = '', calls, usage: [input, output], signature }: VendorSays,
  isStream: boolean,
): string {
  const signed = signature === undefined ? {} : { thoughtSignature: signature }
  const parts = calls?.map(({ name, input: args }) => ({ functionCall: { name, args }, ...signed }))
  const reply = {
    candidates: [{ content: { role: 'model', parts: parts ?? [{ text }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: input, candidatesTokenCount: output, totalTokenCount: input + output },
    modelVersion: model,
    responseId: newId('r'),
  }
  return isStream ? eventOf(reply) : JSON.stringify(reply)
}

export function responsesReply({ model, text = '', calls, usage: [input, output] }: VendorSays, isStream: boolean): string {
  const items = calls
    ? calls.map(({ name, namespace, input: given }) => ({
        id: newId('fc_'),
        ...{ type: 'function_call', status: 'completed', call_id: newId('call_'), name, ...(namespace ? { namespace } : {}) },
        arguments: JSON.stringify(given),
      }))
    : [
        {
          id: newId('msg_'),
          ...{ type: 'message', status: 'completed', role: 'assistant' },
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]
  const usage = {
    ...{ input_tokens: input, input_tokens_details: { cached_tokens: 0 } },
    ...{ output_tokens: output, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: input + output },
  }
  const response = { id: newId('resp_'), object: 'response', created_at: 1, model, status: 'completed', output: items, usage }
  if (!isStream) return JSON.stringify(response)
  const begun = { ...response, status: 'in_progress', output: [], usage: null }
  const part = (words: string) => ({ content_index: 0, part: { type: 'output_text', text: words, annotations: [] } })
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    ...items.flatMap((item, output_index) => {
      const at = { item_id: item.id, output_index }
      const open = 'arguments' in item ? { ...item, arguments: '' } : { ...item, content: [] }
      const inner =
        'arguments' in item
          ? [
              { type: 'response.function_call_arguments.delta', ...at, delta: item.arguments },
              { type: 'response.function_call_arguments.done', ...at, arguments: item.arguments, name: item.name },
            ]
          : [
              { type: 'response.content_part.added', ...at, ...part('') },
              { type: 'response.output_text.delta', ...at, content_index: 0, delta: text, logprobs: [] },
              { type: 'response.output_text.done', ...at, content_index: 0, text, logprobs: [] },
              { type: 'response.content_part.done', ...at, ...part(text) },
            ]
      return [
        { type: 'response.output_item.added', output_index, item: { ...open, status: 'in_progress' } },
        ...inner,
        { type: 'response.output_item.done', output_index, item },
      ]
    }),
    { type: 'response.completed', response },
  ]
  return namedEvents(events.map((event, sequence_number) => ({ ...event, sequence_number })))
}
