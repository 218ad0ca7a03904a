import { type OrganisationCaller, organisationAccess } from '../../contract/organisation-roles.ts'
import type { AllRoutes, Line } from '../../contract/routes/index.ts'

/** The lines that an organisation can be named for in a header; those below its path name it there. */
type PayerLine = {
  [L in Line]: AllRoutes[L] extends { roles: readonly OrganisationCaller[] }
    ? L extends `${string} /api/organisation/:id${string}`
      ? never
      : L
    : never
}[Line]

const { accountants, callers, insiders, logReaders, managers, payers } = organisationAccess

/**
 * Who may make these calls for an organisation, as the routes declare it: the table of routes is no part of the console, and a line
 * that is missing here, or has other roles, does not compile.
 */
const payerLines: { readonly [L in PayerLine]: AllRoutes[L]['roles'] } = {
  'GET /api/token/': callers,
  'GET /api/token/search': callers,
  'GET /api/token/export.csv': callers,
  'GET /api/token/:id': callers,
  'POST /api/token/': callers,
  'PUT /api/token/': callers,
  'DELETE /api/token/:id': callers,
  'POST /api/token/:id/key': callers,
  'POST /api/token/:id/move': callers,
  'POST /api/token/batch': callers,
  'GET /api/log/self': logReaders,
  'GET /api/log/self/stat': insiders,
  'GET /api/log/self/histogram': insiders,
  'GET /api/log/self/search': managers,
  'GET /api/log/self/export.csv': logReaders,
  'GET /api/log/self/export.jsonl': logReaders,
  'GET /api/mj/self': logReaders,
  'GET /api/mj/self/export.csv': logReaders,
  'GET /api/task/self': logReaders,
  'GET /api/task/self/export.csv': logReaders,
  'GET /api/video/self': logReaders,
  'GET /api/video/self/export.csv': logReaders,
  'GET /api/data/self': accountants,
  'GET /api/data/self/sums': accountants,
  'GET /api/user/self/groups': insiders,
  'GET /api/user/models': insiders,
  'GET /api/user/model_ends': insiders,
  'GET /api/user/self/statement': accountants,
  'GET /api/user/self/statement.csv': accountants,
  'GET /api/user/self/ledger': accountants,
  'GET /api/user/self/ledger.csv': accountants,
  'POST /api/user/topup': payers,
  'GET /api/user/topup/info': payers,
  'POST /api/user/amount': payers,
  'POST /api/user/pay': payers,
  'GET /api/user/self/topups': payers,
  'GET /api/user/self/topups.csv': payers,
}

/** The roles that may make a call for an organisation; undefined for calls that are about the caller alone. */
export function rolesOf(line: string): readonly OrganisationCaller[] | undefined {
  return Object.hasOwn(payerLines, line) ? payerLines[line as PayerLine] : undefined
}
