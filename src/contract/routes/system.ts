import { z } from 'zod'
import { siteCostSum } from '../entities/site-cost.ts'
import { auditRow, auditSorts, auditState, firstRun, job, release, systemInfo } from '../entities/system.ts'
import { oneBasedPage, page, queryInt, querySort, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const auditFilters = {
  action: queryText,
  target: queryText,
  actor: queryText,
  start_timestamp: queryInt,
  end_timestamp: queryInt,
}

export const systemRoutes = routes({
  'GET /api/audit/': {
    access: 'root',
    summary:
      'Administrative acts, newest first unless sort says otherwise: who did what to whom, when, from where, what it was before and after',
    query: z.object({ ...oneBasedPage, ...auditFilters, sort: querySort(auditSorts) }),
    reply: page(auditRow),
  },
  'GET /api/audit/export.csv': {
    access: 'root',
    summary: 'The administrative acts that match, as CSV, newest first, with times of the zone that is named',
    query: z.object({ ...auditFilters, time_zone: queryText }),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'audit.csv' },
  },
  'POST /api/audit/verify': {
    access: 'root',
    summary: 'Follow the chain of the audit log: answers where it is broken, if it is',
    limit: 'critical',
    reply: auditState,
  },
  'GET /api/job/': { access: 'admin', summary: 'Scheduled work with its last result or how far it is', reply: z.array(job) },
  'POST /api/job/:name/run': {
    access: 'admin',
    summary: 'Start a job out of turn',
    params: z.object({ name: z.string().max(100) }),
    reply: z.null(),
  },
  'GET /api/system/': { access: 'admin', summary: 'The installation: version, database, nodes', reply: systemInfo },
  'GET /api/system/site_cost': {
    access: 'admin',
    summary: 'What upstreams billed for requests that nobody was charged for, by reason and channel: 24 hours, 30 days, all time',
    reply: z.array(siteCostSum),
  },
  'GET /api/system/first_run': {
    access: 'admin',
    summary: 'How far a new installation is: whether there is a channel, a token of the caller, a call that was charged',
    reply: firstRun,
  },
  'GET /api/system/update': {
    access: 'admin',
    summary: 'Ask the release feed for the latest version',
    limit: 'critical',
    reply: release,
  },
})
