import type { Handlers } from '../../../contract/route.ts'
import type { overviewRoutes } from '../../../contract/routes/overview.ts'
import { readChannelHealth, readKeyHealth } from '../../gateway/channels/health/channel-health.ts'
import { readOverview } from '../../usage/sums/overview.ts'
import { readMarks } from '../../watch/jobs/read-marks.ts'
import type { Context } from './context.ts'
import { runSearch } from './run-search.ts'

const idsMax = 1000

export const overviewHandlers: Handlers<typeof overviewRoutes, Context> = {
  'GET /api/overview/': (context, { query: { period } }) =>
    runSearch(context, { period }, async (core) => {
      const overview = await readOverview(core, period)
      return { ...overview, marks: await readMarks(core.db, overview) }
    }),

  'GET /api/channel/health': ({ app }, { query }) => {
    const ids = query.ids.split(',').flatMap((id) => (/^\d{1,15}$/.test(id) ? [Number(id)] : []))
    return readChannelHealth(app, [...new Set(ids)].slice(0, idsMax))
  },

  'GET /api/channel/:id/keys/health': ({ app }, { params }) => readKeyHealth(app, params.id),
}
