import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { imageUrl } from '../src/server/gateway/tasks/present.ts'
import { sessionCookie } from '../src/server/people/accounts/session-cookie.ts'
import { doctorCommand } from '../src/server/run/commands/doctor.ts'
import { rootPassword, serverOfTest, startServer, type TestServer } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { hasNginx, startNginx } from './helpers/nginx.ts'
import { addChannel, addToken, setOptions } from './helpers/seed.ts'
import { runCommand } from './helpers/sluice.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'
import { caller } from './relay/realtime-stage.ts'
import { vendor } from './relay/responses-vendor.ts'
import { ask, chat, model } from './relay/stage.ts'

/** A site below a path of its host: BASE_PATH. `test/browser/base-path.test.ts` has its console. */

const basePath = '/tools/sluice'
const asBrowser = { accept: 'text/html,application/xhtml+xml' }

let server: TestServer
let upstream: FakeUpstream
let key: string
/** The address of the host, without the base path. */
let host: string
beforeAll(async () => {
  upstream = await startFakeUpstream()
  server = await startServer('sqlite', { env: { BASE_PATH: basePath } })
  await addChannel(server, { url: upstream.url, models: model })
  key = (await addToken(server)).key
  host = new URL(server.url).origin
})
afterAll(async () => {
  await server?.stop()
  await upstream?.stop()
})

describe('below the base path', () => {
  it('an SDK gets answers, streams and models', async () => {
    const client = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 })
    expect(server.url).toBe(host + basePath)
    const request = { model, messages: [{ role: 'user' as const, content: 'one two three' }] }
    const answer = await client.chat.completions.create(request)
    expect(answer.choices[0]?.message.content).toBe('You said: one two three')
    let streamed = ''
    for await (const chunk of await client.chat.completions.create({ ...request, stream: true }))
      streamed += chunk.choices[0]?.delta.content ?? ''
    expect(streamed).toBe('You said: one two three')
    expect((await client.models.list()).data.map(({ id }) => id)).toContain(model)
  })

  it('a WebSocket is answered, and refused outside of it', async () => {
    const peer = await vendor()
    await addChannel(server, { url: peer.url, models: 'gpt-5' })
    await setOptions(server, { ModelRatio: { 'gpt-5': 1, [model]: 1 } })
    const client = caller(server.url, key, { path: '/v1/responses' })
    await client.opened()
    client.say({ type: 'response.create', model: 'gpt-5', input: 'How is the bread?' })
    await client.hears('response.completed')
    const outside = caller(host, key, { path: '/v1/responses' })
    expect((await outside.refused()).status).toBe(404)
  })

  it.each(['', '/', '/?from=mail', '/token', '/channel/edit/5?tab=keys', '/index.html'])(
    'the page of the console at %s names its files below it',
    async (path) => {
      const response = await fetch(server.url + path, { headers: asBrowser })
      const page = await response.text()
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache'])
      expect(page).toContain(`<html data-base-path="${basePath}" lang=`)
      const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file = '']) => file)
      expect(files.length).toBeGreaterThan(2)
      for (const file of files) {
        expect(file.startsWith(`${basePath}/assets/`), file).toBe(true)
        const answer = await fetch(host + file)
        expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable'])
      }
    },
  )

  it('unknown addresses have status 404, for programs and for browsers', async () => {
    for (const [path, headers] of [
      ['/no-such-page', asBrowser],
      ['/assets/none.js', asBrowser],
      ['/api/none', {}],
    ] as const)
      expect((await fetch(server.url + path, { headers })).status, path).toBe(404)
    expect((await ask(server, key, chat(), '/chat/completions')).text).toContain('did you mean')
  })

  it('cookies are set for it alone', async () => {
    const login = () =>
      fetch(`${server.url}/api/user/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ username: 'root', password: rootPassword }),
      })
    const [cookie = ''] = (await login()).headers.getSetCookie()
    expect(cookie).toMatch(new RegExp(`^session=[^;]+; Path=${basePath}; Max-Age=\\d+; HttpOnly; SameSite=Strict$`))
    const own = await fetch(`${server.url}/api/user/self`, {
      headers: { cookie: cookie.split(';', 1)[0] ?? '', 'new-api-user': '1' },
    })
    expect(await own.json()).toMatchObject({ success: true })

    const secure = await serverOfTest('sqlite', { env: { BASE_PATH: basePath } })
    await setOptions(secure, { ServerAddress: 'https://site.test' })
    const token = await secure.app.sessions.create({ userId: 1, address: '127.0.0.1', userAgent: 'test' })
    const secureCookie = sessionCookie(secure.app, token)
    expect(secureCookie).toMatch(new RegExp(`^__Secure-session=[^;]+; Path=${basePath}; .*; Secure$`))
    const [pair = ''] = secureCookie.split(';')
    const self = await fetch(`${secure.url}/api/user/self`, { headers: { cookie: pair, 'new-api-user': '1' } })
    expect(await self.json()).toMatchObject({ success: true })
    const cleared = (await secure.raw('GET /api/user/logout')).headers.getSetCookie()
    expect(cleared.map((text) => text.split(';').slice(0, 2).join(';'))).toEqual([
      `__Secure-session=; Path=${basePath}`,
      `session=; Path=${basePath}`,
    ])
  })

  it('the addresses that the site tells of itself contain it', async () => {
    const site = await serverOfTest('sqlite', { env: { BASE_PATH: basePath } })
    const drawing = { id: 1, mj_id: 'x', image_url: 'https://upstream.test/1.png', status: 'SUCCESS', progress: '100%' }
    await setOptions(site, { MjForwardUrlEnabled: true })
    const shown = () => imageUrl(site.app, drawing as Parameters<typeof imageUrl>[1])
    expect(shown()).toMatch(`${basePath}/mj/image/x?key=`)
    await setOptions(site, {
      ServerAddress: 'https://site.test',
      PayAddress: 'https://pay.test',
      EpayId: '1',
      EpayKey: 'k',
    })
    expect(shown()).toMatch(`https://site.test${basePath}/mj/image/x?key=`)
    expect(await site.call('GET /api/status')).toMatchObject({ server_address: `https://site.test${basePath}` })
    const order = await site.call<{ fields: Record<string, string> }>('POST /api/user/pay', {
      amount: 10,
      payment_method: 'zfb',
    })
    expect(JSON.stringify(order)).toContain(`https://site.test${basePath}/api/user/epay/notify`)
    const openApi = await (await site.raw('GET /api/openapi.json')).json()
    expect(openApi.servers).toEqual([{ url: basePath }])
  })

  it('a channel may lead to another path of the host, and not to this site', async () => {
    const site = await serverOfTest('sqlite', { env: { BASE_PATH: basePath } })
    await setOptions(site, { ServerAddress: 'https://site.test' })
    await addChannel(site, { url: 'https://site.test/ollama', models: 'm' })
    await expect(addChannel(site, { url: `https://site.test${basePath}`, models: 'm' })).rejects.toThrow()
  })

  it('doctor finds the running server', async () => {
    const env = {
      ...server.database.env,
      MASTER_KEY: testMasterKey.toString('base64'),
      PORT: new URL(server.url).port,
      BASE_PATH: `${basePath}/`,
    }
    const { checks } = JSON.parse((await runCommand(doctorCommand, ['--json'], env)).output)
    expect(checks.find(({ name }: { name: string }) => name === 'Port')).toMatchObject({
      state: 'ok',
      found: expect.stringContaining('Sluice'),
    })
  })

  it.runIf(hasNginx)('nginx passes it on as it is', async () => {
    const nginx = await startNginx(server.url, { location: `${basePath}/` })
    onTestFinished(() => nginx.stop())
    const site = { url: nginx.url + basePath }
    expect((await ask(site, key, chat())).status).toBe(200)
    expect((await fetch(`${site.url}/token`, { headers: asBrowser })).status).toBe(200)
  })
})

describe('outside of the base path', () => {
  it('a program gets 404 in the form that its SDK reads, with a sentence that names the base path', async () => {
    const client = new OpenAI({ apiKey: key, baseURL: `${host}/v1`, maxRetries: 0 })
    const failing = client.chat.completions.create({ model, messages: [{ role: 'user', content: 'x'.repeat(3_000_000) }] })
    await expect(failing).rejects.toMatchObject({
      status: 404,
      code: 'outside_base_path',
      message: expect.stringContaining(`This server is below ${basePath}/, and has nothing at /v1/chat/completions`),
    })
    const gemini = await ask({ url: host }, key, {}, '/v1beta/models/gemini-2.5-pro:generateContent')
    expect(JSON.parse(gemini.text)).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } })
    for (const path of ['/api/status', `${basePath}x/api/status`, '//tools/sluice/api/status', '/assets/x.js', '/tools'])
      expect((await fetch(host + path)).status, path).toBe(404)
  })

  it('a browser is led from the root of the host to the console, and reads a sentence elsewhere', async () => {
    const root = await fetch(`${host}/`, { headers: asBrowser, redirect: 'manual' })
    expect([root.status, root.headers.get('location')]).toEqual([302, `${basePath}/`])
    expect((await fetch(`${host}/`, { headers: asBrowser })).status).toBe(200)
    const login = await fetch(`${host}/login`, { headers: { ...asBrowser, 'accept-language': 'zh-CN' } })
    expect([login.status, await login.text()]).toEqual([404, `本站位于 ${basePath}/ 之下，此处没有 /login`])
    expect(login.headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  it('probes, metrics and robots.txt are answered, as they are below it', async () => {
    for (const path of ['/healthz', '/health', '/livez', '/ping', '/readyz', '/metrics', '/robots.txt'])
      for (const base of [host, server.url]) expect((await fetch(base + path)).status, base + path).toBe(200)
    expect(await (await fetch(`${host}/robots.txt`)).text()).toContain(`\nDisallow: ${basePath}/api/\n`)
  })
})

it('without a base path, pages, cookies and documents are those of a site that has its host for itself', async () => {
  const site = await serverOfTest('sqlite')
  const page = await (await fetch(`${site.url}/token`, { headers: asBrowser })).text()
  expect(page).not.toContain('data-base-path')
  expect([...page.matchAll(/(?:src|href)="([^"]+)"/g)].every(([, file = '']) => file.startsWith('/assets/'))).toBe(true)
  expect(sessionCookie(site.app, 'x')).toContain('session=x; Path=/; ')
  expect(await (await fetch(`${site.url}/robots.txt`)).text()).toContain('\nDisallow: /api/\n')
  expect((await (await site.raw('GET /api/openapi.json')).json()).servers).toBeUndefined()
})
