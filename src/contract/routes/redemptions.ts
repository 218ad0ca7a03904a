import { z } from 'zod'
import { redemption, redemptionCountMax, redemptionInput, redemptionSorts, redemptionStatus } from '../entities/redemption.ts'
import { idParams, longPageSize, oneBasedPage, page, queryFlag, queryInt, querySort, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const status = z.union([z.literal(redemptionStatus.unused), z.literal(redemptionStatus.disabled)])
const id = z.int().positive()
/** `status` is one of `redemptionFilters`, or 0 for all. */
const filters = { keyword: queryText, status: queryInt }

export const redemptionRoutes = routes({
  'GET /api/redemption/': {
    access: 'admin',
    summary: 'List redemption codes, newest first',
    query: z.object({ ...oneBasedPage, page_size: longPageSize }),
    reply: page(redemption),
  },
  'GET /api/redemption/search': {
    access: 'admin',
    summary: 'Search redemption codes by prefix of the name, by id or by the whole code, and by status; newest first by default',
    query: z.object({ ...filters, sort: querySort(redemptionSorts), ...oneBasedPage, page_size: longPageSize }),
    reply: page(redemption),
  },
  'GET /api/redemption/export.csv': {
    access: 'admin',
    summary: 'Export matching redemption codes as CSV, newest first; recorded in the audit log',
    query: z.object(filters),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'redemption-codes.csv' },
  },
  'GET /api/redemption/:id': { access: 'admin', summary: 'Get a redemption code', params: idParams, reply: redemption },
  'POST /api/redemption/': {
    access: 'admin',
    summary: 'Create up to 100 redemption codes, all or none; returns the codes',
    body: redemptionInput.extend({ count: z.int().min(1).max(redemptionCountMax).default(1) }),
    reply: z.array(z.string()),
  },
  'PUT /api/redemption/': {
    access: 'admin',
    summary: 'Update name, quota and expiry of an unused code; with status_only enable or disable it',
    query: z.object({ status_only: queryFlag.optional() }),
    // A change of only the status contains no members except id and status.
    body: redemptionInput.partial().extend({ id, status: status.optional().catch(undefined) }),
    reply: redemption,
  },
  'POST /api/redemption/batch': {
    access: 'admin',
    summary: 'Enable, disable or delete several redemption codes; used ones can only be deleted; returns the number changed',
    body: z.object({ ids: z.array(id).min(1).max(1000), action: z.enum(['enable', 'disable', 'delete']) }),
    reply: z.int(),
  },
  'DELETE /api/redemption/invalid': {
    access: 'admin',
    summary: 'Delete all used, disabled and expired codes; returns their number',
    reply: z.int(),
  },
  'DELETE /api/redemption/:id': { access: 'admin', summary: 'Delete a redemption code', params: idParams, reply: z.null() },
})
