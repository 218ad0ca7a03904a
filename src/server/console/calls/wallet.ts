import type { Handlers } from '../../../contract/route.ts'
import type { walletRoutes } from '../../../contract/routes/wallet.ts'
import { oneBased } from '../../base/db/page.ts'
import { redeem } from '../../money/payments/redeem.ts'
import { listLedgerRows, statementCsv } from '../../money/payments/statement.ts'
import { transferEarned } from '../../money/payments/transfer.ts'
import { monthlyStatement, statementLines } from '../../people/organisations/monthly-statement.ts'
import { type Context, payerOf, payingCaller, requireCaller } from './context.ts'
import { runSearch } from './run-search.ts'

/** Compatible consoles show the message of a transfer unchanged. */
const transferred = { zh: '划转成功', en: 'Transfer successful' }

export const walletHandlers: Handlers<typeof walletRoutes, Context> = {
  'POST /api/user/topup': (context, { body }) => redeem(context.app, { key: body.key, caller: payingCaller(context) }),

  async 'POST /api/user/aff_transfer'(context, { body }) {
    await transferEarned(context.app, { amount: body.quota, caller: requireCaller(context) })
    return { data: null, extra: { message: transferred[context.language] } }
  },

  'GET /api/user/self/statement': (context, { query: { month } }) => statementOf(context, month),

  async *'GET /api/user/self/statement.csv'(context, { query: { month } }) {
    yield* statementLines(await statementOf(context, month))
  },

  'GET /api/user/self/ledger': (context, { query: { p, page_size, ...asked } }) =>
    listLedgerRows(context.app.db, { ...asked, userId: payerOf(context).id, page: oneBased(p, page_size) }),

  'GET /api/user/self/ledger.csv': (context, { query: { time_zone: timeZone, ...asked } }) =>
    statementCsv(context.app.db, { ...asked, userId: payerOf(context).id, timeZone }),
}

function statementOf(context: Context, month: string) {
  const asked = { userId: payerOf(context).id, month }
  return runSearch(context, asked, (core) => monthlyStatement(core, asked))
}
