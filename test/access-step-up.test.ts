import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseLine, type Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { makeAccessToken } from '../src/server/accounts/access-tokens.ts'
import { startServer, type TestServer } from './helpers/app.ts'
import { member } from './helpers/members.ts'

const body = {
  username: 'renamed',
  password: 'another pass 9',
  email: 'a@example.com',
  code: '1',
  provider: 'github',
  reason: 'x',
  quota: 1,
}
const telegram = { id: '1', auth_date: '1', hash: 'a'.repeat(64) }

/**
 * Which calls want a proof of who is there that is younger than ten minutes, as it was reviewed. Every other call that changes something
 * is made too: one that comes to want a proof, or no longer does, fails until this list says so.
 */
const wanting: Readonly<Record<string, object | undefined>> = {
  'DELETE /api/user/self': undefined,
  'PUT /api/user/self': body,
  'GET /api/oauth/email/bind': undefined,
  'POST /api/oauth/email/bind': body,
  'GET /api/oauth/state': undefined,
  'POST /api/user/binding': body,
  'DELETE /api/user/binding/:provider': undefined,
  'GET /api/oauth/wechat/bind': undefined,
  'POST /api/oauth/wechat/bind': body,
  'GET /api/oauth/telegram/bind': undefined,
  'POST /api/user/two_factor': undefined,
  'POST /api/user/two_factor/backup_codes': undefined,
  'DELETE /api/user/two_factor': undefined,
  'POST /api/user/passkey/options': undefined,
  'DELETE /api/user/passkey/:id': undefined,
  'POST /api/topup/:id/check': undefined,
  'POST /api/topup/:id/complete': body,
  'POST /api/topup/:id/withdraw': body,
}
/** These call out; the last two end or change the callers of this test. */
const left = /\/update|test_mail|fetch_models|proposals|\/job\/|model_changes|DELETE \/api\/user\/(sessions|token)|\/user\/token/

let server: TestServer
beforeAll(async () => {
  server = await startServer('sqlite', { env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
  const offered = {
    GitHubClientId: 'x',
    GitHubClientSecret: 'x',
    TelegramBotToken: '1:x',
    TelegramBotName: 'x',
    WeChatServerToken: 'x',
  }
  const on = {
    WeChatServerAddress: 'http://127.0.0.1:9',
    GitHubOAuthEnabled: true,
    TelegramOAuthEnabled: true,
    WeChatAuthEnabled: true,
  }
  for (const [key, value] of Object.entries({ ...offered, ...on }))
    await server.call('PUT /api/option/', { key, value: String(value) })
})
afterAll(() => server.stop())

type Headers = Record<string, string>

/** Headers of a user who proved so long ago who they are. */
async function sessionOf(userId: number, secondsAgo: number): Promise<Headers> {
  const { app } = server
  const token = await app.sessions.create({ userId, address: '127.0.0.1', userAgent: 'test' })
  const authenticated_at = Math.floor(app.now() / 1000) - secondsAgo
  const newest = app.db.selectFrom('sessions').select(({ fn }) => fn.max('id').as('id'))
  await app.db.updateTable('sessions').set({ authenticated_at }).where('id', '=', newest).execute()
  return { cookie: `session=${token}` }
}

const callers: Readonly<Record<string, (id: number) => Promise<Headers>>> = {
  'a session that proved it a moment ago': (id) => sessionOf(id, 0),
  'one that did nine minutes ago': (id) => sessionOf(id, 9 * 60),
  'one that did eleven minutes ago': (id) => sessionOf(id, 11 * 60),
  'an access token': async (id) => ({ authorization: `Bearer ${await makeAccessToken(server.app, { userId: id })}` }),
}

it.each(Object.entries(callers))('[T049] the calls that want a fresh proof, made with %s', async (who, make) => {
  const leaver = await member(server, `leaver${Object.keys(callers).indexOf(who)}`)
  const asking: string[] = []
  for (const [index, [line, route]] of Object.entries(allRoutes as Routes).entries()) {
    const { method, path } = parseLine(line)
    if (route.access === 'public' && line !== 'GET /api/oauth/state') continue
    if ((method === 'GET' && !route.writes) || left.test(line)) continue
    // Root cannot leave.
    const id = line === 'DELETE /api/user/self' ? leaver.id : 1
    const headers: Headers = { ...(await make(id)), 'new-api-user': String(id), 'x-forwarded-for': `198.51.${index}.1` }
    const query = method === 'GET' ? `?${new URLSearchParams({ ...telegram, email: 'a@example.com', code: '1' })}` : ''
    const sent = route.body ? (wanting[line] ?? {}) : undefined
    const named = path.replace(':provider', 'github').replace(/:\w+/g, '999')
    const response = await fetch(server.url + named + query, {
      method,
      headers: { ...headers, ...(sent ? { 'content-type': 'application/json' } : {}) },
      ...(sent ? { body: JSON.stringify(sent) } : {}),
    })
    if ((await response.text()).includes('fresh_login_required')) asking.push(line)
  }
  const isFresh = who.includes('moment') || who.includes('nine')
  // An access token cannot even prove who is there.
  const proving = who === 'an access token' ? ['POST /api/user/verify', 'POST /api/user/verify/passkey/options'] : []
  expect(asking.sort()).toEqual(isFresh ? [] : [...Object.keys(wanting), ...proving].sort())
})
