import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { expect, it } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import { settlePendingResponses } from '../../src/server/gateway/relay/stored-responses/settle-pending.ts'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, books, requireBalancedBooks, setOptions, tokenOfSecondUser } from '../helpers/seed.ts'
import { vendor } from './responses-vendor.ts'
import { ask, eventually, model, settledCharges, stage } from './stage.ts'

const path = '/v1/responses'
const clients = [
  ['openai 7', OpenAI],
  // The calls used here are the same in both majors; their types only differ in name.
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const

anyDatabase('a response that its upstream stores', (_fresh, kind) => {
  for (const [name, Client] of clients) {
    it(`is read, listed and removed through ${name} where it was made, and none of that is charged`, async () => {
      const provider = await vendor()
      const { server, token } = await stage(kind, provider.url, {
        channel: { models: 'mine', model_mapping: `{"mine":"${model}"}` },
      })
      await setOptions(server, { ModelRatio: '{"mine":1}' })
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      const made = await client.responses.create({ model: 'mine', input: 'Hi' })
      expect(await client.responses.retrieve(made.id)).toMatchObject({
        id: made.id,
        status: 'completed',
        model: 'mine',
        output_text: 'Rye.',
      })
      const items = await client.responses.inputItems.list(made.id, { limit: 5, order: 'asc' })
      expect(items.data).toHaveLength(1)
      const events: string[] = []
      for await (const event of await client.responses.retrieve(made.id, { stream: true, starting_after: 0 }))
        events.push(event.type)
      expect(events).toEqual(['response.output_text.delta', 'response.completed'])
      await client.responses.delete(made.id)
      await expect(client.responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 })

      expect(provider.asked.map(({ line }) => line)).toEqual([
        'POST /v1/responses',
        'GET /v1/responses/resp_1',
        'GET /v1/responses/resp_1/input_items?limit=5&order=asc',
        'GET /v1/responses/resp_1?stream=true&starting_after=0',
        'DELETE /v1/responses/resp_1',
      ])
      expect(await settledCharges(server)).toHaveLength(1)
      await requireBalancedBooks(server)
    })
  }

  it('is continued on the channel and key that made it, before higher priorities; the hold covers its length', async () => {
    const provider = await vendor()
    const other = await vendor()
    const { server, ask, channelId } = await stage(kind, provider.url, { channel: { key: 'key-number-one', priority: 5 } })
    const first = JSON.parse((await ask({ model, input: 'Hi' }, path)).text)
    await addChannel(server, { url: other.url, models: model, priority: 9 })
    const second = JSON.parse((await ask({ model, input: 'And?', previous_response_id: first.id }, path)).text)
    expect(second.id).toBe('resp_2')
    expect(other.asked).toEqual([])
    expect((await ask({ model, input: 'Hi' }, path)).status).toBe(200)
    expect(other.asked).toHaveLength(1)

    const { logs } = await books(server)
    expect(logs[1]?.channel_id).toBe(channelId)
    expect(JSON.parse(logs[1]?.other ?? '{}').admin_info).toMatchObject({ choice: 'pinned' })
    const kept = await server.app.db
      .selectFrom('kept_responses')
      .select(['response_id', 'tokens'])
      .where('channel_id', '=', channelId)
      .execute()
    expect(kept).toEqual(expect.arrayContaining([{ response_id: 'resp_2', tokens: 74 }]))

    const streamed = await ask({ model, input: 'Hi', previous_response_id: 'resp_2', stream: true }, path)
    expect(streamed.text).toContain('resp_3')
    expect((await ask({ model, input: 'Hi', previous_response_id: 'resp_3' }, path)).status).toBe(200)
    await requireBalancedBooks(server)
  })

  it('does not exist for another user, nor do unknown ids', async () => {
    const provider = await vendor()
    const { server, ask: askFirst, token } = await stage(kind, provider.url)
    const second = await tokenOfSecondUser(server)
    const made = JSON.parse((await askFirst({ model, input: 'Hi' }, path)).text)
    const before = provider.asked.length
    const call = (key: string, line: string) => {
      const [method = 'GET', where = ''] = line.split(' ')
      return fetch(server.url + where, { method, headers: { authorization: `Bearer ${key}` } })
    }
    for (const line of [
      `GET ${path}/${made.id}`,
      `DELETE ${path}/${made.id}`,
      `POST ${path}/${made.id}/cancel`,
      `GET ${path}/${made.id}/input_items`,
      `GET ${path}/resp_nope`,
    ]) {
      const answer = await call(second.key, line)
      expect([line, answer.status, await answer.json()]).toEqual([
        line,
        404,
        {
          error: {
            message: expect.stringContaining('was not found'),
            type: 'invalid_request_error',
            param: null,
            code: 'response_unknown',
          },
        },
      ])
    }
    for (const key of [second.key, token.key]) {
      const id = key === second.key ? made.id : 'resp_nope'
      const answer = await ask(server, key, { model, input: 'Hi', previous_response_id: id }, path)
      expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([
        404,
        { param: 'previous_response_id', code: 'previous_response_not_found' },
      ])
      const conversation = await ask(server, key, { model, input: 'Hi', conversation: 'conv_1' }, path)
      expect([conversation.status, JSON.parse(conversation.text).error.param]).toEqual([400, 'conversation'])
    }
    expect(provider.asked).toHaveLength(before)
    expect((await call(second.key, `PUT ${path}/${made.id}`)).headers.get('allow')).toBe('GET, DELETE')
    expect((await call('sk-wrong', `GET ${path}/${made.id}`)).status).toBe(401)
    await requireBalancedBooks(server)
  })

  it('is not stored when the caller sets store to false; a compaction of a stored one is charged, of an unknown one refused', async () => {
    const provider = await vendor()
    const { server, token, ask } = await stage(kind, provider.url)
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const loose = await client.responses.create({ model, input: 'Hi', store: false })
    await expect(client.responses.retrieve(loose.id)).rejects.toMatchObject({ status: 404 })
    const made = await client.responses.create({ model, input: 'Hi' })
    const small = await client.responses.compact({ model, previous_response_id: made.id })
    expect(small).toMatchObject({ object: 'response.compaction', usage: { total_tokens: 74 } })
    expect((await ask({ model, previous_response_id: 'resp_other' }, `${path}/compact`)).status).toBe(404)
    expect(await settledCharges(server)).toHaveLength(3)
    expect((await books(server)).logs.at(-1)).toMatchObject({ prompt_tokens: 30, completion_tokens: 44 })
    await requireBalancedBooks(server)
  })
})

anyDatabase('a response in the background', (_fresh, kind) => {
  const open = async (server: TestServer) => (await server.app.db.selectFrom('open_responses').selectAll().execute()).length
  const due = (server: TestServer) => server.app.db.updateTable('open_responses').set({ ask_at: 0 }).execute()
  const settleNow = async (server: TestServer) => {
    await due(server)
    return settlePendingResponses(server.app, new AbortController().signal)
  }
  const held = async (server: TestServer) => {
    if (server.database.kind === 'sqlite') return server.app.ledger.openHolds
    return (await books(server)).holds.length
  }

  it('is charged before the caller reads its end, once, and held until then', async () => {
    let state = 'in_progress'
    const provider = await vendor({ next: () => state })
    const { server, token, channelId } = await stage(kind, provider.url)
    const budget = { scope: 'channel', subject: String(channelId), period: 'day', amount: 1e12 }
    const { id: budgetId } = await server.call<Budget>('POST /api/budget/', budget)
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const made = await client.responses.create({ model, input: 'Hi', background: true })
    expect(made.status).toBe('queued')
    expect([await held(server), await open(server)]).toEqual([1, 1])
    expect((await client.responses.retrieve(made.id)).status).toBe('in_progress')
    expect((await books(server)).logs).toEqual([])
    await expect(client.responses.delete(made.id)).rejects.toMatchObject({ status: 409 })

    state = 'completed'
    const reads = await Promise.all(Array.from({ length: 5 }, () => client.responses.retrieve(made.id)))
    expect(reads.map(({ status }) => status)).toEqual(Array(5).fill('completed'))
    expect(await settledCharges(server)).toHaveLength(1)
    expect((await books(server)).logs).toMatchObject([{ prompt_tokens: 30, completion_tokens: 44, token_id: token.id }])
    expect([await held(server), await open(server)]).toEqual([0, 0])
    await settleNow(server)
    await client.responses.retrieve(made.id)
    const charges = await settledCharges(server)
    expect(charges).toHaveLength(1)
    const [counted] = (await server.call<{ items: Budget[] }>('GET /api/budget/')).items
    expect(counted).toMatchObject({ spent: charges[0]?.amount, held: 0 })
    await server.call(`PUT /api/budget/${budgetId}`, { amount: 1 })
    await expect(client.responses.create({ model, input: 'Hi', background: true })).rejects.toMatchObject({
      status: 429,
      code: 'budget_exceeded',
    })
    await requireBalancedBooks(server)
  })

  it('is charged by the server when it is never read; a failed one costs nothing, nor does a lost one', async () => {
    let state = 'in_progress'
    const provider = await vendor({ next: () => state })
    const { server, ask } = await stage(kind, provider.url)
    const make = async () => JSON.parse((await ask({ model, input: 'Hi', background: true }, path)).text).id as string
    await make()
    expect(await settleNow(server)).toBe(0)
    expect(await open(server)).toBe(1)
    state = 'incomplete'
    expect(await settleNow(server)).toBe(1)
    state = 'failed'
    await make()
    expect(await settleNow(server)).toBe(1)
    const lost = await make()
    provider.kept.delete(lost)
    for (let round = 0; round < 8; round++) await settleNow(server)
    expect(await settledCharges(server)).toHaveLength(1)
    expect([await held(server), await open(server)]).toEqual([0, 0])
    await requireBalancedBooks(server)
  })

  it('is charged what is counted where its usage is of zeros', async () => {
    const usage = { input_tokens: 30, output_tokens: 0, total_tokens: 30 }
    const provider = await vendor({ next: () => 'completed', usage })
    const { server, ask } = await stage(kind, provider.url)
    await ask({ model, input: 'Hi', background: true }, path)
    expect(await settleNow(server)).toBe(1)
    expect(await settledCharges(server)).toHaveLength(1)
    const [row] = (await books(server)).logs
    expect(row).toMatchObject({ prompt_tokens: 30 })
    expect(row?.completion_tokens).toBeGreaterThan(0)
    expect(JSON.parse(row?.other ?? '{}')).toMatchObject({ estimated: true })
    await requireBalancedBooks(server)
  })

  it('that is cancelled is charged for its prompt, when the upstream reports no more', async () => {
    const provider = await vendor()
    const { server, token } = await stage(kind, provider.url)
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const made = await client.responses.create({ model, input: 'Hi', background: true })
    expect(await client.responses.cancel(made.id)).toMatchObject({ status: 'cancelled' })
    expect(await settledCharges(server)).toHaveLength(1)
    const [log] = (await books(server)).logs
    expect(JSON.parse(log?.other ?? '{}')).toMatchObject({ estimated: true, interrupted: 'client' })
    await requireBalancedBooks(server)
  })

  it('continues when its stream is closed, and is charged when it ends', async () => {
    let state = 'in_progress'
    const provider = await vendor({ next: () => state })
    const { server, token } = await stage(kind, provider.url)
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const stream = await client.responses.create({ model, input: 'Hi', background: true, stream: true })
    for await (const event of stream) if (event.type === 'response.output_text.delta') break
    stream.controller.abort()
    await eventually('the relay is idle', async () =>
      (await server.app.metrics.relayOpen.get()).values.every(({ value }) => value === 0),
    )
    expect([await open(server), (await books(server)).logs.length]).toEqual([1, 0])
    state = 'completed'
    const events: string[] = []
    for await (const event of await client.responses.retrieve('resp_1', { stream: true, starting_after: 1 }))
      events.push(event.type)
    expect(events.at(-1)).toBe('response.completed')
    expect(await settledCharges(server)).toHaveLength(1)
    expect((await books(server)).logs).toMatchObject([{ prompt_tokens: 30, completion_tokens: 44, is_stream: 1 }])
    expect(await open(server)).toBe(0)
    await requireBalancedBooks(server)
  })

  it('is refused when store is false', async () => {
    const provider = await vendor()
    const { ask } = await stage(kind, provider.url)
    const refused = await ask({ model, input: 'Hi', background: true, store: false }, path)
    expect([refused.status, JSON.parse(refused.text).error.param]).toEqual([400, 'background'])
    expect(provider.asked).toEqual([])
  })
})
