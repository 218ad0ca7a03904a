import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { askScim, openDirectory, patchOf } from '../../../../test/helpers/directories.ts'
import { type Member, member } from '../../../../test/helpers/members.ts'
import { type ErrorCode, errors } from '../../../contract/errors.ts'
import { fill } from '../../../contract/text.ts'

anyDatabase('SCIM', (_fresh, kind) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(kind, { env: { TRUSTED_PROXIES: '127.0.0.0/8' } })
    await server.call('PUT /api/option/', { key: 'ServerAddress', value: 'https://site.test' })
  })
  afterAll(() => server.stop())

  const directory = (domain?: string) => openDirectory(server, domain)

  it('sees the people of its own organisation alone, and nothing without its token', async () => {
    const [firm, other] = [await directory(), await directory()]
    const { id } = await firm.add('secret@x.example')
    const group = String((await firm.scim('POST /Groups', { displayName: 'Secret', members: [{ value: id }] })).json.id)
    expect((await other.scim('GET /Users')).json).toMatchObject({ totalResults: 0 })
    expect((await other.scim(`GET /Users?filter=id eq "${id}"`)).json).toMatchObject({ totalResults: 0 })
    for (const [line, body] of [
      [`GET /Users/${id}`],
      [`PUT /Users/${id}`, { userName: 'x' }],
      [`PATCH /Users/${id}`, patchOf({ op: 'replace', value: { active: false } })],
      [`DELETE /Users/${id}`],
      [`GET /Groups/${group}`],
      [`PATCH /Groups/${group}`, patchOf({ op: 'remove', path: 'members' })],
      [`DELETE /Groups/${group}`],
    ] as [string, object?][])
      expect((await other.scim(line, body)).status, line).toBe(404)
    expect((await other.scim('POST /Groups', { displayName: 'Taken', members: [{ value: id }] })).status).toBe(400)
    // People who came by an invitation belong to the organisation, not to its directory.
    expect((await firm.scim('GET /Users')).json).toMatchObject({ totalResults: 1 })

    for (const token of ['', 'x'.repeat(43), 'sk-key'])
      expect(await askScim(server, token, 'GET /Users')).toMatchObject({ status: 401, json: { status: '401' } })
    const { token } = await server.call<{ token: string }>(`POST ${other.path}/scim`)
    expect((await other.scim('GET /Users')).status).toBe(401)
    expect((await askScim(server, token, 'GET /Users')).status).toBe(200)
    await server.call(`DELETE ${other.path}/scim`)
    expect((await askScim(server, token, 'GET /Users')).status).toBe(401)
    await server.call(`DELETE /api/organisation/${firm.id}`)
    expect((await firm.scim('GET /Users')).status).toBe(401)
  })

  it('shows the settings of a directory to owners, never its token or secret, and lets only the site confirm a domain', async () => {
    const firm = await directory('owners.example')
    const [owner, admin, former] = await Promise.all(['own', 'adm', 'old'].map((name) => member(server, `${name}-firm`)))
    const join = async (who: Member | undefined, role: string) => {
      const { secret } = await server.call<{ secret: string }>(`POST ${firm.path}/invitations`, { role })
      await who?.call('POST /api/invitation/answer', { token: secret, accept: true })
    }
    await join(owner, 'owner')
    await join(admin, 'admin')
    await join(former, 'owner')
    await server.call(`DELETE ${firm.path}/members/${(await firm.memberOf(former?.id ?? 0))?.id}`)
    const seen = (await owner?.call(`GET ${firm.path}/sign-on`))?.json
    expect(seen).toMatchObject({ success: true, data: { domains: [{ domain: 'owners.example', is_confirmed: true }] } })
    expect(Object.keys(seen?.data ?? {}).sort()).toEqual(
      [
        'client_id', 'creates_accounts', 'domains', 'group_claim', 'has_secret', 'is_enabled', 'is_only_way', 'issuer', 'login_url',
        'redirect_uri', 'rules', 'scim_created_at', 'scim_url', 'scim_used_at',
      ], // biome-ignore format: one list
    )
    expect((await admin?.call(`GET ${firm.path}/sign-on`))?.json.code).toBe('organisation_role')
    expect((await former?.call(`POST ${firm.path}/scim`))?.json.code).toBe('not_found')
    expect(
      (await owner?.call(`PUT ${firm.path}/sign-on/domains`, { domains: ['owners.example', 'bank.example'] }))?.json,
    ).toMatchObject({
      data: {
        domains: [
          { domain: 'bank.example', is_confirmed: false },
          { domain: 'owners.example', is_confirmed: true },
        ],
      },
    })
    const confirm = { domain: 'bank.example', is_confirmed: true }
    expect((await owner?.call(`POST ${firm.path}/sign-on/domains`, confirm))?.json.code).toBe('permission_denied')
    const rival = await directory()
    await server.call(`PUT ${rival.path}/sign-on/domains`, { domains: ['owners.example'] })
    const taken = await server.raw(`POST ${rival.path}/sign-on/domains`, { domain: 'owners.example', is_confirmed: true })
    expect(await taken.json()).toMatchObject({ code: 'domain_taken' })
    expect((await owner?.call(`PUT ${firm.path}/sign-on/domains`, { domains: ['not a domain'] }))?.json.code).toBe(
      'domain_invalid',
    )
  })

  it('pages by startIndex and count, and describes itself', async () => {
    const firm = await directory()
    for (const name of ['a', 'b', 'c']) await firm.add(`${name}@x.example`)
    const page = async (query: string) => (await firm.scim(`GET /Users?${query}`)).json
    expect(await page('startIndex=2&count=1')).toMatchObject({
      totalResults: 3,
      startIndex: 2,
      itemsPerPage: 1,
      Resources: [{ userName: 'b@x.example' }],
    })
    expect(await page('count=0')).toMatchObject({ totalResults: 3, itemsPerPage: 0, Resources: [] })
    expect(await page('startIndex=9')).toMatchObject({ totalResults: 3, itemsPerPage: 0 })
    expect(await page('startIndex=-1&count=-5')).toMatchObject({ startIndex: 1, itemsPerPage: 0 })

    expect((await firm.scim('GET /Schemas')).json).toMatchObject({ totalResults: 2 })
    expect((await firm.scim('GET /ResourceTypes/User')).json).toMatchObject({ endpoint: '/Users' })
  })

  it('refuses in the form of SCIM, with a sentence that says what to do', async () => {
    const firm = await directory()
    await firm.add('a@x.example')
    await firm.scim('POST /Groups', { displayName: 'Staff' })
    const refused: [code: ErrorCode, line: string, body?: object][] = [
      ['scim_user_taken', 'POST /Users', { userName: 'A@x.example' }],
      ['scim_group_taken', 'POST /Groups', { displayName: 'STAFF' }],
      ['scim_value_invalid', 'POST /Users', {}],
      ['scim_value_invalid', 'POST /Users', { userName: { a: 1 } }],
      ['scim_value_invalid', 'POST /Users', { userName: 'x'.repeat(301) }],
      ['scim_value_invalid', 'POST /Groups', { displayName: '' }],
      ['scim_value_invalid', 'PATCH /Users/1', {}],
      ['scim_value_invalid', 'PATCH /Users/1', patchOf({ op: 'move', path: 'x' })],
      ['scim_value_invalid', 'PATCH /Users/1', patchOf({ op: 'add', value: 'x' })],
      ['scim_path_invalid', 'PATCH /Users/1', patchOf({ op: 'add', path: 'a[b', value: 1 })],
      ['scim_filter_invalid', 'GET /Users?filter=userName eq'],
      ['scim_filter_invalid', 'GET /Users?filter=userName eq "a" or userName eq "b"'],
      ['scim_filter_invalid', 'GET /Users?filter=password eq "a"'],
      ['scim_filter_invalid', 'GET /Groups?filter=(displayName eq "a")'],
      ['not_found', 'GET /Users/x'],
    ]
    for (const [code, line, body] of refused) {
      const told = `${line} ${JSON.stringify(body)}`
      const { status, json } = await firm.scim(line, body)
      expect(status, told).toBe(errors[code].status)
      expect(json, told).toMatchObject({
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: String(status),
        detail: expect.stringContaining(errors[code].text.en.split('{', 1)[0] ?? ''),
      })
    }
    const { json } = await askScim(server, 'unknown'.repeat(5), 'GET /Users')
    expect(json).toMatchObject({ status: '401', detail: errors.scim_token_invalid.text.en })
  })

  it('takes no more people than a directory may have', async () => {
    const firm = await directory()
    await sql`insert into directory_people (organisation_id, user_id, created_at, updated_at)
      with recursive n (x) as (select 1 union all select x + 1 from n where x < 20000)
      select ${firm.id}, 1000000 + x, 1, 1 from n`.execute(server.app.db)
    const { status, json } = await firm.scim('POST /Users', { userName: 'last@x.example' })
    expect([status, json.detail]).toEqual([400, fill(errors.directory_full.text.en, { max: 20_000 })])
  })
})
