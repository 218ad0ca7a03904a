import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { isAdmin } from '../../contract/roles.ts'
import { findByAccessToken } from '../accounts/access-tokens.ts'
import { withActiveTimeout } from '../lib/active-time.ts'
import type { ClientReader } from '../lib/client-address.ts'
import type { Core } from '../options/core.ts'

const pingMaxMs = 1000

/** For load balancers: liveness and readiness. For operators: metrics. Nothing else is shown to anonymous callers. */
export function addHealth(
  server: FastifyInstance,
  core: Core,
  { clientOf, isStopping }: { clientOf: ClientReader; isStopping: () => boolean },
): void {
  server.get('/healthz', (_request, reply) => reply.type('text/plain').send('ok'))

  server.get('/readyz', async (_request, reply) => {
    const ready = !isStopping() && (await answersInTime(core))
    return reply
      .status(ready ? 200 : 503)
      .type('text/plain')
      .send(ready ? 'ok' : 'not ok')
  })

  server.get('/metrics', async (request, reply) => {
    if (!(await maySeeMetrics(request))) return reply.callNotFound()
    const { registry } = core.metrics
    return reply.type(registry.contentType).send(await registry.metrics())
  })

  async function maySeeMetrics(request: FastifyRequest): Promise<boolean> {
    if (clientOf(request.raw).local) return true
    const { authorization } = request.headers
    const account = authorization === undefined ? undefined : await findByAccessToken(core, authorization)
    return account !== undefined && isAdmin(account.role)
  }
}

async function answersInTime({ db }: Core): Promise<boolean> {
  const answer = sql`select 1`.execute(db).then(
    () => true,
    () => false,
  )
  return withActiveTimeout(pingMaxMs, answer, () => false)
}
