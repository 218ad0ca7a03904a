import { expect, it } from 'vitest'
import type { Log, LogFailure } from '../../src/contract/entities/log.ts'
import type { EndedAttempt } from '../../src/server/usage/calls/ended-calls.ts'
import { FailedCalls, waitingMax } from '../../src/server/usage/calls/failed-calls.ts'
import { runPurges } from '../../src/server/usage/log/purge.ts'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { endedCall } from '../helpers/ended-call.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { caller, live, realtimeUpstream } from './realtime-stage.ts'
import {
  answeringUpstream,
  ask,
  chat,
  completion,
  eventually,
  model,
  piece,
  requestBytes,
  settledCharges,
  speak,
  stage,
  tcpUpstream,
} from './stage.ts'

type Page = { items: Log[]; total: number }

const secretKey = 'sk-upstreamplantedsecret0123456789'

/** The rows of failed calls as admins see them, newest first, once there are `count` of them. */
async function failedRows(server: TestServer, count: number): Promise<(Log & { failure: LogFailure })[]> {
  await eventually(`${count} failed calls are logged`, async () => (await list(server, 'type=5')).items.length >= count)
  const { items } = await list(server, 'type=5')
  expect(items).toHaveLength(count)
  return items.map((row) => ({ ...row, failure: JSON.parse(row.other) }))
}

/** An attempt that needs many bytes in a row. */
const longAttempt = (_value: unknown, nth: number): EndedAttempt => ({
  channel: { id: nth, keyId: nth, name: 'long', type: 1 },
  choice: 'weighted',
  candidates: { listed: Array.from({ length: 20 }, (_each, at) => ({ channel: at, priority: 9, weight: 100 })) },
  model,
  upstreamModel: model,
  status: 500,
  reason: 'x'.repeat(400),
  isFault: true,
  startedMs: 0,
  ms: 1,
  firstByteMs: undefined,
})

const list = (server: TestServer, query: string) => server.call<Page>(`GET /api/log/?p=1&page_size=100&${query}`)

const failing = async (status: number, message: string) =>
  (await answeringUpstream({ status, json: { error: { message, type: 'server_error', code: 'vendor_code' } } })).url

async function metric({ app }: TestServer, line: string): Promise<number> {
  const text = await app.metrics.registry.metrics()
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(`${line} `))
      ?.split(' ')
      .at(-1) ?? 0,
  )
}

eachDatabase('the log of failed calls', (_fresh, kind) => {
  it('has a row for a call that every channel failed, with the chain for admins and without secrets', async () => {
    const first = await failing(500, `host broke, key ${secretKey} and sk-abcdefghijklmnop1234`)
    const { server, token, channelId } = await stage(kind, first, { channel: { key: secretKey, priority: 2 } })
    await setOptions(server, { RetryTimes: 1 })
    const second = await addChannel(server, { url: await failing(503, 'overloaded'), models: model, name: 'second' })
    const body = JSON.stringify(chat())
    const told = await ask(server, token.key, body, undefined, { 'user-agent': 'test/1' })
    const [row] = await failedRows(server, 1)
    expect(row).toMatchObject({
      type: 5,
      user_id: 1,
      token_id: token.id,
      token_name: 'test',
      model_name: model,
      quota: 0,
      amount: 0,
      is_stream: false,
      channel: second,
      channel_name: 'second',
      group: 'default',
      request_id: told.headers.get('x-request-id'),
      failure: {
        status: told.status,
        code: JSON.parse(told.text).error.code,
        dialect: 'openai',
        format: 'openai.chat',
        path: '/v1/chat/completions',
        bytes_in: body.length,
        bytes_out: told.text.length,
        address: '127.0.0.1',
        user_agent: 'test/1',
        admin_info: {
          use_channel: [String(channelId), String(second)],
          attempts: [
            { channel: channelId, status: 500, reason: expect.stringContaining('host broke') },
            { channel: second, status: 503, reason: expect.stringContaining('overloaded') },
          ],
        },
      },
    })
    expect(told.text).toContain(row?.content.split(' / ').at(-1))
    for (const secret of [secretKey, 'abcdefghijklmnop', new URL(first).host]) expect(row?.other).not.toContain(secret)
    await requireBalancedBooks(server)
  })

  it('shows an owner status, code, message, request and address, but nothing about channels', async () => {
    const { server, token } = await stage(kind, await failing(500, 'the vendor broke'), { channel: { name: 'hidden-channel' } })
    const told = await ask(server, token.key, chat())
    await failedRows(server, 1)
    const answers = [
      await server.call<Page>('GET /api/log/self?p=1&page_size=10&type=5'),
      (await (await fetch(`${server.url}/api/log/token?key=${token.key}`)).json()).data,
      await server.call('GET /api/log/self/search?keyword=5'),
      await (await server.raw('GET /api/log/self/export.csv?time_zone=UTC')).text(),
      await (await server.raw('GET /api/log/self/export.jsonl?time_zone=UTC')).text(),
    ]
    for (const answer of answers) {
      const text = JSON.stringify(answer)
      expect(text).toContain(told.headers.get('x-request-id'))
      for (const hidden of ['hidden-channel', 'admin_info', 'use_channel', 'vendor_code']) expect(text).not.toContain(hidden)
    }
    const [row] = (answers[0] as Page).items
    expect(row).toMatchObject({ channel: 0, channel_name: '' })
    expect(JSON.parse(row?.other ?? '')).toMatchObject({ status: told.status, address: '127.0.0.1' })
    expect(JSON.parse(row?.other ?? '')).not.toHaveProperty('admin_info')
  })

  it('has a row for each kind of failure: refused, aborted by the caller, cut off, timed out, of a token count, over a WebSocket', async () => {
    const url = await tcpUpstream((socket) => {
      socket.once('data', (bytes) => {
        const asked = bytes.toString()
        if (asked.includes('cut me')) {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${piece('some words')}`)
          setTimeout(() => socket.destroy(), 50)
        } else if (asked.includes('stay')) {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${piece('some words')}`)
        }
      })
    })
    const { server, token } = await stage(kind, url, { channel: { setting: '{"headers_timeout_ms":1000}' } })
    await setOptions(server, { RetryTimes: 0 })
    const said = (content: string) => chat({ stream: true, messages: [{ role: 'user', content }] })

    await ask(server, token.key, chat({ model: 'no-such-model' }))
    let [row] = await failedRows(server, 1)
    expect(row).toMatchObject({ model_name: 'no-such-model', channel: 0, failure: { status: 404, code: 'model_not_found' } })

    const leaving = speak(server, requestBytes(token.key, JSON.stringify(said('stay'))))
    await leaving.until((text) => text.includes('some words'))
    leaving.socket.destroy()
    await settledCharges(server)
    ;[row] = await failedRows(server, 2)
    const [charged] = (await books(server)).logs
    expect(row).toMatchObject({
      is_stream: true,
      quota: 0,
      failure: { status: 499, code: 'client_closed', in_stream: true, charged: charged?.quota },
    })
    expect(charged?.request_id).toBe(row?.request_id)

    await ask(server, token.key, said('cut me'))
    ;[row] = await failedRows(server, 3)
    expect(row).toMatchObject({ failure: { in_stream: true, code: 'upstream_failed', charged: expect.any(Number) } })
    expect(row?.failure.admin_info?.attempts).toHaveLength(1)

    await ask(server, token.key, chat())
    ;[row] = await failedRows(server, 4)
    expect(row).toMatchObject({ failure: { code: 'upstream_timeout', status: 504 } })

    await ask(server, token.key, { model: 'nothing', messages: [] }, '/v1/messages/count_tokens')
    ;[row] = await failedRows(server, 5)
    expect(row).toMatchObject({ model_name: 'nothing', failure: { dialect: 'anthropic' } })

    await ask(server, token.key, { prompt: 'a picture' }, '/mj/submit/imagine')
    ;[row] = await failedRows(server, 6)
    expect(row).toMatchObject({ failure: { dialect: 'drawing' } })

    await ask(server, token.key, { model: 'none', input: 'x' }, '/v1/responses/resp_none/cancel')
    ;[row] = await failedRows(server, 7)
    expect(row).toMatchObject({ failure: { status: 404, path: '/v1/responses/resp_none/cancel' } })

    const socket = caller(server.url, token.key, { path: '/v1/realtime?model=no-such-model' })
    await socket.refused()
    ;[row] = await failedRows(server, 8)
    expect(row).toMatchObject({ model_name: 'no-such-model', failure: { format: 'openai.realtime' } })
    await requireBalancedBooks(server)
  })

  it('has the rows of known keys that are refused, and only counts calls without a known key', async () => {
    const { server } = await stage(kind, await failing(500, 'no'))
    const spent = await addToken(server, { unlimited_quota: false, remain_quota: 0, name: 'spent' })
    await ask(server, spent.key, chat())
    const [row] = await failedRows(server, 1)
    expect(row).toMatchObject({ token_name: 'spent', failure: { status: 401, code: 'insufficient_quota' } })
    await ask(server, `sk-${'0'.repeat(48)}`, chat())
    expect(await metric(server, 'sluice_unknown_key_calls_total{address="127.0.0.1"}')).toBe(1)
    await ask(server, spent.key, chat())
    await failedRows(server, 2)
  })

  it('has no rows of answered calls, and is not part of any sum', async () => {
    let isBroken = false
    const { url } = await answeringUpstream(() => (isBroken ? { bytes: '{}', status: 500 } : completion()))
    const { server, token, channelId } = await stage(kind, url)
    await ask(server, token.key, chat())
    const figures = async () => ({
      stat: await server.call(`GET /api/log/stat`),
      own: await server.call(`GET /api/log/self/stat`),
      byToken: await server.call(`GET /api/log/stat?token_name=test`),
      byModel: await server.call(`GET /api/log/stat?model_name=${model}`),
      data: await server.call('GET /api/data/'),
      charges: await (await server.raw('GET /api/log/export.jsonl?type=2&time_zone=UTC')).text(),
      charged: (await list(server, 'type=2')).items,
    })
    const before = await figures()
    isBroken = true
    for (let calls = 0; calls < 5; calls++) await ask(server, token.key, chat())
    await failedRows(server, 5)
    expect(await figures()).toEqual(before)
    expect(before.charged).toHaveLength(1)

    // Lists without a type filter contain both kinds of rows, whatever else they are filtered by.
    for (const filter of [
      '',
      'token_name=test',
      `model_name=${model}`,
      `channel=${channelId}`,
      'group=default',
      'username=root',
    ]) {
      const { items, total } = await list(server, filter)
      const calls = items.filter(({ type }) => type === 2 || type === 5)
      expect([filter, calls.length, filter === '' || filter === 'username=root' ? 6 : total]).toEqual([filter, 6, 6])
    }
    const { items } = await list(server, `channel=${channelId}&type=5`)
    const [newest] = items
    expect(items).toHaveLength(5)
    expect((await list(server, `status=${JSON.parse(newest?.other ?? '').status}`)).items).toHaveLength(5)
    expect((await list(server, 'status=418')).items).toEqual([])
    expect((await list(server, 'code=upstream_failed')).items).toHaveLength(5)
    expect((await list(server, 'code=upstream_failed&type=2')).items).toEqual([])
    expect((await list(server, `request_id=${newest?.request_id}`)).items).toHaveLength(1)
    const paged = await server.call<Page>('GET /api/log/?p=2&page_size=2&token_name=test')
    expect(paged.items).toHaveLength(2)
  })

  it('writes no more rows in a second than allowed, at most half of one user, and counts the others', async () => {
    const clock = newClock()
    const { server, token } = await stage(kind, 'http://127.0.0.1:1', { server: { now: () => clock.nowMs } })
    await setOptions(server, { ErrorLogRowsPerSecond: 4 })
    for (let calls = 0; calls < 7; calls++) await ask(server, token.key, chat({ model: 'none' }))
    await failedRows(server, 2)
    expect(await metric(server, 'sluice_failed_calls_total{status="404"}')).toBe(7)
    expect(await metric(server, 'sluice_failed_call_rows_total{outcome="sampled"}')).toBe(5)
    clock.passSeconds(1)
    await ask(server, token.key, chat({ model: 'none' }))
    await failedRows(server, 3)
    await setOptions(server, { ErrorLogMode: 'all' })
    for (let calls = 0; calls < 7; calls++) await ask(server, token.key, chat({ model: 'none' }))
    await failedRows(server, 10)
    await setOptions(server, { ErrorLogMode: 'off' })
    await ask(server, token.key, chat({ model: 'none' }))
    expect(await metric(server, 'sluice_failed_call_rows_total{outcome="off"}')).toBe(1)
  })

  it('retains rows for a number of days, up to a number of rows', async () => {
    const clock = newClock()
    const { server, token } = await stage(kind, 'http://127.0.0.1:1', { server: { now: () => clock.nowMs } })
    await ask(server, token.key, chat({ model: 'none' }))
    await failedRows(server, 1)
    const aged = Math.floor(clock.nowMs / 1000) - 31 * 86_400
    await server.app.db.updateTable('logs').set({ created_at: aged }).where('type', '=', 5).execute()
    await ask(server, token.key, chat({ model: 'none' }))
    await failedRows(server, 2)
    expect(await runPurges(server.app)).toBe(1)
    expect((await list(server, 'type=5')).items).toHaveLength(1)

    const row = { user_id: 1, type: 5, content: '', created_at: Math.floor(clock.nowMs / 1000) }
    await server.app.db
      .insertInto('logs')
      .values(Array.from({ length: 1100 }, (_, nth) => ({ ...row, created_at: row.created_at - nth })))
      .execute()
    await setOptions(server, { ErrorLogRowsMax: 1000 })
    await runPurges(server.app)
    const { count } = await server.app.db
      .selectFrom('logs')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('type', '=', 5)
      .executeTakeFirstOrThrow()
    expect(Number(count)).toBeLessThanOrEqual(1000)
    expect(Number(count)).toBeGreaterThan(990)
  })

  it('is flushed when the server stops, bounded in memory, and loses only its rows while the database is unreachable', async () => {
    const server = await serverOfTest(kind)
    await setOptions(server, { ErrorLogMode: 'all' })
    const { app } = server
    const away = { selectFrom: () => { throw Object.assign(new Error('Connection terminated'), { code: 'ECONNREFUSED' }) } } // biome-ignore format: one line
    const broken = new FailedCalls({ ...app, db: away as unknown as typeof app.db })
    const failed = endedCall({ status: 500, failure: { code: 'x', message: { zh: 'x', en: 'x' }, inStream: false } })
    for (let nth = 0; nth < waitingMax + 500; nth++) broken.callEnded({ ...failed, id: `flood-${nth}` })
    expect(await metric(server, 'sluice_failed_call_rows_waiting')).toBe(waitingMax)
    expect(await metric(server, 'sluice_failed_call_rows_total{outcome="dropped"}')).toBe(500)
    await broken.close()
    expect(await metric(server, 'sluice_failed_call_rows_total{outcome="lost"}')).toBe(waitingMax)

    const token = await addToken(server)
    await ask(server, token.key, chat({ model: 'last\u0000words' }))
    app.failedCalls.callEnded({ ...failed, id: 'long-chain', attempts: Array.from({ length: 12 }, longAttempt) })
    await app.failedCalls.close()
    const [row, long] = await app.db
      .selectFrom('logs')
      .select(['model_name', 'other'])
      .where('type', '=', 5)
      .orderBy('id')
      .execute()
    expect(row?.model_name).toBe('lastwords')
    expect(Buffer.byteLength(long?.other ?? '')).toBeLessThan(8_192)
    const { attempts }: NonNullable<LogFailure['admin_info']> = JSON.parse(long?.other ?? '').admin_info
    expect(attempts).toHaveLength(12)
    expect(attempts?.some(({ candidates }) => candidates)).toBe(false)
  })

  it('has a row for a realtime session that its upstream cuts off, and none for one that ends normally', async () => {
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type === 'response.create') talk.socket.terminate()
    })
    const { server, token } = await stage(kind, upstream.url, { channel: { models: live } })
    const well = caller(server.url, token.key)
    await well.hears('session.created')
    well.socket.close()
    const cut = caller(server.url, token.key)
    await cut.hears('session.created')
    cut.say({ type: 'response.create' })
    const [row] = await failedRows(server, 1)
    expect(row).toMatchObject({ model_name: live, failure: { format: 'openai.realtime', code: 'upstream_failed' } })
  })
})
