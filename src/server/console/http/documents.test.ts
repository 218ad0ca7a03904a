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

  it('have the calls of the relay for strangers, and those of the console for nobody else than those who are logged in', async () => {
    expect((await get('/docs/api')).headers.location).toBe('/docs/api.html')
    const calls = await get('/docs/relay.json')
    expect(calls.statusCode).toBe(200)
    const paths = Object.keys(calls.json().paths)
    expect(paths).toEqual(
      expect.arrayContaining(['/v1/chat/completions', '/v1/messages', '/v1beta/models/{model}:generateContent']),
    )
    expect(paths.filter((path) => path.startsWith('/api/'))).toEqual(['/api/usage/token', '/api/log/token'])
    expect((await get('/api/openapi.json')).statusCode).toBe(401)
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
