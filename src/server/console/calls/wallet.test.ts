import { describe, expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../../../../test/helpers/app.ts'
import { requireBalancedBooks } from '../../../../test/helpers/seed.ts'
import type { Redemption } from '../../../contract/entities/redemption.ts'

const refusal = async (server: TestServer, line: string, body?: unknown) => {
  const answer = (await (await server.raw(line, body)).json()) as { success: boolean; code?: string }
  return answer.success ? 'accepted' : answer.code
}
const make = (server: TestServer, given: object = {}) =>
  server.call<string[]>('POST /api/redemption/', { name: '$0.20', quota: 100_000, count: 1, ...given })
interface Page {
  items: Redemption[]
  total: number
  page: number
  page_size: number
}

describe('redemption calls', () => {
  it('number pages from 1, whichever first page a compatible console requests', async () => {
    const server = await serverOfTest('sqlite')
    expect(await server.call('GET /api/redemption/?p=0&page_size=10')).toEqual({ items: [], total: 0, page: 1, page_size: 10 })
    expect(await make(server, { count: 12 })).toHaveLength(12)
    for (const p of ['0', '-1', '1', 'NaN'])
      expect(await server.call(`GET /api/redemption/?p=${p}&page_size=10`)).toMatchObject({ total: 12, page: 1, page_size: 10 })
    const second = await server.call<Page>('GET /api/redemption/?p=2&page_size=10')
    expect(second.items.map(({ id }) => id)).toEqual([2, 1])
    const search = encodeURI('GET /api/redemption/search?keyword=$0&p=2&page_size=10').replace('GET%20', 'GET ')
    expect(await server.call<Page>(search)).toMatchObject({ total: 12, page: 2, items: [{ id: 2 }, { id: 1 }] })
  })

  it('[T168] reject invalid codes, and then create none at all', async () => {
    const server = await serverOfTest('sqlite')
    const wrong = [
      { count: 0 },
      { count: 101 },
      { count: -1 },
      { count: 1.5 },
      { quota: -1 },
      { quota: 0 },
      { quota: 2 ** 53 },
      { quota: '100' },
      { name: '' },
      { name: '   ' },
      { name: 'x'.repeat(21) },
      { expired_time: -1 },
      { expired_time: 1 },
      { name: '\u200b' },
    ]
    for (const given of wrong)
      expect([given, await refusal(server, 'POST /api/redemption/', { name: 'a', quota: 1, count: 1, ...given })]).toEqual([
        given,
        'field_invalid',
      ])
    expect(await make(server, { name: '😀'.repeat(20) })).toHaveLength(1)
    expect(await server.call('GET /api/redemption/')).toMatchObject({ total: 1 })
  })

  it('are filtered by status, sorted, changed together and exported, with audit rows', async () => {
    const server = await serverOfTest('sqlite')
    await make(server, { name: 'spring', quota: 5, count: 3 })
    await make(server, { name: '=late', quota: 9 })
    await server.app.db.updateTable('redemptions').set({ expired_time: 1 }).where('name', '=', '=late').execute()
    const ids = async (query: string) =>
      (await server.call<Page>(`GET /api/redemption/search?${query}`)).items.map(({ id }) => id)
    const batch = (action: string, ...numbers: number[]) =>
      server.call<number>('POST /api/redemption/batch', { ids: numbers, action })
    expect(await batch('disable', 1, 2, 99)).toBe(2)
    expect([await ids('status=1'), await ids('status=2'), await ids('status=4'), await ids('status=3')]).toEqual([
      [3],
      [2, 1],
      [4],
      [],
    ])
    expect([await ids('sort=quota'), await ids('sort=-quota'), await ids('sort=key_hash')]).toEqual([
      [3, 2, 1, 4],
      [4, 3, 2, 1],
      [4, 3, 2, 1],
    ])
    expect(await batch('enable', 1, 2, 3)).toBe(2)
    expect(await batch('delete', 1, 2)).toBe(2)
    expect(await refusal(server, 'POST /api/redemption/batch', { ids: [], action: 'delete' })).toBe('field_invalid')

    const file = await server.raw('GET /api/redemption/export.csv?status=4')
    expect(file.headers.get('content-disposition')).toBe('attachment; filename="redemption-codes.csv"')
    expect(await file.text()).toMatch(/^id,key,name,[^\r]*\r\n4,[0-9a-f]{32},'=late,unused,9,[^,]*,1970-01-01T00:00:01Z,,\r\n$/)
    const acts = await server.app.db.selectFrom('audit').select('action').where('target', '=', 'redemptions').execute()
    expect(acts.map(({ action }) => action)).toEqual(['disable', 'enable', 'delete', 'export'].map((act) => `redemption.${act}`))
  })

  it('accept the complete object that a compatible console sends back, or only a status', async () => {
    const server = await serverOfTest('sqlite')
    const [key] = await make(server)
    const code = await server.call<Redemption>('GET /api/redemption/1')
    expect(code).toMatchObject({
      key,
      status: 1,
      name: '$0.20',
      quota: 100_000,
      used_user_id: 0,
      username: 'root',
      used_username: '',
    })
    const sent = { ...code, name: 'new', quota: 5, count: 0, key: 'x', used_user_id: 9, DeletedAt: null }
    expect(await server.call('PUT /api/redemption/', sent)).toEqual({ ...code, name: 'new', quota: 5 })
    expect(await server.call('PUT /api/redemption/?status_only=true', { id: 1, status: 2 })).toMatchObject({ status: 2 })
    for (const status of [0, 3, 99, '1', undefined])
      expect(await refusal(server, 'PUT /api/redemption/?status_only=true', { id: 1, status })).toBe('field_invalid')
    expect(await refusal(server, 'PUT /api/redemption/', { id: 1, name: 'x' })).toBe('field_invalid')
    expect(await server.call('DELETE /api/redemption/invalid')).toBe(1)
    expect(await refusal(server, 'DELETE /api/redemption/1/')).toBe('not_found')
  })
})

describe('wallet calls', () => {
  it('redeem a code, transfer earned quota and show both in the statement', async () => {
    const server = await serverOfTest('sqlite')
    const [key] = await make(server, { quota: 500_000 })
    expect(await refusal(server, 'POST /api/user/topup', { key: 'bad-code' })).toBe('redemption_invalid')
    expect(await refusal(server, 'POST /api/user/topup', {})).toBe('redemption_invalid')
    expect(await server.call('POST /api/user/topup', { key: ` ${key} ` })).toBe(500_000)
    expect(await refusal(server, 'POST /api/user/topup', { key })).toBe('redemption_used')

    await server.app.db.updateTable('users').set({ aff_quota: 600_000 }).where('id', '=', 1).execute()
    const english = { 'accept-language': 'en' }
    const below = await server.raw('POST /api/user/aff_transfer', { quota: 1 }, english)
    expect(await below.json()).toMatchObject({ success: false, message: 'The transfer amount is at least $1.00' })
    const moved = await server.raw('POST /api/user/aff_transfer', { quota: 500_000 }, english)
    expect(await moved.json()).toEqual({ success: true, message: 'Transfer successful', data: null })

    const page = await server.call<{ items: object[]; next: number }>('GET /api/user/self/ledger?page_size=2')
    expect(page).toMatchObject({ items: [{ kind: 'transfer' }, { kind: 'redeem', reference: 'redeem:1' }], next: 2 })
    expect(await server.call(`GET /api/user/self/ledger?before=${page.next}`)).toMatchObject({
      items: [{ kind: 'grant' }],
      next: 0,
    })
    await requireBalancedBooks(server)
  })

  it('send the statement as a file', async () => {
    const server = await serverOfTest('sqlite')
    const response = await server.raw('GET /api/user/self/ledger.csv?kind=grant&sort=-amount&time_zone=Asia/Shanghai')
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8')
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="statement.csv"')
    expect(await response.text()).toMatch(
      /^\uFEFF?id,time \(Asia\/Shanghai\),[^\r]*\r\n1,[^,]*\+08:00,grant,100000000,,grant:1,0,\r\n$/,
    )
    const refused = await fetch(`${server.url}/api/user/self/ledger.csv`)
    expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'not_signed_in' }])
  })
})
