import { expect, it } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { testLogger } from '../helpers/logger.ts'
import { addChannel, addToken, setOptions } from '../helpers/seed.ts'
import { type Program, upstreamOfTest } from '../helpers/upstream.ts'
import {
  ask,
  chat,
  claude,
  event,
  eventually,
  httpUpstream,
  model,
  piece,
  requestBytes,
  settledCharges,
  speak,
  stage,
  tcpUpstream,
} from './stage.ts'

const key = 'canary-channel-key-4711'
const organization = 'org-canary-organisation'
const prompt = 'canary words of the caller'
const answerText = 'canary words of the model'

anyDatabase('secrets', (_fresh, kind) => {
  it('[T237] of channels, callers and conversations are in no log, error, answer or log row after any failure', async () => {
    const lines: string[] = []
    const logger = testLogger('trace', (line) => void lines.push(line))
    const server = await serverOfTest(kind, { logger, env: { LOG_LEVEL: 'trace' } })
    const upstream = await upstreamOfTest()
    const host = new URL(upstream.url).host
    const garbage = await tcpUpstream(
      (socket) => void socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nbad header ${key}\r\n\r\n`)),
    )
    const proxied = { setting: JSON.stringify({ proxy: 'http://proxy-user:canary-proxy-password@127.0.0.1:9' }) }
    await addChannel(server, { url: upstream.url, models: model, key, openai_organization: organization, auto_ban: 0 })
    await addChannel(server, { url: upstream.url, models: claude, type: 14, key, openai_organization: organization, auto_ban: 0 })
    await addChannel(server, { url: upstream.url, models: 'behind-a-proxy', key, ...proxied })
    await addChannel(server, { url: garbage, models: 'garbage', key })
    await addChannel(server, { url: 'http://127.0.0.1:9', models: 'nobody', key })
    await setOptions(server, { SelfUseModeEnabled: true })
    const token = await addToken(server)

    const told = `key ${key} of ${organization} at ${upstream.url}/v1 and ${host} said Bearer ${key}`
    const error = { message: told, type: told, code: told, param: told }
    const programs: Program[] = [
      { echoKey: true },
      { echoKey: true, status: 400 },
      ...[400, 401, 403, 404, 413, 422, 429, 500, 503].map((status): Program => ({ status, body: { error } })),
      { status: 500, body: told },
      { status: 400, body: { detail: told } },
      { status: 500, body: `<html>${told}</html>`, contentType: 'text/html' },
      { body: { error } },
      { body: { error: told } },
      { bytes: told, contentType: told.slice(0, 40) },
      { bytes: piece(answerText) + event({ error }) },
      { bytes: event({ error }) },
      { bytes: piece(answerText) },
      { bytes: piece(answerText) + piece('', 'stop') + event('[DONE]') + event({ error }) },
      { hangUp: true },
    ]
    const answers: string[] = []
    for (const program of programs) {
      upstream.program(model, program)
      upstream.program(claude, program)
      for (const stream of [false, true]) {
        const messages = [{ role: 'user', content: prompt }]
        const openai = await ask(server, token.key, chat({ stream, messages }))
        const anthropic = await ask(server, token.key, { model: claude, max_tokens: 9, stream, messages }, '/v1/messages')
        answers.push(openai.text, anthropic.text, JSON.stringify([...openai.headers, ...anthropic.headers]))
      }
    }
    for (const name of ['behind-a-proxy', 'garbage', 'nobody'])
      answers.push((await ask(server, token.key, chat({ model: name }))).text)
    answers.push(
      (await ask(server, `${token.key.slice(0, -1)}!`, chat())).text,
      (await ask(server, token.key, `{"model":"${prompt}`)).text,
    )
    upstream.program(model, { words: 500, pauseMs: 5 })
    const caller = speak(server, requestBytes(token.key, JSON.stringify(chat({ stream: true }))))
    await caller.until((text) => text.includes('word2'))
    caller.socket.destroy()
    await settledCharges(server)
    await eventually('the log is written', () => lines.length > 20)

    const rows = JSON.stringify(await server.app.db.selectFrom('logs').selectAll().execute())
    const secrets = [key, organization, 'canary-proxy-password', token.key.slice(3)]
    for (const secret of secrets) {
      expect(answers.filter((text) => text.includes(secret))).toEqual([])
      expect(lines.filter((line) => line.includes(secret))).toEqual([])
      expect(rows.includes(secret)).toBe(false)
    }
    expect(answers.filter((text) => text.includes(host))).toEqual([])
    for (const words of [prompt, answerText]) {
      expect(lines.filter((line) => line.includes(words))).toEqual([])
      expect(rows.includes(words)).toBe(false)
    }
    for (const entry of upstream.journal) expect(JSON.stringify(entry.headers)).not.toContain(token.key.slice(3))
  })

  it('[T201] the key of a channel is sent to its own address only, for any address in a request', async () => {
    const upstream = await upstreamOfTest()
    let reached = 0
    const elsewhere = await httpUpstream((_request, response) => {
      reached++
      response.end('{}')
    })
    const { ask } = await stage(kind, upstream.url, { channel: { key } })
    const named = { base_url: elsewhere, api_base: elsewhere, url: elsewhere, proxy: elsewhere }
    const { host } = new URL(elsewhere)
    const headers = {
      'x-forwarded-host': host,
      'x-original-host': host,
      forwarded: `host=${host}`,
      'x-base-url': elsewhere,
      'openai-base-url': elsewhere,
      'x-rewrite-url': elsewhere,
    }
    for (const path of ['/v1/chat/completions', `/v1/chat/completions?base_url=${elsewhere}`])
      for (const body of [chat(), chat(named)]) expect((await ask(body, path, headers)).status).toBeLessThan(500)
    expect(reached).toBe(0)
    expect(upstream.journal.length).toBeGreaterThan(0)
    for (const sent of upstream.journal) {
      expect(sent.headers).toMatchObject({ host: new URL(upstream.url).host, authorization: `Bearer ${key}` })
      expect(JSON.stringify(sent.headers)).not.toContain(host)
    }
  })
})
