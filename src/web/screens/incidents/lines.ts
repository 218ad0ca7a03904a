import type { ReadLine } from '../../lib/query.ts'

/** The queries that a change of an incident makes stale. */
export const incidentLines: readonly ReadLine[] = ['GET /api/incident/', 'GET /api/status_page/']
