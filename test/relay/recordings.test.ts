import { brotliCompressSync, gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { Log } from '../../src/contract/entities/log.ts'
import type { OwnRecordedCall, OwnRecording, RecordedCall, RecordingRule } from '../../src/contract/entities/recording.ts'
import { openSecrets } from '../../src/server/base/db/key-ring.ts'
import { seconds } from '../../src/server/base/lib/time/clock.ts'
import type { TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { testMasterKey } from '../helpers/core.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { member } from '../helpers/members.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { answeringUpstream, chat, completion, httpUpstream, model, piece, post, stage, upstreamKey } from './stage.ts'

const hour = 3600
const retries = { key: 'RetryTimes', value: '1' }

/** Sets a recording rule; resolves when the rule is in force. */
async function record(server: TestServer, kind: RecordingRule['kind'], target: number, more: Partial<RecordingRule> = {}) {
  const until = seconds(server.app.now()) + hour
  await server.call('PUT /api/recording/rules', { kind, target, until, ...more })
  await server.app.recordings.rules.refresh()
}

/** The stored recording of a call. */
async function recordingOf(server: TestServer, answer: { headers: Headers }): Promise<RecordedCall> {
  await stored(server)
  return server.call(`GET /api/recording/call/${answer.headers.get('x-request-id')}`)
}

async function stored(server: TestServer): Promise<void> {
  await expect.poll(() => server.app.metrics.relayOpen.get().then(({ values }) => values[0]?.value)).toBe(0)
  await server.app.recordings.flush()
}

const rowsOf = (server: TestServer) => server.app.db.selectFrom('recordings').selectAll().execute()

/** The contents of all recordings, decrypted and decompressed. */
async function openedBytes(server: TestServer): Promise<string> {
  const rows = await rowsOf(server)
  return rows
    .flatMap((row) =>
      (['caller_sealed', 'upstream_sealed'] as const).map((column) =>
        gunzipSync(server.app.secrets.openBytes(row[column], { table: 'recordings', column, row: row.request_id })).toString(),
      ),
    )
    .join('\n')
}

const answering = async (body: string, headers: Record<string, string> = {}) =>
  (await answeringUpstream({ bytes: body, headers })).url

anyDatabase('recordings of calls', (_fresh, kind) => {
  it('hold the bytes of both sides as they were sent, the head of each, and the times', async () => {
    const { url, heard } = await answeringUpstream({ bytes: completion(), headers: { 'x-vendor': 'here' } })
    const { server, token, ask, channelId } = await stage(kind, url)
    await record(server, 'token', token.id)
    const sent = `{ "model": "${model}",  "messages": [{"role":"user","content":"grüße 你好"}] }`
    const told = await ask(sent, '/v1/chat/completions?trace=1')
    const call = await recordingOf(server, told)

    expect(call).toMatchObject({ request_id: told.headers.get('x-request-id'), user_id: 1 })
    expect(call.caller.request).toMatchObject({ method: 'POST', url: '/v1/chat/completions?trace=1' })
    expect(call.caller.request.body).toEqual({ text: sent, encoding: 'text', bytes: Buffer.byteLength(sent), is_cut: false })
    expect(call.caller.reply?.status).toBe(200)
    expect(call.caller.reply?.body.text).toBe(told.text)
    expect(call.caller.reply?.headers).toContainEqual(['x-request-id', told.headers.get('x-request-id')])
    expect(call.caller.timing.duration_ms).toBeGreaterThanOrEqual(0)
    expect(call.caller.timing.hold_ms).toBeGreaterThanOrEqual(0)
    expect(call.caller.timing.commit_ms).toBeGreaterThanOrEqual(0)
    expect(call.upstream).toHaveLength(1)
    expect(call.upstream[0]).toMatchObject({ channel: channelId, failure: '', request: { url: `${url}/v1/chat/completions` } })
    expect(call.upstream[0]?.request.body.text).toBe(heard[0]?.bytes.toString())
    expect(call.upstream[0]?.reply?.body.text).toBe(completion())
    expect(call.upstream[0]?.reply?.headers).toContainEqual(['x-vendor', 'here'])
    await requireBalancedBooks(server)
  })

  it('hold a stream piece by piece, and every attempt of a call that failed over', async () => {
    const { url: broken } = await answeringUpstream({ bytes: '{"error":{"message":"overloaded"}}', status: 503 })
    const pieces = [piece('four'), piece('five'), piece('', 'stop'), 'data: [DONE]\n\n']
    const streaming = await httpUpstream((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (const each of pieces) response.write(each)
        response.end()
      })
    })
    const { server, token, ask, channelId } = await stage(kind, broken, { channel: { priority: 2 } })
    const second = await addChannel(server, { url: streaming, models: model })
    await server.call('PUT /api/option/', retries)
    await record(server, 'user', 1)
    const told = await ask(chat({ stream: true }))
    const call = await recordingOf(server, told)
    expect(call.caller.reply?.body.text).toBe(told.text)
    expect(call.caller.pieces.count).toBeGreaterThan(0)
    expect(call.upstream.map(({ channel, reply }) => [channel, reply?.status])).toEqual([
      [channelId, 503],
      [second, 200],
    ])
    expect(call.upstream[0]?.failure).not.toBe('')
    expect(call.upstream[1]?.reply?.body.text).toBe(pieces.join(''))
    expect(call.upstream[1]?.pieces.count).toBeGreaterThan(0)
    expect(token.id).toBeGreaterThan(0)
  })

  it('hold no key, token, cookie or password, wherever it occurred', async () => {
    const { url } = await answeringUpstream(({ headers: { authorization } }) => ({
      json: { error: { message: `wrong key ${authorization}` } },
      status: 401,
      headers: { 'set-cookie': 'vendor=cookiesecret123456' },
    }))
    const { server, token, ask } = await stage(kind, url)
    await record(server, 'share', 0)
    const secrets = {
      cookie: 'session=callercookie123456',
      'x-api-key': 'callerapikey123456',
      'x-custom-token': 'customtoken123456',
      'proxy-authorization': 'Basic cHJveHlwYXNzd29yZA==',
    }
    const tools = [
      { type: 'mcp', server_label: 'a', authorization: 'mcpsecret"123456', headers: { 'x-api-key': 'toolsecret123456' } },
    ]
    await ask(chat({ tools, user: token.key }), '/v1/chat/completions?key=querysecret123456', secrets)
    await ask(completion(), `/v1beta/models/${model}:generateContent?key=${token.key}`, { authorization: '' })
    await stored(server)
    const text = await openedBytes(server)
    expect(await rowsOf(server)).toHaveLength(2)
    expect(text).toContain('[redacted]')
    const hidden = [
      token.key,
      token.key.slice(3),
      upstreamKey,
      'cookiesecret123456',
      'callercookie123456',
      'callerapikey123456',
      'customtoken123456',
      'cHJveHlwYXNzd29yZA',
      'mcpsecret',
      'toolsecret123456',
      'querysecret123456',
    ]
    for (const secret of hidden) expect(text, secret).not.toContain(secret)
    // The rest is stored encrypted.
    expect(JSON.stringify(await rowsOf(server))).not.toContain('one two three')
  })

  it('show owners the caller side of their own calls, super admins both sides with a row in the audit log, and others nothing', async () => {
    const { server } = await stage(kind, await answering(completion()))
    const [ada, eve, admin] = [await member(server, 'ada'), await member(server, 'eve'), await member(server, 'admin', 10)]
    await server.call(`POST /api/user/${ada.id}/quota`, { change: 500_000, reason: 'test' })
    const made = await ada.call('POST /api/token/', { name: 'own', unlimited_quota: true })
    const own = made.json.data as { id: number; key: string }
    const until = seconds(server.app.now()) + hour
    expect((await eve.call(`PUT /api/token/${own.id}/recording`, { until })).json.code).toBe('not_found')
    expect((await admin.call('PUT /api/recording/rules', { kind: 'token', target: own.id, until })).json.code).toBe(
      'permission_denied',
    )
    expect((await ada.call(`PUT /api/token/${own.id}/recording`, { until })).json.data).toEqual({
      user_until: 0,
      tokens: [{ id: own.id, until }],
      some_until: 0,
    } satisfies OwnRecording)
    await server.app.recordings.rules.refresh()
    const response = await post(server, `sk-${own.key}`, chat())
    const told = await response.text()
    await stored(server)

    const id = response.headers.get('x-request-id')
    const mine = await ada.call(`GET /api/recording/self/${id}`)
    const shown = mine.json.data as OwnRecordedCall
    expect(shown.caller.reply?.body.text).toBe(told)
    expect(shown).not.toHaveProperty('upstream')
    expect((await eve.call(`GET /api/recording/self/${id}`)).json.code).toBe('not_found')
    expect((await admin.call(`GET /api/recording/self/${id}`)).json.code).toBe('not_found')
    expect((await admin.call(`GET /api/recording/call/${id}`)).json.code).toBe('permission_denied')

    const flags = async (list: Promise<unknown>) => ((await list) as { items: Log[] }).items.filter(({ type }) => type === 2)
    expect(await flags(ada.call('GET /api/log/self').then(({ json }) => json.data))).toMatchObject([{ recorded: true }])
    expect(await flags(server.call('GET /api/log/'))).toMatchObject([{ recorded: true }])
    expect((await flags(admin.call('GET /api/log/').then(({ json }) => json.data)))[0]).not.toHaveProperty('recorded')

    const looks = () => server.app.db.selectFrom('audit').selectAll().where('action', '=', 'recording.read').execute()
    expect(await looks()).toHaveLength(0)
    const seen = await server.call<RecordedCall>(`GET /api/recording/call/${id}`)
    expect(seen.upstream).toHaveLength(1)
    await server.call(`GET /api/recording/call/${id}`)
    expect(await looks()).toMatchObject([
      { actor_id: 1, target: `request:${id} of user:${ada.id}` },
      { actor_id: 1, target: `request:${id} of user:${ada.id}` },
    ])
    expect((await admin.call('GET /api/recording/rules')).json.data).toMatchObject([
      { kind: 'token', target: own.id, name: 'own', until, created_by: 'ada' },
    ])
  })

  it('begin where a call reaches a recorded channel, and leave out calls that do not', async () => {
    const { server, ask, channelId } = await stage(kind, await answering(completion()))
    const other = await addChannel(server, { url: await answering(completion()), models: 'gpt-4o' })
    await record(server, 'channel', other)
    const plain = await ask(chat())
    const reached = await ask(chat({ model: 'gpt-4o' }))
    const call = await recordingOf(server, reached)
    expect(call.caller.request.body.text).toBe(JSON.stringify(chat({ model: 'gpt-4o' })))
    expect(call.caller.reply?.body.text).toBe(reached.text)
    expect((await rowsOf(server)).map(({ request_id }) => request_id)).not.toContain(plain.headers.get('x-request-id'))
    expect(await server.call<OwnRecording>('GET /api/recording/self')).toMatchObject({ some_until: expect.any(Number) })
    expect(channelId).not.toBe(other)
    expect(server.app.recordings.memory.free).toBe(64 * 1024 * 1024)
  })

  it('contain the errors that callers of failed calls received', async () => {
    const { server, token, ask } = await stage(kind, await answering('{"error":{"message":"no"}}'))
    await record(server, 'token', token.id)
    const refused = await ask(chat({ model: 'unknown-model' }))
    const call = await recordingOf(server, refused)
    expect(call.caller.reply).toMatchObject({ status: refused.status, body: { text: refused.text } })
    expect(call.upstream).toEqual([])
  })

  it('contain the beginning of a long body, decompressed', async () => {
    const long = completion({ padding: 'x'.repeat(5000) })
    const packed = brotliCompressSync(long)
    const { url } = await answeringUpstream({ bytes: packed, headers: { 'content-encoding': 'br' } })
    const { server, token, ask } = await stage(kind, url)
    await setOptions(server, { RecordingBodyKilobytes: 1 })
    await record(server, 'token', token.id)
    const call = await recordingOf(server, await ask(chat({ user: '你'.repeat(1000) })))
    expect(call.upstream[0]?.reply?.body).toEqual({
      text: long.slice(0, 1024),
      encoding: 'text',
      bytes: long.length,
      is_cut: true,
    })
    expect(call.caller.request.body.is_cut).toBe(true)
    expect(call.caller.request.body.text).toMatch(/^\{.*你$/)
    expect(server.app.recordings.memory.free).toBe(64 * 1024 * 1024)
  })

  it('contain bytes that are not text as base64', async () => {
    const { url } = await answeringUpstream({ bytes: Buffer.from([0x7b, 0xff, 0xfe, 0x00]), status: 500 })
    const { server, token, ask } = await stage(kind, url)
    await record(server, 'token', token.id)
    const call = await recordingOf(server, await ask(chat()))
    expect(call.upstream[0]?.reply?.body).toEqual({ text: 'e//+AA==', encoding: 'base64', bytes: 4, is_cut: false })
  })

  it('stop when their rule expires, and when it is ended', async () => {
    const clock = newClock()
    const { server, token, ask } = await stage(kind, await answering(completion()), { server: { now: () => clock.now() } })
    await record(server, 'token', token.id)
    await ask(chat())
    clock.passSeconds(hour + 1)
    await ask(chat())
    await stored(server)
    expect(await rowsOf(server)).toHaveLength(1)
    expect(server.app.recordings.rules.areOn).toBe(false)
    expect(await server.call('GET /api/recording/rules')).toEqual([])

    await record(server, 'user', 1)
    await ask(chat())
    await record(server, 'user', 1, { until: 0 })
    expect(server.app.recordings.rules.areOn).toBe(false)
    await ask(chat())
    await stored(server)
    expect(await rowsOf(server)).toHaveLength(2)
    const wrong = { kind: 'token', target: token.id, until: seconds(clock.now()) + 31 * 86_400 }
    for (const rule of [
      wrong,
      { ...wrong, until: 5 },
      { ...wrong, until: 0, target: 999 },
      { ...wrong, until: 0, kind: 'share' },
    ])
      expect((await (await server.raw('PUT /api/recording/rules', rule)).json()).success).toBe(false)
  })

  it('are deleted after their retention time, and the oldest ones beyond the limit of the site', async () => {
    const { server, token, ask } = await stage(kind, await answering(completion()))
    await record(server, 'token', token.id)
    const old = await ask(chat())
    await stored(server)
    const at = seconds(server.app.now())
    const id = old.headers.get('x-request-id')
    expect(await server.call(`GET /api/recording/call/${id}`)).toMatchObject({ expires_at: expect.closeTo(at + 7 * 86_400, -1) })
    await server.app.db
      .updateTable('recordings')
      .set({ created_at: at - 7 * 86_400 - 2 })
      .execute()
    expect((await (await server.raw(`GET /api/recording/call/${id}`)).json()).code).toBe('not_found')
    const fresh = await ask(chat())
    await stored(server)
    expect(await server.app.recordings.purge()).toBe(1)
    expect((await rowsOf(server)).map(({ request_id }) => request_id)).toEqual([fresh.headers.get('x-request-id')])

    await setOptions(server, { RecordingMegabytes: 1 })
    const row = { user_id: 1, bytes: 300_000, caller_sealed: '', upstream_sealed: '' }
    for (let n = 1; n <= 4; n++)
      await server.app.db
        .insertInto('recordings')
        .values({ ...row, request_id: `r${n}`, created_at: at + n })
        .execute()
    await server.app.recordings.purge()
    expect((await rowsOf(server)).map(({ request_id }) => request_id).sort()).toEqual(['r2', 'r3', 'r4'])
  })

  it('are limited per minute; a rule for a share of calls records about that share', async () => {
    const { server, token, ask } = await stage(kind, await answering(completion()))
    await setOptions(server, { RecordingsPerMinute: 2 })
    await record(server, 'token', token.id)
    for (let n = 0; n < 4; n++) await ask(chat())
    await stored(server)
    expect((await rowsOf(server)).length).toBeLessThanOrEqual(4)
    expect((await rowsOf(server)).length).toBeGreaterThanOrEqual(2)
    const { values } = await server.app.metrics.recordings.get()
    expect(values.map(({ labels, value }) => [labels.outcome, value])).toContainEqual(['written', (await rowsOf(server)).length])

    const { rules } = server.app.recordings
    await record(server, 'token', token.id, { until: 0 })
    await record(server, 'share', 0, { per_mille: 250 })
    const hits = Array.from({ length: 4000 }, () => rules.ruleOf({ userId: 5, tokenId: 6 })).filter(Boolean).length
    expect(hits).toBeGreaterThan(800)
    expect(hits).toBeLessThan(1200)
  })

  it('can be read after a change of the master key, because it wraps the same data keys', async () => {
    const { server, token, ask } = await stage(kind, await answering(completion()))
    await record(server, 'token', token.id)
    await ask(chat())
    await stored(server)
    const [row] = await rowsOf(server)
    const rotated = await openSecrets(server.app.database, Buffer.alloc(32, 7), Date.now(), testMasterKey)
    const place = { table: 'recordings', column: 'caller_sealed', row: row?.request_id ?? '' }
    expect(gunzipSync(rotated.openBytes(row?.caller_sealed ?? '', place)).toString()).toContain('one two three')
    await openSecrets(server.app.database, testMasterKey, Date.now(), Buffer.alloc(32, 7))
  })

  it('are made of the calls of a token on another node as soon as the rule has reached it', async () => {
    const { server, token } = await stage(kind, await answering(completion()))
    await addToken(server)
    await record(server, 'token', token.id)
    await expect.poll(() => server.app.recordings.rules.areOn).toBe(true)
  })
})
