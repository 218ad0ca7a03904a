import type { FastifyInstance, FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { isAdmin } from '../../../contract/roles.ts'
import type { ClientReader } from '../../base/lib/net/client-address.ts'
import { type Measured, mergedMetrics } from '../../base/lib/process/metrics.ts'
import { withActiveTimeout } from '../../base/lib/time/active-time.ts'
import type { Core } from '../../base/options/core.ts'
import { findByAccessToken } from '../../people/accounts/access-tokens.ts'

const pingMaxMs = 1000
/** The first is ours; probes ask for the others by default. */
const livenessPaths = ['/healthz', '/health', '/livez', '/ping']

/** Paths that probes and scrapers find at the root of the host, too, whatever BASE_PATH is; crawlers look for robots.txt nowhere else. */
export const operatorPaths: ReadonlySet<string> = new Set([...livenessPaths, '/readyz', '/metrics', '/robots.txt'])

/** For load balancers: liveness and readiness. For operators: metrics. Nothing else is shown to anonymous callers. */
export function addHealth(
  server: FastifyInstance,
  core: Core,
  { clientOf, isReady }: { clientOf: ClientReader; isReady: () => boolean },
): void {
  for (const path of livenessPaths) server.get(path, (_request, reply) => reply.type('text/plain').send('ok'))

  server.get('/readyz', async (_request, reply) => {
    const ready = isReady() && (await answersInTime(core))
    return reply
      .status(ready ? 200 : 503)
      .type('text/plain')
      .send(ready ? 'ok' : 'not ok')
  })

  const readMetrics = metricsReader(core)
  server.get('/metrics', async (request, reply) => {
    if (!(await maySeeMetrics(request))) return reply.callNotFound()
    return reply.type(core.metrics.registry.contentType).send(await readMetrics())
  })

  async function maySeeMetrics(request: FastifyRequest): Promise<boolean> {
    if (clientOf(request.raw).local) return true
    const { authorization } = request.headers
    const account = authorization === undefined ? undefined : await findByAccessToken(core, authorization)
    return account !== undefined && isAdmin(account.role)
  }
}

/** Reads the metrics of all processes of this start, whichever of them gets the request. */
function metricsReader({ metrics: { registry }, siblings }: Core): () => Promise<string> {
  if (!siblings) return () => registry.metrics()
  siblings.serve('metrics.own', () => registry.getMetricsAsJSON())
  if (!siblings.isOwner) return () => siblings.owner.call<string>('metrics.all', null)

  const readAll = async () =>
    mergedMetrics([await registry.getMetricsAsJSON(), ...(await siblings.callAll<Measured>('metrics.own', null))])
  siblings.serve('metrics.all', readAll)
  return readAll
}

async function answersInTime({ db }: Core): Promise<boolean> {
  const answer = sql`select 1`.execute(db).then(
    () => true,
    () => false,
  )
  return withActiveTimeout(pingMaxMs, answer, () => false)
}
