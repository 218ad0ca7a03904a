import type { PairFormat } from './trust-stage.ts'

// Streams with tool calls whose chunks are in an unexpected order, and the expected result.

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const named = (value: { type: string } & Record<string, unknown>) => `event: ${value.type}\n${event(value)}`
const pieces = 10_000

/** The third of three calls starts before the first, the second never, and both are interleaved; with unknown members. */
export function mixedToolCalls(speaks: PairFormat): string {
  return speaks === 'openai' ? chatCalls() : messagesCalls()
}

function chatCalls(): string {
  const chunk = (delta: unknown, finish: string | null = null, more: Record<string, unknown> = {}) =>
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...more,
    })
  const part = (index: number, text: string) => chunk({ tool_calls: [{ index, function: { arguments: text } }] })
  const open = (index: number, id: string, name: string) =>
    chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, x_unknown: { a: [1, null] } }] })
  return [
    chunk({ role: 'assistant', content: null }, null, { x_more: 'kept' }),
    open(2, 'call_c', 'third'),
    open(0, 'call_a', 'first'),
    part(0, '{"n":"'),
    part(2, '{"k":'),
    part(0, 'x').repeat(pieces),
    part(2, '1'),
    part(0, '"}'),
    part(2, '}'),
    chunk({}, 'tool_calls'),
    event({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [],
      usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
    }),
    'data: [DONE]\n\n',
  ].join('')
}

function messagesCalls(): string {
  const part = (index: number, text: string) =>
    named({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } })
  const open = (index: number, id: string, name: string) =>
    named({ type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {}, x_unknown: [1] } })
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 11, output_tokens: 1 },
  }
  return [
    named({ type: 'message_start', message, x_more: 'kept' }),
    open(4, 'call_c', 'third'),
    open(1, 'call_a', 'first'),
    part(1, '{"n":"'),
    part(4, '{"k":'),
    part(1, 'x').repeat(pieces),
    part(4, '1'),
    part(1, '"}'),
    part(4, '}'),
    named({ type: 'content_block_stop', index: 4 }),
    named({ type: 'content_block_stop', index: 1 }),
    named({ type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 7 } }),
    named({ type: 'message_stop' }),
  ].join('')
}

/** The calls of a stream as a client reads them, in the order of their names. */
export function readToolCalls(asks: PairFormat, text: string): { id: string; name: string; input: unknown }[] {
  const calls = new Map<number, { id: string; name: string; json: string }>()
  for (const line of text.split('\n')) {
    if (!line.startsWith('data: {')) continue
    const data = JSON.parse(line.slice(6))
    const parts = asks === 'openai' ? (data.choices[0]?.delta.tool_calls ?? []) : [data]
    for (const part of parts) {
      const { id, name } = asks === 'openai' ? { id: part.id, name: part.function.name } : (part.content_block ?? {})
      if (id) calls.set(part.index, { id, name, json: '' })
      const call = calls.get(part.index)
      if (call) call.json += (asks === 'openai' ? part.function.arguments : part.delta?.partial_json) ?? ''
    }
  }
  return [...calls.values()]
    .map(({ id, name, json }) => ({ id, name, input: JSON.parse(json) as unknown }))
    .sort((one, other) => one.name.localeCompare(other.name))
}
