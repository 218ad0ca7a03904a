import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseLine, type Routes } from '../../src/contract/route.ts'
import { allRoutes } from '../../src/contract/routes/index.ts'
import { sessionCookie } from '../../src/server/people/accounts/session-cookie.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { sampled } from '../helpers/torture.ts'
import { everyLook, go, openStage, type Stage, userPassword } from './stage.ts'

/**
 * Part B of docs/reference/trust-cases.md: attacks of a page of another origin in the browser of a logged-in user. It has its own
 * server; names that end in `.test` resolve to this machine.
 */

/** Browsers send the origin headers to the loopback address, as over https; to a name over plain http they do not. */
const victims = ['127.0.0.1', 'console.test'] as const
type Victim = (typeof victims)[number]

/** Pages of another site, and of the same site, to which the browser sends cookies. The heavy run takes all combinations. */
const attackers: readonly (readonly [Victim, string])[] = [
  ['127.0.0.1', 'evil.test'],
  ['console.test', 'sibling.console.test'],
  ...(everyLook
    ? ([
        ['127.0.0.1', '127.0.0.1'],
        ['console.test', 'evil.test'],
      ] as const)
    : []),
]

const lines = Object.entries(allRoutes as Routes)
const pathsOf = (method: string) => [
  ...new Set(
    lines.map(([line]) => parseLine(line)).flatMap((line) => (line.method === method ? [line.path.replace(/:\w+/g, '1')] : [])),
  ),
]
/** The last paths are those of the relay that the cookie authenticates too. */
const posts = [
  ...pathsOf('POST'),
  ...['/pg/chat/completions', '/pg/decisions', '/pg/images/generations', '/pg/videos', '/pg/batches'],
]
/**
 * Sent in every encoding that a page can send, and by real forms. The heavy run sends all others in every encoding too, but not by
 * real forms.
 */
const formPosts = ['/api/user/logout', '/api/token/', '/api/user/manage', '/api/redemption/', '/pg/chat/completions']
const preflighted = [
  ...['PUT', 'DELETE'].flatMap((method) => pathsOf(method).map((path) => [method, path])),
  ...formPosts.map((path) => ['POST', path]),
]
const sentInEveryForm = everyLook ? posts : formPosts
/** In the ordinary run the attackers share the calls that are sent in one form. */
const shareOf = <Call>(calls: readonly Call[], attacker: string) =>
  sampled(
    calls,
    attackers.length,
    attackers.findIndex(([, name]) => name === attacker),
  )
const open = lines.flatMap(([line, { access }]) => (access === 'public' ? [parseLine(line).path] : []))
const writingGets = lines.flatMap(([line, { writes }]) => (writes ? [parseLine(line).path.replace(/:\w+/g, '1')] : []))

/** Windows cost a page each: calls that require a login are left to the heavy run. */
const opened = everyLook ? writingGets : writingGets.filter((path) => open.includes(path))

/** A body that many calls would accept from our own pages. */
const anything = {
  ...{ id: 1, ids: [1], action: 'disable', status: 2, name: 'stolen', quota: 5, change: 5, count: 1, reason: 'x', key: 'x' },
  ...{ username: 'user', password: userPassword, email: 'eve@evil.test', code: '1', state: '1', provider: 'github' },
  ...{ unlimited_quota: true, models: 'm', type: 1, model: 'm', messages: [{ role: 'user', content: 'hi' }] },
}
const query = '?email=eve@evil.test&code=1&state=1&id=1&username=user'

/** Message events that the pages of other products act on. */
const messages = [
  { type: 'login', user: { id: 2, username: 'user', role: 100 } },
  { type: 'setItem', key: 'user', value: '{"id":2}' },
  { type: 'navigate', url: 'https://evil.test/', to: '/setting' },
  { type: 'logout' },
  { event: 'setToken', token: 'eve', theme: 'dark', lang: 'zh' },
  ...['logout', 'reload', '{"type":"bind","code":"1","state":"1"}', 'javascript:alert(1)'],
]

let stage: Stage
let evil: { port: number; stop(): Promise<void> }
let port: string

beforeAll(async () => {
  ;[stage, evil] = await Promise.all([openStage({ flags: ['--host-resolver-rules=MAP *.test 127.0.0.1'] }), startEvil()])
  const { server, upstream } = stage
  port = new URL(server.url).port
  await addChannel(server, { url: upstream.url, models: 'm' })
  await addToken(server)
  await server.call('POST /api/redemption/', { name: 'one', quota: 5, count: 1 })
})
afterAll(async () => {
  await stage.stop()
  await evil.stop()
})

const consoleOf = (victim: Victim) => `http://${victim}:${port}`

/** Opens a page of root, with the cookie that a login sets, or of an anonymous visitor. */
async function visitor(victim: Victim, who: 'root' | 'nobody'): Promise<{ page: Page; context: BrowserContext }> {
  const { page } = await stage.open('nobody', { language: 'en', baseUrl: consoleOf(victim) })
  const context = page.context()
  if (who === 'root') {
    const { app } = stage.server
    const token = await app.sessions.create({ userId: 1, address: '127.0.0.1', userAgent: 'test' })
    const [name = '', value = ''] = (sessionCookie(app, token).split(';', 1)[0] ?? '').split('=')
    expect(sessionCookie(app, token)).toContain('HttpOnly; SameSite=Strict')
    await context.addCookies([{ name, value, domain: victim, path: '/', httpOnly: true, sameSite: 'Strict' }])
    await page.addInitScript(() => localStorage.setItem('user', '{"id":1,"username":"root","role":100,"status":1}'))
  }
  await page.goto('/about')
  return { page, context }
}

/** Opens a page of the other origin in another tab of the same browser. */
async function lure(context: BrowserContext, attacker: string): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`http://${attacker}:${evil.port}/`)
  return page
}

/** All data that could be changed, except the time at which a session was last seen. */
async function everything() {
  const { db } = stage.server.app
  const whole = [
    'users',
    'tokens',
    'channels',
    'channel_keys',
    'options',
    'redemptions',
    'saved_views',
    'two_factor',
    'passkeys',
  ] as const
  const more = ['mailed_codes', 'login_failures', 'login_steps', 'top_ups', 'ledger', 'logs', 'audit', 'tasks'] as const
  const tables = [...whole, ...more].map(async (table) => [table, await db.selectFrom(table).selectAll().execute()])
  const sessions = await db.selectFrom('sessions').select(['id', 'user_id', 'authenticated_at']).execute()
  return { ...Object.fromEntries(await Promise.all(tables)), sessions }
}

const cookiesOf = async (context: BrowserContext) =>
  (await context.cookies()).map(({ name, value, domain, sameSite }) => ({ name, value, domain, sameSite }))

describe.each(attackers)('beside a console at %s, a page at %s', (victim, attacker) => {
  it('[T041] [T042] changes nothing of a signed-in user by posts, loads and windows', async () => {
    const { page, context } = await visitor(victim, 'root')
    const before = [await everything(), await cookiesOf(context)]
    const tab = await lure(context, attacker)
    const target = consoleOf(victim)
    const ended = watch(context, target)

    const posted = shareOf(posts, attacker)
    await tab.evaluate(postEverything, { target, posts: posted, encoded: sentInEveryForm, forms: formPosts, body: anything })
    const sent = posted.length * 2 + sentInEveryForm.length * 2 + formPosts.length * 3
    await expect.poll(() => ended(/^POST/).length).toBe(sent)
    expect(await tab.evaluate(askFirst, { target, asked: shareOf(preflighted, attacker), body: anything })).toEqual([])
    await tab.evaluate(loadEverything, { target, gets: writingGets.map((path) => path + query) })
    const known = context.pages()
    await tab.evaluate(openEverything, { target, gets: opened.map((path) => path + query) })
    const windows = () => ended(/^GET document$/)
    await expect.poll(windows).toHaveLength(opened.length)
    expect(windows().filter(({ status }) => status < 400)).toEqual([])
    for (const window of context.pages()) if (!known.includes(window)) await window.close()
    expect([await everything(), await cookiesOf(context)]).toEqual(before)

    // A page of ours can sign out by one of these calls, so the test does not pass for another reason.
    await page.evaluate(() => fetch('/api/user/logout', { headers: { 'New-Api-User': '1' } }))
    expect(await cookiesOf(context)).toEqual([])
  })

  it('[T044] cannot sign a visitor in as another user', async () => {
    const { context } = await visitor(victim, 'nobody')
    const tab = await lure(context, attacker)
    const target = consoleOf(victim)
    const ended = watch(context, target)
    const { sessions } = await everything()
    const given = { target, body: { username: 'user', password: userPassword } }
    const login = ['/api/user/login']
    await tab.evaluate(postEverything, { ...given, posts: login, encoded: login, forms: login })
    await expect.poll(() => ended(/^POST/).length).toBe(7)
    expect(await tab.evaluate(askFirst, { ...given, asked: [['POST', '/api/user/login']] })).toEqual([])
    expect([(await everything()).sessions, await cookiesOf(context)]).toEqual([sessions, []])
  })

  it('[T045] cannot frame the console, and its messages are ignored', async () => {
    const { page, context } = await visitor(victim, 'root')
    await go(page, '/token')
    const stateOf = async () => [
      page.url(),
      await page.getByRole('heading', { level: 1 }).innerText(),
      await page.evaluate(() => ({ ...localStorage })),
    ]
    const before = [await stateOf(), await everything(), await cookiesOf(context)]
    await page.evaluate(() => {
      const heard: unknown[] = []
      addEventListener('message', ({ data }) => heard.push(data))
      Object.assign(window, { heard })
    })

    // Opened by the console, like the page of an identity provider.
    const popup = context.waitForEvent('page')
    await page.evaluate((address) => void window.open(address), `http://${attacker}:${evil.port}/`)
    const tab = await popup
    await tab.waitForLoadState()
    await tab.evaluate((all) => {
      for (const message of all) window.opener.postMessage(message, '*')
    }, messages)
    await expect.poll(() => page.evaluate('heard.length')).toBe(messages.length)

    const target = consoleOf(victim)
    const ended = watch(context, target)
    const framed = ['/', '/login', '/token', '/api/status', '/api/user/self', '/assets/none.js']
    await tab.evaluate(
      (all) => {
        for (const src of all) document.body.append(Object.assign(document.createElement('iframe'), { src }))
      },
      framed.map((path) => target + path),
    )
    await expect.poll(() => ended(/^GET document$/)).toHaveLength(framed.length)
    await expect
      .poll(() =>
        tab
          .frames()
          .slice(1)
          .map((frame) => frame.url()),
      )
      .toEqual(framed.map(() => 'chrome-error://chromewebdata/'))
    expect([await stateOf(), await everything(), await cookiesOf(context)]).toEqual(before)
  })
})

interface Ended {
  readonly kind: string
  readonly status: number
}

/**
 * Returns the requests to an origin, by kind, that have ended since the call. The status is 0 where the browser hides the response.
 */
function watch(context: BrowserContext, origin: string): (kind: RegExp) => readonly Ended[] {
  const ended: Ended[] = []
  const note = async (request: Request) => {
    if (!request.url().startsWith(origin)) return
    // A request of a page that is closed has no response.
    const status = (await request.response().catch(() => null))?.status() ?? 0
    ended.push({ kind: `${request.method()} ${request.resourceType()}`, status })
  }
  context.on('requestfinished', (request) => void note(request))
  context.on('requestfailed', (request) => void note(request))
  return (kind) => ended.filter((request) => kind.test(request.kind))
}

interface Posts {
  readonly target: string
  readonly posts: readonly string[]
  /** Paths that are also sent with the encodings of forms. */
  readonly encoded: readonly string[]
  /** Paths that are also sent by real forms. */
  readonly forms: readonly string[]
  readonly body: object
}

/** Runs on the page of the other origin: everything that a form or a script may post without a preflight. */
async function postEverything({ target, posts, encoded, forms, body }: Posts): Promise<void> {
  const json = JSON.stringify(body)
  const fields = Object.entries(body).map(([name, value]): [string, string] => [name, String(value)])
  const multipart = new FormData()
  for (const [name, value] of fields) multipart.append(name, value)

  const post = (path: string, body: BodyInit) =>
    fetch(target + path, { method: 'POST', mode: 'no-cors', credentials: 'include', body }).catch(() => {})
  for (const path of posts) navigator.sendBeacon(target + path, new Blob([json], { type: 'text/plain' }))
  await Promise.all(posts.map((path) => post(path, json)))
  await Promise.all(encoded.flatMap((path) => [new URLSearchParams(fields), multipart].map((body) => post(path, body))))
  for (const path of forms) {
    for (const enctype of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const name = `${path} ${enctype}`
      document.body.append(Object.assign(document.createElement('iframe'), { name }))
      const form = document.body.appendChild(document.createElement('form'))
      Object.assign(form, { method: 'post', action: target + path, enctype, target: name })
      // In plain text, name, equals sign and value together form the JSON.
      for (const [name, value] of enctype === 'text/plain' ? [[json.replace(/}$/, ',"x":"'), '"}']] : fields) {
        form.append(Object.assign(document.createElement('input'), { type: 'hidden', name, value }))
      }
      form.submit()
    }
  }
}

/** Runs on the page of the other origin: requests that need a preflight. Returns those that succeeded. */
async function askFirst(given: { target: string; asked: readonly (readonly string[])[]; body: object }): Promise<string[]> {
  const headers = { 'Content-Type': 'application/json', 'New-Api-User': '1' }
  const body = JSON.stringify(given.body)
  const through: string[] = []
  const ask = ([method = '', path = '']: readonly string[]) =>
    fetch(given.target + path, { method, credentials: 'include', headers, body }).then(
      () => through.push(`${method} ${path}`),
      () => {},
    )
  await Promise.all(given.asked.map(ask))
  return through
}

/** Runs on the page of the other origin: every kind of resource that a page loads without a preflight. */
async function loadEverything({ target, gets }: { target: string; gets: readonly string[] }): Promise<void> {
  const load = (tag: string, attributes: object) =>
    new Promise<void>((resolve) => {
      const element = Object.assign(document.createElement(tag), attributes)
      element.onload = element.onerror = () => resolve()
      document.head.append(element)
    })
  const loads = gets.flatMap((path) => [
    load('img', { src: target + path }),
    load('script', { src: target + path }),
    load('link', { rel: 'stylesheet', href: target + path }),
    load('link', { rel: 'prefetch', href: target + path }),
    fetch(target + path, { mode: 'no-cors', credentials: 'include' }).catch(() => {}),
  ])
  await Promise.all(loads)
}

/** Runs on the page of the other origin: opens windows, as links that are followed do. */
function openEverything({ target, gets }: { target: string; gets: readonly string[] }): void {
  for (const path of gets) window.open(target + path)
}

/** A server with only an empty page. */
async function startEvil(): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title><body>')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  // A server that listens on TCP has an address of this form.
  const { port } = server.address() as AddressInfo
  return {
    port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
