/** Upstreams that report any usage, in the four formats of conversations: whole and streamed replies. */

/** Numbers of a report: prompt and output tokens; undefined where the reply has no usage at all. */
export type Told = readonly [prompt: number, output: number] | undefined

export interface Vendor {
  readonly channel: Record<string, unknown>
  readonly model: string
  readonly path: string
  request(stream: boolean): Record<string, unknown>
  /** A reply with these reports, of which a whole reply has the last. Without text the answer is blocked. */
  reply(told: readonly Told[], text: string, stream: boolean): string
}

const say = (content: string) => [{ role: 'user', content }]
export const prompt = 'one two three four five'
export const said = 'six seven eight nine'
const event = (data: object, name = '') => `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
const named = (data: { readonly type: string }) => event(data, data.type)
const last = <Value>(list: readonly Value[]) => list.at(-1)

export const chat: Vendor = {
  // A host that has nothing but Chat.
  channel: { type: 40 },
  model: 'gpt-4o-mini',
  path: '/v1/chat/completions',
  request: (stream) => ({ messages: say(prompt), stream }),
  reply(told, content, stream) {
    const usage = (of: Told) => of && { prompt_tokens: of[0], completion_tokens: of[1], total_tokens: of[0] + of[1] }
    const base = { id: 'c', created: 1, model: this.model }
    const finish_reason = content === '' ? 'content_filter' : 'stop'
    if (!stream) {
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason }]
      return JSON.stringify({ ...base, object: 'chat.completion', choices, usage: usage(last(told)) })
    }
    const chunk = { ...base, object: 'chat.completion.chunk' }
    const choice = (delta: object, finish: string | null) => [{ index: 0, delta, finish_reason: finish }]
    return [
      ...(content === '' ? [] : [event({ ...chunk, choices: choice({ content }, null) })]),
      event({ ...chunk, choices: choice({}, finish_reason) }),
      ...told.flatMap((of) => (of ? [event({ ...chunk, choices: [], usage: usage(of) })] : [])),
      'data: [DONE]\n\n',
    ].join('')
  },
}

export const responses: Vendor = {
  channel: { type: 1 },
  model: 'gpt-4o-mini',
  path: '/v1/responses',
  request: (stream) => ({ input: prompt, stream, store: false }),
  reply(told, text, stream) {
    const of = last(told)
    const usage = of && { input_tokens: of[0], output_tokens: of[1], total_tokens: of[0] + of[1] }
    const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' }
    const output = text === '' ? [] : [{ ...message, content: [{ type: 'output_text', text, annotations: [] }] }]
    const status = text === '' ? 'incomplete' : 'completed'
    const reason = text === '' ? { incomplete_details: { reason: 'content_filter' } } : {}
    const response = { id: 'resp_1', object: 'response', created_at: 1, model: this.model, status, output, ...reason, usage }
    if (!stream) return JSON.stringify(response)
    return [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
      ...(text === ''
        ? []
        : [{ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta: text }]),
      { type: `response.${status}`, response },
    ]
      .map(named)
      .join('')
  },
}

export const messages: Vendor = {
  channel: { type: 14 },
  model: 'claude-sonnet-4-5',
  path: '/v1/messages',
  request: (stream) => ({ messages: say(prompt), max_tokens: 100, stream }),
  reply(told, text, stream) {
    const usage = (of: Told) => of && { input_tokens: of[0], output_tokens: of[1] }
    const stop_reason = text === '' ? 'refusal' : 'end_turn'
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: this.model, stop_reason, stop_sequence: null }
    const content = text === '' ? [] : [{ type: 'text', text }]
    if (!stream) return JSON.stringify({ ...message, content, usage: usage(last(told)) })
    const block = [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
    ]
    return [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: usage(told[0]) } },
      ...(text === '' ? [] : block),
      ...told.map((of) => ({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: usage(of) })),
      { type: 'message_stop' },
    ]
      .map(named)
      .join('')
  },
}

const gemini: Vendor = {
  channel: { type: 24 },
  model: 'gemini-2.5-flash',
  path: '',
  request: () => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
  reply(told, text, stream) {
    const usageMetadata = (of: Told) =>
      of && { promptTokenCount: of[0], candidatesTokenCount: of[1], totalTokenCount: of[0] + of[1] }
    const candidates = [
      text === ''
        ? { index: 0, finishReason: 'SAFETY' }
        : { index: 0, content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP' },
    ]
    const reply = (of: Told, more: object) => ({ modelVersion: this.model, ...more, usageMetadata: usageMetadata(of) })
    if (!stream) return JSON.stringify(reply(last(told), { candidates }))
    return told.map((of, at) => event(reply(of, at === told.length - 1 ? { candidates } : {}))).join('')
  },
}

export const vendors: Readonly<Record<string, Vendor>> = { chat, responses, messages, gemini }
