import { describe, expect, it, vi } from 'vitest'
import { serverOfTest, type TestServer } from '../../../../test/helpers/app.ts'
import { scaledByLoad } from '../../../../test/helpers/scaled-by-load.ts'
import { requireBalancedBooks } from '../../../../test/helpers/seed.ts'
import type { User, UserBatchResult } from '../../../contract/entities/user.ts'

const password = 'correct horse 7'

interface Member {
  readonly id: number
  /** Opens a link in a browser in which this user is logged in. */
  fetch(server: TestServer, path: string, headers: Record<string, string>): Promise<Response>
  /** Calls the console as this user, on any node. */
  call(server: TestServer, line: string, body?: unknown): Promise<{ status: number; json: Answer }>
}

interface Answer {
  readonly success: boolean
  readonly code?: string
  readonly message: string
  // The tests know the types of their requests.
  readonly data: never
}

async function member(server: TestServer, username: string): Promise<Member> {
  const { id } = await server.call<User>('POST /api/user/', { username, display_name: '', password })
  const response = await fetch(`${server.url}/api/user/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  const cookie = response.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  return {
    id,
    fetch: (node, path, headers) => fetch(node.url + path, { headers: { cookie, ...headers } }),
    async call(node, line, body) {
      const [method = '', path = ''] = line.split(' ')
      const answer = await fetch(node.url + path, {
        method,
        headers: { cookie, 'new-api-user': String(id), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: answer.status, json: (await answer.json()) as Answer }
    },
  }
}

describe.each(['sqlite', 'postgres'] as const)('users over %s', (kind) => {
  it('[T035] stop at once on every node when they are banned: sessions, access token and keys', async () => {
    const first = await serverOfTest(kind)
    const second = kind === 'postgres' ? await serverOfTest(kind, { database: first.database }) : first
    const nodes = [first, second]
    const ada = await member(first, 'ada')
    const { json: made } = await ada.call(first, 'POST /api/token/', { name: 'test', unlimited_quota: true })
    const { key } = made.data as { key: string }
    const { json: access } = await ada.call(first, 'POST /api/user/token')

    const statusOf = async (url: string, headers: Record<string, string>) => (await fetch(url, { headers })).status
    const statuses = () =>
      Promise.all(
        nodes.flatMap((node) => [
          ada.call(node, 'GET /api/user/self').then(({ status }) => status),
          statusOf(`${node.url}/api/user/self`, { authorization: access.data, 'new-api-user': String(ada.id) }),
          statusOf(`${node.url}/v1/models`, { authorization: `Bearer sk-${key}` }),
        ]),
      )
    expect(new Set(await statuses())).toEqual(new Set([200]))
    await first.call('POST /api/user/manage', { id: ada.id, action: 'disable' })
    expect((await statuses()).slice(0, 3)).toEqual([401, 401, 403])
    await vi.waitFor(async () => expect(await statuses()).toEqual(nodes.flatMap(() => [401, 401, 403])), {
      timeout: scaledByLoad(1500),
    })

    await first.call('POST /api/user/manage', { id: ada.id, action: 'enable' })
    await first.call(`DELETE /api/user/${ada.id}`)
    await vi.waitFor(async () => expect(await statuses()).toEqual(nodes.flatMap(() => [401, 401, 401])), {
      timeout: scaledByLoad(1500),
    })
    expect((await first.raw(`GET /api/user/${ada.id}`)).status).toBe(200)
  })

  it('can be managed by compatible consoles', async () => {
    const server = await serverOfTest(kind)
    const ada = await member(server, 'ada')
    const listed = await server.call<{ items: User[] }>('GET /api/user/?p=0&page_size=10')
    expect(listed).toMatchObject({
      total: 2,
      page: 1,
      page_size: 10,
      items: [{ username: 'ada', DeletedAt: null }, { username: 'root' }],
    })
    expect(await server.call('GET /api/user/search?keyword=ad&group=default&p=1&page_size=10')).toMatchObject({ total: 1 })
    expect(await server.call('GET /api/user/search?keyword=&group=null&p=1&page_size=10')).toMatchObject({ total: 2 })

    expect(await server.call('POST /api/user/manage', { id: ada.id, action: 'promote' })).toMatchObject({ role: 10, status: 1 })
    expect(await server.call('POST /api/user/manage', { id: ada.id, action: 'demote' })).toMatchObject({ role: 1 })
    const loaded = await server.call<User>(`GET /api/user/${ada.id}`)
    expect(loaded.password).toBe('')
    const saved = await server.call('PUT /api/user/', {
      ...loaded,
      quota: 500_000,
      verification_code: '',
      access_token: null,
    })
    expect(saved).toMatchObject({ quota: 500_000 })
    const adjusted = await server.call(`POST /api/user/${ada.id}/quota`, { change: -100_000, reason: 'correction' })
    expect(adjusted).toMatchObject({ quota: 400_000 })
    expect((await ada.call(server, 'GET /api/user/self')).json.data).toMatchObject({ quota: 400_000 })
    expect((await ada.call(server, 'GET /api/log/self?type=3')).json.data).toMatchObject({ total: 4 })
    await requireBalancedBooks(server)

    const refused = await server.raw('POST /api/user/manage', { id: 1, action: 'disable' }, { 'accept-language': 'en' })
    expect([refused.status, await refused.json()]).toEqual([
      200,
      { success: false, code: 'root_protected', message: 'The super admin cannot be disabled, deleted or demoted' },
    ])
    for (const body of [{ id: ada.id, action: 'explode' }, { id: 0, action: 'enable' }, { id: [ada.id], action: 'delete' }, {}]) {
      expect(await (await server.raw('POST /api/user/manage', body)).json()).toMatchObject({ code: 'field_invalid' })
    }
    expect(await (await server.raw(`POST /api/user/${ada.id}/quota`, { change: 5, reason: ' ' })).json()).toMatchObject({
      code: 'field_invalid',
    })
  })

  it('are created with quota, a budget and a token at once, or not at all', async () => {
    const server = await serverOfTest(kind)
    const budgets = () => server.call<{ items: unknown[] }>('GET /api/budget/').then(({ items }) => items)
    const provision = { group: 'vip', quota: 2_500_000, daily_budget: 500_000, token_name: 'first' }
    const grace = { username: 'grace', password }

    for (const [wrong, code] of [
      [{ group: 'nobody' }, 'group_unknown'],
      [{ token_name: 'x'.repeat(31) }, 'token_name_required'],
      [{ quota: -1 }, 'field_invalid'],
      [{ daily_budget: 0.5 }, 'field_invalid'],
    ] as const) {
      expect(
        await (await server.raw('POST /api/user/', { ...grace, provision: { ...provision, ...wrong } })).json(),
      ).toMatchObject({ code })
      expect(await server.call('GET /api/user/search?keyword=grace')).toMatchObject({ total: 0 })
      expect(await budgets()).toEqual([])
    }

    const made = await server.call<User & { token_key: string }>('POST /api/user/', { ...grace, provision })
    expect(made).toMatchObject({ username: 'grace', group: 'vip', quota: 2_500_000, password: '' })
    expect(await budgets()).toMatchObject([
      { scope: 'user', subject: String(made.id), period: 'day', amount: 500_000, is_hard: true, set_by: 'admin' },
    ])
    const { items: tokens } = await server.call<{ items: object[] }>(`GET /api/user/${made.id}/tokens`)
    expect(tokens).toMatchObject([{ name: 'first', unlimited_quota: true, group: '' }])
    const models = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer sk-${made.token_key}` } })
    expect(models.status).toBe(200)
    expect(await server.app.db.selectFrom('audit').selectAll().execute().then(JSON.stringify)).not.toContain(made.token_key)
    await requireBalancedBooks(server)
  })

  it('[T054] may not manage one another, with any request', async () => {
    const server = await serverOfTest(kind)
    const [ada, eve] = [await member(server, 'ada'), await member(server, 'eve')]
    const lines: [string, unknown?][] = [
      ['GET /api/user/'],
      ['GET /api/user/search?keyword=a'],
      [`GET /api/user/${eve.id}`],
      ['POST /api/user/', { username: 'x', password }],
      ['PUT /api/user/', { id: eve.id, quota: 5 }],
      [`POST /api/user/${ada.id}/quota`, { change: 5, reason: 'x' }],
      ['POST /api/user/manage', { id: ada.id, action: 'promote' }],
      [`DELETE /api/user/${eve.id}`],
    ]
    for (const [line, body] of lines) {
      expect([line, (await ada.call(server, line, body)).json.code]).toEqual([line, 'permission_denied'])
    }
    const self = { username: 'ada', role: 100, status: 3, quota: 5, group: 'vip', aff_quota: 5, inviter_id: 1, id: eve.id }
    expect((await ada.call(server, 'PUT /api/user/self', self)).json.success).toBe(true)
    expect(await server.call(`GET /api/user/${ada.id}`)).toMatchObject({
      role: 1,
      status: 1,
      quota: 0,
      group: 'default',
      aff_quota: 0,
    })
    await requireBalancedBooks(server)
  })
})

describe.each(['sqlite', 'postgres'] as const)('several users over %s', (kind) => {
  it('are each changed if the rules allow it, and the caller gets the result for each', async () => {
    const server = await serverOfTest(kind)
    const [ada, bob, eve] = [await member(server, 'ada'), await member(server, 'bob'), await member(server, 'eve')]
    await server.call('POST /api/user/manage', { id: eve.id, action: 'promote' })
    const batch = (body: object) => server.call<UserBatchResult[]>('POST /api/user/batch', body)
    const usersNow = async () => {
      const { items } = await server.call<{ items: User[] }>('GET /api/user/search?sort=id&ascending=true')
      return items.map(({ status, group, DeletedAt }) => [status, group, DeletedAt !== null])
    }

    expect(await batch({ ids: [ada.id, ada.id, 1, 999], action: 'disable' })).toEqual([
      { id: ada.id, done: true, message: '' },
      { id: 1, done: false, message: expect.stringContaining('无法禁用') },
      { id: 999, done: false, message: expect.any(String) },
    ])
    await batch({ ids: [ada.id, bob.id], action: 'group', group: 'vip' })
    await batch({ ids: [bob.id], action: 'delete' })
    await batch({ ids: [ada.id], action: 'enable' })
    expect(await usersNow()).toEqual([
      [1, 'default', false],
      [1, 'vip', false],
      [1, 'vip', true],
      [1, 'default', false],
    ])
    const refused = await batch({ ids: [ada.id], action: 'group', group: 'no such' })
    expect(refused).toEqual([{ id: ada.id, done: false, message: expect.any(String) }])
    expect(await (await server.raw('POST /api/user/batch', { ids: [ada.id], action: 'group' })).json()).toMatchObject({
      code: 'group_unknown',
    })

    // Only super admins change users of their own rank, and ordinary users change nobody.
    const zoe = await member(server, 'zoe')
    await server.call('POST /api/user/manage', { id: zoe.id, action: 'promote' })
    const { json } = await zoe.call(server, 'POST /api/user/batch', { ids: [ada.id, eve.id, zoe.id, 1], action: 'disable' })
    expect((json.data as UserBatchResult[]).map(({ done }) => done)).toEqual([true, false, false, false])
    const dan = await member(server, 'dan')
    expect((await dan.call(server, 'POST /api/user/batch', { ids: [zoe.id], action: 'disable' })).json.success).toBe(false)
  })

  it('are exported as CSV, only those that the caller may see, and the audit log records the export', async () => {
    const server = await serverOfTest(kind)
    const zoe = await member(server, 'zoe')
    await server.call('POST /api/user/manage', { id: zoe.id, action: 'promote' })
    await server.call('POST /api/user/', { username: '=ada', display_name: 'Ada, "the first"', password })
    const lines = (await (await server.raw('GET /api/user/export.csv?keyword=a')).text()).split('\r\n')
    expect(lines[0]).toBe(
      'id,username,display_name,email,group,role,status,quota,used_quota,request_count,aff_count,inviter_id,created',
    )
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^3,'=ada,"Ada, ""the first""",,default,1,active,0,0,0,0,0,\d{4}-.*Z$/),
      '',
    ])

    const link = (path: string, headers: Record<string, string>) => zoe.fetch(server, path, headers)
    const page = { 'sec-fetch-site': 'same-origin' }
    const asked = await link(`/api/user/export.csv?new_api_user=${zoe.id}`, page)
    expect([asked.status, (await asked.text()).split('\r\n').map((line) => line.split(',')[1])]).toEqual([
      200,
      ['username', "'=ada", 'zoe', undefined],
    ])
    // The user id in the URL is accepted only if the browser confirms the page, and only for files.
    for (const [path, headers] of [
      [`/api/user/export.csv?new_api_user=${zoe.id}`, {}],
      [`/api/user/export.csv?new_api_user=${zoe.id}`, { 'sec-fetch-site': 'cross-site' }],
      [`/api/user/export.csv?new_api_user=${zoe.id}`, { 'sec-fetch-site': 'none' }],
      ['/api/user/export.csv?new_api_user=1', page],
      ['/api/user/export.csv', page],
      [`/api/user/self?new_api_user=${zoe.id}`, page],
    ] as const)
      expect((await link(path, headers)).headers.get('content-type')).toContain('application/json')
    const { items } = await server.call<{ items: { actor_name: string }[] }>('GET /api/audit/?action=user.export')
    expect(items.map(({ actor_name }) => actor_name)).toEqual(['zoe', 'root'])
  })
})
