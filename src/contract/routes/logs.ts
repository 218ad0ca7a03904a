import { z } from 'zod'
import { log, logHistogram, logPurge, logSorts, logStatistics } from '../entities/log.ts'
import { runningAnswer } from '../entities/running-answer.ts'
import { longPageSize, offsetMinutes, oneBasedPage, page, queryInt, querySort, queryText } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

const ownFilters = {
  type: queryInt,
  start_timestamp: queryInt,
  end_timestamp: queryInt,
  token_name: queryText,
  model_name: queryText,
  group: queryText,
  request_id: queryText,
  /** Status and error code of failed calls. */
  status: queryInt,
  code: queryText,
}
const allFilters = { ...ownFilters, username: queryText, channel: queryInt, user_id: queryInt, site_cost: queryText }
const place = { ...oneBasedPage, before: queryText, sort: querySort(logSorts) }
/** `searched_to` is the time that a search has reached when it goes on with `next` before its page is full, else 0. */
const listed = page(log).extend({ next: z.string(), searched_to: z.int() })
const offset = { offset_minutes: offsetMinutes }
const zone = { time_zone: queryText }
const csv = { type: 'text/csv', fileName: 'log.csv' } as const
const jsonl = { type: 'application/x-ndjson', fileName: 'log.jsonl' } as const

export const logRoutes = routes({
  'GET /api/log/running': {
    access: 'admin',
    summary: 'List streams that are being written and can be continued after a cut, newest first; at most 100',
    reply: z.array(runningAnswer),
  },
  'GET /api/log/self/running': {
    access: 'user',
    summary: 'List own streams that are being written and can be continued after a cut, newest first; at most 100',
    reply: z.array(runningAnswer),
  },
  'POST /api/log/running/:request_id/stop': {
    access: 'user',
    summary: 'Stop a stream that is being written, an own one or as an admin any; it is charged for what it has',
    params: z.object({ request_id: z.string().max(64) }),
    reply: z.null(),
  },
  'GET /api/log/': {
    access: 'admin',
    summary:
      'List logs of all users, newest first by default; `next` is the `before` of the following page, which costs the same at any depth',
    query: z.object({ ...place, page_size: longPageSize, ...allFilters }),
    /** Names, by id, of the channels that the rows' details for admins name, except deleted ones. */
    reply: listed.extend({ channel_names: z.record(z.string(), z.string()) }),
  },
  'DELETE /api/log/': {
    access: 'admin',
    summary: 'Delete usage logs older than a time, and wait for it; returns the number',
    query: z.object({ target_timestamp: queryInt }),
    reply: z.int(),
  },
  'POST /api/log/purge': {
    access: 'admin',
    summary: 'Start deleting usage logs older than a time',
    body: z.object({ before: z.int().min(0).max(100_000_000_000) }),
    reply: logPurge,
  },
  'GET /api/log/purge': {
    access: 'admin',
    summary: 'Progress or result of the last log cleanup; null when there was none',
    reply: logPurge.nullable(),
  },
  'DELETE /api/log/purge': { access: 'admin', summary: 'Stop the log cleanup', reply: z.null() },
  'GET /api/log/self': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary:
      'List own logs, newest first by default; `next` is the `before` of the following page, which costs the same at any depth',
    query: z.object({ ...place, ...ownFilters }),
    reply: listed,
  },
  'GET /api/log/stat': {
    access: 'admin',
    summary: 'Quota within the filter, requests and tokens of the last minute',
    query: z.object(allFilters),
    reply: logStatistics,
  },
  'GET /api/log/self/stat': {
    access: 'user',
    roles: organisationAccess.insiders,
    summary: 'Own quota within the filter, requests and tokens of the last minute',
    query: z.object(ownFilters),
    reply: logStatistics,
  },
  'GET /api/log/histogram': {
    access: 'admin',
    summary: 'Answered and failed calls within the filter by time, in about 100 buckets',
    query: z.object({ ...allFilters, ...offset }),
    reply: logHistogram,
  },
  'GET /api/log/self/histogram': {
    access: 'user',
    roles: organisationAccess.insiders,
    summary: 'Own answered and failed calls within the filter by time, in about 100 buckets',
    query: z.object({ ...ownFilters, ...offset }),
    reply: logHistogram,
  },
  'GET /api/log/search': {
    access: 'admin',
    summary: 'Search the newest 100 logs whose content begins with the keyword',
    query: z.object({ keyword: queryText }),
    reply: z.array(log),
  },
  'GET /api/log/self/search': {
    access: 'user',
    roles: organisationAccess.managers,
    summary: 'Search the newest 100 own logs whose content begins with the keyword',
    query: z.object({ keyword: queryText }),
    reply: z.array(log),
  },
  'GET /api/log/export.csv': {
    access: 'admin',
    summary:
      'Export logs of all users as CSV, newest first, with times of the given zone; `columns` names those that the file has, all without it',
    query: z.object({ ...allFilters, ...zone, columns: queryText }),
    reply: z.string(),
    text: csv,
  },
  'GET /api/log/export.jsonl': {
    access: 'admin',
    summary: 'Export logs of all users as one JSON object per line, newest first, with times of the given zone',
    query: z.object({ ...allFilters, ...zone }),
    reply: z.string(),
    text: jsonl,
  },
  'GET /api/log/self/export.csv': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary:
      'Export own logs as CSV, newest first, with times of the given zone; `columns` names those that the file has, all without it',
    query: z.object({ ...ownFilters, ...zone, columns: queryText }),
    reply: z.string(),
    text: csv,
  },
  'GET /api/log/self/export.jsonl': {
    access: 'user',
    roles: organisationAccess.logReaders,
    summary: 'Export own logs as one JSON object per line, newest first, with times of the given zone',
    query: z.object({ ...ownFilters, ...zone }),
    reply: z.string(),
    text: jsonl,
  },
})
