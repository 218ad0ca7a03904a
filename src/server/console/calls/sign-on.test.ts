import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { member } from '../../../../test/helpers/members.ts'
import { type OpenIdProvider, startOpenIdProvider, trustingProvider } from '../../../../test/helpers/openid-provider.ts'
import type { Organisation, Team } from '../../../contract/entities/organisation.ts'
import type { SignOn } from '../../../contract/entities/sign-on.ts'
import type { SignedInUser } from '../../../contract/entities/user.ts'

interface Envelope<Data = never> {
  readonly success: boolean
  readonly code?: string
  readonly message: string
  readonly data: Data
}

/** What a browser has after a login. */
interface Entered {
  readonly json: Envelope<SignedInUser>
  readonly headers: Record<string, string>
}

const site = 'https://site.test'
const settings = { is_enabled: true, group_claim: 'groups', creates_accounts: true, is_only_way: false }

eachDatabase('the login of an organisation', (_fresh, kind) => {
  let server: TestServer
  let provider: OpenIdProvider
  let acme: Organisation
  let other: Organisation
  let path: string
  let calls = 0

  beforeAll(async () => {
    server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.0/8' }, upstream: trustingProvider })
    await server.call('PUT /api/option/', { key: 'ServerAddress', value: site })
    acme = await server.call<Organisation>('POST /api/organisation/', { name: 'Acme Ltd' })
    other = await server.call<Organisation>('POST /api/organisation/', { name: 'Other' })
    path = `/api/organisation/${acme.id}`
    provider = await startOpenIdProvider([acme, other].map(({ id }) => `${site}/oauth/sso/${id}`))
  })
  afterAll(async () => {
    await server.stop()
    await provider.stop()
  })

  const set = (more: object = {}, id = acme.id) =>
    server.call<SignOn>(`PUT /api/organisation/${id}/sign-on`, {
      ...settings,
      issuer: provider.issuer,
      ...provider.client,
      ...more,
    })
  const confirm = async (domain: string, id = acme.id) => {
    await server.call(`PUT /api/organisation/${id}/sign-on/domains`, { domains: [domain] })
    await server.call(`POST /api/organisation/${id}/sign-on/domains`, { domain, is_confirmed: true })
  }
  const rowOf = (id: number) => server.app.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  /** A call of a browser without a session, each from an address of its own. */
  async function post(line: string, body: object, cookie = ''): Promise<{ json: Envelope<never>; cookies: string[] }> {
    const response = await fetch(`${server.url}${line}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, 'x-forwarded-for': `203.0.113.${(++calls % 250) + 1}` },
      body: JSON.stringify(body),
    })
    return { json: (await response.json()) as Envelope<never>, cookies: response.headers.getSetCookie() }
  }

  async function begin(login: string): Promise<{ url: string; cookie: string; json: Envelope<{ url: string }> }> {
    const { json, cookies } = await post('/api/sso/', { login })
    const found = json as Envelope<{ url: string }>
    return { url: found.data?.url ?? '', cookie: cookies[0]?.split(';', 1)[0] ?? '', json: found }
  }

  async function enter(subject: string, login = 'acme ltd', organisation_id = acme.id): Promise<Entered> {
    const { url, cookie } = await begin(login)
    const { code, state } = await provider.visit(url, subject)
    const { json, cookies } = await post('/api/sso/callback', { organisation_id, code, state }, cookie)
    const user = json as Envelope<SignedInUser>
    const session = cookies.find((each) => each.includes('session='))?.split(';', 1)[0] ?? ''
    return { json: user, headers: { cookie: session, 'new-api-user': String(user.data?.id ?? '') } }
  }

  async function memberOf(userId: number) {
    const { items } = await server.call<{ items: { user_id: number; id: number; role: string; teams: { name: string }[] }[] }>(
      `GET ${path}/members?page_size=100`,
    )
    const found = items.find(({ user_id }) => user_id === userId)
    return found && { id: found.id, role: found.role, teams: found.teams.map(({ name }) => name) }
  }

  it('is found by name or by a confirmed mail domain, and not offered before there is one', async () => {
    const offered = async () => ((await (await fetch(`${server.url}/api/sso/`)).json()) as Envelope<object>).data
    expect(await offered()).toEqual({ offered: false })
    expect((await begin('Acme Ltd')).json.code).toBe('sign_on_unknown')
    const shown = await set()
    expect(shown).toMatchObject({
      has_secret: true,
      redirect_uri: `${site}/oauth/sso/${acme.id}`,
      login_url: `${site}/sso/Acme%20Ltd`,
    })
    expect(JSON.stringify(shown)).not.toContain(provider.client.client_secret)
    expect(await offered()).toEqual({ offered: true })

    await server.call(`PUT ${path}/sign-on/domains`, { domains: ['acme.example'] })
    expect((await begin('ada@acme.example')).json.code).toBe('sign_on_unknown')
    await confirm('acme.example')
    for (const login of ['ACME LTD', 'Ada@Acme.example']) {
      const { searchParams, origin } = new URL((await begin(login)).url)
      expect(origin).toBe(provider.issuer)
      expect(searchParams.get('redirect_uri')).toBe(`${site}/oauth/sso/${acme.id}`)
      expect(searchParams.get('code_challenge_method')).toBe('S256')
      for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)?.length).toBeGreaterThan(40)
      expect(searchParams.get('scope')).toBe('openid profile email groups')
      expect(searchParams.get('login_hint')).toBe(login.includes('@') ? 'ada@acme.example' : null)
    }
    for (const login of ['Nobody', 'ada@nobody.example', 'root', '@Acme Ltd'])
      expect((await begin(login)).json.code, login).toBe('sign_on_unknown')
  })

  it('asks the provider before it is enabled: nothing incomplete, no other issuer, no inner address', async () => {
    const refused = async (more: object) => {
      const body = { ...settings, issuer: provider.issuer, ...provider.client, ...more }
      return ((await (await server.raw(`PUT /api/organisation/${other.id}/sign-on`, body)).json()) as Envelope).code
    }
    expect(await refused({ client_id: '' })).toBe('sign_on_incomplete')
    expect(await refused({ client_secret: undefined })).toBe('sign_on_incomplete')
    expect(await refused({ issuer: `${provider.issuer}/realm` })).toBe('sign_on_provider')
    expect(await refused({ issuer: 'http://localhost' })).toBe('field_invalid')
    const guarded = await startServer('sqlite')
    try {
      await guarded.call('PUT /api/option/', { key: 'ServerAddress', value: site })
      const { id } = await guarded.call<Organisation>('POST /api/organisation/', { name: 'Guarded' })
      const body = { ...settings, issuer: provider.issuer, ...provider.client }
      const answer = await guarded.raw(`PUT /api/organisation/${id}/sign-on`, body)
      expect(await answer.json()).toMatchObject({ code: 'sign_on_provider' })
    } finally {
      await guarded.stop()
    }
  })

  it('gives an unknown person an account where the organisation allows it, and knows them by the subject from then on', async () => {
    provider.people.set('s-1', {
      name: 'Grace Hopper',
      preferred_username: 'grace',
      email: 'grace@acme.example',
      email_verified: true,
    })
    await set({ creates_accounts: false })
    expect((await enter('s-1')).json.code).toBe('sign_on_person_unknown')
    await set()
    const { json, headers } = await enter('s-1')
    expect(json).toMatchObject({ success: true, data: { username: 'grace', display_name: 'Grace Hopper', role: 1 } })
    expect(await rowOf(json.data.id)).toMatchObject({ email: 'grace@acme.example', password_hash: '', quota: 0 })
    expect(await memberOf(json.data.id)).toMatchObject({ role: 'member' })
    const seen = (await (await fetch(`${server.url}${path}`, { headers })).json()) as Envelope<Organisation>
    expect(seen.data).toMatchObject({ name: 'Acme Ltd', role: 'member' })

    provider.people.set('s-1', { name: 'Renamed', preferred_username: 'other', email: 'root@acme.example', email_verified: true })
    expect((await enter('s-1')).json.data.id).toBe(json.data.id)
    // The address is given to the next employee.
    provider.people.set('s-2', { name: 'Next', preferred_username: 'grace', email: 'grace@acme.example', email_verified: true })
    const next = (await enter('s-2')).json.data
    expect(next.id).not.toBe(json.data.id)
    expect(await rowOf(next.id)).toMatchObject({ email: '' })
  })

  it('links the user of an address only if the provider has verified it and the domain is that of the organisation', async () => {
    const victim = await member(server, 'sso-victim')
    const at = async (email: string) => server.app.db.updateTable('users').set({ email }).where('id', '=', victim.id).execute()
    const claim = async (subject: string, claims: object) => {
      provider.people.set(subject, { name: 'V', preferred_username: 'v', ...claims })
      return (await enter(subject)).json.data.id
    }
    await at('victim@acme.example')
    expect(await claim('v-1', { email: 'victim@acme.example', email_verified: false })).not.toBe(victim.id)
    expect(await claim('v-2', { email: 'victim@acme.example' })).not.toBe(victim.id)
    await at('victim@bank.example')
    expect(await claim('v-3', { email: 'victim@bank.example', email_verified: true })).not.toBe(victim.id)
    await at('victim@acme.example')
    expect(await claim('v-4', { email: 'victim@acme.example', email_verified: true })).toBe(victim.id)
    expect(await memberOf(victim.id)).toMatchObject({ role: 'member' })
  })

  it('no longer signs in the user of an address whose domain the site takes back, nor one whom SCIM names by an id', async () => {
    const ida = await member(server, 'sso-ida')
    await server.app.db.updateTable('users').set({ email: 'ida@acme.example' }).where('id', '=', ida.id).execute()
    provider.people.set('i-1', { name: 'Ida', preferred_username: 'ida', email: 'ida@acme.example', email_verified: true })
    expect((await enter('i-1')).json.data.id).toBe(ida.id)
    await server.call(`POST ${path}/sign-on/domains`, { domain: 'acme.example', is_confirmed: false })
    await server.app.db.updateTable('directory_people').set({ external_id: 'i-1' }).where('user_id', '=', ida.id).execute()
    expect((await enter('i-1')).json.data.id).not.toBe(ida.id)
    await confirm('acme.example')
  })

  it('never signs in an admin of the site', async () => {
    const boss = await member(server, 'sso-boss', 10)
    await server.app.db.updateTable('users').set({ email: 'boss@acme.example' }).where('id', '=', boss.id).execute()
    provider.people.set('b-1', { name: 'Boss', email: 'boss@acme.example', email_verified: true })
    expect((await enter('b-1')).json.code).toBe('sign_on_admin')
    provider.people.set('b-2', { name: 'Rising', preferred_username: 'rising' })
    const { id } = (await enter('b-2')).json.data
    await server.call('POST /api/user/manage', { id, action: 'promote' })
    expect((await enter('b-2')).json.code).toBe('sign_on_admin')
    await server.call('POST /api/user/manage', { id, action: 'demote' })
    await server.call('POST /api/user/manage', { id, action: 'disable' })
    expect((await enter('b-2')).json.code).toBe('user_banned')
  })

  it('gives roles and teams by the groups of each login', async () => {
    const [lab] = await server.call<Team[]>(`POST ${path}/teams`, { name: 'Lab' })
    await server.call(`PUT ${path}/sign-on/rules`, {
      rules: [
        { directory_group: 'chiefs', role: 'admin' },
        { directory_group: 'lab', team_id: lab?.id },
      ],
    })
    const as = async (groups: unknown, more: object = {}) => {
      provider.people.set('g-1', { name: 'Gail', preferred_username: 'gail', groups, ...more })
      return memberOf((await enter('g-1')).json.data.id)
    }
    expect(await as(['lab', 'chiefs', 7, null])).toMatchObject({ role: 'admin', teams: ['Lab'] })
    expect(await as('lab')).toMatchObject({ role: 'member', teams: ['Lab'] })
    expect(await as(undefined)).toMatchObject({ role: 'member', teams: [] })
    expect(await as(['lab'])).toMatchObject({ teams: ['Lab'] })
    // Too many for a token: Entra ID only says where they are.
    expect(await as(undefined, { _claim_names: { groups: 'src1' } })).toMatchObject({ teams: ['Lab'] })
    await set({ group_claim: 'realm_access.roles' })
    expect(await as(['lab'], { realm_access: { roles: ['chiefs'] } })).toMatchObject({ role: 'admin', teams: [] })
    await set()
    expect(await as(['lab'])).toMatchObject({ role: 'member', teams: ['Lab'] })
    await server.call(`PUT ${path}/sign-on/rules`, { rules: [] })
    expect(await as(['lab'])).toMatchObject({ teams: [] })
  })

  it('a state is for one browser, one organisation and one return, and the code of one organisation is refused by another', async () => {
    await set({}, other.id)
    provider.people.set('c-1', { name: 'Cora', preferred_username: 'cora' })
    const { url, cookie } = await begin('Acme Ltd')
    const { code, state, page } = await provider.visit(url, 'c-1')
    expect(page).toBe(`${site}/oauth/sso/${acme.id}`)
    const back = async (body: object, with_ = cookie) =>
      (await post('/api/sso/callback', { organisation_id: acme.id, code, state, ...body }, with_)).json.code
    expect(await back({}, '')).toBe('outside_state_invalid')
    expect(await back({}, (await begin('Acme Ltd')).cookie)).toBe('outside_state_invalid')
    expect(await back({ organisation_id: other.id })).toBe('outside_state_invalid')
    const second = await begin('Acme Ltd')
    const { code: newer, state: newState } = await provider.visit(second.url, 'c-1')
    expect(await back({ code: newer, state: newState }, second.cookie)).toBeUndefined()
    expect(await back({ code: newer, state: newState }, second.cookie)).toBe('outside_state_invalid')
  })

  it('is the only way in for accounts that came by it, where the organisation wants that', async () => {
    provider.people.set('o-1', { name: 'Olga', preferred_username: 'olga', email: 'olga@acme.example', email_verified: true })
    const { id } = (await enter('o-1')).json.data
    const password = 'a long one 95'
    await server.call('PUT /api/user/', { id, password })
    const logIn = async (username: string, secret = password) =>
      (await post('/api/user/login', { username, password: secret })).json
    const ben = await member(server, 'sso-ben')
    await server.app.db.updateTable('users').set({ email: 'ben@acme.example' }).where('id', '=', ben.id).execute()
    provider.people.set('o-2', { name: 'Ben', email: 'ben@acme.example', email_verified: true })
    expect((await enter('o-2')).json.data.id).toBe(ben.id)
    expect((await logIn('olga')).success).toBe(true)

    await set({ is_only_way: true })
    expect(await logIn('olga')).toMatchObject({
      success: false,
      code: 'personal_login_off',
      message: expect.stringContaining('Acme'),
    })
    expect((await enter('o-1')).json.data.id).toBe(id)
    // Nor by the provider of another organisation.
    const elsewhere = { organisation_id: other.id, user_id: id, created_at: 1 }
    await server.app.db
      .insertInto('organisation_members')
      .values({ ...elsewhere, role: 'member' })
      .execute()
    await server.app.db
      .insertInto('directory_people')
      .values({ ...elsewhere, subject: `${provider.issuer} o-1`, updated_at: 1 })
      .execute()
    expect((await enter('o-1', 'Other', other.id)).json.code).toBe('personal_login_off')
    // The account was theirs before.
    await server.call('PUT /api/user/', { id: ben.id, password })
    expect((await logIn('sso-ben')).success).toBe(true)
    await set()
  })

  it('refuses who was removed or switched off, and finds a person of SCIM by the id of the directory', async () => {
    await server.call(`DELETE ${path}/scim`)
    const { token } = await server.call<{ token: string }>(`POST ${path}/scim`)
    const scim = async (line: string, body?: object) => {
      const [method = '', at = ''] = line.split(' ')
      const response = await fetch(`${server.url}/scim/v2${at}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return response.status === 204 ? {} : ((await response.json()) as { id: string })
    }
    const made = (await scim('POST /Users', { userName: 'sue@acme.example', externalId: 'q-1' })) as { id: string }
    provider.people.set('q-1', { name: 'Sue' })
    const { json } = await enter('q-1')
    const row = await server.app.db
      .selectFrom('directory_people')
      .select('user_id')
      .where('id', '=', Number(made.id))
      .executeTakeFirstOrThrow()
    expect(json.data.id).toBe(row.user_id)

    await scim(`PATCH /Users/${made.id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'False' }] })
    expect((await enter('q-1')).json.code).toBe('sign_on_inactive')
    await scim(`PATCH /Users/${made.id}`, { Operations: [{ op: 'Replace', path: 'active', value: 'True' }] })
    expect((await enter('q-1')).json.success).toBe(true)
    await server.call(`DELETE ${path}/members/${(await memberOf(row.user_id))?.id}`)
    expect((await enter('q-1')).json.code).toBe('sign_on_inactive')

    // Somebody who has signed in before the directory sends them is one person.
    provider.people.set('q-2', { name: 'Tom', email: 'tom@acme.example', email_verified: true })
    const tom = (await enter('q-2')).json.data
    const sent = (await scim('POST /Users', { userName: 'tom@acme.example', externalId: 'oid-tom' })) as { id: string }
    const tomRow = await server.app.db
      .selectFrom('directory_people')
      .select('user_id')
      .where('id', '=', Number(sent.id))
      .executeTakeFirstOrThrow()
    expect(tomRow.user_id).toBe(tom.id)
  })
})
