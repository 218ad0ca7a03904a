import type { ReadLine } from '../../lib/query.ts'

/** What shows incidents. */
export const incidentLines: readonly ReadLine[] = ['GET /api/incident/', 'GET /api/status_page/']
