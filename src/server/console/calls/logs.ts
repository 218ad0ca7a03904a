import type { Log } from '../../../contract/entities/log.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { isAdmin, isRoot } from '../../../contract/roles.ts'
import type { Handlers } from '../../../contract/route.ts'
import type { logRoutes } from '../../../contract/routes/logs.ts'
import { oneBased } from '../../base/db/page.ts'
import { fail } from '../../base/lib/failure.ts'
import { recordAction } from '../../base/options/audit.ts'
import { recordExport } from '../../base/options/record-export.ts'
import type { LogFilter } from '../../usage/filter.ts'
import { type Export, exportLogs } from '../../usage/log/export.ts'
import { logHistogram } from '../../usage/log/histogram.ts'
import { channelNames, listLogs, listOwnLogs, searchLogs, searchOwnLogs } from '../../usage/log/log.ts'
import { purgeLogs, readPurge, requestPurge, stopPurge } from '../../usage/log/purge.ts'
import type { Order } from '../../usage/log/rows.ts'
import { logStatistics } from '../../usage/log/stats.ts'
import { type Context, logOwnerOf, payerOf, requireCaller } from './context.ts'
import { readerCore, runSearch } from './run-search.ts'

export const logHandlers: Handlers<typeof logRoutes, Context> = {
  'GET /api/log/running': ({ app }) => app.resumableReplies.list(),
  'GET /api/log/self/running': (context) => context.app.resumableReplies.list(requireCaller(context).id),
  'POST /api/log/running/:request_id/stop': (context, { params }) => stopRunning(context, params.request_id),

  async 'GET /api/log/'(context, { query: { p, page_size, before, sort, ...filter } }) {
    const asked = { filter: ofUser(filter), page: oneBased(p, page_size), before, order: orderOf(sort) }
    const listed = await runSearch(context, filter, (core) => listLogs(core, asked))
    const channel_names = await channelNames(context.app, listed.items)
    return { ...listed, items: await withRecordings(context, listed.items), channel_names, page: p, page_size }
  },

  async 'GET /api/log/self'(context, { query: { p, page_size, before, sort, ...filter } }) {
    const { userId, ...within } = await logOwnerOf(context)
    const asked = { userId, filter: { ...filter, ...within }, page: oneBased(p, page_size), before, order: orderOf(sort) }
    const listed = await runSearch(context, filter, (core) => listOwnLogs(core, asked))
    return { ...listed, items: await withRecordings(context, listed.items), page: p, page_size }
  },

  'GET /api/log/stat': (context, { query }) => runSearch(context, query, (core) => logStatistics(core, ofUser(query))),

  async 'GET /api/log/self/stat'(context, { query }) {
    const filter = { ...query, ...(await logOwnerOf(context)) }
    return runSearch(context, filter, (core) => logStatistics(core, filter))
  },

  'GET /api/log/histogram': (context, { query: { offset_minutes: offsetMinutes, ...filter } }) =>
    runSearch(context, filter, (core) => logHistogram(core, { filter: ofUser(filter), offsetMinutes })),

  async 'GET /api/log/self/histogram'(context, { query: { offset_minutes: offsetMinutes, ...own } }) {
    const filter = { ...own, ...(await logOwnerOf(context)) }
    return runSearch(context, filter, (core) => logHistogram(core, { filter, offsetMinutes }))
  },

  'GET /api/log/search': (context, { query }) => runSearch(context, query, (core) => searchLogs(core, query)),

  'GET /api/log/self/search'(context, { query }) {
    const asked = { ...query, userId: payerOf(context).id }
    return runSearch(context, asked, (core) => searchOwnLogs(core, asked))
  },

  'DELETE /api/log/': (context, { query }) =>
    purgeLogs(context.app, { before: query.target_timestamp, caller: requireCaller(context) }),

  async 'POST /api/log/purge'(context, { body }) {
    const purge = await requestPurge(context.app, { before: body.before, caller: requireCaller(context) })
    await context.app.startJob('purge-logs')
    return purge
  },

  'GET /api/log/purge': ({ app }) => readPurge(app.db),

  async 'DELETE /api/log/purge'(context) {
    await stopPurge(context.app, requireCaller(context))
    return null
  },

  'GET /api/log/export.csv': (context, { query }) => exportAll(context, query, 'csv'),
  'GET /api/log/export.jsonl': (context, { query }) => exportAll(context, query, 'jsonl'),

  async *'GET /api/log/self/export.csv'(context, { query: { time_zone: timeZone, columns, ...asked } }) {
    const { userId: ownerId, ...within } = await logOwnerOf(context)
    const filter = { ...asked, ...within }
    yield* exportLogs(readerCore(context), { filter, format: 'csv', timeZone, columns: namesIn(columns), ownerId })
  },

  async *'GET /api/log/self/export.jsonl'(context, { query: { time_zone: timeZone, ...asked } }) {
    const { userId: ownerId, ...within } = await logOwnerOf(context)
    yield* exportLogs(readerCore(context), { filter: { ...asked, ...within }, format: 'jsonl', timeZone, ownerId })
  },
}

/** Marks the rows whose recording the caller may open: all for a super admin, else those of their own calls. */
async function withRecordings(context: Context, items: readonly Log[]): Promise<Log[]> {
  const { id, role } = requireCaller(context)
  const mayOpen = ({ user_id, request_id }: Log) => request_id !== '' && (isRoot(role) || user_id === id)
  const recorded = await context.app.recordings.recorded(items.filter(mayOpen).map(({ request_id }) => request_id))
  return items.map((row) => (mayOpen(row) && recorded.has(row.request_id) ? { ...row, recorded: true as const } : row))
}

type ExportQuery = AllFilters & { time_zone: string; columns?: string }

async function exportAll(
  context: Context,
  { time_zone: timeZone, columns = '', ...query }: ExportQuery,
  format: Export['format'],
) {
  const filter = ofUser(query)
  await recordExport(context.app, requireCaller(context), { action: 'log.export', target: 'logs', asked: filter })
  return exportLogs(readerCore(context), { filter, format, timeZone, columns: namesIn(columns) })
}

const namesIn = (text: string): string[] => text.split(',').filter((name) => name !== '')

const orderOf = (sort: SortBy | undefined): Order => (sort && !sort.descending ? 'oldest' : 'newest')

type AllFilters = LogFilter & { user_id: number }

function ofUser({ user_id, ...filter }: AllFilters): LogFilter {
  return { ...filter, userId: user_id }
}

/** Throws `not_found` for an unknown stream, and for one of another user unless the caller is an admin. */
async function stopRunning(context: Context, requestId: string): Promise<null> {
  const caller = requireCaller(context)
  const { resumableReplies } = context.app
  const isOthers = isAdmin(caller.role) && !(await resumableReplies.find(requestId, { userId: caller.id }))
  const found = await resumableReplies.find(requestId, isOthers ? {} : { userId: caller.id })
  if (found?.state !== 'running') fail('not_found')
  await resumableReplies.cancel(requestId)
  if (isOthers) await recordAction(context.app, { caller, action: 'answer.stop', target: `request:${requestId}` })
  return null
}
