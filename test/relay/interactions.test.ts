import { GoogleGenAI } from '@google/genai'
import { describe, expect, it } from 'vitest'
import { settlePendingResponses } from '../../src/server/gateway/relay/stored-responses/settle-pending.ts'
import type { TestServer } from '../helpers/app.ts'
import { addChannel, books, requireBalancedBooks, tokenOfSecondUser } from '../helpers/seed.ts'
import { interactionEvent, interactionsVendor } from './interactions-vendor.ts'
import { ask, httpUpstream, settledCharges, stage } from './stage.ts'

const path = '/v1beta/interactions'
const gemini = 'gemini-3.8-flash'
const channel = { type: 24, models: `${gemini},deep-research-preview-04-2026` }
const prices = { [gemini]: 2, mine: 1, 'deep-research-preview-04-2026': 3 }

async function staged(url: string, more: Record<string, unknown> = {}) {
  const made = await stage('sqlite', url, { channel: { ...channel, ...more } })
  await made.server.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify(prices) })
  await made.server.call('PUT /api/option/', { key: 'CompletionRatio', value: JSON.stringify({ [gemini]: 5, mine: 1 }) })
  await made.server.call('PUT /api/option/', { key: 'CacheRatio', value: JSON.stringify({ [gemini]: 0.5, mine: 1 }) })
  return made
}

/** 20 tokens of input, 10 cached at a half, and 44 of output at five times, at a ratio of 2. */
const price = 2 * (20 + 5 + 5 * 44)

const clientOf = (server: Pick<TestServer, 'url'>, apiKey: string) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: server.url, retryOptions: { attempts: 1 } } })

const call = async (server: Pick<TestServer, 'url'>, key: string, line: string) => {
  const [method = 'GET', where = ''] = line.split(' ')
  const response = await fetch(server.url + where, { method, headers: { 'x-goog-api-key': key } })
  return { status: response.status, text: await response.text() }
}

describe('an interaction of Gemini', () => {
  it('keeps the bytes of request and reply, and is charged by its usage', async () => {
    const vendor = await interactionsVendor()
    const { server, ask: send } = await staged(vendor.url)
    const body = JSON.stringify({ model: gemini, input: 'Which port?', generation_config: { thinking_level: 'low' }, x: [1] })
    const answer = await send(body, path)
    expect([answer.status, JSON.parse(answer.text)]).toMatchObject([200, { id: 'v1_1', status: 'completed', model: gemini }])
    expect(vendor.asked).toEqual([{ line: `POST ${path}`, key: expect.any(String), body }])
    expect(await settledCharges(server)).toMatchObject([{ amount: price }])
    const { logs } = await books(server)
    expect(logs[0]).toMatchObject({ prompt_tokens: 30, completion_tokens: 44, is_stream: 0 })
    expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({ reasoning_tokens: 4 })
    await requireBalancedBooks(server)
  })

  it('streams byte for byte, with its end after the charge', async () => {
    const vendor = await interactionsVendor()
    const { server, ask: send } = await staged(vendor.url)
    const body = { model: gemini, input: 'Which port?', stream: true }
    const answer = await send(body, path)
    const whole = vendor.streamOf({ id: 'v1_1', status: 'completed', key: '', body }).join('')
    expect([answer.headers.get('content-type'), answer.text]).toEqual([expect.stringContaining('text/event-stream'), whole])
    expect(await settledCharges(server)).toMatchObject([{ amount: price }])
    await requireBalancedBooks(server)
  })

  it('is made, continued, read, streamed again and deleted through the official SDK, where it was made', async () => {
    const vendor = await interactionsVendor()
    const other = await interactionsVendor()
    const { server, token } = await staged(vendor.url, { models: 'mine', model_mapping: `{"mine":"${gemini}"}` })
    const { interactions } = clientOf(server, token.key)
    const first = await interactions.create({ model: 'mine', input: 'Which port?' })
    expect(first).toMatchObject({ id: 'v1_1', model: 'mine', status: 'completed' })
    await addChannel(server, { url: other.url, ...channel, models: 'mine', priority: 9 })
    const stream = await interactions.create({ model: 'mine', input: 'Why?', previous_interaction_id: first.id, stream: true })
    const events: string[] = []
    for await (const event of stream) events.push(event.event_type)
    expect(events).toEqual(['interaction.created', 'step.start', 'step.delta', 'step.stop', 'interaction.completed'])

    expect(await interactions.get('v1_2')).toMatchObject({ id: 'v1_2', model: 'mine', status: 'completed' })
    const again: string[] = []
    for await (const event of await interactions.get('v1_2', { stream: true, last_event_id: 'e1' })) again.push(event.event_type)
    expect(again).toEqual(['step.delta', 'step.stop', 'interaction.completed'])
    await interactions.delete('v1_2')
    await expect(interactions.get('v1_2')).rejects.toMatchObject({ status: 404 })
    expect(vendor.asked.map(({ line }) => line.replace('?alt=sse', ''))).toEqual([
      `POST ${path}`,
      `POST ${path}`,
      `GET ${path}/v1_2?stream=false`,
      `GET ${path}/v1_2?last_event_id=e1&stream=true`,
      `DELETE ${path}/v1_2`,
    ])
    expect(other.asked).toEqual([])
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('is unknown to another user, under any action, and to calls about Responses', async () => {
    const vendor = await interactionsVendor()
    const { server, token, ask: send } = await staged(vendor.url)
    const { id } = JSON.parse((await send({ model: gemini, input: 'Which port?' }, path)).text)
    const second = await tokenOfSecondUser(server)
    const before = vendor.asked.length
    for (const line of [`GET ${path}/${id}`, `DELETE ${path}/${id}`, `POST ${path}/${id}/cancel`, `GET ${path}/v1_nope`]) {
      const answer = await call(server, second.key, line)
      expect([line, answer.status, JSON.parse(answer.text).error.status]).toEqual([line, 404, 'NOT_FOUND'])
    }
    expect((await call(server, token.key, `GET /v1/responses/${id}`)).status).toBe(404)
    const continued = { model: gemini, input: 'Why?', previous_interaction_id: id }
    expect((await ask(server, second.key, continued, path)).status).toBe(404)
    expect(vendor.asked).toHaveLength(before)
    expect((await call(server, token.key, `GET ${path}/${id}`)).status).toBe(200)
  })

  it('of an agent is priced and routed by the name of the agent', async () => {
    const vendor = await interactionsVendor()
    const { server, ask: send } = await staged(vendor.url)
    const answer = await send({ agent: 'deep-research-preview-04-2026', input: 'Ports of Sussex', background: true }, path)
    expect([answer.status, JSON.parse(answer.text).status]).toEqual([200, 'in_progress'])
    expect(await settledPending(server)).toBe(0)
  })
})

const settledPending = async (server: TestServer) => {
  await server.app.db.updateTable('open_responses').set({ ask_at: 0 }).execute()
  return settlePendingResponses(server.app, new AbortController().signal)
}

describe('an interaction in the background', () => {
  it('is charged when it has ended, once, whoever finds out', async () => {
    const states = ['in_progress', 'completed']
    const vendor = await interactionsVendor({ next: () => states.shift() ?? 'completed' })
    const { server, token, ask: send } = await staged(vendor.url)
    const made = JSON.parse((await send({ model: gemini, input: 'Which port?', background: true }, path)).text)
    expect(made).toMatchObject({ id: 'v1_1', status: 'in_progress' })
    expect(await settledPending(server)).toBe(0)
    expect(await settledPending(server)).toBe(1)
    expect(JSON.parse((await call(server, token.key, `GET ${path}/${made.id}`)).text)).toMatchObject({ status: 'completed' })
    expect(await settledCharges(server)).toMatchObject([{ amount: price }])
    const { logs } = await books(server)
    expect(logs[0]).toMatchObject({ prompt_tokens: 30, completion_tokens: 44 })
    await requireBalancedBooks(server)
  })

  it('is charged by its owner who reads it, or cancels it', async () => {
    const vendor = await interactionsVendor({ next: () => 'completed' })
    const { server, token, ask: send } = await staged(vendor.url)
    await send({ model: gemini, input: 'Which port?', background: true }, path)
    expect((await call(server, token.key, `GET ${path}/v1_1`)).text).toContain('"completed"')
    expect(await settledCharges(server)).toMatchObject([{ amount: price }])

    await send({ model: gemini, input: 'Which port?', background: true }, path)
    expect((await call(server, token.key, `POST ${path}/v1_2/cancel`)).text).toContain('"cancelled"')
    const charges = await settledCharges(server)
    // Without a usage the prompt is counted.
    expect([charges.length, charges[1]?.amount]).toEqual([2, expect.any(Number)])
    expect(charges[1]?.amount).toBeLessThan(price)
    await requireBalancedBooks(server)
  })

  it('is free when it has failed, and not deleted while it runs', async () => {
    const states = ['in_progress', 'failed']
    const vendor = await interactionsVendor({ next: () => states.shift() ?? 'failed' })
    const { server, token, ask: send } = await staged(vendor.url)
    await send({ model: gemini, input: 'Which port?', background: true }, path)
    expect((await call(server, token.key, `DELETE ${path}/v1_1`)).status).toBe(409)
    expect(await settledPending(server)).toBe(1)
    const told = JSON.parse((await call(server, token.key, `GET ${path}/v1_1`)).text)
    expect(told).toMatchObject({ status: 'failed', errors: [{ code: expect.any(String), message: expect.any(String) }] })
    expect(await settledCharges(server)).toEqual([])
    await requireBalancedBooks(server)
  })

  it('needs store', async () => {
    const vendor = await interactionsVendor()
    const { ask: send } = await staged(vendor.url)
    const answer = await send({ model: gemini, input: 'x', background: true, store: false }, path)
    expect([answer.status, JSON.parse(answer.text).error.status]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(vendor.asked).toEqual([])
  })
})

describe('a host of Gemini without interactions', () => {
  it('is called with generateContent, and the interaction is stored here', async () => {
    const asked: string[] = []
    const url = await httpUpstream((request, response) => {
      asked.push(request.url ?? '')
      const isGenerate = request.url?.endsWith(':generateContent')
      response.writeHead(isGenerate ? 200 : 404, { 'content-type': isGenerate ? 'application/json' : 'text/html' })
      const candidates = [{ content: { role: 'model', parts: [{ text: 'Rye.' }] }, finishReason: 'STOP', index: 0 }]
      const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 }
      response.end(isGenerate ? JSON.stringify({ candidates, usageMetadata }) : '<html><body>404 Not Found</body></html>')
    })
    const { server, token, ask: send } = await staged(url)
    const made = JSON.parse((await send({ model: gemini, input: 'Which port?' }, path)).text)
    expect(made).toMatchObject({
      id: expect.stringMatching(/^int_/),
      status: 'completed',
      steps: [{ content: [{ text: 'Rye.' }] }],
    })
    expect(asked).toEqual([path, `/v1beta/models/${gemini}:generateContent`])
    expect((await call(server, token.key, `GET ${path}/${made.id}`)).status).toBe(200)
    // 10 tokens of input, and 2 of output at five times, at a ratio of 2.
    expect(await settledCharges(server)).toMatchObject([{ amount: 40 }])
  })
})

describe('listed words', () => {
  const checked = async (url: string) => {
    const made = await staged(url)
    const set = (key: string, value: string) => made.server.call('PUT /api/option/', { key, value })
    await set('SensitiveWords', 'badword')
    await set('CheckSensitiveOnCompletionEnabled', 'true')
    return made
  }
  const vendorOf = (...texts: string[]) =>
    httpUpstream((_request, response) => {
      const created = { id: 'v1_1', status: 'in_progress', model: gemini }
      const usage = { total_input_tokens: 3, total_output_tokens: 4, total_tokens: 7 }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(interactionEvent({ event_type: 'interaction.created', interaction: created }))
      response.write(interactionEvent({ event_type: 'step.start', index: 0, step: { type: 'model_output' } }))
      for (const text of texts)
        response.write(interactionEvent({ event_type: 'step.delta', index: 0, delta: { type: 'text', text } }))
      response.write(interactionEvent({ event_type: 'step.stop', index: 0 }))
      response.end(
        interactionEvent({ event_type: 'interaction.completed', interaction: { ...created, status: 'completed', usage } }),
      )
    })

  it('in the input of an interaction refuse it', async () => {
    const vendor = await interactionsVendor()
    const { ask: send } = await checked(vendor.url)
    const steps = [{ type: 'user_input', content: [{ type: 'text', text: 'a badword' }] }]
    for (const input of ['a badword', steps]) expect((await send({ model: gemini, input }, path)).status).toBe(400)
    expect(vendor.asked).toEqual([])
  })

  it('stop the stream of an interaction, which ends as incomplete', async () => {
    const { server, ask: send } = await checked(await vendorOf('It is ', 'a bad', 'word, and more'))
    const { text } = await send({ model: gemini, input: 'x', stream: true }, path)
    expect(text).not.toMatch(/badword|and more/)
    const last = JSON.parse(text.trimEnd().split('\n').at(-1)?.slice('data: '.length) ?? '')
    expect(last).toMatchObject({ event_type: 'interaction.completed', interaction: { id: 'v1_1', status: 'incomplete' } })
    expect(await settledCharges(server)).toHaveLength(1)
  })
})

describe('a failed interaction', () => {
  it.each([
    ['with status failed', { status: 'failed', errors: [{ code: 'INTERNAL', message: 'broken' }] }],
    ['that is no interaction', { anything: 1 }],
  ])('%s costs nothing, and another channel answers', async (_, more) => {
    const broken = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...('status' in more ? { id: 'v1_0' } : {}), ...more }))
    })
    const vendor = await interactionsVendor()
    const { server, ask: send } = await staged(broken, { priority: 9 })
    await server.call('PUT /api/option/', { key: 'RetryTimes', value: '1' })
    await addChannel(server, { url: vendor.url, ...channel })
    expect((await send({ model: gemini, input: 'x' }, path)).status).toBe(200)
    expect(await settledCharges(server)).toMatchObject([{ amount: price }])
  })

  it('in a stream is told by the event of the vendor, and what came before is charged', async () => {
    const text = 'Rye, or Winchelsea.'
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(interactionEvent({ event_type: 'interaction.created', interaction: { id: 'v1_1', status: 'in_progress' } }))
      response.write(interactionEvent({ event_type: 'step.start', index: 0, step: { type: 'model_output' } }))
      response.end(interactionEvent({ event_type: 'step.delta', index: 0, delta: { type: 'text', text } }))
    })
    const { server, ask: send } = await staged(url)
    const answer = await send({ model: gemini, input: 'x', stream: true }, path)
    expect(answer.text).toContain(text)
    expect(answer.text.trimEnd().split('\n').at(-1)).toContain('"event_type":"error"')
    expect(await settledCharges(server)).toHaveLength(1)
  })
})
