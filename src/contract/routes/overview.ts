import { z } from 'zod'
import { channelHealth, overview, overviewPeriods } from '../entities/call-statistics.ts'
import { idParams, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

export const overviewRoutes = routes({
  'GET /api/overview/': {
    access: 'admin',
    summary:
      'Requests, success, speed, spend, errors and failing channels of the last hour, day, week or month, and of the period before',
    query: z.object({ period: z.enum(overviewPeriods).catch('day') }),
    reply: overview,
  },
  'GET /api/channel/health': {
    access: 'admin',
    summary: 'Success, speed, last error and circuit breakers of channels, by a comma list of at most 1,000 ids',
    query: z.object({ ids: queryText }),
    reply: z.array(channelHealth),
  },
  'GET /api/channel/:id/keys/health': {
    access: 'admin',
    summary: 'Success, speed, last error and circuit breaker of each key of a channel',
    params: idParams,
    reply: z.array(channelHealth),
  },
})
