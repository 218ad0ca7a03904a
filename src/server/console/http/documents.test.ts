import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startConsole, type TestConsole } from '../../../../test/helpers/console.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import { newFolder } from '../../../../test/helpers/templates.ts'

const documents = newFolder()
mkdirSync(join(documents, 'use'))
mkdirSync(join(documents, 'operations'))
writeFileSync(join(documents, 'index.html'), 'contents')
writeFileSync(join(documents, 'use/calls.html'), 'calls')
writeFileSync(join(documents, 'operations/install.html'), 'install')
writeFileSync(join(documents, 'users.json'), '["index.html","use/calls.html"]')

anyDatabase('the documents', (_fresh, kind) => {
  let console: TestConsole
  beforeAll(async () => {
    console = await startConsole(kind, { documents })
  })
  afterAll(() => console.stop())

  const get = (path: string, headers: Record<string, string> = {}) =>
    console.server.inject({ method: 'GET', url: path, headers: { accept: 'text/html', ...headers } })
  const sessionOf = async (name: string, role: number) => (await console.addUser(name, { role })).headers

  it('for users are for everybody, with a policy that runs nothing from elsewhere', async () => {
    const page = await get('/docs/use/calls.html')
    expect([page.statusCode, page.body, page.headers['content-type']]).toEqual([200, 'calls', 'text/html;charset=utf-8'])
    expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    for (const path of ['/docs', '/docs/']) expect((await get(path)).headers.location).toBe('/docs/index.html')
  })

  it('for operators are for admins: strangers are sent to the login, users get 404', async () => {
    const path = '/docs/operations/install.html'
    const stranger = await get(path)
    expect([stranger.statusCode, stranger.headers.location]).toEqual([302, '/login'])
    expect((await get(path, await sessionOf('ada', 1))).statusCode).toBe(404)
    expect((await get(path, await sessionOf('grace', 10))).body).toBe('install')
  })

  it.each(['/docs/users.json', '/docs/../users.json', '/docs/operations/none.html?x', '/docs/%2e%2e/package.json'])(
    'has nothing for strangers at %s',
    async (path) => {
      const { statusCode, body } = await get(path)
      expect([302, 404]).toContain(statusCode)
      expect(body).not.toContain('calls.html')
    },
  )
})
