import type { Handlers } from '../../../contract/route.ts'
import type { systemRoutes } from '../../../contract/routes/system.ts'
import { oneBased } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { verifyAudit } from '../../base/options/audit.ts'
import { exportAudit, listAudit } from '../../base/options/list-audit.ts'
import { sumSiteCosts } from '../../money/ledger/site-costs.ts'
import { readLatestRelease } from '../../people/notify/latest-release.ts'
import { listJobs } from '../../watch/jobs/list-jobs.ts'
import { readFirstRun, readStorage, readSystem } from '../../watch/jobs/read-system.ts'
import { jobs } from '../../watch/jobs/table.ts'
import { type Context, requireCaller } from './context.ts'
import { startJob } from './start-job.ts'

export const systemHandlers: Handlers<typeof systemRoutes, Context> = {
  async 'GET /api/audit/'({ app }, { query: { p, page_size, sort, start_timestamp: start, end_timestamp: end, ...words } }) {
    const listed = await listAudit(app, { search: { ...words, start, end }, page: oneBased(p, page_size), sort })
    return { ...listed, page: p, page_size }
  },

  'GET /api/audit/export.csv': (
    context,
    { query: { time_zone: timeZone, start_timestamp: start, end_timestamp: end, ...words } },
  ) => exportAudit(context.app, { search: { ...words, start, end }, timeZone, caller: requireCaller(context) }),

  async 'POST /api/audit/verify'({ app }) {
    const { brokenAt = null, ...state } = await verifyAudit(app)
    return { ...state, broken_at: brokenAt }
  },

  'GET /api/job/': ({ app }) => listJobs(app, jobs),

  'POST /api/job/:name/run'(context, { params: { name } }) {
    if (!jobs.some((job) => job.name === name && job.onDemand)) fail('not_found')
    return startJob(context, name)
  },

  'GET /api/system/': ({ app }) => readSystem(app),

  'GET /api/system/site_cost': ({ app }) => sumSiteCosts(app.db, seconds(app.now())),

  'GET /api/system/storage': ({ app, disconnected }) => readStorage(app, disconnected),

  'GET /api/system/first_run': (context) => readFirstRun(context.app, requireCaller(context)),

  'GET /api/system/update': ({ app }) => readLatestRelease(app),
}
