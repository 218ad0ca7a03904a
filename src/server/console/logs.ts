import type { Handlers } from '../../contract/route.ts'
import type { logRoutes } from '../../contract/routes/logs.ts'
import { oneBased } from '../db/page.ts'
import { listLogs, listOwnLogs, purgeLogs, searchLogs, searchOwnLogs } from '../usage/log.ts'
import { logStatistics } from '../usage/stats.ts'
import { type Context, requireCaller } from './context.ts'

export const logHandlers: Handlers<typeof logRoutes, Context> = {
  async 'GET /api/log/'({ app }, { query: { p, page_size, ...filter } }) {
    return { ...(await listLogs(app, { filter, page: oneBased(p, page_size) })), page: p, page_size }
  },

  async 'GET /api/log/self'(context, { query: { p, page_size, ...filter } }) {
    const asked = { userId: requireCaller(context).id, filter, page: oneBased(p, page_size) }
    return { ...(await listOwnLogs(context.app, asked)), page: p, page_size }
  },

  'GET /api/log/stat': ({ app }, { query }) => logStatistics(app, query),

  'GET /api/log/self/stat': (context, { query }) => logStatistics(context.app, { ...query, userId: requireCaller(context).id }),

  'GET /api/log/search': ({ app }, { query }) => searchLogs(app, query),

  'GET /api/log/self/search': (context, { query }) => searchOwnLogs(context.app, { ...query, userId: requireCaller(context).id }),

  'DELETE /api/log/': (context, { query }) =>
    purgeLogs(context.app, { before: query.target_timestamp, caller: requireCaller(context) }),
}
