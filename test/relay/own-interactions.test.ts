import type { ServerResponse } from 'node:http'
import { GoogleGenAI } from '@google/genai'
import { expect, it } from 'vitest'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks, tokenOfSecondUser } from '../helpers/seed.ts'
import { json } from './responses-vendor.ts'
import { ask, claude, eventually, httpUpstream, settledCharges, stage } from './stage.ts'

const path = '/v1beta/interactions'
const channel = { type: 14, models: claude }

interface Asked {
  readonly system?: unknown
  readonly messages: readonly { role: string; content: readonly { type: string; text?: string }[] }[]
  readonly stream?: boolean
}

/** A simulated Claude that answers each question with its number. `hold` pauses a stream in its middle until it resolves. */
async function claudeUpstream({ hold, content }: { hold?: Promise<void>; content?: readonly object[] } = {}) {
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
    const said = content ?? [{ type: 'text', text: words }]
    if (!body.stream) {
      const reason = content ? 'tool_use' : 'end_turn'
      return json(response, 200, { ...message, content: said, stop_reason: reason, usage })
    }
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
const clientOf = ({ url }: Pick<TestServer, 'url'>, apiKey: string) =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } }).interactions

const call = async (server: Pick<TestServer, 'url'>, key: string, line: string) => {
  const [method = 'GET', where = ''] = line.split(' ')
  const response = await fetch(server.url + where, { method, headers: { 'x-goog-api-key': key } })
  return { status: response.status, text: await response.text() }
}

anyDatabase('interactions with models of other vendors', (_fresh, kind) => {
  it('are stored here: the official SDK continues from them, reads, streams again and deletes them, and pays for the turns only', async () => {
    const { url, asked } = await claudeUpstream()
    const { server, token } = await stage(kind, url, { channel })
    const client = clientOf(server, token.key)
    const first = await client.create({ model: claude, input: 'One?', system_instruction: 'Be brief.' })
    expect(first).toMatchObject({
      id: expect.stringMatching(/^int_/),
      status: 'completed',
      model: claude,
      output_text: 'Answer 1.',
    })

    const events: string[] = []
    let second = ''
    const asking = { model: claude, input: 'Two?', previous_interaction_id: first.id, stream: true } as const
    for await (const event of await client.create(asking)) {
      events.push(event.event_type)
      if (event.event_type === 'interaction.completed') second = event.interaction.id
    }
    expect(events).toEqual([
      'interaction.created',
      'step.start',
      'step.delta',
      'step.delta',
      'step.stop',
      'interaction.completed',
    ])
    await client.create({ model: claude, input: 'Three?', previous_interaction_id: second, store: false })
    expect(asked.map(said)).toEqual([
      ['user: One?'],
      ['user: One?', 'assistant: Answer 1.', 'user: Two?'],
      ['user: One?', 'assistant: Answer 1.', 'user: Two?', 'assistant: Answer 2.', 'user: Three?'],
    ])
    // Instructions belong to one interaction.
    expect(asked.map(({ system }) => system !== undefined)).toEqual([true, false, false])

    expect(await client.get(second)).toMatchObject({
      ...{ id: second, status: 'completed', previous_interaction_id: first.id },
      steps: [
        { type: 'user_input', content: [{ text: 'Two?' }] },
        { type: 'model_output', content: [{ text: 'Answer 2.' }] },
      ],
    })
    const again: string[] = []
    for await (const event of await client.get(second, { stream: true, last_event_id: '0' })) again.push(event.event_type)
    expect(again).toEqual(['step.start', 'step.delta', 'step.stop', 'interaction.completed'])

    await client.delete(first.id)
    await expect(client.get(first.id)).rejects.toMatchObject({ status: 404 })
    await expect(client.create({ model: claude, input: 'x', previous_interaction_id: second })).rejects.toMatchObject({
      status: 404,
    })
    expect(await settledCharges(server)).toHaveLength(3)
    const rows = await server.app.db.selectFrom('own_responses').selectAll().execute()
    expect(JSON.stringify(rows)).not.toMatch(/Two\?|Answer/)
    await requireBalancedBooks(server)
  })

  it('are unknown to other users, and to calls about Responses', async () => {
    const { url } = await claudeUpstream()
    const { server, token } = await stage(kind, url, { channel })
    const { id } = await clientOf(server, token.key).create({ model: claude, input: 'One?' })
    const second = await tokenOfSecondUser(server)
    for (const line of [`GET ${path}/${id}`, `DELETE ${path}/${id}`, `POST ${path}/${id}/cancel`])
      expect([line, (await call(server, second.key, line)).status]).toEqual([line, 404])
    expect((await ask(server, second.key, { model: claude, input: 'x', previous_interaction_id: id }, path)).status).toBe(404)
    expect((await call(server, token.key, `GET /v1/responses/${id}`)).status).toBe(404)
    expect((await ask(server, token.key, { model: claude, input: 'x', previous_response_id: id }, '/v1/responses')).status).toBe(
      404,
    )
    expect((await call(server, token.key, `GET ${path}/${id}`)).status).toBe(200)
  })

  it('run in the background: polled, streamed while they run, and charged at their end', async () => {
    let goOn = () => {}
    const hold = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { url } = await claudeUpstream({ hold })
    const { server, token } = await stage(kind, url, { channel })
    const client = clientOf(server, token.key)
    const made = await client.create({ model: claude, input: 'One?', background: true })
    expect(made).toMatchObject({ id: expect.stringMatching(/^int_/), status: 'in_progress' })
    const events: string[] = []
    const reading = (async () => {
      for await (const event of await client.get(made.id, { stream: true })) events.push(event.event_type)
    })()
    await eventually('its beginning was streamed', () => events.includes('step.delta'))
    expect((await call(server, token.key, `DELETE ${path}/${made.id}`)).status).toBe(409)
    goOn()
    await reading
    expect([events[0], events.at(-1)]).toEqual(['interaction.created', 'interaction.completed'])
    await eventually('it has ended', async () => (await client.get(made.id)).status === 'completed')
    expect(await client.get(made.id)).toMatchObject({ output_text: 'Answer 1.' })
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('are cancelled in the background, which stops the upstream', async () => {
    const { url, open } = await claudeUpstream({ hold: new Promise(() => {}) })
    const { server, token } = await stage(kind, url, { channel })
    const client = clientOf(server, token.key)
    const made = await client.create({ model: claude, input: 'One?', background: true })
    await eventually('the upstream has begun', () => open.length > 0)
    const stopped = new Promise<void>((resolve) => open[0]?.on('close', resolve))
    expect(await client.cancel(made.id)).toMatchObject({ id: made.id, status: 'cancelled' })
    await stopped
    expect(await client.get(made.id)).toMatchObject({ status: 'cancelled' })
    await requireBalancedBooks(server)
  })
})

it('an interaction with tools waits for their results; what Claude lacks is named', async () => {
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'tide', input: { port: 'Rye' } }]
  const { url, asked } = await claudeUpstream({ content })
  const { server, token } = await stage('sqlite', url, { channel })
  const tools = [{ type: 'function', name: 'tide', parameters: { type: 'object', properties: { port: { type: 'string' } } } }]
  const body = { model: claude, input: 'High?', tools, labels: { a: 'b' }, generation_config: { seed: 3 } }
  const answer = await ask(server, token.key, body, path)
  expect(JSON.parse(answer.text)).toMatchObject({
    status: 'requires_action',
    steps: [{ type: 'function_call', id: 'toolu_1', name: 'tide', arguments: { port: 'Rye' } }],
    usage: { total_input_tokens: 5, total_output_tokens: 2, total_tokens: 7 },
  })
  expect(answer.headers.get('x-sluice-dropped')?.split(', ')).toEqual(expect.arrayContaining(['labels', 'seed']))
  const { id } = JSON.parse(answer.text)
  const result = [{ type: 'function_result', call_id: 'toolu_1', name: 'tide', result: 'yes' }]
  await ask(server, token.key, { model: claude, input: result, tools, previous_interaction_id: id }, path)
  expect(asked[1]?.messages.map(({ role, content: parts }) => [role, parts.map(({ type }) => type)])).toEqual([
    ['user', ['text']],
    ['assistant', ['tool_use']],
    ['user', ['tool_result']],
  ])
})

it('an interaction is refused in words where it needs its vendor', async () => {
  const { url, asked } = await claudeUpstream()
  const { server, token } = await stage('sqlite', url, { channel })
  for (const [field, more] of [
    ['environment', { environment: 'env_1' }],
    ['response_format', { response_format: { type: 'audio' } }],
    ['input', { input: undefined }],
  ] as const) {
    const answer = await ask(server, token.key, { model: claude, input: 'x', ...more }, path)
    expect([answer.status, JSON.parse(answer.text).error]).toMatchObject([
      400,
      { status: 'INVALID_ARGUMENT', message: expect.stringContaining(field) },
    ])
  }
  expect(asked).toEqual([])
})
