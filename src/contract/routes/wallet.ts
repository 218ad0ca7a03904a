import { z } from 'zod'
import { ledgerRow, ledgerSorts } from '../entities/ledger-row.ts'
import { monthlyStatement, monthPattern } from '../entities/monthly-statement.ts'
import { neededText, oneBasedPage, queryInt, querySort, queryText } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

/** This month without one. */
const month = z.object({ month: z.union([z.literal(''), z.string().regex(monthPattern)]).default('') })
const asked = { kind: queryText, sort: querySort(ledgerSorts) }

export const walletRoutes = routes({
  'POST /api/user/topup': {
    access: 'user',
    roles: organisationAccess.payers,
    summary: 'Redeem a code; returns the added units',
    body: z.object({ key: neededText(z.string().max(200).trim()) }),
    reply: z.int(),
    limit: 'money',
  },
  'POST /api/user/aff_transfer': {
    access: 'user',
    summary: 'Transfer units earned by invitations to the own balance; at least the quota of one US dollar',
    body: z.object({ quota: z.int() }),
    reply: z.null(),
    extra: z.object({ message: z.string() }),
  },
  'GET /api/user/self/statement': {
    access: 'user',
    roles: organisationAccess.accountants,
    summary:
      'Get what a month of the site’s time zone has changed of the own balance: opening, credits, charges by team and model, closing',
    query: month,
    reply: monthlyStatement,
  },
  'GET /api/user/self/statement.csv': {
    access: 'user',
    roles: organisationAccess.accountants,
    summary: 'The same as CSV, with amounts in units',
    query: month,
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'month.csv' },
  },
  'GET /api/user/self/ledger': {
    access: 'user',
    roles: organisationAccess.accountants,
    summary:
      'List the changes of the own balance, or those of a kind, newest first by default; `next` is the `before` of the following page, 0 at the end, and takes precedence over the page number',
    query: z.object({ ...asked, ...oneBasedPage, before: queryInt }),
    reply: z.object({ items: z.array(ledgerRow), next: z.int() }),
  },
  'GET /api/user/self/ledger.csv': {
    access: 'user',
    roles: organisationAccess.accountants,
    summary:
      'Export the changes of the own balance, or those of a kind, as CSV, oldest first by default, with times of the given zone',
    query: z.object({ ...asked, time_zone: queryText }),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'statement.csv' },
  },
})
