import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { siteHeader } from '../../src/server/gateway/channels/request/site-hops.ts'
import { isVendorAddress } from '../../src/server/gateway/providers/vendor-address.ts'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { freePort } from '../helpers/free-port.ts'
import { listeningInTest } from '../helpers/listening.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, claude, model, stage } from './stage.ts'

/** A site with its own master key, and therefore its own site id. */
const otherSite = () => serverOfTest('sqlite', { env: { MASTER_KEY: randomBytes(32).toString('base64') } })

/** The number of requests that the relay of a site has finished, by outcome. */
async function outcomes({ app }: TestServer): Promise<Record<string, number>> {
  const { values } = await app.metrics.relayRequests.get()
  return Object.fromEntries(values.map(({ labels, value }) => [String(labels.outcome), value]))
}

/** A site with a channel that leads to the site itself. */
async function circle(kind: 'sqlite' | 'postgres', models = model) {
  const server = await serverOfTest(kind)
  await setOptions(server, { RetryTimes: 5 })
  const token = await addToken(server)
  const channelId = await addChannel(server, { url: server.url, models, key: token.key })
  return { server, token, channelId, ask: (body: unknown, path?: string) => ask(server, token.key, body, path) }
}

/** An upstream that refuses every request, and records its headers. */
async function refusing() {
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    request.resume()
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}')
  })
  server.on('upgrade', (request, socket) => {
    asked.push(request)
    socket.end('HTTP/1.1 400 No\r\ncontent-length: 0\r\n\r\n')
  })
  const url = await listeningInTest(server)
  return { url, asked, sites: () => asked.map(({ headers }) => headers[siteHeader]) }
}

/** Opens a WebSocket and returns the status of its refusal. */
function refusalOf(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'), { headers })
    socket.on('unexpected-response', (_request, response) => {
      resolve(response.statusCode ?? 0)
      response.resume()
      socket.terminate()
    })
    socket.on('open', () => reject(new Error('it was taken')))
    socket.on('error', () => {})
  })
}

anyDatabase('a channel that leads back to its own site', (_fresh, kind) => {
  it('is called once and stays enabled; the caller gets a plain error, and nothing is held', async () => {
    const { server, channelId, ask } = await circle(kind)
    const answer = await ask(chat())

    expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([508, 'false'])
    expect(JSON.parse(answer.text).error).toMatchObject({ type: 'server_error', code: 'loop_detected' })
    // Refused when it returned, and reported to the caller: two requests, regardless of the allowed retries.
    expect(await outcomes(server)).toEqual({ loop_detected: 1, '508': 1 })
    await requireBalancedBooks(server)
    expect((await books(server)).channels).toEqual([{ id: channelId, used_quota: 0, status: 1 }])
  })

  it('fails over to the next channel, and the log row names the loop', async () => {
    const { server, ask } = await circle(kind)
    const upstream = await upstreamOfTest()
    await addChannel(server, { url: upstream.url, models: model, priority: -1 })
    for (let times = 0; times < 6; times++) expect((await ask(chat())).status).toBe(200)

    const { logs } = await books(server)
    for (const { other } of logs)
      expect(JSON.parse(other).admin_info.attempts).toMatchObject([
        { status: 508, reason: expect.stringContaining('the address of this channel leads back to this site') },
      ])
    await requireBalancedBooks(server)
  })
})

describe('a loop', () => {
  it.each([
    ['/v1/messages', { model: claude, max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }, { type: 'api_error' }],
    [
      '/v1beta/models/gemini-2.0-flash:generateContent',
      { contents: [{ parts: [{ text: 'x' }] }] },
      { code: 508, status: 'INTERNAL' },
    ],
    ['/v1/responses', { model, input: 'x' }, { code: 'loop_detected' }],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'x' }, { code: 'loop_detected' }],
  ])('is refused in the dialect of %s', async (path, body, error) => {
    const models = [model, claude, 'gemini-2.0-flash', 'text-embedding-3-small'].join(',')
    const { ask } = await circle('sqlite', models)
    const answer = await ask(body, path)
    expect(answer.status).toBe(508)
    expect(JSON.parse(answer.text).error).toMatchObject(error)
  })

  it('through another site is refused when it returns', async () => {
    const [one, two] = [await serverOfTest('sqlite'), await otherSite()]
    const [ofOne, ofTwo] = [await addToken(one), await addToken(two)]
    await addChannel(one, { url: two.url, models: model, key: ofTwo.key })
    await addChannel(two, { url: one.url, models: model, key: ofOne.key })

    const answer = await ask(one, ofOne.key, chat())
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([508, 'loop_detected'])
    expect([await outcomes(one), await outcomes(two)]).toEqual([{ loop_detected: 1, '508': 1 }, { '508': 1 }])
    for (const server of [one, two]) await requireBalancedBooks(server)
  })

  it('of a WebSocket is refused before it is opened', async () => {
    const { server, token } = await circle('sqlite', 'gpt-4o-realtime-preview')
    const headers = { authorization: `Bearer ${token.key}` }
    expect(await refusalOf(`${server.url}/v1/realtime?model=gpt-4o-realtime-preview`, headers)).toBe(508)
    expect(await outcomes(server)).toMatchObject({ loop_detected: 1 })
  })

  it('of more than eight sites is refused, whichever they are', async () => {
    const upstream = await refusing()
    const { ask } = await stage('sqlite', upstream.url)
    const passed = (count: number) => Array.from({ length: count }, (_, at) => `site-${at}`).join(', ')

    expect((await ask(chat(), undefined, { [siteHeader]: passed(8) })).status).toBe(508)
    expect(upstream.asked).toEqual([])
    expect((await ask(chat(), undefined, { [siteHeader]: passed(7) })).status).toBe(400)
    expect(upstream.sites()).toEqual([expect.stringMatching(/^site-0,site-1,.*,site-6,[0-9a-f]{24}$/)])
  })
})

describe('calls to channels', () => {
  it('of every kind carry the same opaque site id on every node, and pass on the ids of earlier sites', async () => {
    const upstream = await refusing()
    const live = 'gpt-4o-realtime-preview'
    const { server, token, ask, channelId } = await stage('postgres', upstream.url, {
      channel: { models: [model, live, 'dall-e-3'].join(',') },
    })
    const other = await serverOfTest('postgres', { database: server.database })
    await addChannel(server, { url: upstream.url, type: 14, models: claude })
    await addChannel(server, { url: upstream.url, type: 2, models: 'mj_imagine' })
    const from = { [siteHeader]: 'before' }
    const headers = { authorization: `Bearer ${token.key}`, ...from }

    await ask(chat(), undefined, from)
    await ask({ model: claude, messages: [{ role: 'user', content: 'x' }] }, '/v1/messages/count_tokens', from)
    await ask({ prompt: 'x' }, '/mj/submit/imagine', from)
    await ask({ model: 'dall-e-3', prompt: 'x' }, '/v1/images/generations', from)
    await refusalOf(`${server.url}/v1/realtime?model=${live}`, headers)
    const relayed = upstream.sites()
    await server.raw(`POST /api/channel/test/${channelId}`)
    await server.raw(`POST /api/channel/update_balance/${channelId}`)
    await server.raw(`GET /api/channel/fetch_models/${channelId}`)
    await server.raw('POST /api/channel/fetch_models', { type: 1, base_url: upstream.url, key: 'k-0123456789' })
    await other.raw(`POST /api/channel/test/${channelId}`)

    const [own = ''] = upstream.sites().slice(-1)
    expect(own).toMatch(/^[0-9a-f]{24}$/)
    expect(relayed).toEqual(Array(5).fill(`before,${own}`))
    expect(upstream.sites().slice(5)).toEqual(Array(5).fill(own))
  })

  it('do not carry it to addresses of vendors', () => {
    for (const url of ['', 'https://api.openai.com', 'https://api.anthropic.com/v1', 'https://me.openai.azure.com'])
      expect([url, isVendorAddress(url)]).toEqual([url, true])
    for (const url of [
      'https://gateway.example',
      'http://127.0.0.1:3000',
      'https://api.openai.com.example',
      'https://api.openai.com:8443',
    ])
      expect([url, isVendorAddress(url)]).toEqual([url, false])
  })
})

describe('the address of a channel', () => {
  it("is refused when it is one of this site, and the error names the form's field", async () => {
    const port = await freePort()
    const server = await serverOfTest('sqlite', { env: { PORT: port } })
    await setOptions(server, { ServerAddress: 'https://gateway.example' })
    const save = async (base_url: string) => {
      const channel = { name: 'test', type: 1, key: 'upstream-key-0123456789', models: model, base_url }
      return ((await (await server.raw('POST /api/channel/', channel)).json()) as { code?: string }).code ?? 'ok'
    }
    const own = [`http://127.0.0.1:${port}`, `http://localhost:${port}/v1`, `http://[::ffff:127.0.0.1]:${port}`]
    for (const url of [...own, 'https://gateway.example', 'https://GATEWAY.example:443/openai'])
      expect([url, await save(url)]).toEqual([url, 'channel_url_invalid'])
    for (const url of [
      `http://127.0.0.1:${port + 1}`,
      'https://gateway.example:8443',
      'https://other.example',
      `http://10.1.2.3:${port}`,
    ])
      expect([url, await save(url)]).toEqual([url, 'ok'])

    const edited = await server.raw('PUT /api/channel/', { id: 1, base_url: 'https://gateway.example/v1', key: 'k-0123456789' })
    expect(await edited.json()).toMatchObject({ success: false, code: 'channel_url_invalid' })
    expect(await server.call('GET /api/channel/1')).toMatchObject({ base_url: `http://127.0.0.1:${port + 1}` })
  })
})
