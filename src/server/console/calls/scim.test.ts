import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { type Directory, openDirectory, patchOf } from '../../../../test/helpers/directories.ts'
import { member } from '../../../../test/helpers/members.ts'
import type { Team } from '../../../contract/entities/organisation.ts'
import type { SignOn } from '../../../contract/entities/sign-on.ts'
import { errors } from '../../../contract/errors.ts'

/** A step of a conversation. Texts in braces stand for what an earlier answer has given. */
interface Step {
  readonly call: string
  readonly status: number
  readonly body?: object
  /** Members that the answer has, among others. */
  readonly answer?: object
  /** Members of the answer that later steps name. */
  readonly keep?: Readonly<Record<string, string>>
}

const conversation = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../../test/fixtures/scim/${name}.json`, import.meta.url), 'utf8')) as Step[]

eachDatabase('SCIM', (_fresh, kind) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
    await server.call('PUT /api/option/', { key: 'ServerAddress', value: 'https://site.test' })
  })
  afterAll(() => server.stop())

  const directory = (domain?: string) => openDirectory(server, domain)
  const rowOf = (id: number) => server.app.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  /** A browser of an account, which the directory may have created without a password. */
  async function browserOf(userId: number) {
    const token = await server.app.sessions.create({ userId, address: '127.0.0.1', userAgent: 'test' })
    const headers = { cookie: `session=${token}`, 'new-api-user': String(userId) }
    const call = async (line: string, body?: object) => {
      const [method = '', path = ''] = line.split(' ')
      const response = await fetch(server.url + path, {
        method,
        headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return { status: response.status, json: (await response.json()) as { success: boolean; code?: string; data: never } }
    }
    return { call, status: async () => (await call('GET /api/user/self')).status }
  }

  const statusOfKey = async (key: string) =>
    (await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer sk-${key}` } })).status

  async function keyOf(userId: number, organisation: number): Promise<string> {
    const { call } = await browserOf(userId)
    const input = { name: 'work', unlimited_quota: true, organisation_id: organisation }
    const { json } = await call('POST /api/token/', input)
    expect(json).toMatchObject({ success: true })
    return (json.data as { key: string }).key
  }

  const groupWith = async (firm: Directory, displayName: string, members: readonly string[]) => {
    const { json } = await firm.scim('POST /Groups', { displayName, members: members.map((value) => ({ value })) })
    return String(json.id)
  }

  it.each(['entra-id', 'okta'])('answers the conversation of a directory: %s', async (name) => {
    const firm = await directory('acme.example')
    const kept: Record<string, string> = {}
    const filled = <Value>(value: Value): Value =>
      JSON.parse(JSON.stringify(value).replace(/\{(\w+)\}/g, (_whole, each: string) => kept[each] ?? ''))
    for (const [at, step] of conversation(name).entries()) {
      const { status, json, type } = await firm.scim(filled(step.call), step.body && filled(step.body))
      expect(status, `${at} ${step.call} ${JSON.stringify(json)}`).toBe(step.status)
      if (status !== 204) expect(type).toBe('application/scim+json; charset=utf-8')
      if (step.answer) expect(json, `${at} ${step.call}`).toMatchObject(filled(step.answer))
      for (const [under, member] of Object.entries(step.keep ?? {})) kept[under] = String(json[member])
    }
    await server.call(`PUT ${firm.path}/sign-on/domains`, { domains: [] })
  })

  it('creates accounts without a password and without the bonus of a sign-up, by the names of the directory', async () => {
    await server.call('PUT /api/option/', { key: 'QuotaForNewUser', value: '700' })
    const firm = await directory('bonus.example')
    const { userId } = await firm.add('Katherine.Johnson@bonus.example', {
      displayName: 'Katherine Johnson',
      password: 'canary-secret 1',
    })
    expect(await rowOf(userId)).toMatchObject({
      username: 'Katherine.Jo',
      display_name: 'Katherine Johnson',
      email: 'katherine.johnson@bonus.example',
      password_hash: '',
      quota: 0,
      role: 1,
    })
    expect(await firm.memberOf(userId)).toMatchObject({ role: 'member', teams: [] })
    await server.call('PUT /api/option/', { key: 'QuotaForNewUser', value: '0' })
  })

  it('adds a person once, however many calls and logins of the directory come together', async () => {
    const firm = await directory()
    const bodies = Array.from({ length: 6 }, () => ({ userName: 'many@x.example', externalId: 'many' }))
    const answers = await Promise.all(bodies.map((body) => firm.scim('POST /Users', body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
    const id = answers.find(({ status }) => status === 201)?.json.id
    const flips = Array.from({ length: 8 }, (_, at) => patchOf({ op: 'replace', value: { active: at % 2 === 1 } }))
    for (const { status } of await Promise.all(flips.map((body) => firm.scim(`PATCH /Users/${id}`, body))))
      expect(status).toBe(200)
    const rows = await server.app.db
      .selectFrom('organisation_members')
      .select('id')
      .where('organisation_id', '=', firm.id)
      .where('user_id', '<>', 1)
      .execute()
    expect(rows).toHaveLength(1)
  })

  it('[T022] an address outside of the confirmed domains is neither stored nor taken for that of a user', async () => {
    const firm = await directory('mine.example')
    const victim = await member(server, 'victim')
    await server.app.db.updateTable('users').set({ email: 'victim@other.example' }).where('id', '=', victim.id).execute()
    const { userId } = await firm.add('victim@other.example')
    expect(userId).not.toBe(victim.id)
    expect(await rowOf(userId)).toMatchObject({ email: '' })
    expect(await firm.memberOf(victim.id)).toBeUndefined()

    // A domain that an owner has only named.
    await server.call(`PUT ${firm.path}/sign-on/domains`, { domains: ['mine.example', 'other.example'] })
    const again = await firm.add('victim+2@other.example', { emails: [{ value: 'victim@other.example', primary: true }] })
    expect(again.userId).not.toBe(victim.id)
    expect(await rowOf(again.userId)).toMatchObject({ email: '' })
  })

  it('links the user of an address in a confirmed domain, who keeps logins and account when the directory drops them', async () => {
    const firm = await directory('kept.example')
    const ada = await member(server, 'kept-ada')
    await server.app.db.updateTable('users').set({ email: 'ada@kept.example' }).where('id', '=', ada.id).execute()
    const linked = await firm.add('ada@kept.example', { displayName: 'Renamed' })
    expect(linked.userId).toBe(ada.id)
    expect(await rowOf(ada.id)).toMatchObject({ display_name: 'kept-ada' })
    const key = await keyOf(ada.id, firm.id)
    expect(await statusOfKey(key)).toBe(200)
    await firm.scim(`DELETE /Users/${linked.id}`)
    expect(await statusOfKey(key)).toBe(401)
    expect((await ada.call('GET /api/user/self')).json.success).toBe(true)
    expect((await ada.call(`GET ${firm.path}`)).json.code).toBe('not_found')
  })

  it('never shows, links or changes an admin of the site', async () => {
    const firm = await directory('admins.example')
    const boss = await member(server, 'site-admin', 10)
    await server.app.db.updateTable('users').set({ email: 'boss@admins.example' }).where('id', '=', boss.id).execute()
    const made = await firm.add('boss@admins.example')
    expect(made.userId).not.toBe(boss.id)
    expect(await rowOf(made.userId)).toMatchObject({ email: '', role: 1 })

    const { id, userId } = await firm.add('rising@admins.example')
    const rising = await browserOf(userId)
    await server.call('POST /api/user/manage', { id: userId, action: 'promote' })
    for (const [line, body] of [
      [`GET /Users/${id}`],
      [`DELETE /Users/${id}`],
      [`PATCH /Users/${id}`, patchOf({ op: 'replace', value: { active: false } })],
      [`PUT /Users/${id}`, { userName: 'rising@admins.example', active: false }],
    ] as [string, object?][])
      expect((await firm.scim(line, body)).status, line).toBe(404)
    expect((await firm.scim('GET /Users?filter=userName eq "rising@admins.example"')).json).toMatchObject({ totalResults: 0 })
    expect(await rising.status()).toBe(200)
    expect(await firm.memberOf(userId)).toBeDefined()
  })

  it('a person who is switched off loses sessions, access token and keys; switched on again, the membership is as it was', async () => {
    const firm = await directory()
    const teams = await server.call<Team[]>(`POST ${firm.path}/teams`, { name: 'Lab' })
    const { id, userId } = await firm.add('cleo@x.example')
    const membership = await firm.memberOf(userId)
    await server.call(`PUT ${firm.path}/members`, { member_id: membership?.id, role: 'admin' })
    await server.call(`PUT ${firm.path}/teams/members`, { team_id: teams[0]?.id, member_id: membership?.id, is_manager: true })
    const key = await keyOf(userId, firm.id)
    const { call, status } = await browserOf(userId)
    const { json } = await call('POST /api/user/token')
    const byToken = () =>
      fetch(`${server.url}/api/user/self`, { headers: { authorization: String(json.data), 'new-api-user': String(userId) } })
    expect([await statusOfKey(key), await status(), (await byToken()).status]).toEqual([200, 200, 200])

    await firm.scim(`PATCH /Users/${id}`, patchOf({ op: 'Replace', path: 'active', value: 'False' }))
    expect([await statusOfKey(key), await status(), (await byToken()).status]).toEqual([401, 401, 401])
    expect(await firm.memberOf(userId)).toBeUndefined()

    await firm.scim(`PATCH /Users/${id}`, patchOf({ op: 'replace', value: { active: true } }))
    expect([await statusOfKey(key), await status()]).toEqual([200, 401])
    expect(await firm.memberOf(userId)).toMatchObject({
      id: membership?.id,
      role: 'admin',
      teams: [{ name: 'Lab', is_manager: true }],
    })

    // Deleted, the keys are gone for good.
    await firm.scim(`DELETE /Users/${id}`)
    await firm.add('cleo@x.example')
    expect(await statusOfKey(key)).toBe(401)
  })

  it('a person whom the directory deletes and sends again has the same account, which still belongs to it', async () => {
    const firm = await directory('back.example')
    const first = await firm.add('eve@back.example')
    await firm.scim(`DELETE /Users/${first.id}`)
    expect((await firm.scim('GET /Users')).json).toMatchObject({ totalResults: 0 })
    const again = await firm.add('eve@back.example')
    expect(again.userId).toBe(first.userId)
    expect(await firm.memberOf(first.userId)).toMatchObject({ role: 'member', teams: [] })
    const { status } = await browserOf(first.userId)
    expect(await status()).toBe(200)
    await firm.scim(`DELETE /Users/${again.id}`)
    expect(await status()).toBe(401)
  })

  it('whom an owner has removed comes back as a plain member, when the directory switches them on', async () => {
    const firm = await directory()
    const { id, userId } = await firm.add('dan@x.example')
    const before = await firm.memberOf(userId)
    await server.call(`PUT ${firm.path}/members`, { member_id: before?.id, role: 'admin' })
    const key = await keyOf(userId, firm.id)
    await server.call(`DELETE ${firm.path}/members/${before?.id}`)
    expect((await firm.scim(`GET /Users/${id}`)).json).toMatchObject({ active: false })
    await firm.scim(`PATCH /Users/${id}`, patchOf({ op: 'replace', path: 'active', value: true }))
    expect(await firm.memberOf(userId)).toMatchObject({ role: 'member' })
    expect(await statusOfKey(key)).toBe(401)
  })

  it('groups give roles and teams by the rules, and take back only what they gave', async () => {
    const firm = await directory()
    const [lab] = await server.call<Team[]>(`POST ${firm.path}/teams`, { name: 'Lab' })
    const hand = (await server.call<Team[]>(`POST ${firm.path}/teams`, { name: 'By hand' })).find(
      ({ name }) => name === 'By hand',
    )
    const ada = await firm.add('ada@x.example')
    const bob = await firm.add('bob@x.example')
    const idOf = async ({ userId }: { userId: number }) => (await firm.memberOf(userId))?.id
    await server.call(`PUT ${firm.path}/teams/members`, { team_id: hand?.id, member_id: await idOf(ada) })
    await server.call(`PUT ${firm.path}/members`, { member_id: await idOf(bob), role: 'billing' })
    const staff = await groupWith(firm, 'Staff', [ada.id, bob.id])
    const chiefs = await groupWith(firm, 'Chiefs', [])

    const { rules } = await server.call<SignOn>(`PUT ${firm.path}/sign-on/rules`, {
      rules: [
        { directory_group: 'Staff', team_id: lab?.id },
        { directory_group: 'Chiefs', role: 'admin', team_id: lab?.id, is_manager: true },
      ],
    })
    expect(rules).toHaveLength(2)
    const both = async () => [await firm.memberOf(ada.userId), await firm.memberOf(bob.userId)]
    const inLab = (is_manager: boolean) => ({ name: 'Lab', is_manager })
    expect(await both()).toMatchObject([
      { role: 'member', teams: [{ name: 'By hand' }, inLab(false)] },
      { role: 'billing', teams: [inLab(false)] },
    ])

    await firm.scim(`PATCH /Groups/${chiefs}`, patchOf({ op: 'add', path: 'members', value: [{ value: bob.id }] }))
    expect((await both())[1]).toMatchObject({ role: 'admin', teams: [inLab(true)] })
    // What a group gives is changed there; a person gives more, but not less.
    const change = (line: string, body?: object) => server.raw(line, body).then((response) => response.json())
    const role = { member_id: await idOf(bob), role: 'member' }
    expect(await change(`PUT ${firm.path}/members`, role)).toMatchObject({ code: 'organisation_by_directory' })
    expect(await change(`DELETE ${firm.path}/teams/${lab?.id}/members/${await idOf(bob)}`)).toMatchObject({
      code: 'organisation_by_directory',
    })

    await firm.scim(`PATCH /Groups/${chiefs}`, patchOf({ op: 'remove', path: `members[value eq "${bob.id}"]` }))
    expect((await both())[1]).toMatchObject({ role: 'billing', teams: [inLab(false)] })
    await firm.scim(`DELETE /Groups/${staff}`)
    expect(await both()).toMatchObject([
      { role: 'member', teams: [{ name: 'By hand' }] },
      { role: 'billing', teams: [] },
    ])
  })

  it('the only owner is neither switched off nor made less by a group', async () => {
    const firm = await directory()
    const ada = await firm.add('owner@x.example')
    const group = await groupWith(firm, 'Owners', [ada.id])
    await server.call(`PUT ${firm.path}/sign-on/rules`, { rules: [{ directory_group: 'Owners', role: 'owner' }] })
    expect(await firm.memberOf(ada.userId)).toMatchObject({ role: 'owner' })
    const root = await firm.memberOf(1)
    await server.call(`DELETE ${firm.path}/members/${root?.id}`)
    for (const [line, body] of [
      [`PATCH /Users/${ada.id}`, patchOf({ op: 'replace', value: { active: false } })],
      [`DELETE /Users/${ada.id}`],
    ] as [string, object?][])
      expect(await firm.scim(line, body), line).toMatchObject({
        status: 409,
        json: { scimType: 'mutability', detail: errors.scim_only_owner.text.en },
      })
    await firm.scim(`DELETE /Groups/${group}`)
    expect(await firm.memberOf(ada.userId)).toMatchObject({ role: 'owner' })

    const bob = await firm.add('next@x.example')
    await server.call(`PUT ${firm.path}/members`, { member_id: (await firm.memberOf(bob.userId))?.id, role: 'owner' })
    expect((await firm.scim(`DELETE /Users/${ada.id}`)).status).toBe(204)
  })
})
