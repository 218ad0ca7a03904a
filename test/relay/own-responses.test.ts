import type { ServerResponse } from 'node:http'
import OpenAI from 'openai'
import OpenAI6 from 'openai-6'
import { expect, it, onTestFinished } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import { removeUser } from '../../src/server/people/accounts/remove-user.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { startProcess } from '../helpers/process.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { caller as connectCaller } from './realtime-stage.ts'
import { json, vendor } from './responses-vendor.ts'
import { claude, eventually, httpUpstream, model, settledCharges, stage } from './stage.ts'

const path = '/v1/responses'
const clients = [
  ['openai 7', OpenAI],
  // The calls used here are the same in both majors; their types only differ in name.
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const

interface Asked {
  readonly messages: readonly { role: string; content: { text: string }[] }[]
  readonly stream?: boolean
}

/** A simulated Claude that answers each question with its number. `hold` pauses a stream in its middle until it resolves. */
async function claudeUpstream({ hold }: { hold?: Promise<void> } = {}) {
  const asked: Asked[] = []
  const open: ServerResponse[] = []
  const usage = { input_tokens: 5, output_tokens: 2 }
  const event = (data: { type: string; [key: string]: unknown }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const url = await httpUpstream(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body: Asked = JSON.parse(text)
    asked.push(body)
    const words = `Answer ${asked.length}.`
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: claude, stop_sequence: null }
    if (!body.stream)
      return json(response, 200, { ...message, content: [{ type: 'text', text: words }], stop_reason: 'end_turn', usage })
    open.push(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(event({ type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } }))
    response.write(event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }))
    response.write(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Answer ' } }))
    await hold
    response.write(event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: words.slice(7) } }))
    response.write(event({ type: 'content_block_stop', index: 0 }))
    response.write(event({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }))
    response.end(event({ type: 'message_stop' }))
  })
  return { url, asked, open }
}

const said = ({ messages }: Asked) => messages.map(({ role, content }) => `${role}: ${content.map(({ text }) => text).join('')}`)
const rows = async (server: TestServer) => server.app.db.selectFrom('own_responses').selectAll().execute()
const channel = { type: 14, models: claude }

anyDatabase('responses of channels that store none', (fresh, kind) => {
  for (const [name, Client] of clients)
    it(`[195] [196] are stored here: ${name} continues from them, reads, lists and deletes them, and pays for the turns only`, async () => {
      const { url, asked } = await claudeUpstream()
      const { server, token } = await stage(kind, url, { channel })
      const client = new Client({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
      const first = await client.responses.create({ model: claude, input: 'One?', instructions: 'Be brief.' })
      expect(first).toMatchObject({ store: true, previous_response_id: null, output_text: 'Answer 1.' })
      const second = await client.responses
        .stream({ model: claude, input: [{ role: 'user', content: 'Two?' }], previous_response_id: first.id })
        .finalResponse()
      expect(second).toMatchObject({ store: true, previous_response_id: first.id, output_text: 'Answer 2.' })
      await client.responses.create({ model: claude, input: 'Three?', previous_response_id: second.id, store: false })
      expect(asked.map(said)).toEqual([
        ['user: One?'],
        ['user: One?', 'assistant: Answer 1.', 'user: Two?'],
        ['user: One?', 'assistant: Answer 1.', 'user: Two?', 'assistant: Answer 2.', 'user: Three?'],
      ])

      expect(await client.responses.retrieve(second.id)).toMatchObject({
        id: second.id,
        output_text: 'Answer 2.',
        status: 'completed',
      })
      const listed = []
      for await (const item of client.responses.inputItems.list(second.id, { order: 'asc', limit: 2 })) listed.push(item)
      expect(listed).toMatchObject([
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'One?' }] },
        { type: 'message', role: 'assistant' },
        { role: 'user', content: [{ text: 'Two?' }] },
      ])
      const events: string[] = []
      for await (const event of await client.responses.retrieve(second.id, { stream: true, starting_after: 0 }))
        events.push(event.type)
      expect([events[0], events.at(-1)]).toEqual(['response.in_progress', 'response.completed'])
      await expect(client.responses.cancel(second.id)).rejects.toMatchObject({ status: 400 })
      expect(
        (await client.responses.inputTokens.count({ model: claude, input: 'x', previous_response_id: second.id })).input_tokens,
      ).toBeGreaterThan(8)

      await client.responses.delete(first.id)
      await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
      const broken = client.responses.create({ model: claude, input: 'x', previous_response_id: second.id })
      await expect(broken).rejects.toMatchObject({ status: 404, code: 'previous_response_not_found' })
      expect(await settledCharges(server)).toHaveLength(3)
      expect(JSON.stringify(await rows(server))).not.toMatch(/Two\?|Answer/)
      await requireBalancedBooks(server)
    })

  it('continue at any channel: one with Responses gets the whole conversation, and a failed one in the background fails over to another', async () => {
    const { url } = await claudeUpstream()
    const native = await vendor()
    const { server, token } = await stage(kind, url, { channel })
    await addChannel(server, { url: native.url, models: model })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const first = await client.responses.create({ model: claude, input: 'One?' })
    await client.responses.create({ model, input: 'Two?', previous_response_id: first.id })
    const sent = JSON.parse(native.asked[0]?.body ?? '{}')
    expect(sent).not.toHaveProperty('previous_response_id')
    expect(sent.input).toMatchObject([{ content: 'One?' }, { content: [{ text: 'Answer 1.' }] }, { content: 'Two?' }])

    await addChannel(server, { url: 'http://127.0.0.1:9', ...channel, priority: 9 })
    await setOptions(server, { RetryTimes: 1 })
    const made = await client.responses.create({
      model: claude,
      input: 'Three?',
      previous_response_id: first.id,
      background: true,
    })
    await eventually('it is done', async () => (await client.responses.retrieve(made.id)).status === 'completed')
    expect(await settledCharges(server)).toHaveLength(3)
    expect(JSON.parse((await books(server)).logs.at(-1)?.other ?? '{}').admin_info.use_channel).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('run in the background, are charged once for any number of readers, and stream from any event on', async () => {
    let release = () => {}
    const { url, asked } = await claudeUpstream({ hold: new Promise((resolve) => (release = resolve)) })
    const { server, token, channelId } = await stage(kind, url, { channel })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const budget = { scope: 'channel', subject: String(channelId), period: 'day', amount: 1e12 }
    const { id: budgetId } = await server.call<Budget>('POST /api/budget/', budget)
    const made = await client.responses.create({ model: claude, input: 'Hi', background: true })
    expect(made).toMatchObject({ status: 'queued', background: true, store: true, output: [] })
    await expect(client.responses.delete(made.id)).rejects.toMatchObject({ status: 409 })
    const next = client.responses.create({ model: claude, input: 'x', previous_response_id: made.id })
    await expect(next).rejects.toMatchObject({ status: 409 })
    const stream = await client.responses.create({ model: claude, input: 'Hi', background: true, stream: true })
    const begun: OpenAI.Responses.ResponseStreamEvent[] = []
    for await (const event of stream) {
      begun.push(event)
      if (event.type === 'response.output_text.delta') break
    }
    expect(begun.slice(0, 3).map(({ type }) => type)).toEqual(['response.created', 'response.queued', 'response.in_progress'])
    expect(begun.map(({ sequence_number }) => sequence_number)).toEqual(begun.map((_event, index) => index))
    const [created] = begun
    if (created?.type !== 'response.created') throw new Error('No beginning')
    const { id } = created.response
    expect((await books(server)).logs).toEqual([])

    release()
    const later: OpenAI.Responses.ResponseStreamEvent[] = []
    const after = begun.at(-1)?.sequence_number ?? 0
    for await (const event of await client.responses.retrieve(id, { stream: true, starting_after: after })) later.push(event)
    expect(later.map(({ sequence_number }) => sequence_number)).toEqual(later.map((_event, index) => after + 1 + index))
    expect(later.at(-1)).toMatchObject({ type: 'response.completed', response: { id, status: 'completed', background: true } })
    await eventually('both are done', async () => (await client.responses.retrieve(made.id)).status === 'completed')
    expect((await client.responses.retrieve(id)).output_text).toMatch(/^Answer \d\.$/)
    const again = []
    for await (const event of await client.responses.retrieve(id, { stream: true })) again.push(event.type)
    expect(again).toEqual([...begun, ...later].map(({ type }) => type))
    expect(await client.responses.cancel(id)).toMatchObject({ status: 'completed' })
    expect(asked).toHaveLength(2)
    const charges = await settledCharges(server)
    expect(charges).toHaveLength(2)
    const [counted] = (await server.call<{ items: Budget[] }>('GET /api/budget/')).items
    expect(counted).toMatchObject({ spent: charges.reduce((sum, { amount }) => sum + amount, 0), held: 0 })

    await server.call(`PUT /api/budget/${budgetId}`, { amount: 1 })
    const refused = await client.responses.create({ model: claude, input: 'Hi', background: true })
    await eventually('it is refused', async () => (await client.responses.retrieve(refused.id)).status === 'failed')
    expect((await client.responses.retrieve(refused.id)).error).toMatchObject({ message: expect.stringContaining('budget') })
    expect(asked).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('run in the background over a WebSocket too, and continue when it is closed, both here and at a vendor that stores them', async () => {
    let release = () => {}
    const { url } = await claudeUpstream({ hold: new Promise((resolve) => (release = resolve)) })
    const native = await vendor({ next: () => 'completed' })
    const { server, token } = await stage(kind, url, { channel })
    await addChannel(server, { url: native.url, models: model })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    for (const wanted of [claude, model]) {
      const socket = connectCaller(server.url, token.key, { path })
      await socket.opened()
      socket.say({ type: 'response.create', model: wanted, input: 'Hi', background: true, stream_id: 'x' })
      const { response } = await socket.hears('response.created')
      expect(await socket.hears('response.output_text.delta')).toMatchObject({ stream_id: 'x' })
      socket.socket.terminate()
      release()
      // The response of the first event has an id.
      const { id } = response as { id: string }
      await eventually('it is done', async () => (await client.responses.retrieve(id)).status === 'completed')
    }
    expect(JSON.parse(native.asked[0]?.body ?? '{}')).toMatchObject({ background: true, stream: true })
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('that are cancelled end with the partial reply; those that no channel can answer fail, free of charge', async () => {
    const { url, open } = await claudeUpstream({ hold: new Promise(() => {}) })
    const { server, token, channelId } = await stage(kind, url, { channel })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const made = await client.responses.create({ model: claude, input: 'Hi', background: true })
    await eventually('it is being made', () => open.length === 1)
    expect(await client.responses.cancel(made.id)).toMatchObject({ status: 'cancelled', error: null })
    expect(open[0]?.destroyed).toBe(true)
    expect(await settledCharges(server)).toHaveLength(1)
    expect(JSON.parse((await books(server)).logs[0]?.other ?? '{}')).toMatchObject({ interrupted: 'client' })

    await expect(
      client.responses.create({
        model: claude,
        input: 'x',
        background: true,
        tools: [{ type: 'file_search', vector_store_ids: [] }],
      }),
    ).rejects.toMatchObject({ status: 400 })
    const unknown = client.responses.create({ model: claude, input: 'x', background: true, previous_response_id: 'resp_no' })
    await expect(unknown).rejects.toMatchObject({ status: 404, code: 'previous_response_not_found' })
    await server.app.db.updateTable('channels').set({ base_url: 'http://127.0.0.1:9' }).where('id', '=', channelId).execute()
    await server.call('POST /api/channel/fix')
    const lost = await client.responses.create({ model: claude, input: 'Hi', background: true })
    await eventually('it has failed', async () => (await client.responses.retrieve(lost.id)).status === 'failed')
    expect((await client.responses.retrieve(lost.id)).error).toMatchObject({
      code: expect.any(String),
      message: expect.any(String),
    })
    const events: string[] = []
    for await (const event of await client.responses.retrieve(lost.id, { stream: true })) events.push(event.type)
    expect(events).toEqual(['response.created', 'response.queued', 'response.failed'])
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('belong to their user, expire, make room for newer ones, and are not stored where the operator has disabled that', async () => {
    const { url } = await claudeUpstream()
    const { server, token, ask } = await stage(kind, url, { channel })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const first = await client.responses.create({ model: claude, input: 'Hi' })
    const second = await client.responses.create({ model: claude, input: 'Hi', previous_response_id: first.id })
    await server.app.db.updateTable('own_responses').set({ user_id: 2 }).where('response_id', '=', second.id).execute()
    await expect(client.responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 })
    await server.app.db
      .updateTable('own_responses')
      .set({ user_id: 1, expires_at: 1 })
      .where('response_id', '=', second.id)
      .execute()
    await server.app.localResponses.purge()
    expect((await rows(server)).map(({ response_id: id }) => id)).toEqual([first.id])

    await setOptions(server, { 'responses.keep_megabytes': 1 })
    const long = 'word '.repeat(150_000)
    for (let round = 0; round < 2; round++) await client.responses.create({ model: claude, input: long })
    await eventually('the oldest are gone', async () => (await rows(server)).length === 1)

    await setOptions(server, { 'responses.keep_enabled': false })
    const unkept = await client.responses.create({ model: claude, input: 'Hi' })
    expect(unkept).toMatchObject({ store: false })
    await expect(client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404, code: 'response_not_kept' })
    for (const more of [{ previous_response_id: first.id }, { background: true }]) {
      const { status, text } = await ask({ model: claude, input: 'Hi', ...more }, path)
      expect([status, JSON.parse(text).error]).toEqual([
        400,
        expect.objectContaining({
          code: 'unsupported_parameter',
          param: Object.keys(more)[0],
          message: expect.stringContaining('set to keep none'),
        }),
      ])
    }
    await server.app.localResponses.purge()
    expect(await rows(server)).toEqual([])
    await requireBalancedBooks(server)
  })

  it('a stopping server aborts running answers, in the background and in streams, charges them, and reports the reason', async () => {
    const { url, open } = await claudeUpstream({ hold: new Promise(() => {}) })
    const database = await fresh()
    const first = await startServer(kind, { database })
    await addChannel(first, { url, ...channel })
    const { key } = await addToken(first)
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const asked = { method: 'POST', headers, body: JSON.stringify({ model: claude, input: 'Hi', background: true }) }
    const { id } = await (await fetch(first.url + path, asked)).json()
    const inFront = { method: 'POST', headers, body: JSON.stringify({ model: claude, input: 'Hi', stream: true }) }
    const cut = fetch(first.url + path, inFront).then((response) => response.text())
    await eventually('both are being made', () => open.length === 2)
    await first.stop()
    expect(await cut).toMatch(/event: response.failed\n.*"code":"server_stopping"/)

    const server = await serverOfTest(kind, { database })
    const read = await fetch(`${server.url}${path}/${id}`, { headers })
    expect(await read.json()).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('was stopped') } })
    expect(await settledCharges(server)).toHaveLength(2)
    for (const { other } of (await books(server)).logs) expect(JSON.parse(other)).toMatchObject({ interrupted: 'node' })
    await requireBalancedBooks(server)
    await server.app.db.transaction().execute((within) => removeUser(server.app, within, 1))
    expect(await rows(server)).toEqual([])
  })

  it('exist once they are charged: one whose node died before its charge is unknown', async () => {
    const { url } = await claudeUpstream()
    const { server, token } = await stage(kind, url, { channel })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const { id } = await client.responses.create({ model: claude, input: 'Hi' })
    const [row] = await rows(server)
    const charged = await server.app.localResponses.find({ userId: row?.user_id ?? 0, id })
    if (!charged) throw new Error('It is stored')
    expect(await settledCharges(server)).toHaveLength(1)

    const [uncharged, known] = [`resp_${'1'.repeat(17)}${'a'.repeat(12)}`, `resp_${'2'.repeat(17)}${'b'.repeat(12)}`]
    await server.app.localResponses.keep({ ...charged, id: uncharged, thread: uncharged, requestId: 'a request that died' })
    await server.app.localResponses.keep({ ...charged, id: known, thread: known })
    await expect(client.responses.retrieve(uncharged)).rejects.toMatchObject({ status: 404 })
    await expect(client.responses.create({ model: claude, input: 'On', previous_response_id: uncharged })).rejects.toMatchObject({
      status: 404,
    })
    expect((await client.responses.retrieve(known)).output_text).toBe('Answer 1.')
  })

  it('in the background have not failed when their node died after the charge, and have when it died before', async () => {
    const { url } = await claudeUpstream()
    const { server, token } = await stage(kind, url, { channel })
    const client = new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    const { id } = await client.responses.create({ model: claude, input: 'Hi' })
    const { localResponses, db } = server.app
    const [row] = await rows(server)
    const charged = await localResponses.find({ userId: row?.user_id ?? 0, id })
    if (!charged) throw new Error('It is stored')

    // As a node leaves them that dies behind the charge, and before it.
    const begun = { ...charged, isBackground: true, response: { ...charged.response, status: 'in_progress', output: [] } }
    const ids = { paid: `resp_${'3'.repeat(17)}${'c'.repeat(12)}`, unpaid: `resp_${'4'.repeat(17)}${'d'.repeat(12)}` }
    for (const [name, own] of Object.entries(ids)) {
      const requestId = name === 'paid' ? charged.requestId : 'a request that died'
      await localResponses.keep({ ...begun, id: own, thread: own, requestId })
      await localResponses.keepEnd({ ...charged, id: own, requestId })
    }
    expect((await client.responses.retrieve(ids.paid)).status).toBe('in_progress')
    const asDead = { node: 'gone', lease_until: 1 }
    await db.updateTable('own_responses').set(asDead).where('response_id', 'in', Object.values(ids)).execute()
    for (const afterJob of [false, true]) {
      if (afterJob) await localResponses.endLost()
      const paid = await client.responses.retrieve(ids.paid)
      expect([paid.status, paid.output_text]).toEqual(['completed', 'Answer 1.'])
      const unpaid = await client.responses.retrieve(ids.unpaid)
      expect([unpaid.status, unpaid.output, unpaid.error?.code]).toEqual(['failed', [], 'server_error'])
    }
    const events: string[] = []
    for await (const event of await client.responses.retrieve(ids.paid, { stream: true })) events.push(event.type)
    expect(events.at(-1)).toBe('response.completed')
    const next = await client.responses.create({ model: claude, input: 'On', previous_response_id: ids.paid })
    expect(next.output_text).toBe('Answer 2.')
  })

  it('after kill -9, one in the background has failed, is charged at most once, and no hold is left', async () => {
    const { url, open } = await claudeUpstream({ hold: new Promise(() => {}) })
    const database = await fresh()
    const first = await startProcess(database)
    await first.call('POST /api/channel/', { name: 'test', type: 14, key: 'k'.repeat(20), base_url: url, models: claude })
    const token = await first.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
    const headers = { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' }
    const asked = { method: 'POST', headers, body: JSON.stringify({ model: claude, input: 'Hi', background: true }) }
    const { id } = await (await fetch(first.url + path, asked)).json()
    await eventually('it is being made', () => open.length === 1)
    await first.kill('SIGKILL')

    const server = await serverOfTest(kind, { database })
    // On PostgreSQL a dead node is detected when its lease expires.
    for (const table of ['own_responses', 'holds'] as const)
      await server.app.db.updateTable(table).set({ lease_until: 1 }).where('lease_until', '>', 0).execute()
    await server.app.ledger.expire()
    const read = () => fetch(`${server.url}${path}/${id}`, { headers })
    expect(await (await read()).json()).toMatchObject({ id, status: 'failed', error: { code: 'server_error' } })
    await server.app.localResponses.endLost()
    expect((await rows(server)).map(({ status, lease_until: until }) => [status, until])).toEqual([['failed', 0]])
    const stream = await (await fetch(`${server.url}${path}/${id}?stream=true`, { headers })).text()
    expect(stream.trimEnd().split('\n\n').at(-1)).toMatch(/^event: response\.failed/)
    expect((await settledCharges(server)).length).toBeLessThanOrEqual(1)
    await requireBalancedBooks(server)
  })
})

it('several nodes share one background response: its stream, its state and its cancellation', async () => {
  let release = () => {}
  const { url, open } = await claudeUpstream({ hold: new Promise((resolve) => (release = resolve)) })
  const a = await serverOfTest('postgres')
  await addChannel(a, { url, ...channel })
  const token = await addToken(a)
  const b = await startServer('postgres', { database: a.database })
  onTestFinished(() => b.stop())
  const [onA, onB] = [a, b].map((server) => new OpenAI({ apiKey: token.key, baseURL: `${server.url}/v1`, maxRetries: 0 }))
  if (!onA || !onB) throw new Error('Two nodes')
  const made = await onA.responses.create({ model: claude, input: 'Hi', background: true })
  const events: string[] = []
  for await (const event of await onB.responses.retrieve(made.id, { stream: true })) {
    events.push(event.type)
    if (event.type === 'response.output_text.delta') release()
  }
  expect(events.at(-1)).toBe('response.completed')
  expect((await onB.responses.retrieve(made.id)).output_text).toBe('Answer 1.')

  const endless = await claudeUpstream({ hold: new Promise(() => {}) })
  await addChannel(a, { url: endless.url, ...channel, priority: 9 })
  const other = await onA.responses.create({ model: claude, input: 'Hi', background: true })
  await eventually('it is being made', () => endless.open.length === 1)
  expect(await onB.responses.cancel(other.id)).toMatchObject({ status: 'cancelled' })
  expect(open).toHaveLength(1)
  expect(await settledCharges(a)).toHaveLength(2)
  await requireBalancedBooks(a)
})
