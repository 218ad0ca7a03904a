import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { hasHaproxy, startHaproxy } from '../helpers/haproxy.ts'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import type { RunningProxy } from '../helpers/proxy-process.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { answering, caller, live, realtimeUpstream } from './realtime-stage.ts'
import { vendor } from './responses-vendor.ts'
import { ask, chat, model, speak } from './stage.ts'

const proxies = [
  { name: 'nginx', isInstalled: hasNginx, start: startNginx },
  { name: 'HAProxy', isInstalled: hasHaproxy, start: startHaproxy },
]

describe.each(proxies.filter(({ isInstalled }) => isInstalled))('behind $name with the shipped configuration', ({ start }) => {
  let server: TestServer
  let proxy: RunningProxy
  beforeAll(async () => {
    server = await startServer('sqlite', { env: { TRUSTED_PROXIES: '127.0.0.1' } })
    proxy = await start(server.url)
  })
  afterAll(async () => {
    await proxy.stop()
    await requireBalancedBooks(server)
    await server.stop()
  })

  it('a realtime session passes as a WebSocket, with events in both directions and refusals', async () => {
    const upstream = await realtimeUpstream(answering())
    await addChannel(server, { url: upstream.url, models: live })
    const client = caller(proxy.url, (await addToken(server)).key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.say({ type: 'response.create' })
    await client.hears('response.done', 2)
    client.socket.close(1000)
    expect((await client.closed()).code).toBe(1000)
    expect((await caller(proxy.url, 'sk-wrong').refused()).status).toBe(401)
  })

  it('Responses are answered over a WebSocket', async () => {
    const upstream = await vendor()
    await addChannel(server, { url: upstream.url, models: model, priority: 5 })
    const client = caller(proxy.url, (await addToken(server)).key, { path: '/v1/responses' })
    await client.opened()
    client.say({ type: 'response.create', model, input: 'How is the bread?' })
    await client.hears('response.completed')
  })

  it('ordinary calls and streams pass, other protocol upgrades are not forwarded to the node, and metrics are not exposed', async () => {
    const upstream = await upstreamOfTest({ models: ['plain-model'] })
    await setOptions(server, { ModelRatio: '{"plain-model":1}' })
    await addChannel(server, { url: upstream.url, models: 'plain-model' })
    const { key } = await addToken(server)
    expect((await ask(proxy, key, chat({ model: 'plain-model' }))).status).toBe(200)
    expect((await ask(proxy, key, chat({ model: 'plain-model', stream: true }))).text).toContain('[DONE]')
    const { until } = speak(proxy, 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n')
    expect(await until((text) => text.includes('\r\n\r\n'))).toMatch(/^HTTP\/1\.1 200 /)
    expect((await fetch(`${proxy.url}/metrics`)).status).toBe(404)
  })

  it('nobody can name another address than their own', async () => {
    const { key } = await addToken(server, { allow_ips: '203.0.113.7' })
    const headers = { 'x-forwarded-for': '203.0.113.7' }
    const forged = await ask(proxy, key, chat(), undefined, headers)
    expect([forged.status, forged.text]).toEqual([403, expect.stringContaining('token_address_forbidden')])
    // Past the proxy it would have helped: the node trusts this address.
    expect((await ask(server, key, chat(), undefined, headers)).status).not.toBe(403)
  })
})
