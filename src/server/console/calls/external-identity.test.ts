import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { password, type Signed, startConsole, type TestConsole } from '../../../../test/helpers/console.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import {
  type IdentityProviders,
  startIdentityProviders,
  type Trouble,
  telegramData,
} from '../../../../test/helpers/identity-providers.ts'
import type { Caller } from '../../base/options/core.ts'

const root: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const botToken = '123456:canary-bot-token'
const secrets = ['canary-github', 'canary-linuxdo', 'canary-oidc', 'wechat-secret', botToken]
const oauth = ['github', 'linuxdo', 'oidc'] as const

anyDatabase('external identities', (_fresh, kind) => {
  let console: TestConsole
  let peers: IdentityProviders
  let clock: () => number = () => 0
  let count = 0
  let drawn = 1000

  const set = async (values: Record<string, string>) => {
    for (const [key, value] of Object.entries(values)) await console.app.options.save({ key, value, caller: root })
  }
  beforeAll(async () => {
    peers = await startIdentityProviders(() => clock())
    console = await startConsole(kind, { identityProviders: { endpoints: peers.addresses, timeoutMs: 2000 } })
    clock = () => console.clock.now()
    await set({
      ServerAddress: 'http://site.test',
      GitHubClientId: 'github-client',
      GitHubClientSecret: 'canary-github',
      GitHubOAuthEnabled: 'true',
      LinuxDOClientId: 'linuxdo-client',
      LinuxDOClientSecret: 'canary-linuxdo',
      LinuxDOOAuthEnabled: 'true',
      WeChatServerAddress: peers.url,
      WeChatServerToken: 'wechat-secret',
      WeChatAuthEnabled: 'true',
      TelegramBotToken: botToken,
      TelegramBotName: 'site_bot',
      TelegramOAuthEnabled: 'true',
      'oidc.well_known': peers.url,
      'oidc.client_id': 'oidc-client',
      'oidc.client_secret': 'canary-oidc',
      'oidc.enabled': 'true',
    })
  })
  afterEach(() => {
    Object.assign(peers, { trouble: undefined, claims: {}, foreignKey: false })
  })
  afterAll(async () => {
    await console.stop()
    await peers.stop()
  })

  interface Sent {
    readonly body?: unknown
    readonly as?: Signed | undefined
    readonly cookie?: string | undefined
    readonly headers?: Record<string, string>
  }
  /** Every call comes from its own address: client limits are tested elsewhere. */
  const raw = (line: string, { body, as, cookie, headers }: Sent = {}) =>
    console.call(line, {
      ...(body === undefined ? {} : { body }),
      ...(as ? { as } : {}),
      headers: { ...headers, ...(cookie === undefined ? {} : { cookie }) },
      from: `10.1.${Math.floor(++count / 200)}.${(count % 200) + 1}`,
    })
  const json = async (line: string, sent: Sent = {}) => (await raw(line, sent)).json()

  /** A user, with the profile members of every provider. */
  const person = (more: Record<string, unknown> = {}) => {
    const id = ++drawn
    return { id, sub: `sub-${id}`, login: `login${id}`, name: `Name ${id}`, ...more }
  }
  const userCount = async () => (await console.app.db.selectFrom('users').select('id').execute()).length

  /** Starts a login in its own browser. */
  async function begin(provider: string, aff = '') {
    const response = await raw('POST /api/oauth/state', { body: { provider, aff } })
    const cookie = String(response.headers['set-cookie']).split(';', 1)[0] ?? ''
    return { cookie, ...(response.json().data as { state: string; url: string }) }
  }
  async function beginBind(provider: string, as: Signed) {
    return (await json('POST /api/user/binding', { body: { provider }, as })).data as { state: string; url: string }
  }
  const back = (provider: string, body: { code: string; state: string }, sent: Sent = {}) =>
    raw(`POST /api/oauth/${provider}`, { body, ...sent })
  /** A complete login. */
  async function logInWith(provider: string, user: Record<string, unknown>, aff = '') {
    const { cookie, url } = await begin(provider, aff)
    return (await back(provider, peers.approve(url, user), { cookie })).json()
  }

  it.each(oauth)('signs up on the first login by %s and signs in on the next', async (provider) => {
    const inviter = await console.addUser(`inv_${provider}`)
    const { aff_code } = await console.app.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', inviter.id)
      .executeTakeFirstOrThrow()
    const user = person({ email: 'victim@example.com', email_verified: true })
    const first = await logInWith(provider, user, aff_code)
    expect(first).toMatchObject({ success: true, message: '', data: { display_name: user.name, role: 1, status: 1 } })
    expect(first.data.username).toMatch(new RegExp(`^${provider}_\\d+$`))
    expect(first.data.username.length).toBeLessThanOrEqual(12)

    // The provider reports another name now: only the id counts.
    const again = await logInWith(provider, { ...user, login: 'renamed', name: 'Renamed', email: 'other@example.com' })
    expect(again.data.id).toBe(first.data.id)
    const row = await console.app.db.selectFrom('users').selectAll().where('id', '=', first.data.id).executeTakeFirstOrThrow()
    // [T022] An address reported by a provider proves nothing here.
    expect(row).toMatchObject({ email: '', inviter_id: inviter.id, password_hash: '' })
    expect(await logInWith(provider, person({ login: user.login }))).not.toMatchObject({ data: { id: first.data.id } })
  })

  it.each([
    ['ada.lovelace@example.com', /^ada\.lovelace$/],
    ['grace', /^grace$/],
    // Longer than an account's name.
    ['katherine.johnson', /^katherine\.jo$/],
    // No name of an account.
    ['a\u202eb', /^oidc_\d+$/],
    ['@', /^oidc_\d+$/],
  ])(
    'an account of an OpenID provider gets the preferred name %j as far as it may, and the name to show',
    async (preferred, username) => {
      const user = person({ preferred_username: preferred, name: 'Ada Lovelace' })
      const { data } = await logInWith('oidc', user)
      expect(data).toMatchObject({ username: expect.stringMatching(username), display_name: 'Ada Lovelace', role: 1 })
      expect((await logInWith('oidc', { ...user, preferred_username: 'renamed' })).data).toMatchObject({
        id: data.id,
        username: data.username,
      })
    },
  )

  it('an account of an OpenID provider gets digits behind a preferred name that another account has', async () => {
    await console.addUser('taken')
    for (const preferred of ['taken', 'ｔａｋｅｎ', 'TAKEN@example.com']) {
      const { data } = await logInWith('oidc', person({ preferred_username: preferred }))
      expect(data.username).toMatch(/^.{5}_\d+$/)
    }
  })

  it('[T016] sends PKCE, state, nonce and the saved address, regardless of the Host header', async () => {
    for (const provider of oauth) {
      const response = await raw('POST /api/oauth/state', {
        body: { provider, aff: null },
        headers: { host: 'evil.test', 'x-forwarded-host': 'evil.test' },
      })
      const url = new URL(response.json().data.url)
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        response_type: 'code',
        client_id: `${provider}-client`,
        redirect_uri: `http://site.test/oauth/${provider}`,
        state: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge: expect.stringMatching(/^[\w-]{43}$/),
        code_challenge_method: 'S256',
        ...(provider === 'oidc' ? { nonce: expect.stringMatching(/^[\w-]{43}$/), scope: 'openid profile' } : {}),
      })
    }
  })

  it('[T020] accepts a state once, for ten minutes, from the browser that began and for its provider', async () => {
    const users = await userCount()
    const refused = async (provider: string, body: { code: string; state: string }, sent: Sent) =>
      expect((await back(provider, body, sent)).json().code).toBe('outside_state_invalid')
    const asked = async () => {
      const { cookie, url } = await begin('github')
      return { cookie, answer: peers.approve(url, person()) }
    }

    const one = await asked()
    await refused('github', { ...one.answer, state: '' }, { cookie: one.cookie })
    await refused('github', { ...one.answer, state: 'A'.repeat(43) }, { cookie: one.cookie })
    await refused('github', one.answer, {})
    await refused('github', one.answer, { cookie: (await asked()).cookie })
    await refused('github', one.answer, { as: await console.addUser('eve') })
    expect(await userCount()).toBe(users + 1)
    expect((await back('github', one.answer, { cookie: one.cookie })).json().success).toBe(true)
    await refused('github', one.answer, { cookie: one.cookie })

    const other = await asked()
    await refused('linuxdo', other.answer, { cookie: other.cookie })
    const late = await asked()
    console.clock.passSeconds(601)
    await refused('github', late.answer, { cookie: late.cookie })
    expect(peers.requests.filter(({ form }) => form.code === late.answer.code)).toEqual([])
  })

  it('[T020] accepts no code twice, nor one of another state', async () => {
    const [victim, attacker] = [await begin('github'), await begin('github')]
    const stolen = peers.approve(victim.url, person())
    const given = { code: stolen.code, state: attacker.state }
    expect((await back('github', given, { cookie: attacker.cookie })).json().code).toBe('outside_failed')
    const again = await begin('github')
    const replayed = { code: stolen.code, state: again.state }
    expect((await back('github', replayed, { cookie: again.cookie })).json().code).toBe('outside_failed')
  })

  it('[T078] treats code and state of a callback as single values, whatever characters they contain', async () => {
    const hostile = ['a&client_secret=x', '../../a', 'a#b?c=d', 'a\r\nx-evil: 1', 'a b', 'é\ud800']
    const before = peers.requests.length
    for (const code of hostile) {
      expect((await back('github', { code, state: code })).json().success, code).toBe(false)
      for (const provider of oauth) {
        const { cookie, state } = await begin(provider)
        expect((await back(provider, { code, state }, { cookie })).json().success, `${provider} ${code}`).toBe(false)
      }
      expect((await json('POST /api/oauth/wechat', { body: { code } })).success, code).toBe(false)
    }
    const asked = peers.requests.slice(before)
    const codes = hostile.map((code) => Buffer.from(code).toString())
    for (const { path, form } of asked) {
      const { pathname, searchParams } = new URL(path, peers.url)
      expect(pathname).toMatch(/^\/(github\/token|linuxdo\/token|oidc\/token|token|api\/wechat\/user|\.well-known\/[\w-]+)$/)
      if (pathname.endsWith('/token'))
        expect([codes.includes(form.code ?? ''), form.client_secret === 'x']).toEqual([true, false])
      if (pathname.endsWith('/wechat/user')) expect([...searchParams.keys()]).toEqual(['code'])
    }
    expect(new Set(asked.flatMap(({ form }) => form.code ?? []))).toEqual(new Set(codes))
  })

  it('[T042] refuses cross-site requests by any method', async () => {
    const headers = { 'sec-fetch-site': 'cross-site' }
    const lines = [
      'GET /api/oauth/state',
      'GET /api/oauth/github?code=1&state=1',
      'GET /api/oauth/wechat?code=1',
      'POST /api/oauth/oidc',
    ]
    for (const line of lines) expect([line, (await json(line, { headers })).code]).toEqual([line, 'origin_refused'])
  })

  it.each(oauth)('binds an identity of %s to the signed-in user, once over all users, and unbinds it', async (provider) => {
    const [ada, bob] = [await console.addUser(`a_${provider}`), await console.addUser(`b_${provider}`)]
    const user = person()
    const bind = async (as: Signed) => {
      const { url } = await beginBind(provider, as)
      return (await back(provider, peers.approve(url, user), { as })).json()
    }
    expect(await bind(ada)).toMatchObject({ success: true, message: 'bind', data: null })
    expect((await bind(bob)).code).toBe('outside_taken')
    expect((await logInWith(provider, user)).data.id).toBe(ada.id)
    const { data } = await json('GET /api/user/binding', { as: ada })
    expect(data.find((row: { provider: string }) => row.provider === provider)).toMatchObject({
      offered: true,
      account: expect.stringMatching(/./),
    })

    const line = `DELETE /api/user/binding/${provider}`
    console.clock.passSeconds(601)
    expect((await json(line, { as: ada })).code).toBe('fresh_login_required')
    expect((await json('POST /api/user/binding', { body: { provider }, as: ada })).code).toBe('fresh_login_required')
    await json('POST /api/user/verify', { body: { password }, as: ada })
    expect((await json(line, { as: ada })).success).toBe(true)
    expect((await json(line, { as: ada })).code).toBe('nothing_changed')
    expect((await json('POST /api/user/verify', { body: { password }, as: bob })).success).toBe(true)
    expect((await bind(bob)).message).toBe('bind')
  })

  it('binds nothing by a state that another user or session has started', async () => {
    const [ada, eve] = [await console.addUser('victim'), await console.addUser('attacker')]
    const { url } = await beginBind('github', eve)
    const answer = peers.approve(url, person())
    expect((await back('github', answer, { as: ada })).json().code).toBe('outside_state_invalid')
    expect((await back('github', answer)).json().code).toBe('outside_state_invalid')
    const row = await console.app.db.selectFrom('users').select('github_id').where('id', '=', ada.id).executeTakeFirstOrThrow()
    expect(row.github_id).toBe('')
  })

  it('keeps the last login method, and lets the user set a first password', async () => {
    const user = person()
    const { cookie, url } = await begin('github')
    const response = await back('github', peers.approve(url, user), { cookie })
    const { id, username } = response.json().data
    const session = [response.headers['set-cookie'] ?? []].flat().find((text) => text.startsWith('session='))
    const as: Signed = { id, username, headers: { cookie: session?.split(';', 1)[0] ?? '', 'new-api-user': String(id) } }
    expect((await json('GET /api/user/security', { as })).data.password).toBe(false)
    expect((await json('POST /api/user/login', { body: { username, password: '' } })).code).toBe('credentials_required')
    expect((await json('DELETE /api/user/binding/github', { as })).code).toBe('last_way_in')
    expect((await json('PUT /api/user/self', { body: { password }, as })).success).toBe(true)
    expect((await json('DELETE /api/user/binding/github', { as })).success).toBe(true)
    expect((await json('POST /api/user/login', { body: { username, password } })).data.id).toBe(id)
  })

  it('[T029] refuses banned and deleted users, and binds their identity to no other user', async () => {
    const user = person()
    const { data } = await logInWith('github', user)
    const change = (values: { status?: number; deleted_at?: number }) =>
      console.app.db.updateTable('users').set(values).where('id', '=', data.id).execute()
    await change({ status: 2 })
    expect((await logInWith('github', user)).code).toBe('user_banned')
    await change({ status: 1, deleted_at: 1 })
    expect((await logInWith('github', user)).code).toBe('user_deleted')
    const ada = await console.addUser('heir')
    const { url } = await beginBind('github', ada)
    expect((await back('github', peers.approve(url, user), { as: ada })).json().code).toBe('outside_taken')
  })

  it('creates one user for concurrent logins of one person', async () => {
    const user = person()
    const before = await userCount()
    const starts = await Promise.all(Array.from({ length: 6 }, () => begin('github')))
    const answers = await Promise.all(
      starts.map(async ({ cookie, url }) => (await back('github', peers.approve(url, user), { cookie })).json()),
    )
    expect(new Set(answers.map(({ data }) => data?.id)).size).toBe(1)
    expect(await userCount()).toBe(before + 1)
  })

  it('[T026] is refused when switched off or when a secret is missing, and creates no user where registration is closed', async () => {
    const user = person()
    const known = await logInWith('github', user)
    await set({ RegisterEnabled: 'false' })
    expect((await logInWith('github', person())).code).toBe('registration_closed')
    expect((await logInWith('github', user)).data.id).toBe(known.data.id)
    await set({ RegisterEnabled: 'true' })

    const { cookie, url } = await begin('github')
    await set({ GitHubOAuthEnabled: 'false' })
    expect((await back('github', peers.approve(url, user), { cookie })).json().code).toBe('outside_off')
    expect((await json('POST /api/oauth/state', { body: { provider: 'github', aff: '' } })).code).toBe('outside_off')
    await set({ GitHubOAuthEnabled: 'true', GitHubClientSecret: '' })
    expect((await json('POST /api/oauth/state', { body: { provider: 'github', aff: '' } })).code).toBe('outside_off')
    await set({ GitHubClientSecret: 'canary-github' })
    await set({ TelegramOAuthEnabled: 'false' })
    const line = `GET /api/oauth/telegram/login?${new URLSearchParams(telegramData('', { id: '1', auth_date: '1' }))}`
    expect((await json(line)).code).toBe('outside_off')
    await set({ TelegramOAuthEnabled: 'true' })
  })

  it.each(['slow', 'huge', 'redirect', 'html', 'failing', 'list'] as const)(
    '[T023] a failing provider (%s) changes nothing, and always causes the same error',
    async (trouble: Trouble) => {
      const users = await userCount()
      const asked = await Promise.all(oauth.map(async (provider) => ({ provider, ...(await begin(provider)) })))
      peers.trouble = trouble
      const answers = await Promise.all([
        ...asked.map(async ({ provider, cookie, url }) => back(provider, peers.approve(url, person()), { cookie })),
        raw('POST /api/oauth/wechat', { body: { code: '1' } }),
      ])
      for (const answer of answers) {
        expect(answer.json()).toMatchObject({ success: false, code: 'outside_failed' })
        expect(answer.body).not.toContain('127.0.0.1')
      }
      expect(await userCount()).toBe(users)
    },
  )

  it.each([
    { id: 0 },
    { id: -5 },
    { id: 1.5 },
    { id: null },
    { id: 2 ** 53 },
    { id: '1 or 1' },
    { id: [7] },
    { id: { a: 1 } },
    {},
  ])('refuses a profile without a valid numeric id: %j', async (user) => {
    const users = await userCount()
    expect((await logInWith('github', { login: 'x', ...user })).code).toBe('outside_failed')
    expect((await logInWith('linuxdo', { username: 'x', ...user })).code).toBe('outside_failed')
    expect(await userCount()).toBe(users)
  })

  it('refuses accounts that the forum has closed', async () => {
    expect((await logInWith('linuxdo', person({ active: false }))).code).toBe('outside_failed')
  })

  it.each([
    ['made for another client', { aud: 'other-client' }],
    ['made for several, by another', { aud: ['oidc-client', 'other'], azp: 'other' }],
    ['made for several, by nobody', { aud: ['oidc-client', 'other'] }],
    ['of another issuer', { iss: 'https://evil.test' }],
    ['expired', { exp: 1 }],
    ['of another login', { nonce: 'other' }],
    ['without a nonce', { nonce: undefined }],
    ['without a subject', { sub: undefined }],
    ['with an empty subject', { sub: '' }],
  ])('[T020] refuses an identity that is %s', async (_what, claims) => {
    const users = await userCount()
    const { cookie, url } = await begin('oidc')
    peers.claims = claims
    expect((await back('oidc', peers.approve(url, person()), { cookie })).json().code).toBe('outside_failed')
    expect(await userCount()).toBe(users)
  })

  it('[T020] refuses an identity signed by another party', async () => {
    const { cookie, url } = await begin('oidc')
    peers.foreignKey = true
    expect((await back('oidc', peers.approve(url, person()), { cookie })).json().code).toBe('outside_failed')
  })

  it("reloads the provider's keys when they change, but not for every unknown key id", async () => {
    expect((await logInWith('oidc', person())).success).toBe(true)
    const reads = () => peers.requests.filter(({ path }) => path === '/oidc/keys').length
    await peers.rotateKey()
    const before = reads()
    expect([(await logInWith('oidc', person())).code, (await logInWith('oidc', person())).code]).toEqual([
      'outside_failed',
      'outside_failed',
    ])
    expect(reads()).toBe(before)
    console.clock.passSeconds(61)
    expect((await logInWith('oidc', person())).success).toBe(true)
    expect(reads()).toBe(before + 1)
  })

  it('refuses a provider whose issuer differs from the saved address', async () => {
    const asked = async (address: string) => {
      await set({ 'oidc.well_known': address })
      return (await json('POST /api/oauth/state', { body: { provider: 'oidc', aff: null } })).code
    }
    expect(await asked(peers.url.replace('127.0.0.1', 'localhost'))).toBe('outside_failed')
    expect(await asked(`${peers.url}/elsewhere`)).toBe('outside_failed')
    expect(await asked('http://169.254.169.254')).toBe('outside_failed')
    expect(await asked(`${peers.url}/.well-known/openid-configuration`)).toBeUndefined()
    await set({ 'oidc.well_known': peers.url })
  })

  it('lets other clients build the authorization URL, with a state that is bound like any other, but not for OpenID', async () => {
    const response = await raw('GET /api/oauth/state?aff=')
    const state: string = response.json().data
    const cookie = String(response.headers['set-cookie']).split(';', 1)[0] ?? ''
    const code = peers.approvePlain(person())
    expect((await json(`GET /api/oauth/oidc?code=${code}&state=${state}`, { cookie })).code).toBe('outside_state_invalid')
    const other = await raw('GET /api/oauth/state', { cookie })
    expect(other.headers['set-cookie']).toContain(cookie)
    const done = await json(`GET /api/oauth/github?code=${code}&state=${other.json().data}`, { cookie })
    expect(done).toMatchObject({ success: true, message: '', data: { role: 1 } })

    const ada = await console.addUser('oldclient')
    const bound = (await json('GET /api/oauth/state', { as: ada })).data
    const line = `GET /api/oauth/linuxdo?code=${peers.approvePlain(person())}&state=${bound}`
    expect(await json(line, { as: ada })).toMatchObject({ success: true, message: 'bind' })
  })

  it('still asks for the second factor', async () => {
    const user = person()
    const { data } = await logInWith('github', user)
    await console.app.db.insertInto('two_factor').values({ user_id: data.id, secret_sealed: 'x', confirmed_at: 1 }).execute()
    const { cookie, url } = await begin('github')
    const response = await back('github', peers.approve(url, user), { cookie })
    expect(response.json().code).toBe('second_factor_required')
    expect(String(response.headers['set-cookie'])).not.toContain('session=')
  })

  it('[T030] signs in and binds by WeChat codes, once each and percent-encoded, and limits guesses', async () => {
    const user = person()
    const first = await json('POST /api/oauth/wechat', { body: { code: peers.approvePlain(user), aff: '' } })
    expect(first.data.username).toMatch(/^wechat_\d{5}$/)
    const code = peers.approvePlain(user)
    expect((await json(`GET /api/oauth/wechat?code=${code}`)).data.id).toBe(first.data.id)
    expect((await json(`GET /api/oauth/wechat?code=${code}`)).code).toBe('code_wrong')
    const ada = await console.addUser('wada')
    const mine = peers.approvePlain(person())
    expect((await json('GET /api/oauth/wechat/bind?code=1')).code).toBe('not_signed_in')
    expect((await json('POST /api/oauth/wechat/bind', { body: { code: mine }, as: ada })).success).toBe(true)
    expect((await json('POST /api/oauth/wechat/bind', { body: { code: peers.approvePlain(user) }, as: ada })).code).toBe(
      'outside_taken',
    )

    expect((await json('POST /api/oauth/wechat', { body: { code: '1&x=../admin#' } })).code).toBe('code_wrong')
    expect(peers.requests.at(-1)?.path).toBe('/api/wechat/user?code=1%26x%3D..%2Fadmin%23')
    const guesses = Array.from({ length: 25 }, (_, n) =>
      console.call('POST /api/oauth/wechat', { body: { code: String(n) }, from: '192.0.2.77' }),
    )
    const statuses = (await Promise.all(guesses)).map(({ statusCode }) => statusCode)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
  })

  it('[T019] accepts signed data of the Telegram widget once, while it is fresh, and only for bound identities', async () => {
    const at = (secondsAgo: number) => String(Math.floor(console.clock.now() / 1000) - secondsAgo)
    const query = (data: Record<string, string>) => new URLSearchParams(data)
    const login = (data: Record<string, string>) => json(`GET /api/oauth/telegram/login?${query(data)}`)
    const fields = (more: Record<string, string> = {}) => ({ id: '777', first_name: 'A & B', auth_date: at(0), ...more })
    expect((await login(telegramData(botToken, fields()))).code).toBe('outside_unbound')

    const ada = await console.addUser('tada')
    const bindLine = (data: Record<string, string>) => `GET /api/oauth/telegram/bind?${query(data)}`
    const good = telegramData(botToken, fields({ username: 'tada' }))
    expect((await json(bindLine(good))).code).toBe('not_signed_in')
    expect((await json(bindLine(good), { as: ada })).success).toBe(true)
    expect((await json(bindLine(good), { as: ada })).code).toBe('outside_failed')
    const { url } = await begin('telegram')
    expect(url).toBe('')

    const again = telegramData(botToken, fields({ last_name: 'C', lang: 'en' }))
    expect((await login(again)).data.id).toBe(ada.id)
    expect((await login(again)).code).toBe('outside_failed')
    const bad = [
      { ...telegramData(botToken, fields()), id: '778' },
      telegramData('', fields({ last_name: 'D' })),
      telegramData('other', fields()),
      telegramData(botToken, fields({ auth_date: at(25 * 3600) })),
      telegramData(botToken, fields({ auth_date: at(601) })),
      telegramData(botToken, fields({ auth_date: at(-3600) })),
    ]
    for (const data of bad) expect((await login(data)).code).toBe('outside_failed')
    const { hash: _hash, ...unsigned } = telegramData(botToken, fields())
    expect((await login(unsigned)).code).toBe('field_invalid')
    const { id: _id, ...nobody } = telegramData(botToken, fields())
    expect((await json(`GET /api/oauth/telegram/login?${query(nobody)}&id[]=1`)).code).toBe('field_invalid')
    expect((await json(`GET /api/oauth/telegram/login?${query(nobody)}&id=1&id=2`)).code).toBe('field_invalid')
  })

  it('accepts a callback only with a state of the same browser', async () => {
    const ada = await console.addUser('page')
    const data = (n: string) => telegramData(botToken, { id: n, auth_date: String(Math.floor(console.clock.now() / 1000)) })
    const { state } = await beginBind('telegram', ada)
    const eve = await console.addUser('page2')
    const line = 'POST /api/oauth/telegram/bind'
    expect((await json(line, { body: { ...data('901'), state }, as: eve })).code).toBe('outside_state_invalid')
    expect((await json(line, { body: data('901'), as: eve })).code).toBe('outside_state_invalid')
    expect((await json(line, { body: { ...data('901'), state }, as: ada })).success).toBe(true)

    const login = 'POST /api/oauth/telegram/login'
    expect((await json(login, { body: data('901') })).code).toBe('outside_state_invalid')
    console.clock.passSeconds(1)
    const { cookie, state: own } = await begin('telegram')
    expect((await json(login, { body: { ...data('901'), state: own }, cookie })).data.id).toBe(ada.id)
  })

  it('[T023] keeps secrets, codes, states and tokens out of the log and out of every reply', async () => {
    const wrong = await begin('oidc')
    peers.claims = { aud: 'other', email: 'canary@example.com' }
    await back('oidc', peers.approve(wrong.url, person()), { cookie: wrong.cookie })
    const { cookie, url } = await begin('oidc')
    const answer = peers.approve(url, person())
    peers.trouble = 'failing'
    const response = await back('oidc', answer, { cookie })
    const all = console.logged.join('') + response.body
    for (const word of [...secrets, answer.state, answer.code, 'access-', 'canary@example.com']) expect(all).not.toContain(word)
    const states = await console.app.db.selectFrom('login_steps').selectAll().execute()
    expect(JSON.stringify(states)).not.toContain(answer.state)
  })
})
