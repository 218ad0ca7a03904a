import { expect, it } from 'vitest'
import { verifyCharges } from '../../src/server/wallet/verify-charges.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { httpUpstream } from './stage.ts'

/** Numbers of a report: prompt and output tokens; undefined where the reply has no usage at all. */
type Told = readonly [prompt: number, output: number] | undefined

interface Vendor {
  readonly channel: Record<string, unknown>
  readonly model: string
  readonly path: string
  request(stream: boolean): Record<string, unknown>
  /** A reply with these reports, of which a whole reply has the last. Without text the answer is blocked. */
  reply(told: readonly Told[], text: string, stream: boolean): string
}

const say = (content: string) => [{ role: 'user', content }]
const prompt = 'one two three four five'
const said = 'six seven eight nine'
const event = (data: object, name = '') => `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`
const named = (data: { readonly type: string }) => event(data, data.type)
const last = <Value>(list: readonly Value[]) => list.at(-1)

const chat: Vendor = {
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

const responses: Vendor = {
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

const messages: Vendor = {
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

const vendors: Readonly<Record<string, Vendor>> = { chat, responses, messages, gemini }

anyDatabase('a usage of zeros', (_fresh, kind) => {
  const sharedStage = sharedStages(kind, { SelfUseModeEnabled: 'true' })

  /** Asks in the format of `caller` a channel that answers in that of `vendor`, and returns the row of the charge. */
  async function charged(
    vendor: Vendor,
    told: readonly Told[],
    {
      stream = false,
      text = said,
      caller = vendor,
      headers = {},
    }: { stream?: boolean; text?: string; caller?: Vendor; headers?: Record<string, string> } = {},
  ) {
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json', ...headers })
      response.end(vendor.reply(told, text, stream))
    })
    const { model } = vendor
    const staged = await sharedStage(url, { ...vendor.channel, models: model })
    const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    const path = caller.path || `/v1beta/models/${model}:${action}`
    const body = caller.path ? { model, ...caller.request(stream) } : caller.request(stream)
    const answer = await staged.ask(body, path)
    expect(answer.status, answer.text).toBe(200)
    await staged.charged()
    const [row] = await staged.logs()
    const { estimated = false } = JSON.parse(row?.other ?? '{}')
    expect(await verifyCharges(staged.server.app.db)).toMatchObject({ differing: 0 })
    await requireBalancedBooks(staged.server)
    return { tokens: [row?.prompt_tokens, row?.completion_tokens], estimated, answer: answer.text }
  }

  const streamed = [false, true]
  const cases = Object.entries(vendors).flatMap(([name, vendor]) => streamed.map((stream) => ({ name, vendor, stream })))

  it.each(cases)('beside an answer is no usage: $name, stream: $stream', async ({ vendor, stream }) => {
    const counted = await charged(vendor, [undefined], { stream })
    expect(counted.estimated).toBe(true)
    expect(Math.min(...counted.tokens.map(Number))).toBeGreaterThan(0)
    const { tokens, estimated } = await charged(vendor, [[0, 0]], { stream })
    expect({ tokens, estimated }).toEqual({ tokens: counted.tokens, estimated: true })
  })

  it.each(cases)('on one side is counted on that side: $name, stream: $stream', async ({ vendor, stream }) => {
    const [input, output] = (await charged(vendor, [undefined], { stream })).tokens
    expect(await charged(vendor, [[77, 0]], { stream })).toMatchObject({ tokens: [77, output], estimated: true })
    expect(await charged(vendor, [[0, 99]], { stream })).toMatchObject({ tokens: [input, 99], estimated: true })
  })

  it.each(cases.filter(({ stream, name }) => stream && name !== 'responses'))(
    'behind real numbers does not replace them: $name',
    async ({ vendor, stream }) => {
      expect(
        await charged(
          vendor,
          [
            [77, 99],
            [0, 0],
          ],
          { stream },
        ),
      ).toMatchObject({ tokens: [77, 99], estimated: false })
    },
  )

  it.each(cases)('is free for an answer without output: $name, stream: $stream', async ({ vendor, stream }) => {
    expect(await charged(vendor, [[0, 0]], { stream, text: '' })).toMatchObject({ tokens: [0, 0], estimated: false })
    expect(await charged(vendor, [[77, 0]], { stream, text: '' })).toMatchObject({ tokens: [77, 0], estimated: false })
  })

  it.each(cases)('is free where the vendor repeats an answer for free: $name, stream: $stream', async ({ vendor, stream }) => {
    const headers = { 'x-openrouter-cache-status': 'HIT' }
    expect(await charged(vendor, [[0, 0]], { stream, headers })).toMatchObject({ tokens: [0, 0], estimated: false })
  })

  it.each(cases)('differs from a low one, which is charged as it is: $name, stream: $stream', async ({ vendor, stream }) => {
    expect(await charged(vendor, [[1, 1]], { stream })).toMatchObject({ tokens: [1, 1], estimated: false })
  })

  it.each(streamed)('is counted for callers of another format, who are told the charged numbers (stream: %s)', async (stream) => {
    const pairs = Object.values(vendors).flatMap((vendor) => Object.values(vendors).map((caller) => ({ vendor, caller })))
    for (const { vendor, caller } of pairs.filter(({ vendor, caller }) => vendor.path !== caller.path && vendor !== responses)) {
      const { tokens, estimated, answer } = await charged(vendor, [[0, 0]], { stream, caller })
      expect(estimated).toBe(true)
      expect(Math.min(...tokens.map(Number))).toBeGreaterThan(0)
      if (!stream || caller !== chat)
        expect(answer).toMatch(new RegExp(`"(?:\\w*input_tokens|prompt_tokens|promptTokenCount)":${tokens[0]}\\b`))
    }
  })

  it('beside vectors is no usage', async () => {
    const embed = async (usage?: object) => {
      const url = await httpUpstream((request, response) => {
        request.resume()
        const data = [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }]
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ object: 'list', data, model: 'text-embedding-3-small', usage }))
      })
      const staged = await sharedStage(url, { models: 'text-embedding-3-small' })
      expect((await staged.ask({ model: 'text-embedding-3-small', input: prompt }, '/v1/embeddings')).status).toBe(200)
      await staged.charged()
      return (await staged.logs())[0]?.prompt_tokens
    }
    const counted = await embed()
    expect(counted).toBeGreaterThan(0)
    expect(await embed({ prompt_tokens: 0, total_tokens: 0 })).toBe(counted)
    expect(await embed({ prompt_tokens: 1, total_tokens: 1 })).toBe(1)
  })
})
