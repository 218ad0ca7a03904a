import { expect, it } from 'vitest'
import type { LogOther } from '../../src/contract/entities/log.ts'
import { checkModels } from '../../src/server/gateway/channels/edit/model-changes.ts'
import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import { jobNamed } from '../../src/server/watch/jobs/table.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { tunnelTo } from '../helpers/tunnel.ts'
import { answeringUpstream, ask, chat, completion, settledCharges, stage } from './stage.ts'

const old = 'gpt-5'
const next = 'gpt-6.1-sol'
const before = Date.parse('2026-12-10T23:59:59Z')
const day = Date.parse('2026-12-11T00:00:00Z')
const httpDate = 'Fri, 11 Dec 2026 00:00:00 GMT'
const signal = new AbortController().signal

/** A channel at the vendor's own address, with models that it ends, and the clock of its server. */
async function ending(kind: 'sqlite' | 'postgres', nowMs: number, options: Record<string, unknown> = {}) {
  const clock = { nowMs }
  const asked: string[] = []
  const { url } = await answeringUpstream(({ path, body }) => {
    if (path.endsWith('/models')) {
      const data = [
        { id: old, shutdown_date: '2026-12-11' },
        { id: next, shutdown_date: null },
        { id: 'other', shutdown_date: '2027-05-01' },
      ]
      return { json: { object: 'list', data } }
    }
    asked.push(String(body.model))
    return completion({ model: body.model, usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } })
  })
  const setting = await tunnelTo(url)
  const staged = await stage(kind, 'http://api.openai.com', {
    channel: { models: `${old},${next},other`, setting, name: 'east' },
    server: { now: () => clock.nowMs },
  })
  const { server } = staged
  const set = { ModelRatio: { [old]: 1, [next]: 5, other: 1 }, CompletionRatio: { [old]: 2, [next]: 2, other: 2 }, ...options }
  await setOptions(server, set)
  const last = async () => {
    await settledCharges(server)
    const row = (await books(server)).logs.at(-1)
    return { row, other: JSON.parse(row?.other ?? '{}') as LogOther }
  }
  return { ...staged, clock, asked, last }
}

eachDatabase('a model that ends', (_fresh, kind) => {
  it('is told to callers on the day before, in a header and in the list of models', async () => {
    const { server, channelId, token, ask: send } = await ending(kind, before)
    expect((await send(chat({ model: old }))).headers.get('sunset')).toBe(httpDate)
    expect((await send(chat({ model: next }))).headers.has('sunset')).toBe(false)
    const list = async (headers: Record<string, string>) =>
      (await (await fetch(`${server.url}/v1/models`, { headers })).json()) as { data: Record<string, unknown>[] }
    const plain = await list({ authorization: `Bearer ${token.key}` })
    expect(plain.data.find(({ id }) => id === old)).toMatchObject({ shutdown_date: '2026-12-11' })
    expect(plain.data.find(({ id }) => id === next)).not.toHaveProperty('shutdown_date')
    const messages = await list({ 'x-api-key': token.key, 'anthropic-version': '2023-06-01' })
    expect(messages.data.find(({ id }) => id === old)).toMatchObject({
      lifecycle: 'deprecated',
      retires_at: '2026-12-11T00:00:00.000Z',
    })
    expect(messages.data.find(({ id }) => id === next)).toMatchObject({ lifecycle: 'active', retires_at: null })
    const prices = await server.raw('GET /api/pricing')
    const { data } = (await prices.json()) as { data: { model_name: string; end: unknown }[] }
    expect(data.find(({ model_name }) => model_name === old)?.end).toEqual({ date: '2026-12-11', successor: next })
    const channel = await server.call<{ model_ends: unknown }>(`GET /api/channel/${channelId}`)
    expect(channel.model_ends).toEqual([{ model: old, date: '2026-12-11', successor: next }])
    expect(await server.call('GET /api/user/model_ends')).toEqual({ [old]: { date: '2026-12-11', successor: next } })
  })

  it('is answered and charged as its replacement from its day on, and nothing changes before; the row names both', async () => {
    const { server, ask: send, clock, asked, last } = await ending(kind, before, { ModelReplacements: { [old]: next } })
    expect((await send(chat({ model: old }))).status).toBe(200)
    const first = await last()
    expect([first.row?.model_name, first.row?.quota, first.other.replaced_model]).toEqual([old, 120, undefined])
    clock.nowMs = day
    const answer = await send(chat({ model: old }))
    expect([answer.status, JSON.parse(answer.text).model, answer.headers.get('sunset')]).toEqual([200, next, httpDate])
    const second = await last()
    expect([second.row?.model_name, second.row?.quota, second.other.replaced_model]).toEqual([next, 600, old])
    expect(asked).toEqual([old, next])
    expect(await verifyCharges(server.app.db)).toMatchObject({ differing: 0 })
    await requireBalancedBooks(server)
  })

  it('has its replacement in every format, for tokens that are limited to it, after no channel serves it, and on a day of its own', async () => {
    const set = { ModelReplacements: { [old]: next, other: `${next} 2026-12-01`, unknown: next } }
    const { server, channelId, asked } = await ending(kind, day, set)
    await server.call('PUT /api/channel/', { id: channelId, models: next })
    const { key } = await addToken(server, { model_limits_enabled: true, model_limits: `${old},other,unknown` })
    const calls = [
      ['/v1/chat/completions', chat({ model: old })],
      ['/v1/messages', { model: old, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }],
      ['/v1/responses', { model: old, input: 'hi', store: false }],
      [`/v1beta/models/${old}:generateContent`, { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }],
      ['/v1/chat/completions', chat({ model: 'other' })],
    ] as const
    for (const [path, body] of calls) {
      const answer = await ask(server, key, body, path, { 'anthropic-version': '2023-06-01' })
      // The upstream has only replies of Chat.
      if (path !== '/v1/responses') expect(answer.status, `${path}: ${answer.text}`).toBe(200)
    }
    expect(new Set(asked)).toEqual(new Set([next]))
    expect((await ask(server, key, chat({ model: 'unknown' }))).status).not.toBe(200)
  })

  it('is not replaced while a channel without a known end serves it', async () => {
    const { server, ask: send, asked, token } = await ending(kind, day, { ModelReplacements: { [old]: next } })
    const { url } = await answeringUpstream(completion({ model: old }))
    await addChannel(server, { url, models: old, priority: 10 })
    const answer = await send(chat({ model: old }))
    expect([answer.headers.has('sunset'), asked, token.id > 0]).toEqual([false, [], true])
  })

  it('has the day that the upstream’s list tells, with an event for webhooks', async () => {
    const { server, channelId } = await ending(kind, before)
    const { app } = server
    expect(app.channels.current.endOf('other')).toBeUndefined()
    const settings = { url: 'https://hooks.example/' }
    await server.call('POST /api/alert/destination/', { kind: 'webhook', name: 'hook', settings, events: ['model.ending'] })
    await checkModels(app, channelId)
    await app.channels.refresh()
    expect(app.channels.current.endOf('other')).toEqual({ date: '2027-05-01' })
    expect(app.channels.current.endOf(old)).toEqual({ date: '2026-12-11' })
    await checkModels(app, channelId)
    const sent = await app.db.selectFrom('deliveries').select(['type', 'message']).orderBy('id').execute()
    expect(sent.map(({ type, message }) => [type, JSON.parse(message).data])).toEqual([
      ['model.ending', { channel_id: channelId, channel_name: 'east', model: old, upstream_model: old, date: '2026-12-11' }],
      [
        'model.ending',
        { channel_id: channelId, channel_name: 'east', model: 'other', upstream_model: 'other', date: '2027-05-01' },
      ],
    ])
  })

  it('is an alert at 60, 14 and 3 days, each once, with the calls, the spend and the users concerned', async () => {
    const { server, ask: send, clock } = await ending(kind, Date.parse('2026-10-11T12:00:00Z'))
    const { app } = server
    await send(chat({ model: old }))
    await settledCharges(server)
    const destination = { kind: 'webhook', name: 'hook', settings: { url: 'https://hooks.example/' }, events: [] }
    await server.call('POST /api/alert/destination/', destination)
    const [{ id = 0 } = {}] = await app.db.selectFrom('destinations').select('id').execute()
    const rule = { enabled: true, params: {}, scope: [], destinations: [id], repeat_seconds: 0, notify_recovery: false }
    await server.call('PUT /api/alert/rule/model-end', rule)
    const run = async (date: string) => {
      clock.nowMs = Date.parse(date)
      await jobNamed('evaluate-alerts').run(app, signal, () => {})
      const {
        messages = 0,
        note = '',
        name = '',
      } = (await app.db.selectFrom('alerts').selectAll().where('rule', '=', 'model-end').executeTakeFirst()) ?? {}
      return { messages: Number(messages), note, name }
    }
    expect((await run('2026-10-11T12:30:00Z')).messages).toBe(0)
    const first = await run('2026-10-12T00:00:01Z')
    expect(first).toMatchObject({ messages: 1, name: `${old}: east (#1)` })
    expect(first.note).toContain('1 call of 1 user for $0.00024 in the last 30 days')
    expect(first.note).toContain(`The vendor recommends ${next}`)
    expect((await run('2026-11-01T00:00:00Z')).messages).toBe(1)
    await send(chat({ model: old }))
    await settledCharges(server)
    expect((await run('2026-11-27T00:00:01Z')).messages).toBe(2)
    expect((await run('2026-11-28T00:00:00Z')).messages).toBe(2)
    await send(chat({ model: old }))
    await settledCharges(server)
    expect((await run('2026-12-08T00:00:01Z')).messages).toBe(3)
    expect((await run('2026-12-10T00:00:00Z')).messages).toBe(3)
  })

  it('is no alert where another model answers, which has its own with the calls and the difference in cost', async () => {
    const { server, channelId } = await ending(kind, before)
    const { app } = server
    const rule = { enabled: true, params: {}, scope: ['east'], destinations: [], repeat_seconds: 0, notify_recovery: false }
    await server.call('PUT /api/alert/rule/other-model', rule)
    for (const cost of [300_000, 400_000])
      app.answeredModels.note({ channelId, sent: old, answered: 'gpt-4o', charged: 100_000, cost })
    await app.answeredModels.flush()
    await jobNamed('evaluate-alerts').run(app, signal, () => {})
    const [alert] = await app.db.selectFrom('alerts').selectAll().execute()
    expect(alert).toMatchObject({ rule: 'other-model', name: `east (#${channelId}): ${old} → gpt-4o`, value: 2 })
    expect(alert?.note).toContain('Charged $0.40; at the price of the model that answers it is $1.00 more')
    const [health] = await server.call<{ other_models: unknown }[]>(`GET /api/channel/health?ids=${channelId}`)
    expect(health?.other_models).toEqual([{ sent: old, answered: 'gpt-4o', calls: 2 }])
  })
})
