import { describe, expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../../../../test/helpers/app.ts'
import { type SavedView, savedViewLimits } from '../../../contract/entities/saved-view.ts'

async function codeOf(server: TestServer, line: string, body: unknown): Promise<string | undefined> {
  return ((await (await server.raw(line, body)).json()) as { code?: string }).code
}

describe.each(['sqlite', 'postgres'] as const)('views of lists over %s', (kind) => {
  it('are stored with the account, one per list as the default, and are private to it', async () => {
    const server = await serverOfTest(kind)
    const own = () => server.call<SavedView[]>('GET /api/user/self/views')
    const view = { list: 'users', name: ' Banned ', search: { state: 'banned', sort: '-quota' }, hidden: ['email'] }
    const banned = await server.call<SavedView>('POST /api/user/self/views', { ...view, is_default: true })
    expect(banned).toEqual({ ...view, id: banned.id, name: 'Banned', is_default: true })
    const plain = { ...view, name: 'Rich', hidden: null }
    const rich = await server.call<SavedView>('POST /api/user/self/views', { ...plain, is_default: true })
    const ofLog = await server.call<SavedView>('POST /api/user/self/views', { ...plain, list: 'log', is_default: true })
    expect((await own()).map(({ name, list, is_default }) => [name, list, is_default])).toEqual([
      ['Banned', 'users', false],
      ['Rich', 'users', true],
      ['Rich', 'log', true],
    ])

    const renamed = await server.call(`PUT /api/user/self/views/${banned.id}`, { name: 'Locked', search: { state: 'locked' } })
    expect(renamed).toEqual({ ...banned, name: 'Locked', search: { state: 'locked' }, is_default: false })
    expect(await codeOf(server, `PUT /api/user/self/views/${banned.id}`, { name: 'Rich' })).toBe('view_name_taken')

    await server.call('POST /api/user/', { username: 'ada', display_name: '', password: 'plain-person-1' })
    await server.app.db.updateTable('saved_views').set({ user_id: 2 }).where('id', '=', rich.id).execute()
    expect((await own()).map(({ id }) => id)).toEqual([banned.id, ofLog.id])
    for (const line of [`PUT /api/user/self/views/${rich.id}`, `DELETE /api/user/self/views/${rich.id}`])
      expect(await codeOf(server, line, { name: 'Mine' })).toBe('not_found')

    await server.call(`DELETE /api/user/self/views/${banned.id}`)
    expect((await own()).map(({ id }) => id)).toEqual([ofLog.id])
    await server.call('DELETE /api/user/2')
    expect(await server.app.db.selectFrom('saved_views').selectAll().where('user_id', '=', 2).execute()).toEqual([])
  })

  it('respect the limit, no matter how many are saved at the same time', async () => {
    const server = await serverOfTest(kind)
    const make = (name: string) => codeOf(server, 'POST /api/user/self/views', { list: 'log', name, search: {}, hidden: null })
    const codes = await Promise.all(Array.from({ length: savedViewLimits.perListMax + 3 }, (_, nth) => make(`view ${nth}`)))
    expect(codes.filter((code) => code === 'views_too_many')).toHaveLength(3)
    expect(await server.call('GET /api/user/self/views')).toHaveLength(savedViewLimits.perListMax)
  })
})
