import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import sirv from 'sirv'
import { isAdmin } from '../../../contract/roles.ts'
import { root } from '../../base/lib/process/root.ts'
import { identify } from '../../people/accounts/identify.ts'
import type { App } from '../../watch/parts.ts'
import { openApi } from '../calls/openapi.ts'
import { sendFile } from './static-files.ts'

/** The output folder of the documentation site's build. */
const builtDocuments = join(root, 'dist/docs')

/** The pages have no script but their search, and load nothing from elsewhere. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
/** The viewer of calls writes styles into its page, and its icons are data. */
const viewerPolicy = policy
  .replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
  .replace("img-src 'self'", "img-src 'self' data:")
const viewer = 'api.html'
/** The calls of the relay, for readers of the viewer who are not logged in. */
const relayCalls = 'relay.json'

type DocumentServer = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>

/**
 * The documentation site under `/docs`. Everybody may read what its build lists in `users.json`; the rest, how to run a server, is for
 * admins: strangers are sent to the login. Returns whether it has answered: not for other paths, nor for what the reader may not see.
 */
export function documentServer(app: App, folder = builtDocuments): DocumentServer {
  const list = join(folder, 'users.json')
  if (!existsSync(list)) return async () => false
  const ofUsers = new Set<string>(JSON.parse(readFileSync(list, 'utf8')))
  const serve = sirv(folder, { etag: true, brotli: true, gzip: true, extensions: [] })
  const { BASE_PATH: basePath } = app.env
  const shorter = new Map([
    ['', 'index.html'],
    ['api', viewer],
  ])

  return async (request, reply) => {
    const [isDocument, name = ''] = /^\/docs(?:\/([^?]*))?(?:\?|$)/.exec(request.url) ?? []
    if (isDocument === undefined || request.method !== 'GET') return false
    const whole = shorter.get(name)
    if (whole) return answered(reply.redirect(`${basePath}/docs/${whole}`))
    if (name === relayCalls) return answered(reply.status(200).send(openApi(app.version, basePath, 'relay')))
    if (!ofUsers.has(name)) {
      const identity = await identify(app, request.headers)
      if (!identity && name.endsWith('.html')) return answered(reply.redirect(`${basePath}/login`))
      if (!identity || !isAdmin(identity.account.role)) return false
    }
    request.raw.url = `/${name}`
    const page = { 'content-security-policy': name === viewer ? viewerPolicy : policy, 'cache-control': 'no-cache' }
    return sendFile(serve, request, reply.headers(page)) && answered(reply.hijack())
  }
}

/** A reply is a promise of its end, which nobody waits for here. */
function answered(_reply: FastifyReply): true {
  return true
}
