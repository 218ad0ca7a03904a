import { z } from 'zod'
import { ledgerRow } from '../entities/ledger-row.ts'
import { neededText, oneBasedPage, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

export const walletRoutes = routes({
  'POST /api/user/topup': {
    access: 'user',
    summary: 'Redeem a code; answers the units that it added',
    body: z.object({ key: neededText(z.string().max(200).trim()) }),
    reply: z.int(),
    limit: 'money',
  },
  'POST /api/user/aff_transfer': {
    access: 'user',
    summary: 'Move units earned by invitations to the own balance; at least the quota of one US dollar',
    body: z.object({ quota: z.int() }),
    reply: z.null(),
    extra: z.object({ message: z.string() }),
  },
  'GET /api/user/self/ledger': {
    access: 'user',
    summary:
      'Every change of the own balance, or those of a kind, newest first; `next` is the `before` of the following page, 0 at the end, and comes before the number of the page',
    query: z.object({ ...oneBasedPage, before: queryInt, kind: queryText }),
    reply: z.object({ items: z.array(ledgerRow), next: z.int() }),
  },
  'GET /api/user/self/ledger.csv': {
    access: 'user',
    summary: 'Every change of the own balance as CSV, oldest first, with the balance after it',
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'statement.csv' },
  },
})
