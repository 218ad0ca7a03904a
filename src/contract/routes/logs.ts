import { z } from 'zod'
import { log, logStatistics } from '../entities/log.ts'
import { oneBasedPage, page, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const ownFilters = {
  type: queryInt,
  start_timestamp: queryInt,
  end_timestamp: queryInt,
  token_name: queryText,
  model_name: queryText,
  group: queryText,
  request_id: queryText,
}
const allFilters = { ...ownFilters, username: queryText, channel: queryInt }

export const logRoutes = routes({
  'GET /api/log/': {
    access: 'admin',
    summary: 'Logs of everybody',
    query: z.object({ ...oneBasedPage, ...allFilters }),
    reply: page(log),
  },
  'DELETE /api/log/': {
    access: 'admin',
    summary: 'Remove consume logs older than a time; answers how many',
    query: z.object({ target_timestamp: queryInt }),
    reply: z.int(),
  },
  'GET /api/log/self': {
    access: 'user',
    summary: 'Own logs',
    query: z.object({ ...oneBasedPage, ...ownFilters }),
    reply: page(log),
  },
  'GET /api/log/stat': {
    access: 'admin',
    summary: 'Quota in the filter, requests and tokens of the last minute',
    query: z.object(allFilters),
    reply: logStatistics,
  },
  'GET /api/log/self/stat': {
    access: 'user',
    summary: 'Own quota in the filter, requests and tokens of the last minute',
    query: z.object(ownFilters),
    reply: logStatistics,
  },
  'GET /api/log/search': {
    access: 'admin',
    summary: 'The newest 100 logs whose content begins with the keyword',
    query: z.object({ keyword: queryText }),
    reply: z.array(log),
  },
  'GET /api/log/self/search': {
    access: 'user',
    summary: 'The newest 100 own logs whose content begins with the keyword',
    query: z.object({ keyword: queryText }),
    reply: z.array(log),
  },
})
