import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Organisation, Team } from '../src/contract/entities/organisation.ts'
import type { OrganisationUsage } from '../src/contract/entities/organisation-usage.ts'
import { type OrganisationCaller, organisationRoles } from '../src/contract/organisation-roles.ts'
import type { Route, Routes } from '../src/contract/route.ts'
import { allRoutes } from '../src/contract/routes/index.ts'
import { rootPassword, startServer, type TestServer } from './helpers/app.ts'
import { eachDatabase } from './helpers/databases.ts'
import { type Member, member } from './helpers/members.ts'
import { addChannel, requireBalancedBooks, setOptions } from './helpers/seed.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'

/** Organisations on complete servers: what they can never be, who may call what, and calls that they pay for. */
const env = { TRUSTED_PROXIES: '127.0.0.0/8' }
const model = 'gpt-4o-mini'

/** Who belongs to the organisation, and who does not. */
const people = [...organisationRoles, 'former', 'other', 'stranger'] as const
type Person = (typeof people)[number]

eachDatabase('an organisation', (_fresh, kind) => {
  let server: TestServer
  let upstream: FakeUpstream
  let acme: Organisation
  const callers = new Map<Person | 'operator', Member>()
  const who = (person: Person | 'operator') => callers.get(person) as Member

  beforeAll(async () => {
    upstream = await startFakeUpstream()
    server = await startServer(kind, { env })
    await addChannel(server, { url: upstream.url, models: `${model},gpt-4o` })
    acme = await server.call('POST /api/organisation/', { name: 'Acme', quota: 50_000_000 })
    const other: Organisation = await server.call('POST /api/organisation/', { name: 'Other' })
    for (const person of people) callers.set(person, await member(server, person))
    callers.set('operator', await member(server, 'operator', 10))
    for (const role of organisationRoles) await join(acme.id, who(role), role)
    await join(other.id, who('other'), 'owner')
    await join(acme.id, who('former'), 'admin')
    const former = await memberIdOf('former')
    await server.call(`DELETE /api/organisation/${acme.id}/members/${former}`)
  })
  afterAll(async () => {
    await server.stop()
    await upstream.stop()
  })

  async function join(id: number, joining: Member, role: string): Promise<void> {
    const { secret } = await server.call<{ secret: string }>(`POST /api/organisation/${id}/invitations`, { role })
    const { json } = await joining.call('POST /api/invitation/answer', { token: secret, accept: true })
    expect(json).toMatchObject({ success: true, data: id })
  }

  async function memberIdOf(person: Person): Promise<number> {
    const rows = await server.app.db
      .selectFrom('organisation_members')
      .selectAll()
      .where('organisation_id', '=', acme.id)
      .execute()
    return rows.find(({ user_id }) => user_id === who(person).id)?.id ?? 0
  }

  /** Calls the console for the organisation. */
  async function callFor(caller: Member, line: string, body?: unknown, id = acme.id) {
    const [method = '', path = ''] = line.split(' ')
    const response = await fetch(server.url + path, {
      method,
      headers: {
        ...caller.headers,
        'x-organisation-id': String(id),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, json: text.startsWith('{') ? JSON.parse(text) : {} }
  }

  const rowOf = (id: number) => server.app.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  it('cannot be logged in to, registered, reset or bound by any call, with its id or its name', async () => {
    await setOptions(server, { RegisterEnabled: 'true', PasswordRegisterEnabled: 'true' })
    const before = await rowOf(acme.id)
    const passer = await member(server, 'passer')
    const session = { ...passer.headers, 'new-api-user': String(acme.id) }
    const lines = Object.entries(allRoutes as Routes).filter(([line, { access }]) => {
      return access === 'public' || /^\w+ \/api\/(user|oauth|verification|reset_password)/.test(line)
    })
    expect(lines.length).toBeGreaterThan(40)
    for (const [index, [line, route]] of lines.entries()) {
      if (line === 'DELETE /api/user/self' || line.startsWith('POST /api/stripe')) continue
      for (const [at, name] of [acme.username, acme.name, String(acme.id), `${acme.id}`].entries()) {
        for (const headers of [{ 'x-forwarded-for': `203.0.${index}.${at + 1}` }, session]) {
          const { path, body } = filledFor(line, route, name, acme.id)
          await fetch(server.url + path, {
            method: line.split(' ')[0] ?? '',
            headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
            ...(body ? { body } : {}),
          })
        }
      }
    }
    expect(await rowOf(acme.id)).toEqual(before)
    for (const table of ['sessions', 'passkeys', 'two_factor', 'backup_codes', 'mailed_codes', 'login_steps'] as const)
      expect(await server.app.db.selectFrom(table).select('user_id').where('user_id', '=', acme.id).execute(), table).toEqual([])
    await setOptions(server, { RegisterEnabled: 'false' })
  })

  it('is no user: not found, listed, counted, changed or deleted by calls about users', async () => {
    for (const line of [`GET /api/user/${acme.id}`, `GET /api/user/${acme.id}/tokens`, `DELETE /api/user/${acme.id}`])
      expect(await (await server.raw(line)).json(), line).toMatchObject({ success: false, code: 'not_found' })
    const edits: [string, object][] = [
      ['PUT /api/user/', { id: acme.id, username: 'mine', password: 'a long one 9' }],
      ['PUT /api/user/', { id: acme.id, quota: 7 }],
      [`POST /api/user/${acme.id}/quota`, { change: 5, reason: 'x' }],
      ...['promote', 'enable', 'disable', 'delete', 'sign_out'].map((action): [string, object] => [
        'POST /api/user/manage',
        { id: acme.id, action },
      ]),
    ]
    for (const [line, body] of edits)
      expect(await (await server.raw(line, body)).json(), line).toMatchObject({ success: false, code: 'not_found' })
    for (const line of [
      'GET /api/user/?p=1&page_size=100',
      'GET /api/user/search?keyword=acme',
      `GET /api/user/search?keyword=${acme.id}`,
    ]) {
      const { items } = await server.call<{ items: { id: number }[] }>(line)
      expect(
        items.map(({ id }) => id),
        line,
      ).not.toContain(acme.id)
    }
    const exported = await (await server.raw('GET /api/user/export.csv')).text()
    expect(exported.split('\n').filter((row) => row.startsWith(`${acme.id},`) || row.includes(acme.username))).toEqual([])
  })

  it('is only for those whom the route names, by path and by header', async () => {
    const table = new Map<string, Record<string, string>>()
    for (const [line, route] of Object.entries(allRoutes as Routes)) {
      if (!route.roles) continue
      const answers: Record<string, string> = {}
      for (const person of [...people, 'operator'] as const) answers[person] = await askedBy(person, line, route)
      table.set(line, answers)
    }
    expect(table.size).toBeGreaterThan(40)
    for (const [line, answers] of table) {
      const { roles = [], access } = (allRoutes as Routes)[line] as Route
      const isOfAdmins = access === 'admin' || access === 'root'
      const expected = (role: OrganisationCaller) => (roles.includes(role) ? 'in' : 'organisation_role')
      const operator = access === 'root' ? 'permission_denied' : expected('operator')
      const told = Object.fromEntries(
        people.map((person) => {
          if (isOfAdmins) return [person, 'permission_denied']
          return [person, isRole(person) ? expected(person) : 'not_found']
        }),
      )
      expect(answers, line).toEqual({ ...told, operator })
    }
  })

  const isRole = (person: Person): person is (typeof organisationRoles)[number] =>
    organisationRoles.some((role) => role === person)

  /** `in`, or the refusal of authorization. Input that the schema refuses shows that the call was authorized. */
  async function askedBy(person: Person | 'operator', line: string, route: Route): Promise<string> {
    const path = line.replace('/organisation/:id', `/organisation/${acme.id}`).replace(/:\w+/g, '999999')
    const isInPath = path !== line && line.includes('/organisation/:id')
    // No valid body, so that nothing changes; calls without one are asked of rows that do not exist.
    const body = route.body ? 'not an object' : undefined
    if (line === 'DELETE /api/organisation/:id' || line.endsWith('/accept')) return asked(person, line, route)
    const { json, status } = await callFor(who(person), path, body, isInPath ? undefined : acme.id)
    if (status === 200 && json.success !== false) return 'in'
    if (json.code === 'not_found' && isInside(person) && /999999/.test(path)) return 'in'
    return ['organisation_role', 'permission_denied', 'not_found', 'payer_refused'].includes(json.code) ? json.code : 'in'
  }

  const isInside = (person: Person | 'operator') => person === 'operator' || isRole(person)

  /** Calls whose success would end the test: those who may make them are not asked. */
  async function asked(person: Person | 'operator', line: string, { roles = [], access }: Route): Promise<string> {
    const isRoleOf = isInside(person) && roles.includes(person as OrganisationCaller)
    if (isRoleOf && (access === 'user' || person === 'operator')) return 'in'
    const { json } = await callFor(who(person), line.replace(':id', String(acme.id)))
    return json.code
  }

  it('is told of in the login and in the own account of members and of admins, and to nobody else', async () => {
    const shown = async (person: Person | 'operator') => {
      const { data } = (await who(person).call('GET /api/user/self')).json as { data: { organisations?: string } }
      return Object.hasOwn(data, 'organisations') ? data.organisations : 'absent'
    }
    for (const role of organisationRoles) expect(await shown(role), role).toBe('own')
    expect([await shown('operator'), await shown('stranger'), await shown('former')]).toEqual(['site', 'absent', 'absent'])
    const login = async (username: string, password: string) => {
      const body = JSON.stringify({ username, password })
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.250' }
      const response = await fetch(`${server.url}/api/user/login`, { method: 'POST', headers, body })
      return ((await response.json()) as { data: object }).data
    }
    expect(await login('root', rootPassword)).toMatchObject({ organisations: 'own' })
  })

  it('shows its tasks to those who see its log, and to a member those of the own tokens', async () => {
    const tokenOf = async (person: Person) =>
      (await callFor(who(person), 'POST /api/token/', { name: 'song', unlimited_quota: true })).json.data.id as number
    const order = {
      user_id: acme.id,
      action: 'MUSIC',
      status: 'SUCCESS',
      platform: 'suno',
      channel_id: 1,
      created_at: 1,
      updated_at: 1,
    }
    for (const person of ['admin', 'member'] as const) {
      const values = { ...order, task_id: `song-${person}`, token_id: await tokenOf(person) }
      await server.app.db.insertInto('tasks').values(values).execute()
    }
    const seenBy = async (person: Person) =>
      (await callFor(who(person), 'GET /api/task/self?paged=true')).json.data.items.map(
        ({ task_id }: { task_id: string }) => task_id,
      )
    expect(await seenBy('member')).toEqual(['song-member'])
    expect((await seenBy('owner')).sort()).toEqual(['song-admin', 'song-member'])
    expect((await callFor(who('member'), 'GET /api/task/self/export.csv')).text).not.toContain('song-admin')
    expect((await who('member').call('GET /api/task/self?paged=true')).json.data).toMatchObject({ items: [] })
  })

  it('refuses the header where a call is about the caller alone, and in the playground', async () => {
    for (const line of ['GET /api/user/self', 'GET /api/user/sessions', 'GET /api/budget/', 'GET /api/recording/self'])
      expect((await callFor(who('owner'), line)).json, line).toMatchObject({ success: false, code: 'payer_refused' })
    const { text } = await callFor(who('owner'), 'POST /pg/chat/completions', {
      model,
      messages: [{ role: 'user', content: 'x' }],
    })
    expect(text).toContain('x-organisation-id')
  })

  it('pays for the calls of its tokens, with the name in the log and in the books, and stops when it is suspended', async () => {
    const before = await rowOf(who('member').id)
    const [team] = await server.call<Team[]>(`POST /api/organisation/${acme.id}/teams`, { name: 'R&D' })
    const made = (
      await callFor(who('admin'), 'POST /api/token/', { name: 'ci', unlimited_quota: true, team_id: team?.id, member_id: 0 })
    ).json
    expect(made).toMatchObject({ success: true, data: { team_id: team?.id } })
    const inBody = { name: 'mine', unlimited_quota: true, organisation_id: acme.id }
    const own = (await who('member').call('POST /api/token/', inBody)).json as unknown as { data: { id: number; key: string } }
    expect((await who('stranger').call('POST /api/token/', inBody)).json).toMatchObject({ success: false, code: 'not_found' })
    expect((await who('billing').call('POST /api/token/', inBody)).json).toMatchObject({
      success: false,
      code: 'organisation_role',
    })

    const ask = (key: string, named = model) =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: named, max_tokens: 7, messages: [{ role: 'user', content: 'hello' }] }),
      })
    expect((await ask(own.data.key)).status).toBe(200)
    expect((await ask(made.data.key)).status).toBe(200)
    const log = (await callFor(who('member'), 'GET /api/log/self?type=2')).json.data.items
    expect(log).toMatchObject([{ username: '@Acme', token_name: 'mine' }])
    const all = (await callFor(who('admin'), 'GET /api/log/self?type=2')).json.data.items
    expect(all.map(({ token_name }: { token_name: string }) => token_name).sort()).toEqual(['ci', 'mine'])
    expect((await server.call<{ items: unknown[] }>('GET /api/log/?type=2&username=@Acme')).items).toHaveLength(2)
    expect(await rowOf(who('member').id)).toMatchObject({ quota: before.quota, used_quota: before.used_quota })
    const seen = (await who('member').call(`GET /api/organisation/${acme.id}`)).json as unknown as { data: Organisation }
    expect(seen.data.quota + seen.data.used_quota).toBe(50_000_000)
    expect(seen.data.used_quota).toBeGreaterThan(0)
    await requireBalancedBooks(server)
    const { opening, credits, charges, closing } = (await callFor(who('billing'), 'GET /api/user/self/statement')).json.data
    expect([opening, credits]).toEqual([0, [{ kind: 'adjust', count: 1, amount: 50_000_000 }]])
    expect(charges).toMatchObject([
      { team: '', model, count: 1 },
      { team: 'R&D', model, count: 1 },
    ])
    expect(closing).toBe((await rowOf(acme.id)).quota)
    expect((await callFor(who('billing'), 'GET /api/user/self/statement.csv')).text).toContain(`closing,,,,${closing}`)
    const usage = `GET /api/organisation/${acme.id}/usage`
    const usedBy = async (person: Person, by: string) =>
      (await who(person).call(`${usage}?by=${by}`)).json.data as OrganisationUsage
    expect((await usedBy('billing', 'team')).total).toMatchObject({ calls: 2, cost: seen.data.used_quota })
    expect((await usedBy('admin', 'team')).rows.map(({ name }) => name).sort()).toEqual(['', 'R&D'])
    expect((await usedBy('member', 'member')).rows).toMatchObject([{ name: 'member', calls: 1 }])
    expect((await usedBy('member', 'token')).rows).toMatchObject([{ name: 'mine', calls: 1, failed: 0 }])
    const file = (await who('owner').call(`GET /api/organisation/${acme.id}/usage.csv?by=model`)).text
    expect(file).toContain(`${model},${model},2,0,`)
    expect(file).toContain(`,${seen.data.used_quota}\r\n`)

    // What a place allows holds at once, for models and for the list of them.
    const bound = { scope: 'team', subject_id: team?.id, models: ['gpt-4o'] }
    await server.call(`PUT /api/organisation/${acme.id}/allowances`, bound)
    const refused = await ask(made.data.key)
    expect(refused.status).toBe(403)
    expect(await refused.text()).toMatch(/R&D.*organisation_model_forbidden/s)
    expect((await ask(made.data.key, 'gpt-4o')).status).toBe(200)
    const models = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer sk-${made.data.key}` } })
    expect(((await models.json()) as { data: { id: string }[] }).data.map(({ id }) => id)).toEqual(['gpt-4o'])

    await server.call(`PUT /api/organisation/${acme.id}`, { status: 2 })
    expect((await ask(own.data.key)).status).toBe(403)
    expect((await callFor(who('member'), 'GET /api/token/')).json.code).toBe('organisation_suspended')
    await server.call(`PUT /api/organisation/${acme.id}`, { status: 1 })
    expect((await ask(own.data.key)).status).toBe(200)

    // A person who leaves has no key in the moment that follows.
    await who('member').call(`DELETE /api/organisation/${acme.id}/members/${await memberIdOf('member')}`)
    expect((await ask(own.data.key)).status).toBe(401)
    expect((await callFor(who('member'), 'GET /api/token/')).json.code).toBe('not_found')
  })

  it('has budgets at every height that a call counts at together; a member asks for more, and a manager grants it', async () => {
    const [lead, dev, aside] = [await member(server, 'lead'), await member(server, 'dev'), await member(server, 'aside')]
    for (const each of [lead, dev, aside]) await join(acme.id, each, 'member')
    const path = `/api/organisation/${acme.id}`
    const teamCalled = (teams: Team[], name: string) => teams.find((each) => each.name === name)?.id ?? 0
    const top = teamCalled(await server.call<Team[]>(`POST ${path}/teams`, { name: 'Top' }), 'Top')
    const low = teamCalled(await server.call<Team[]>(`POST ${path}/teams`, { name: 'Low', parent_id: top }), 'Low')
    const { items } = await server.call<{ items: { id: number; username: string }[] }>(`GET ${path}/members?page_size=100`)
    const idOf = (name: string) => items.find(({ username }) => username === name)?.id ?? 0
    await server.call(`PUT ${path}/teams/members`, { team_id: top, member_id: idOf('lead'), is_manager: true })
    await server.call(`PUT ${path}/teams/members`, { team_id: low, member_id: idOf('dev') })
    const token = (await callFor(dev, 'POST /api/token/', { name: 'dev', unlimited_quota: true, team_id: low })).json.data
    const ask = () =>
      fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json', 'accept-language': 'en' },
        body: JSON.stringify({ model, max_tokens: 7, messages: [{ role: 'user', content: 'hello' }] }),
      })

    const day = { period: 'day', amount: 1_000_000 }
    const create = async (who: Member, budget: object) => (await who.call(`POST ${path}/budgets`, { ...day, ...budget })).json
    const made = [
      await create(who('owner'), { scope: 'organisation', subject: String(acme.id) }),
      await create(who('owner'), { scope: 'team', subject: String(top) }),
      await create(lead, { scope: 'team', subject: String(low), amount: 1 }),
      await create(lead, { scope: 'member', subject: String(idOf('dev')), is_hard: false, amount: 1 }),
      await create(who('admin'), { scope: 'token', subject: String(token.id) }),
    ] as { data: { id: number }; success: boolean }[]
    expect(made.map(({ success }) => success)).toEqual([true, true, true, true, true])
    const [, ofTop, ofLow] = made.map(({ data }) => data.id)
    for (const budget of [
      { scope: 'team', subject: String(top) },
      { scope: 'organisation', subject: String(acme.id) },
    ])
      expect(await create(lead, budget)).toMatchObject({ code: 'organisation_role' })
    expect(await create(dev, { scope: 'member', subject: String(idOf('dev')) })).toMatchObject({ code: 'organisation_role' })
    for (const budget of [
      { scope: 'user', subject: String(dev.id) },
      { scope: 'model', subject: model },
      { scope: 'team', subject: '999999' },
    ])
      expect(await create(who('owner'), budget)).toMatchObject({ code: 'budget_subject_unknown' })

    const refused = await ask()
    expect(refused.status).toBe(429)
    const { error } = (await refused.json()) as { error: { message: string; code: string } }
    expect(error.code).toBe('budget_exceeded')
    expect(error.message).toMatch(/the team “Low”.*a day.*It renews at.*A manager of a team above/s)
    const seenBy = async (who: Member) =>
      ((await who.call(`GET ${path}/budgets`)).json.data as { scope: string; may_manage: boolean }[]).map(
        ({ scope, may_manage }) => `${scope} ${may_manage}`,
      )
    expect(await seenBy(dev)).toEqual(['organisation false', 'team false', 'team false', 'member false', 'token false'])
    expect(await seenBy(lead)).toEqual(['organisation false', 'team false', 'team true', 'token true'])
    expect(await seenBy(aside)).toEqual(['organisation false'])

    const raise = (who: Member, amount: number, id = ofLow) =>
      who.call(`POST ${path}/budgets/${id}/raise`, { amount, reason: 'a test' })
    expect((await raise(aside, 5)).json).toMatchObject({ code: 'not_found' })
    expect((await raise(dev, 1)).json).toMatchObject({ code: 'nothing_changed' })
    await raise(dev, 5)
    const asked = (await raise(dev, 900_000)).json as unknown as { data: { id: number } }
    const open = (await lead.call(`GET ${path}/raises`)).json.data as { id: number; username: string; may_answer: boolean }[]
    expect(open).toMatchObject([{ id: asked.data.id, username: 'dev', subject_name: 'Low', amount: 900_000, may_answer: true }])
    const answer = (who: Member, grant: boolean) => who.call(`POST ${path}/raises/${asked.data.id}`, { grant })
    expect((await answer(dev, true)).json).toMatchObject({ code: 'organisation_role' })
    const answers = await Promise.all([answer(lead, true), answer(who('admin'), true)])
    expect(answers.filter(({ json }) => json.success)).toHaveLength(1)
    expect((await ask()).status).toBe(200)
    const { data: after } = (await who('owner').call(`GET ${path}/budgets`)).json as {
      data: { id: number; spent: number; amount: number; override: object | null }[]
    }
    const spent = after.map((budget) => budget.spent)
    expect(spent[0]).toBeGreaterThan(0)
    expect(new Set(spent).size).toBe(1)
    expect(after.find(({ id }) => id === ofLow)).toMatchObject({ amount: 1, override: { amount: 900_000 } })

    // What the site has set binds the organisation too.
    const ofSite = await server.call<{ id: number }>('POST /api/budget/', {
      ...day,
      scope: 'organisation',
      subject: String(acme.id),
    })
    for (const change of [`PUT ${path}/budgets/${ofSite.id}`, `DELETE ${path}/budgets/${ofSite.id}`])
      expect((await who('owner').call(change, change.startsWith('PUT') ? { amount: 9 } : undefined)).json).toMatchObject({
        code: 'budget_of_admin',
      })
    await server.call(`DELETE ${path}/budgets/${ofSite.id}`)
    expect((await lead.call(`DELETE ${path}/budgets/${ofTop}`)).json).toMatchObject({ code: 'organisation_role' })
    for (const { data } of made) expect((await who('owner').call(`DELETE ${path}/budgets/${data.id}`)).json.success).toBe(true)
  })

  it('lists the members of one team, and who changed what to its owners', async () => {
    const path = `/api/organisation/${acme.id}`
    const teams = await server.call<Team[]>(`POST ${path}/teams`, { name: 'Listed' })
    const team_id = teams.find(({ name }) => name === 'Listed')?.id ?? 0
    await server.call(`PUT ${path}/teams/members`, { team_id, member_id: await memberIdOf('admin') })
    const { items } = await server.call<{ items: { username: string }[] }>(`GET ${path}/members?team_id=${team_id}`)
    expect(items.map(({ username }) => username)).toEqual(['admin'])
    const other: Organisation = await server.call('POST /api/organisation/', { name: 'Tenfold' })
    const audit = await server.call<{ items: { target: string; action: string }[] }>(`GET ${path}/audit?page_size=100`)
    expect(new Set(audit.items.map(({ target }) => target))).toEqual(new Set([`organisation:${acme.id}`]))
    expect(audit.items[0]).toMatchObject({ action: 'organisation.team-member' })
    expect((await who('owner').call(`GET /api/organisation/${other.id}/audit`)).json).toMatchObject({ code: 'not_found' })
  })

  it('needs an owner also when a user is deleted', async () => {
    const [alone, helped] = [await member(server, 'alone'), await member(server, 'helped')]
    const { id } = await server.call<Organisation>('POST /api/organisation/', { name: 'Alone' })
    await join(id, alone, 'owner')
    await join(id, helped, 'member')
    await server.call(
      `DELETE /api/organisation/${id}/members/${(await server.call<Organisation>(`GET /api/organisation/${id}`)).member_id}`,
    )
    const key = (
      (await callFor(helped, 'POST /api/token/', { name: 'x', unlimited_quota: true }, id)).json as { data: { key: string } }
    ).data.key
    expect(await (await server.raw(`DELETE /api/user/${alone.id}`)).json()).toMatchObject({ code: 'organisation_owner_needed' })
    await server.call(`DELETE /api/user/${helped.id}`)
    const asked = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer sk-${key}` } })
    expect(asked.status).toBe(401)
    const { items } = (await alone.call(`GET /api/organisation/${id}/members`)).json.data as { items: unknown[] }
    expect(items).toHaveLength(1)
  })
})

/** A call that names an account in every text and id that it takes. */
function filledFor(line: string, route: Route, name: string, id: number): { path: string; body: string | undefined } {
  const [method = '', path = ''] = line.split(' ')
  const fields = (schema: Route['query'] | Route['body']) => Object.keys((schema as { shape?: object } | undefined)?.shape ?? {})
  const values = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((field) => [field, /^(id|user_id)$/.test(field) ? id : /password/.test(field) ? 'a long one 9' : name]),
    )
  const query = new URLSearchParams(Object.entries(values(fields(route.query))).map(([key, value]) => [key, String(value)]))
  const filled = `${path.replace(/:\w+/g, String(id))}?${query}`
  return { path: filled, body: method === 'GET' || !route.body ? undefined : JSON.stringify(values(fields(route.body))) }
}
