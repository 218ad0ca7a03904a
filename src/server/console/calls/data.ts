import type { Handlers } from '../../../contract/route.ts'
import type { dataRoutes } from '../../../contract/routes/data.ts'
import { listQuotaData, spanMaxDays } from '../../usage/sums/data.ts'
import { readSums } from '../../usage/sums/sums.ts'
import { type Context, payerOf } from './context.ts'
import { runSearch } from './run-search.ts'

export const dataHandlers: Handlers<typeof dataRoutes, Context> = {
  'GET /api/data/': (context, { query }) => runSearch(context, query, (core) => listQuotaData(core, query, spanMaxDays.all)),

  'GET /api/data/self'(context, { query }) {
    const filter = { ...query, userId: payerOf(context).id }
    return runSearch(context, filter, (core) => listQuotaData(core, filter, spanMaxDays.own))
  },

  'GET /api/data/sums'(context, { query: { by, grain, offset_minutes: offsetMinutes, ...filter } }) {
    const asked = { filter, by, grain, offsetMinutes }
    return runSearch(context, asked, (core) => readSums(core, asked))
  },

  'GET /api/data/self/sums'(context, { query: { by, grain, offset_minutes: offsetMinutes, ...query } }) {
    const asked = { filter: { ...query, userId: payerOf(context).id }, by, grain, offsetMinutes }
    return runSearch(context, asked, (core) => readSums(core, asked))
  },
}
