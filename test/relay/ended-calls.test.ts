import { expect, it } from 'vitest'
import type { CallObserver, EndedAttempt, EndedCall } from '../../src/server/usage/calls/ended-calls.ts'
import { CallObservers } from '../../src/server/usage/calls/ended-calls.ts'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { endedCall } from '../helpers/ended-call.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { answering, caller, live, realtimeUpstream } from './realtime-stage.ts'
import {
  answeringUpstream,
  ask,
  chat,
  claude,
  completion,
  event,
  eventually,
  httpUpstream,
  model,
  piece,
  requestBytes,
  speak,
  stage,
  tcpUpstream,
} from './stage.ts'

/** An observer that collects all records. */
function watching() {
  const calls: EndedCall[] = []
  const attempts: [EndedAttempt, string][] = []
  const observer: CallObserver = {
    callEnded: (call) => void calls.push(call),
    attemptEnded: (attempt, { id }) => void attempts.push([attempt, id]),
  }
  /** The calls, once `count` of them have ended. */
  const ended = async (count: number) => {
    await eventually(`${count} calls have ended`, async () => calls.length >= count)
    expect(calls).toHaveLength(count)
    return calls
  }
  return { server: { callObservers: [observer] }, attempts, ended }
}

async function chargeOf({ app }: TestServer): Promise<number> {
  const rows = await app.db.selectFrom('logs').select('quota').where('type', '=', 2).execute()
  return rows.reduce((sum, { quota }) => sum + Number(quota), 0)
}

const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }

anyDatabase('the end of a call', (_fresh, kind) => {
  it('is reported once, with its request, attempts, usage and charge', async () => {
    const { server: settings, attempts, ended } = watching()
    const { url: failing } = await answeringUpstream({ bytes: '{"error":{"message":"overloaded"}}', status: 503 })
    const { server, token, channelId } = await stage(kind, failing, { server: settings, channel: { priority: 2 } })
    await setOptions(server, { RetryTimes: 1 })
    const { url } = await answeringUpstream(completion())
    const second = await addChannel(server, { url, models: model, model_mapping: JSON.stringify({ [model]: 'gpt-mapped' }) })
    const body = JSON.stringify(chat())
    const told = await ask(server, token.key, body, undefined, { 'user-agent': 'test/1' })
    const [call] = await ended(1)
    expect(call).toMatchObject({
      id: told.headers.get('x-request-id'),
      caller: { userId: 1, tokenId: token.id, tokenName: 'test' },
      group: 'default',
      kind: 'relay',
      dialect: 'openai',
      format: 'openai.chat',
      method: 'POST',
      url: '/v1/chat/completions',
      address: '127.0.0.1',
      userAgent: 'test/1',
      model,
      stream: false,
      status: 200,
      failure: undefined,
      attempts: [
        { channel: { id: channelId }, model, status: 503, reason: expect.stringContaining('overloaded') },
        { channel: { id: second }, model, upstreamModel: 'gpt-mapped', status: 200, reason: '' },
      ],
      firstByteMs: undefined,
      tokensIn: 11,
      tokensOut: 7,
      quota: await chargeOf(server),
      bytesIn: body.length,
      bytesOut: told.text.length,
    })
    expect(attempts.map(([attempt, id]) => [attempt, id])).toEqual(call?.attempts.map((attempt) => [attempt, call.id]))
  })

  it('of a stream has the time of its first byte and all bytes of its body', async () => {
    const { server: settings, ended } = watching()
    const usages = event({ id: 'c', object: 'chat.completion.chunk', model, choices: [], usage })
    const { url } = await answeringUpstream(piece('four') + piece('', 'stop') + usages + event('[DONE]'))
    const { ask, server } = await stage(kind, url, { server: settings })
    const told = await ask(chat({ stream: true }))
    const [call] = await ended(1)
    expect(call).toMatchObject({
      stream: true,
      tokensIn: 11,
      tokensOut: 7,
      bytesOut: told.text.length,
      quota: await chargeOf(server),
    })
    expect(call?.firstByteMs).toBeLessThanOrEqual(call?.durationMs ?? 0)
    expect(call?.attempts).toMatchObject([{ reason: '', firstByteMs: expect.any(Number) }])
  })

  it('reports refusals and disconnected callers, but no call with an unknown key', async () => {
    const { server: settings, ended } = watching()
    const url = await tcpUpstream((socket) => {
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n${piece('some words')}`)
      })
    })
    const { server, token } = await stage(kind, url, { server: settings })
    await ask(server, 'sk-unknown', chat())
    await ask(server, token.key, chat({ model: 'no-such-model' }))
    await ended(1)
    const leaving = speak(server, requestBytes(token.key, JSON.stringify(chat({ stream: true }))))
    await leaving.until((text) => text.includes('some words'))
    leaving.socket.destroy()
    const [refused, left] = await ended(2)
    expect(refused).toMatchObject({ status: 404, failure: { code: 'model_not_found', inStream: false }, attempts: [], quota: 0 })
    expect(left).toMatchObject({ status: 499, failure: { code: 'client_closed', inStream: true } })
    expect(left?.attempts).toMatchObject([{ status: 0, reason: 'client_closed' }])
    expect(left?.quota).toBeGreaterThan(0)
  })

  it('of a realtime session sums up its answers', async () => {
    const { server: settings, ended } = watching()
    const upstream = await realtimeUpstream(answering())
    const { server, token } = await stage(kind, upstream.url, { server: settings, channel: { models: live } })
    const talk = caller(server.url, token.key)
    await talk.hears('session.created')
    for (let answers = 1; answers <= 2; answers++) {
      talk.say({ type: 'response.create' })
      await talk.hears('response.done', answers)
    }
    talk.socket.close()
    const [call] = await ended(1)
    expect(call).toMatchObject({ kind: 'relay', format: 'openai.realtime', status: 101, failure: undefined, model: live })
    expect(call?.attempts).toMatchObject([{ status: 200, reason: '' }])
    expect(call?.quota).toBe(await chargeOf(server))
    const rows = await server.app.db
      .selectFrom('logs')
      .select(['prompt_tokens', 'completion_tokens'])
      .where('type', '=', 2)
      .execute()
    expect(call?.tokensIn).toBe(rows.reduce((sum, row) => sum + row.prompt_tokens, 0))
    expect(call?.tokensOut).toBe(rows.reduce((sum, row) => sum + row.completion_tokens, 0))
  })

  it('of a background response is reported once, when it is complete', async () => {
    const { server: settings, ended } = watching()
    const url = await httpUpstream((request, response) => {
      request.resume().on('end', () => {
        const told = { input_tokens: 5, output_tokens: 2 }
        const said = (data: { type: string; [key: string]: unknown }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(said({ type: 'message_start', message: { id: 'msg_1', type: 'message', role: 'assistant', model: claude, content: [], stop_reason: null, usage: told } })) // biome-ignore format: one line
        response.write(said({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }))
        response.write(said({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Answer' } }))
        response.write(said({ type: 'content_block_stop', index: 0 }))
        response.write(said({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: told }))
        response.end(said({ type: 'message_stop' }))
      })
    })
    const { ask } = await stage(kind, url, { server: settings, channel: { type: 14, models: claude } })
    const queued = await ask({ model: claude, input: 'Hi', background: true }, '/v1/responses')
    expect(JSON.parse(queued.text)).toMatchObject({ status: 'queued' })
    await ended(1)
    await ask(chat({ model: 'no-such-model' }))
    const [call, other] = await ended(2)
    expect(other).toMatchObject({ kind: 'relay', status: 404 })
    expect(call).toMatchObject({
      id: queued.headers.get('x-request-id'),
      kind: 'background',
      format: 'openai.responses',
      failure: undefined,
      tokensIn: 5,
      tokensOut: 2,
    })
  })
})

it('the record of a call is made only if an observer wants it, and an error of an observer is logged', () => {
  const seen: string[] = []
  const errors: unknown[] = []
  const logger = { error: (...given: unknown[]) => void errors.push(given) }
  const failure = { code: 'x', message: { zh: 'x', en: 'x' }, inStream: false }
  const observers = new CallObservers(
    [
      { onlyFailed: true, callEnded: ({ id }) => void seen.push(`failed ${id}`) },
      { attemptEnded: () => {} },
      { onlyFailed: true, callEnded: () => { throw new Error('broken') } }, // biome-ignore format: one line
    ],
    logger,
  )
  expect([observers.wantsCall(false), observers.wantsCall(true)]).toEqual([false, true])
  observers.callEnded(endedCall({ id: 'one' }))
  observers.callEnded(endedCall({ id: 'two', failure }))
  expect(seen).toEqual(['failed two'])
  expect(errors).toHaveLength(1)
})
