import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import type { RunningProxy } from '../helpers/proxy-process.ts'
import { addChannel, addToken, requireBalancedBooks } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { answering, caller, live, realtimeUpstream } from './realtime-stage.ts'
import { vendor } from './responses-vendor.ts'
import { ask, chat, model, speak } from './stage.ts'

describe.runIf(hasNginx)('behind nginx with the shipped configuration', () => {
  let server: TestServer
  let nginx: RunningProxy
  beforeAll(async () => {
    server = await startServer('sqlite')
    nginx = await startNginx(server.url)
  })
  afterAll(async () => {
    await nginx.stop()
    await requireBalancedBooks(server)
    await server.stop()
  })

  it('a realtime session passes as a WebSocket, with events in both directions and refusals', async () => {
    const upstream = await realtimeUpstream(answering())
    await addChannel(server, { url: upstream.url, models: live })
    const client = caller(nginx.url, (await addToken(server)).key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.say({ type: 'response.create' })
    await client.hears('response.done', 2)
    client.socket.close(1000)
    expect((await client.closed()).code).toBe(1000)
    expect((await caller(nginx.url, 'sk-wrong').refused()).status).toBe(401)
  })

  it('Responses are answered over a WebSocket', async () => {
    const upstream = await vendor()
    await addChannel(server, { url: upstream.url, models: model, priority: 5 })
    const client = caller(nginx.url, (await addToken(server)).key, { path: '/v1/responses' })
    await client.opened()
    client.say({ type: 'response.create', model, input: 'How is the bread?' })
    await client.hears('response.completed')
  })

  it('ordinary calls and streams pass, other protocol upgrades are not forwarded to the node, and metrics are not exposed', async () => {
    const upstream = await upstreamOfTest({ models: ['plain-model'] })
    await server.call('PUT /api/option/', { key: 'ModelRatio', value: '{"plain-model":1}' })
    await addChannel(server, { url: upstream.url, models: 'plain-model' })
    const { key } = await addToken(server)
    expect((await ask(nginx, key, chat({ model: 'plain-model' }))).status).toBe(200)
    expect((await ask(nginx, key, chat({ model: 'plain-model', stream: true }))).text).toContain('[DONE]')
    const { until } = speak(nginx, 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n')
    expect(await until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 200 /)
    expect((await fetch(`${nginx.url}/metrics`)).status).toBe(404)
  })
})
