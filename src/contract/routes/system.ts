import { z } from 'zod'
import { siteCostSum } from '../entities/site-cost.ts'
import { auditRow, auditSorts, auditState, firstRun, job, release, storage, systemInfo } from '../entities/system.ts'
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
    summary: 'List audit entries, newest first by default: actor, action, target, time, address, and the values before and after',
    query: z.object({ ...oneBasedPage, ...auditFilters, sort: querySort(auditSorts) }),
    reply: page(auditRow),
  },
  'GET /api/audit/export.csv': {
    access: 'root',
    summary: 'Export matching audit entries as CSV, newest first, with times of the given zone',
    query: z.object({ ...auditFilters, time_zone: queryText }),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'audit.csv' },
  },
  'POST /api/audit/verify': {
    access: 'root',
    summary: 'Verify the chain of the audit log; returns the first broken row, if any',
    limit: 'critical',
    reply: auditState,
  },
  'GET /api/job/': { access: 'admin', summary: 'List scheduled jobs with their progress or last result', reply: z.array(job) },
  'POST /api/job/:name/run': {
    access: 'admin',
    summary: 'Start a job immediately',
    params: z.object({ name: z.string().max(100) }),
    reply: z.null(),
  },
  'GET /api/system/': { access: 'admin', summary: 'Get version, database and nodes of the installation', reply: systemInfo },
  'GET /api/system/site_cost': {
    access: 'admin',
    summary: 'Site costs by reason and channel: 24 hours, 30 days, all time',
    reply: z.array(siteCostSum),
  },
  'GET /api/system/storage': { access: 'admin', summary: 'Disk space of the database, by table', reply: storage },
  'GET /api/system/first_run': {
    access: 'admin',
    summary: 'Completed steps of a new installation: a channel, a token of the caller, a charged call',
    reply: firstRun,
  },
  'GET /api/system/update': {
    access: 'admin',
    summary: 'Get the latest version from the release feed',
    limit: 'critical',
    reply: release,
  },
})
