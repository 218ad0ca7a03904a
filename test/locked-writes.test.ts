import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { periodAt, totpCode } from '../src/server/base/lib/secrets/totp.ts'
import { jobs } from '../src/server/watch/jobs/table.ts'
import { rootPassword, startServer, type TestServer } from './helpers/app.ts'
import { type IdentityProviders, startIdentityProviders } from './helpers/identity-providers.ts'
import { pricePublisher, publishedPrices } from './helpers/published-prices.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from './helpers/seed.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'
import { ask, chat, model } from './relay/stage.ts'

/** Every kind of write of the server waits for the lock of the file; none is refused because of it. */
describe('while another program locks the SQLite file for 30 of every 60 milliseconds', () => {
  let server: TestServer
  let upstream: FakeUpstream
  let peers: IdentityProviders
  let locker: ChildProcess

  beforeAll(async () => {
    upstream = await startFakeUpstream()
    peers = await startIdentityProviders(Date.now)
    const identityProviders = { endpoints: peers.addresses, timeoutMs: 60_000 }
    server = await startServer('sqlite', { identityProviders, env: { TRUSTED_PROXIES: '127.0.0.1' } })
    const { database } = server.app
    if (database.dialect !== 'sqlite') throw new Error('not a SQLite file')
    await addChannel(server, { url: upstream.url, models: model })
    locker = fork(fileURLToPath(new URL('helpers/intermittent-lock.mjs', import.meta.url)), [database.file], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    if (!locker.stdout) throw new Error('no output')
    await once(locker.stdout, 'data')
  })
  afterAll(async () => {
    locker.disconnect()
    await once(locker, 'exit')
    await requireBalancedBooks(server)
    await server.stop()
    await Promise.all([upstream.stop(), peers.stop()])
  })

  let addresses = 0
  /** Every call comes from its own address: client limits are tested elsewhere. */
  const caller = () => ({ 'content-type': 'application/json', 'x-forwarded-for': `10.0.${++addresses >> 8}.${addresses & 255}` })
  /** A call of the console; throws unless it succeeds. */
  async function call<Data>(line: string, body: unknown, headers: Record<string, string> = {}) {
    const [method = '', path = ''] = line.split(' ')
    const response = await fetch(server.url + path, {
      method,
      headers: { ...caller(), ...headers },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    const answer = JSON.parse(text) as { success: boolean; data: Data }
    expect(answer.success, `${line}: ${text}`).toBe(true)
    const cookie = response.headers.getSetCookie().map((one) => one.split(';', 1)[0])
    return { data: answer.data, cookie: cookie.join('; ') }
  }
  /** Creates a user and signs in. */
  async function signedUser(username: string) {
    await server.call('POST /api/user/', { username, password: rootPassword, display_name: username })
    const { data, cookie } = await call<{ id: number }>('POST /api/user/login', { username, password: rootPassword })
    return { ...data, username, headers: { cookie, 'new-api-user': String(data.id) } }
  }
  const chargesOf = (tokenId: number) =>
    server.app.db.selectFrom('ledger').select('id').where('token_id', '=', tokenId).where('kind', '=', 'charge').execute()
  const times = <Result>(count: number, work: (index: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)))

  it('60 keyed calls in turn are charged once each, and their repeats replayed', async () => {
    const { key, id } = await addToken(server)
    for (let number = 0; number < 60; number++) {
      const send = () => ask(server, key, chat(), undefined, { 'idempotency-key': `order-${number}` })
      const [first, repeat] = [await send(), await send()]
      expect([first.status, repeat.status, repeat.text], `${number}: ${first.text}`).toEqual([200, 200, first.text])
    }
    expect(await chargesOf(id)).toHaveLength(60)
  })

  it('120 calls of ten callers are charged', async () => {
    const { key, id } = await addToken(server)
    await times(10, async () => {
      for (let number = 0; number < 12; number++) expect((await ask(server, key, chat())).status).toBe(200)
    })
    expect(await chargesOf(id)).toHaveLength(120)
  })

  it('tokens, codes, settings, redemptions and logins are saved', async () => {
    const names = await times(6, (index) => signedUser(`locked${index}`))
    await times(6, (index) => setOptions(server, { Notice: `notice ${index}` }))
    const codes = await server.call<string[]>('POST /api/redemption/', { name: 'locked', count: 6, quota: 1000 })
    await Promise.all(
      names.map(async ({ id, username, headers }, index) => {
        for (let login = 0; login < 5; login++) await call('POST /api/user/login', { username, password: rootPassword })
        await call('POST /api/token/', { name: 'one', unlimited_quota: true, expired_time: -1 }, headers)
        await call('POST /api/user/topup', { key: codes[index] }, headers)
        await call('PUT /api/user/self', { display_name: `renamed ${id}` }, headers)
      }),
    )
    const users = await server.app.db
      .selectFrom('users')
      .select(['display_name', 'id'])
      .where('username', 'like', 'locked%')
      .execute()
    expect(users.every(({ id, display_name }) => display_name === `renamed ${id}`)).toBe(true)
  })

  it('a second factor is set up and used', async () => {
    for (let number = 0; number < 4; number++) {
      const user = await signedUser(`factor${number}`)
      const { data } = await call<{ secret: string }>('POST /api/user/two_factor', undefined, user.headers)
      const code = (ahead: number) => totpCode(data.secret, periodAt(Date.now() / 1000) + ahead)
      const { data: backup } = await call<string[]>('POST /api/user/two_factor/confirm', { code: code(0) }, user.headers)
      for (const second of backup.slice(0, 3)) {
        const half = await fetch(`${server.url}/api/user/login`, {
          method: 'POST',
          headers: caller(),
          body: JSON.stringify({ username: user.username, password: rootPassword }),
        })
        expect(await half.json()).toMatchObject({ code: 'second_factor_required' })
        const cookie = half.headers.getSetCookie()[0]?.split(';', 1)[0] ?? ''
        await call('POST /api/user/login/second', { code: second }, { cookie })
      }
    }
  })

  it('logins by an identity provider create accounts and sign in', async () => {
    const settings = {
      ServerAddress: 'http://site.test',
      GitHubClientId: 'github-client',
      GitHubClientSecret: 'secret',
      GitHubOAuthEnabled: 'true',
    }
    await setOptions(server, settings)
    for (let number = 0; number < 12; number++) {
      const { data, cookie } = await call<{ url: string }>('POST /api/oauth/state', { provider: 'github', aff: '' })
      const user = { id: 5000 + (number % 6), login: `login${number % 6}`, name: `Name ${number % 6}` }
      await call('POST /api/oauth/github', peers.approve(data.url, user), { cookie })
    }
    const users = await server.app.db.selectFrom('users').select('id').where('username', 'like', 'github_%').execute()
    expect(users).toHaveLength(6)
  })

  it.each(jobs.map((job) => [job.name, job] as const))('the job %s succeeds', async (_, job) => {
    await setOptions(server, { PriceDataUrl: (await pricePublisher(publishedPrices({}))).url })
    for (let run = 0; run < 3; run++)
      await expect(job.run(server.app, AbortSignal.timeout(job.deadlineMs), () => {})).resolves.toEqual(expect.any(String))
  })
})
