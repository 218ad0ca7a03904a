import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import sirv from 'sirv'
import { isAdmin } from '../../../contract/roles.ts'
import { root } from '../../base/lib/process/root.ts'
import { identify } from '../../people/accounts/identify.ts'
import type { App } from '../../watch/parts.ts'
import { sendFile } from './static-files.ts'

/** The output folder of the documentation site's build. */
const builtDocuments = join(root, 'dist/docs')

/** The pages have no script but their search, and load nothing from elsewhere. */
const headers = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cache-control': 'no-cache',
}

/**
 * The documentation site under `/docs`. Everybody may read what its build lists in `users.json`; the rest, how to run a server, is for
 * admins: others are sent to the login, or get 404 if they are logged in.
 */
export function addDocuments(server: FastifyInstance, app: App, folder = builtDocuments): void {
  const list = join(folder, 'users.json')
  if (!existsSync(list)) return
  const ofUsers = new Set<string>(JSON.parse(readFileSync(list, 'utf8')))
  const serve = sirv(folder, { etag: true, brotli: true, gzip: true, extensions: [] })
  const { BASE_PATH: basePath } = app.env

  server.get('/docs', (_request, reply) => reply.redirect(`${basePath}/docs/index.html`))
  server.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const name = request.params['*']
    if (name === '') return reply.redirect(`${basePath}/docs/index.html`)
    if (!ofUsers.has(name)) {
      const identity = await identify(app, request.headers)
      if (!identity && name.endsWith('.html')) return reply.redirect(`${basePath}/login`)
      if (!identity || !isAdmin(identity.account.role)) return reply.callNotFound()
    }
    request.raw.url = `/${name}`
    return sendFile(serve, request, reply.headers(headers)) ? reply.hijack() : reply.callNotFound()
  })
}
