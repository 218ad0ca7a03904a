import type { Handlers } from '../../contract/route.ts'
import type { systemRoutes } from '../../contract/routes/system.ts'
import { oneBased } from '../db/page.ts'
import { jobs } from '../jobs/index.ts'
import { listJobs } from '../jobs/list-jobs.ts'
import { readFirstRun, readSystem } from '../jobs/read-system.ts'
import { fail } from '../lib/failure.ts'
import { readLatestRelease } from '../notify/latest-release.ts'
import { verifyAudit } from '../options/audit.ts'
import { listAudit } from '../options/list-audit.ts'
import { type Context, requireCaller } from './context.ts'

export const systemHandlers: Handlers<typeof systemRoutes, Context> = {
  async 'GET /api/audit/'({ app }, { query: { p, page_size, start_timestamp: start, end_timestamp: end, ...words } }) {
    const page = { page: Math.max(1, p), page_size }
    return { ...(await listAudit(app, { ...words, start, end }, oneBased(p, page_size))), ...page }
  },

  async 'POST /api/audit/verify'({ app }) {
    const { brokenAt = null, ...state } = await verifyAudit(app)
    return { ...state, broken_at: brokenAt }
  },

  'GET /api/job/': ({ app }) => listJobs(app, jobs),

  async 'POST /api/job/:name/run'({ app }, { params: { name } }) {
    if (!jobs.some((job) => job.name === name && job.onDemand)) fail('not_found')
    if (!(await app.startJob(name))) fail('job_running')
    return null
  },

  'GET /api/system/': ({ app }) => readSystem(app),

  'GET /api/system/first_run': (context) => readFirstRun(context.app, requireCaller(context)),

  'GET /api/system/update': ({ app }) => readLatestRelease(app),
}
