import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serverOfTest, startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { member } from '../../../../test/helpers/members.ts'
import type { Token } from '../../../contract/entities/token.ts'

const refusal = async (server: TestServer, line: string, body?: unknown) => {
  const answer = (await (await server.raw(line, body)).json()) as { success: boolean; code?: string }
  return answer.success ? 'accepted' : answer.code
}
const make = (server: TestServer, given: object = {}) =>
  server.call<Token>('POST /api/token/', { name: 'one', remain_quota: 500_000, ...given })

describe('token calls', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer('sqlite')
  })
  afterAll(() => server.stop())

  it('list bare arrays from page 0, and pages on request', async () => {
    const server = await serverOfTest('sqlite')
    for (const name of ['a', 'b', 'c']) await make(server, { name })
    const names = async (line: string) => (await server.call<Token[]>(line)).map(({ name }) => name)
    expect(await names('GET /api/token/?p=0&size=2')).toEqual(['c', 'b'])
    expect(await names('GET /api/token/?p=1&size=2')).toEqual(['a'])
    expect(await names('GET /api/token?p=9&size=2')).toEqual([])
    expect(await names('GET /api/token/?page_size=1')).toEqual(['c'])
    expect(await names('GET /api/token/?p=-1&size=abc')).toEqual(['c', 'b', 'a'])
    expect(await names('GET /api/token/search?keyword=b&token=')).toEqual(['b'])
    expect(await server.call('GET /api/token/?p=1&size=2&paged=true')).toMatchObject({
      items: [{ name: 'a' }],
      total: 3,
      page: 1,
      page_size: 2,
    })
    expect(await server.call('GET /api/token/search?p=1&size=2&paged=true')).toMatchObject({
      items: [{ name: 'a' }],
      total: 3,
      page: 1,
      page_size: 2,
    })
  })

  it('show an admin the tokens of users of lower roles, never their keys or addresses', async () => {
    const [admin, other, ada] = [
      await member(server, 'admin', 10),
      await member(server, 'other', 10),
      await member(server, 'ada'),
    ]
    const made = await ada.call('POST /api/token/', {
      name: 'laptop',
      remain_quota: 7,
      allow_ips: '127.0.0.1',
      limit_requests: 5,
    })
    const { key } = made.json.data as Token

    const line = `GET /api/user/${ada.id}/tokens`
    const seen = await admin.call(line)
    expect(seen.json.data).toMatchObject({ total: 1, items: [{ name: 'laptop', status: 1, remain_quota: 7, limit_requests: 5 }] })
    expect(seen.text).not.toContain(key)
    expect(seen.text).not.toContain('127.0.0.1')
    expect((await ada.call(line)).json.code).toBe('permission_denied')
    expect((await admin.call(`GET /api/user/${other.id}/tokens`)).json.code).toBe('user_protected')
    expect((await admin.call(`GET /api/user/${admin.id}/tokens`)).json.data).toMatchObject({ total: 0 })
    expect(await server.call(`GET /api/user/${other.id}/tokens?page_size=1`)).toMatchObject({ total: 0, page_size: 1 })
  })

  it('edit all fields of a token, or only its status', async () => {
    const token = await make(server)
    expect(await server.call('PUT /api/token/', { ...token, name: 'renamed', DeletedAt: null })).toMatchObject({
      name: 'renamed',
      status: 1,
    })
    expect(await server.call('PUT /api/token/?status_only=true', { id: token.id, status: 2 })).toMatchObject({
      name: 'renamed',
      status: 2,
    })
    expect(await server.call('PUT /api/token?status_only=1', { ...token, status: 1 })).toMatchObject({
      name: 'renamed',
      status: 1,
    })
    for (const status of [undefined, 0, 3, 4, 99, '1'])
      expect(await refusal(server, 'PUT /api/token/?status_only=true', { id: token.id, status })).toBe('field_invalid')
    expect(await refusal(server, 'PUT /api/token/', { id: token.id, status: 2 })).toBe('token_name_required')
    expect(await refusal(server, 'PUT /api/token/', { ...token, remain_quota: -1 })).toBe('field_invalid')
    expect(await server.call('PUT /api/token/', { ...token, status: 4 })).toMatchObject({ name: 'one', status: 1 })
  })

  it('offer only groups that the caller may use', async () => {
    for (const group of ['', 'auto', 'default']) expect((await make(server, { group })).group).toBe(group)
    for (const group of ['nobody', '__proto__', 'constructor'])
      expect(await refusal(server, 'POST /api/token/', { name: 'x', group })).toBe('group_forbidden')
  })

  it('change several at once and delete', async () => {
    const ids = [(await make(server)).id, (await make(server)).id]
    expect(await server.call('POST /api/token/batch', { ids, action: 'disable' })).toBe(2)
    expect(await server.call(`DELETE /api/token/${ids[0]}/`)).toBeNull()
    expect(await refusal(server, `GET /api/token/${ids[0]}`)).toBe('not_found')
    expect(await refusal(server, 'POST /api/token/batch', { ids: [], action: 'delete' })).toBe('field_invalid')
    expect(await server.call('POST /api/token/batch', { ids, action: 'delete' })).toBe(1)
  })

  it('refuse invalid ids', async () => {
    for (const id of ['0', '-1', 'abc', '1%20or%201=1', '9007199254740993'])
      expect(await refusal(server, `GET /api/token/${id}`), id).toBe('field_invalid')
  })
})

describe('log calls', () => {
  it('return pages counted from 1 and statistics, and purge by time', async () => {
    const server = await serverOfTest('sqlite')
    const row = { user_id: 1, username: 'root', type: 2, quota: 10, channel_id: 5, other: '{"admin_info":{"use_channel":["5"]}}' }
    await server.app.db
      .insertInto('logs')
      .values([
        { ...row, created_at: 100 },
        { ...row, created_at: 200 },
      ])
      .execute()
    const filter = 'type=2&end_timestamp=1000'
    expect(await server.call(`GET /api/log/?p=0&page_size=1&${filter}`)).toMatchObject({
      items: [{ created_at: 200, channel: 5 }],
      total: 2,
      page: 1,
      page_size: 1,
    })
    expect(await server.call(`GET /api/log/self/?p=2&page_size=1&${filter}`)).toMatchObject({
      items: [{ created_at: 100, channel: 0, other: '{}' }],
      total: 2,
      page: 2,
    })
    for (const line of ['GET /api/log/stat', 'GET /api/log/self/stat'])
      expect(await server.call(`${line}?${filter}`)).toEqual({ quota: 20, rpm: 0, tpm: 0 })
    for (const line of ['GET /api/log/search?keyword=', 'GET /api/log/self/search'])
      expect(await server.call(line)).toHaveLength(2)
    expect(await refusal(server, 'DELETE /api/log/')).toBe('log_time_required')
    expect(await server.call('DELETE /api/log/?target_timestamp=200')).toBe(1)
  })
})
