import type { Handlers } from '../../contract/route.ts'
import type { dataRoutes } from '../../contract/routes/data.ts'
import { listQuotaData, spanMaxDays } from '../usage/data.ts'
import { readSums } from '../usage/sums.ts'
import { type Context, requireCaller } from './context.ts'

export const dataHandlers: Handlers<typeof dataRoutes, Context> = {
  'GET /api/data/': ({ app }, { query }) => listQuotaData(app, query, spanMaxDays.all),

  'GET /api/data/self': (context, { query }) =>
    listQuotaData(context.app, { ...query, userId: requireCaller(context).id }, spanMaxDays.own),

  'GET /api/data/sums': ({ app }, { query: { by, grain, offset_minutes: offsetMinutes, ...filter } }) =>
    readSums(app, { filter, by, grain, offsetMinutes }),

  'GET /api/data/self/sums'(context, { query: { by, grain, offset_minutes: offsetMinutes, ...query } }) {
    const filter = { ...query, userId: requireCaller(context).id }
    return readSums(context.app, { filter, by, grain, offsetMinutes })
  },
}
