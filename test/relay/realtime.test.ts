import { describe, expect, it } from 'vitest'
import type { Budget } from '../../src/contract/entities/budget.ts'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase, type DatabaseKind } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { answering, caller, live, realtimeUpstream, sdk } from './realtime-stage.ts'
import { sharedStages } from './shared-stage.ts'
import { ask, chat, eventually, settledCharges, stage, upstreamKey } from './stage.ts'

const open = (kind: DatabaseKind, url: string, channel: Record<string, unknown> = {}) =>
  stage(kind, url, { channel: { models: live, ...channel } })

function liveStages(kind?: DatabaseKind) {
  const sharedStage = sharedStages(kind)
  return (url: string, channel: Record<string, unknown> = {}) => sharedStage(url, { models: live, ...channel })
}

const sharedStage = liveStages()

async function interrupted(server: TestServer) {
  const [row] = (await books(server)).logs
  return { ...JSON.parse(row?.other ?? '{}'), prompt: row?.prompt_tokens, completion: row?.completion_tokens }
}

anyDatabase('a realtime session', (_fresh, kind) => {
  const sharedStage = liveStages(kind)

  it('works with the official SDK, and each response is charged before its end is sent', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server, token, channelId } = await sharedStage(upstream.url)
    const realtime = sdk(server.url, token.key)
    const charged: number[] = []
    const done = new Promise<void>((resolve) => {
      realtime.on('response.done', async () => {
        charged.push((await books(server)).logs.length)
        if (charged.length === 2) resolve()
        else realtime.send({ type: 'response.create' })
      })
    })
    realtime.on('error', (error) => expect(error).toBeUndefined())
    await new Promise((resolve) => realtime.on('session.created', resolve))
    realtime.send({ type: 'session.update', session: { type: 'realtime', instructions: 'Be brief.' } })
    realtime.send({ type: 'response.create' })
    await done
    expect(charged).toEqual([1, 2])
    realtime.close()

    const charges = await settledCharges(server)
    expect(charges).toHaveLength(2)
    const { logs } = await books(server)
    expect(logs).toMatchObject([
      { prompt_tokens: 100, completion_tokens: 50, is_stream: 1, channel_id: channelId, token_id: token.id, model_name: live },
      { prompt_tokens: 100, completion_tokens: 50 },
    ])
    expect(JSON.parse(logs[0]?.other ?? '{}')).toMatchObject({
      input_tokens: 60,
      audio_input: 40,
      output_tokens: 10,
      audio_output: 40,
    })
    expect(new Set(charges.map(({ id }) => id.split('-')[0])).size).toBe(1)
    expect(upstream.talks[0]?.heard.map(({ type }) => type)).toEqual(['session.update', 'response.create', 'response.create'])
    await requireBalancedBooks(server)
  })

  it('[218] charges a cancelled response with usage once, no matter how often its end is reported', async () => {
    const upstream = await realtimeUpstream(answering({ status: 'cancelled', twice: true }))
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done', 2)
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('counts each answer in the budgets of caller and channel, ends when one has no room for the next answer, and is then refused', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server, token, channelId } = await open(kind, upstream.url)
    const add = (scope: string, subject: number) =>
      server.call<Budget>('POST /api/budget/', { scope, subject: String(subject), period: 'total', amount: 1e9 })
    const [ofChannel, ofUser] = [await add('channel', channelId), await add('user', 1)]
    const spent = async () => (await server.call<{ items: Budget[] }>('GET /api/budget/')).items.map((each) => each.spent)
    const limit = ({ id }: Budget, amount: number) => server.call(`PUT /api/budget/${id}`, { amount })
    const charged = async () =>
      (await books(server)).ledger.filter(({ kind }) => kind === 'charge').reduce((sum, { amount }) => sum - amount, 0)
    for (const [budget, other] of [
      [ofChannel, ofUser],
      [ofUser, ofChannel],
    ] as const) {
      await limit(other, 1e9)
      const client = caller(server.url, token.key)
      await client.hears('session.created')
      client.say({ type: 'response.create' })
      await client.hears('response.done')
      const used = await charged()
      expect(used).toBeGreaterThan(0)
      expect(await spent()).toEqual([used, used])
      await limit(budget, used + 1)
      client.say({ type: 'response.create' })
      expect(await client.hears('error')).toMatchObject({ error: { code: 'budget_exceeded' } })
      expect((await client.closed()).code).toBe(1008)
      const refused = await caller(server.url, token.key).refused()
      expect([refused.status, JSON.parse(refused.body).error.code]).toEqual([429, 'budget_exceeded'])
    }
    await settledCharges(server)
    expect(await spent()).toEqual(Array(2).fill(await charged()))
    expect(upstream.handshakes).toHaveLength(2)
    await requireBalancedBooks(server)
  })

  it('charges transcriptions apart, at the price of their model', async () => {
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type === 'session.update') talk.say({ type: 'session.updated', session: event.session })
      if (event.type !== 'input_audio_buffer.commit') return
      for (const item of ['a', 'b', 'a'])
        talk.say({
          type: 'conversation.item.input_audio_transcription.completed',
          item_id: item,
          content_index: 0,
          transcript: 'Hi',
          usage:
            item === 'a'
              ? { type: 'duration', seconds: 60 }
              : { type: 'tokens', input_tokens: 30, output_tokens: 4, total_tokens: 34 },
        })
    })
    const { server, token } = await open(kind, upstream.url)
    await setOptions(server, { ModelRatio: { [live]: 100, 'whisper-1': 15 } })
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({
      type: 'session.update',
      session: { type: 'realtime', audio: { input: { transcription: { model: 'whisper-1' } } } },
    })
    client.say({ type: 'input_audio_buffer.append', audio: 'AAAA' })
    client.say({ type: 'input_audio_buffer.commit' })
    await client.hears('conversation.item.input_audio_transcription.completed', 3)
    client.socket.close(1000)
    expect((await settledCharges(server)).map(({ amount }) => amount)).toEqual([200 * 15, expect.any(Number)])
    expect((await books(server)).logs).toMatchObject([
      { model_name: 'whisper-1', prompt_tokens: 200 },
      { model_name: 'whisper-1', prompt_tokens: 30 },
    ])
    await requireBalancedBooks(server)
  })

  it('holds speech that is transcribed before it is sent, charges at most that, and ends when a budget has no room for more', async () => {
    let seconds = 60
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type === 'session.update') talk.say({ type: 'session.updated', session: event.session })
      if (event.type !== 'input_audio_buffer.commit') return
      const item_id = `item_${talk.heard.length}`
      talk.say({ type: 'input_audio_buffer.committed', item_id })
      const usage = { type: 'duration', seconds }
      const type = 'conversation.item.input_audio_transcription.completed'
      talk.say({ type, item_id, content_index: 0, transcript: 'Hi', usage })
    })
    const { server, token } = await open(kind, upstream.url)
    const prices = { ModelRatio: { [live]: 1, 'whisper-1': 15 }, AudioRatio: { [live]: 1 }, AudioCompletionRatio: { [live]: 1 } }
    await setOptions(server, prices)
    const amount = 60_000
    await server.call('POST /api/budget/', { scope: 'model', subject: 'whisper-1', period: 'total', amount })
    const spent = async () => (await server.call<{ items: Budget[] }>('GET /api/budget/')).items[0]?.spent ?? 0
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    const transcription = { model: 'whisper-1' }
    client.say({ type: 'session.update', session: { type: 'realtime', audio: { input: { transcription } } } })
    await client.hears('session.updated')
    expect(server.app.ledger.openHolds).toBe(2)
    // A minute of speech, at 24,000 samples of two bytes a second.
    const speak = (spoken: number) =>
      client.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(spoken * 48_000).toString('base64') })
    speak(50)
    client.say({ type: 'input_audio_buffer.commit' })
    await client.hears('conversation.item.input_audio_transcription.completed')
    expect(await spent()).toBe(200 * 15)

    // An hour that an upstream reports for ten seconds is not charged in full.
    seconds = 3600
    speak(10)
    client.say({ type: 'input_audio_buffer.commit' })
    await client.hears('conversation.item.input_audio_transcription.completed', 2)
    const after = await spent()
    expect(after).toBeLessThan(amount)
    expect(after).toBeGreaterThan(200 * 15)

    const before = upstream.talks[0]?.heard.length
    speak(300)
    expect(await client.hears('error')).toMatchObject({ error: { code: 'budget_exceeded' } })
    expect((await client.closed()).code).toBe(1008)
    expect(upstream.talks[0]?.heard.length).toBe(before)
    await settledCharges(server)
    expect(await spent()).toBe(after)
    expect(server.app.ledger.openHolds).toBe(0)
    const transcribed = (await books(server)).logs.filter((row) => row.model_name === 'whisper-1')
    expect(transcribed.map(({ other }) => JSON.parse(other).usage_implausible)).toEqual([undefined, true])
    await requireBalancedBooks(server)
  })

  it('counts the output when the upstream reports no usage, and charges nothing for a response that failed without output', async () => {
    let status = 'failed'
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type !== 'response.create') return
      const id = `resp_${talk.heard.length}`
      talk.say({ type: 'response.created', response: { id } })
      if (status === 'completed')
        talk.say({ type: 'response.output_audio.delta', response_id: id, delta: Buffer.alloc(48_000).toString('base64') })
      talk.say({ type: 'response.done', response: { id, status } })
    })
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    status = 'completed'
    client.say({ type: 'input_audio_buffer.append', audio: Buffer.alloc(96_000).toString('base64') })
    client.say({ type: 'response.create' })
    await client.hears('response.done', 2)
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
    expect(await interrupted(server)).toMatchObject({ estimated: true, audio_input: 20, audio_output: 20 })
    await requireBalancedBooks(server)
  })

  it('counts a side of zeros beside an answer, and keeps the reported one', async () => {
    const upstream = await realtimeUpstream(answering({ usage: { total_tokens: 70, input_tokens: 70, output_tokens: 0 } }))
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(1)
    const { estimated, prompt, completion } = await interrupted(server)
    expect({ estimated, prompt }).toEqual({ estimated: true, prompt: 70 })
    expect(completion).toBeGreaterThan(0)
    await requireBalancedBooks(server)
  })

  it('ends with an error and 1008 when the balance is used up, and no hold takes the balance below zero', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server } = await open(kind, upstream.url)
    await setOptions(server, { ModelRatio: { [live]: 1 } })
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 40_000 })
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    const more = () => client.socket.readyState === client.socket.OPEN && client.say({ type: 'response.create' })
    client.socket.on('message', (data) => String(data).includes('response.done') && more())
    more()
    expect(await client.closed()).toMatchObject({ code: 1008, reason: expect.stringContaining('Insufficient quota') })
    expect(client.heard.at(-1)).toMatchObject({ type: 'error', error: { code: 'insufficient_quota' } })
    const charges = await settledCharges(server)
    expect(charges.length).toBeGreaterThan(1)
    expect((await books(server)).tokens.find(({ id }) => id === token.id)?.remain_quota).toBeGreaterThanOrEqual(0)
    expect(upstream.talks[0]?.heard.filter(({ type }) => type === 'response.create')).toHaveLength(charges.length)
    await requireBalancedBooks(server)
  })

  it('whose caller disconnects in the middle of a response is charged the partial reply; the upstream is closed', async () => {
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type !== 'response.create') return
      talk.say({ type: 'response.created', response: { id: 'r' } })
      talk.say({ type: 'response.output_audio.delta', response_id: 'r', delta: Buffer.alloc(96_000).toString('base64') })
    })
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.output_audio.delta')
    client.socket.terminate()
    expect(await settledCharges(server)).toHaveLength(1)
    expect(await interrupted(server)).toMatchObject({ interrupted: 'client', estimated: true, audio_output: 40 })
    await eventually('the upstream is closed', () => upstream.talks[0]?.socket.readyState === 3)
    await requireBalancedBooks(server)
  })

  it('[242] closes with the code and reason of the other end, without secrets', async () => {
    const closings: [number, string][] = []
    const upstream = await realtimeUpstream((talk, event) => {
      talk.socket.on('close', (code, reason) => closings.push([code, reason.toString()]))
      if (event.type === 'response.create') talk.socket.close(1008, `policy ${upstreamKey}`)
      if (event.type === 'response.cancel') talk.socket.terminate()
    })
    const { server, token } = await sharedStage(upstream.url)
    const first = caller(server.url, token.key)
    await first.hears('session.created')
    first.say({ type: 'response.create' })
    expect(await first.closed()).toEqual({ code: 1008, reason: 'policy …' })

    const second = caller(server.url, token.key)
    await second.hears('session.created')
    second.say({ type: 'response.cancel' })
    expect((await second.closed()).code).toBe(1011)
    expect(second.heard.at(-1)).toMatchObject({ type: 'error', error: { code: 'upstream_failed' } })

    const third = caller(server.url, token.key)
    await third.hears('session.created')
    third.say({ type: 'input_audio_buffer.clear' })
    await eventually('it is heard', () => upstream.talks[2]?.heard.length === 1)
    third.socket.close(4001, 'done for today')
    await eventually('the upstream is closed', () => closings.length === 3)
    expect(closings[2]).toEqual([4001, 'done for today'])
    expect(await settledCharges(server)).toEqual([])
    await requireBalancedBooks(server)
  })
})

describe('the handshake of a realtime session', () => {
  it('[241] reads the key of a browser from its subprotocols, and offers no subprotocol upstream', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server, token } = await sharedStage(upstream.url)
    const protocols = ['realtime', `openai-insecure-api-key.${token.key}`, 'openai-beta.realtime-v1']
    const client = caller(server.url, '', { protocols, headers: {} })
    await client.hears('session.created')
    expect(client.socket.protocol).toBe('realtime')
    const [handshake] = upstream.handshakes
    expect(handshake?.headers).toMatchObject({ authorization: `Bearer ${upstreamKey}`, 'openai-beta': 'realtime=v1' })
    expect(handshake?.headers['sec-websocket-protocol']).toBeUndefined()
    expect(handshake?.url).toBe(`/v1/realtime?model=${live}`)
    client.socket.close(1000)
    await requireBalancedBooks(server)
  })

  it('[243] is refused by an HTTP answer in the dialect: key, model, quota, limits, address', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server, token } = await sharedStage(upstream.url)
    const poor = await addToken(server, { unlimited_quota: false, remain_quota: 10 })
    const other = await addToken(server, { model_limits_enabled: true, model_limits: 'gpt-4o' })
    const refused = async (key: string, path?: string) => {
      const { status, body } = await caller(server.url, key, path ? { path } : {}).refused()
      return [status, JSON.parse(body).error.code]
    }
    expect(await refused('sk-wrong')).toEqual([401, 'invalid_api_key'])
    expect(await refused('')).toEqual([401, 'invalid_api_key'])
    expect(await refused(token.key, '/v1/realtime')).toEqual([400, 'model_required'])
    expect(await refused(token.key, '/v1/realtime?model=nope')).toEqual([404, 'model_not_found'])
    expect(await refused(token.key, '/v1/realtime?call_id=1')).toEqual([501, 'not_implemented'])
    expect(await refused(poor.key)).toEqual([403, 'insufficient_quota'])
    expect(await refused(other.key)).toEqual([403, 'token_model_forbidden'])
    expect(await refused(token.key, '/v1/nonsense')).toEqual([404, 'route_unknown'])
    expect(await refused(token.key, '/api/status')).toEqual([404, 'route_unknown'])
    expect(upstream.handshakes).toEqual([])
    const plain = await fetch(`${server.url}/v1/realtime?model=${live}`, { headers: { authorization: `Bearer ${token.key}` } })
    expect(plain.status).toBe(426)
    await requireBalancedBooks(server)
  })

  it('tries the next channel when one refuses, and passes the last refusal on without its secrets', async () => {
    const shut = await realtimeUpstream(undefined, {
      refuses: { status: 403, body: { error: { message: `bad ${upstreamKey}` } } },
    })
    const good = await realtimeUpstream(answering())
    const { server, token } = await open('sqlite', shut.url, { priority: 9 })
    const client = caller(server.url, token.key)
    expect(await client.refused()).toMatchObject({ status: 503 })
    await setOptions(server, { RetryTimes: 2 })
    await addChannel(server, { url: good.url, models: live })
    const second = caller(server.url, token.key)
    await second.hears('session.created')
    expect([shut.handshakes.length, good.handshakes.length]).toEqual([2, 1])
    second.say({ type: 'response.create' })
    await second.hears('response.done')
    second.socket.close(1000)
    await settledCharges(server)
    expect(await interrupted(server)).toMatchObject({ admin_info: { attempts: [{ status: 403 }] } })
    const down = await sharedStage('http://127.0.0.1:9')
    expect((await caller(down.server.url, down.token.key).refused()).status).toBe(502)
    await requireBalancedBooks(server)
  })

  it('uses the URLs of other hosts: Azure, old and new, and xAI', async () => {
    const upstream = await realtimeUpstream(answering())
    const paths: (string | undefined)[] = []
    for (const [type, base] of [
      [3, upstream.url],
      [3, `${upstream.url}/openai/v1`],
      [48, upstream.url],
    ] as const) {
      const { server, token } = await sharedStage(base, { type })
      const client = caller(server.url, token.key)
      await client.hears('session.created')
      paths.push(upstream.handshakes.at(-1)?.url)
      expect(upstream.handshakes.at(-1)?.headers[type === 3 ? 'api-key' : 'authorization']).toContain(upstreamKey)
    }
    expect(paths).toEqual([
      `/openai/realtime?api-version=2024-12-01-preview&deployment=${live}`,
      `/openai/v1/realtime?model=${live}`,
      `/v1/realtime?model=${live}`,
    ])
  })

  it('counts a session as a concurrent request, and each response as a request', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server } = await sharedStage(upstream.url)
    const token = await addToken(server, { limit_seconds: 60, limit_requests: 3, limit_tokens: 0, limit_concurrency: 1 })
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    const { status, body } = await caller(server.url, token.key).refused()
    expect([status, JSON.parse(body).error.message]).toEqual([429, expect.stringContaining('at once')])
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.say({ type: 'response.create' })
    await client.hears('response.done', 2)
    client.say({ type: 'response.create' })
    expect(await client.hears('error')).toMatchObject({ error: { code: 'rate_limit_exceeded' } })
    expect(upstream.talks[0]?.heard).toHaveLength(2)
    client.socket.close(1000)
    expect(await settledCharges(server)).toHaveLength(2)
    await requireBalancedBooks(server)
  })
})

describe('events of a realtime session', () => {
  it('have the model name that the caller used, and cannot change the charged model', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server } = await open('sqlite', upstream.url, { models: 'mine', model_mapping: JSON.stringify({ mine: live }) })
    await setOptions(server, { ModelRatio: '{"mine":1}' })
    const token = await addToken(server, { model_limits_enabled: true, model_limits: 'mine' })
    const client = caller(server.url, token.key, { path: '/v1/realtime?model=mine' })
    expect(await client.hears('session.created')).toMatchObject({ session: { model: 'mine' } })
    client.say({ type: 'session.update', session: { type: 'realtime', model: 'the-dearest', voice: 'a' } })
    expect(await client.hears('session.updated')).toMatchObject({ session: { model: 'mine', voice: 'a' } })
    expect(upstream.talks[0]?.heard[0]).toMatchObject({ session: { model: live } })
    client.say({ type: 'session.update', session: { input_audio_transcription: { model: 'whisper-1' } } })
    expect(await client.hears('error')).toMatchObject({ error: { code: 'token_model_forbidden' } })
    client.socket.send(Buffer.from([1, 2, 3]))
    expect((await client.closed()).code).toBe(1008)
    expect(upstream.talks[0]?.heard).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('are bounded: a message above the limit closes the session, invalid JSON is reported', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.socket.send('{"type":')
    await client.hears('error')
    client.socket.send(`{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`)
    await client.hears('error', 2)
    client.say({ type: 'input_audio_buffer.append', audio: 'A'.repeat(16 * 1024 * 1024) })
    await eventually('it is heard', () => upstream.talks[0]?.heard.length === 1)
    client.say({ type: 'input_audio_buffer.append', audio: 'A'.repeat(25 * 1024 * 1024) })
    expect((await client.closed()).code).toBe(1009)
    await eventually('the upstream is closed', () => upstream.talks[0]?.socket.readyState === 3)
    await requireBalancedBooks(server)
  })

  it('are refused with an error when they name the output limit twice, and are not sent upstream', async () => {
    const upstream = await realtimeUpstream(answering())
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    const twice = { max_output_tokens: 1, max_response_output_tokens: 4096 }
    client.say({ type: 'session.update', session: twice })
    client.say({ type: 'response.create', response: twice })
    const told = await client.hears('error', 2)
    expect(told.error).toMatchObject({ code: 'field_invalid', message: expect.stringContaining('max_response_output_tokens') })
    client.say({ type: 'response.create', response: { max_output_tokens: 7, max_response_output_tokens: 7 } })
    await client.hears('response.done')
    expect(upstream.talks[0]?.heard.map(({ type }) => type)).toEqual(['response.create'])
    await requireBalancedBooks(server)
  })

  it('are subject to back-pressure: an upstream cannot fill memory when its caller does not read', async () => {
    const delta = { type: 'response.output_audio.delta', response_id: 'r', delta: 'A'.repeat(64 * 1024) }
    const upstream = await realtimeUpstream()
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.socket.pause()
    const [talk] = upstream.talks
    const before = process.memoryUsage().rss
    for (let count = 0; count < 2000; count++) talk?.say(delta)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    // Unread data waits at the upstream, which in this test is the same process.
    expect(talk?.socket.bufferedAmount).toBeGreaterThan(100 * 1024 * 1024)
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024)
    client.socket.resume()
    await client.hears('response.output_audio.delta', 2000)
    client.socket.close(1000)
    await requireBalancedBooks(server)
  })

  it('do not break the session, whatever an upstream sends', async () => {
    const upstream = await realtimeUpstream((talk) => {
      talk.socket.send('no json')
      talk.socket.send('[1]')
      for (const type of [
        'response.done',
        'response.created',
        'session.updated',
        'error',
        'conversation.item.input_audio_transcription.completed',
      ])
        for (const value of [null, 7, 'x', [], {}])
          talk.say({ type, response: value, session: value, error: value, usage: value })
      talk.say({
        type: 'response.done',
        response: { id: 'big', status: 'completed', usage: { input_tokens: 1e300, output_tokens: -4 } },
      })
      talk.say({ type: 'end' })
    })
    const { server, token } = await sharedStage(upstream.url)
    const client = caller(server.url, token.key)
    await client.hears('session.created')
    client.say({ type: 'input_audio_buffer.clear' })
    await client.hears('end')
    client.socket.close(1000)
    await settledCharges(server)
    await requireBalancedBooks(server)
  })
})

describe('upgrade requests for other protocols than WebSocket', () => {
  it('are answered as if they requested no upgrade, and their bodies are read', async () => {
    const { server, token } = await sharedStage('http://127.0.0.1:9')
    const { request } = await import('node:http')
    const send = (method: string, path: string, body = '') =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const headers = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA' }
        const sent = request(
          server.url + path,
          { method, headers: { ...headers, authorization: `Bearer ${token.key}` } },
          (response) => {
            let text = ''
            response.on('data', (chunk) => (text += chunk))
            response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
          },
        )
        sent.on('error', reject)
        sent.end(body)
      })
    expect(await send('GET', '/api/status')).toMatchObject({ status: 200 })
    expect(JSON.parse((await send('GET', '/v1/models')).text).data).toHaveLength(1)
    const refused = await send(
      'POST',
      '/v1/chat/completions',
      JSON.stringify({ model: live, messages: [{ role: 'user', content: 'x'.repeat(200_000) }] }),
    )
    expect(refused.status).toBe(502)
    expect((await ask(server, token.key, chat({ model: live }))).status).toBe(502)
  })
})
