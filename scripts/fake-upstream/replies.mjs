// The replies of the simulated provider, as a pure function of the request: the words of a reply, its usage, and the bytes of
// both in each dialect. One word is one token, so that a test can compute every number by hand.

/** @typedef {{ prompt: number, cached?: number, cacheWrite?: number, completion: number, reasoning?: number }} Usage */
/** @typedef {{ bytes: string, words: number }} Piece  bytes of one event and how many output words are in it */
/** @typedef {{ status: number, type: string, pieces: Piece[] }} Reply */

export const countWords = (text) => text.split(/\s+/).filter((word) => word !== '').length

/** All text that a model would read: of messages (plain or in parts), system prompt, prompt or input. */
export function promptText(body) {
  const texts = []
  const collect = (value) => {
    if (typeof value === 'string') texts.push(value)
    if (Array.isArray(value)) value.forEach(collect)
    if (value?.content !== undefined) collect(value.content)
    if (typeof value?.text === 'string') texts.push(value.text)
  }
  for (const part of [body.system, body.messages, body.prompt, body.input]) collect(part)
  return texts.join('\n')
}

/** The words of the reply: those of the program, otherwise an answer that repeats the last line of the prompt. */
function replyWords(body, program) {
  const said = promptText(body).split('\n').at(-1) || 'nothing'
  const words =
    program.words === undefined
      ? `You said: ${said}`.split(/\s+/)
      : Array.from({ length: program.words }, (_, index) => `word${index + 1}`)
  const most = body.max_completion_tokens ?? body.max_tokens ?? words.length
  return { words: words.slice(0, most), cut: words.length > most }
}

function usageOf(body, words, program) {
  return { prompt: countWords(promptText(body)), completion: words.length, ...program.usage }
}

const spaced = (words) => words.map((word, index) => (index === 0 ? word : ` ${word}`))
const json = (value, words = 0, status = 200) => ({
  status,
  type: 'application/json',
  pieces: [{ bytes: JSON.stringify(value), words }],
})
const stream = (pieces) => ({ status: 200, type: 'text/event-stream; charset=utf-8', pieces })
const data = (value, words = 0) => ({ bytes: `data: ${JSON.stringify(value)}\n\n`, words })
const event = (value, words = 0) => ({ bytes: `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`, words })
const done = { bytes: 'data: [DONE]\n\n', words: 0 }

function openaiUsage(usage) {
  return {
    prompt_tokens: usage.prompt,
    completion_tokens: usage.completion,
    total_tokens: usage.prompt + usage.completion,
    prompt_tokens_details: {
      cached_tokens: usage.cached ?? 0,
      ...(usage.cacheWrite ? { cache_write_tokens: usage.cacheWrite } : {}),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  }
}

function anthropicUsage(usage) {
  const read = usage.cached ?? 0
  const write = usage.cacheWrite ?? 0
  return {
    input_tokens: usage.prompt - read - write,
    cache_creation_input_tokens: write,
    cache_read_input_tokens: read,
    output_tokens: usage.completion,
  }
}

/** @returns {Reply} */
export function chat(id, body, program) {
  const { words, cut } = replyWords(body, program)
  const base = { id: `chatcmpl-${id}`, created: 1_794_900_000, model: body.model, system_fingerprint: 'fp_simulated' }
  const finish = cut ? 'length' : 'stop'
  const usage = program.noUsage ? undefined : openaiUsage(usageOf(body, words, program))
  const indexes = Array.from({ length: body.n ?? 1 }, (_, index) => index)

  if (!body.stream) {
    const choices = indexes.map((index) => ({
      index,
      message: { role: 'assistant', content: words.join(' '), refusal: null },
      logprobs: null,
      finish_reason: finish,
    }))
    return json({ ...base, object: 'chat.completion', choices, ...(usage && { usage }) }, words.length)
  }

  const wantsUsage = body.stream_options?.include_usage === true
  const chunk = (choices, words = 0, more = {}) =>
    data({ ...base, object: 'chat.completion.chunk', choices, ...(wantsUsage && { usage: null }), ...more }, words)
  const each = (delta, finish_reason = null) => indexes.map((index) => ({ index, delta, logprobs: null, finish_reason }))
  return stream([
    chunk(each({ role: 'assistant', content: '', refusal: null })),
    ...spaced(words).map((content) => chunk(each({ content }), 1)),
    chunk(each({}, finish)),
    ...(wantsUsage && usage ? [chunk([], 0, { usage })] : []),
    done,
  ])
}

/** @returns {Reply} */
export function completions(id, body, program) {
  const { words, cut } = replyWords(body, program)
  const base = { id: `cmpl-${id}`, object: 'text_completion', created: 1_794_900_000, model: body.model }
  const choice = (text, finish_reason) => [{ text, index: 0, logprobs: null, finish_reason }]
  const finish = cut ? 'length' : 'stop'
  const usage = program.noUsage ? undefined : openaiUsage(usageOf(body, words, program))
  if (!body.stream) return json({ ...base, choices: choice(words.join(' '), finish), ...(usage && { usage }) }, words.length)

  return stream([
    ...spaced(words).map((text) => data({ ...base, choices: choice(text, null) }, 1)),
    data({ ...base, choices: choice('', finish) }),
    ...(body.stream_options?.include_usage && usage ? [data({ ...base, choices: [], usage })] : []),
    done,
  ])
}

/** @returns {Reply} */
export function embeddings(_id, body, program) {
  const inputs = Array.isArray(body.input) ? body.input : [body.input]
  const vector = (text) => [0.5, -0.25, Math.min(1, String(text).length / 100)]
  const written = (numbers) =>
    body.encoding_format === 'base64' ? Buffer.from(new Float32Array(numbers).buffer).toString('base64') : numbers
  const usage = { prompt: countWords(inputs.join(' ')), ...program.usage }
  return json({
    object: 'list',
    data: inputs.map((text, index) => ({ object: 'embedding', index, embedding: written(vector(text)) })),
    model: body.model,
    ...(program.noUsage ? {} : { usage: { prompt_tokens: usage.prompt, total_tokens: usage.prompt } }),
  })
}

/** @returns {Reply} */
export function messages(id, body, program) {
  const { words, cut } = replyWords(body, program)
  const stop_reason = cut ? 'max_tokens' : 'end_turn'
  const usage = anthropicUsage(usageOf(body, words, program))
  const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: body.model, stop_sequence: null }
  if (!body.stream) {
    return json(
      { ...message, content: [{ type: 'text', text: words.join(' ') }], stop_reason, ...(program.noUsage ? {} : { usage }) },
      words.length,
    )
  }

  return stream([
    event({
      type: 'message_start',
      message: {
        ...message,
        content: [],
        stop_reason: null,
        ...(program.noUsage ? {} : { usage: { ...usage, output_tokens: 1 } }),
      },
    }),
    event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    event({ type: 'ping' }),
    ...spaced(words).map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }, 1)),
    event({ type: 'content_block_stop', index: 0 }),
    event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, ...(program.noUsage ? {} : { usage }) }),
    event({ type: 'message_stop' }),
  ])
}

/** @returns {Reply} */
export function countTokens(_id, body) {
  return json({ input_tokens: countWords(promptText(body)) })
}

/** @returns {Reply} */
export function models(names) {
  return json({
    object: 'list',
    data: names.map((id) => ({ id, object: 'model', created: 1_794_900_000, owned_by: 'simulated' })),
  })
}

/** An error in the format of the dialect. `streamed`: as an event of a stream that has begun. */
export function errorOf(dialect, message, streamed = false) {
  if (dialect === 'anthropic') {
    const value = { type: 'error', error: { type: 'overloaded_error', message }, request_id: 'req_simulated' }
    return streamed ? event(value).bytes : JSON.stringify(value)
  }
  const value = { error: { message, type: 'server_error', param: null, code: 'server_error' } }
  return streamed ? data(value).bytes : JSON.stringify(value)
}
