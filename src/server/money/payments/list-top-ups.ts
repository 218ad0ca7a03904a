import type { AdminTopUp, TopUp, TopUpSort } from '../../../contract/entities/top-up.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { inOrder, type PageOf, readPage } from '../../base/db/page.ts'
import type { Row } from '../../base/db/schema.ts'
import { type CsvColumn, csvFile } from '../../base/lib/bytes/csv.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordExport } from '../../base/options/record-export.ts'

interface TopUpFilter {
  /** The order's number, one of the provider's, a user's id or name; '' for all. */
  readonly keyword: string
  readonly status: string
  readonly provider: string
}

/** Users search their own orders by number only. */
interface OwnTopUpFilter extends Omit<TopUpFilter, 'provider'> {
  readonly userId: number
}

interface Listed {
  readonly page: PageOf
  /** Newest first when absent. */
  readonly sort?: SortBy<TopUpSort> | undefined
}

/** A page of a user's own orders and their number. */
export async function listOwnTopUps(core: Core, { filter, page, sort }: Listed & { filter: OwnTopUpFilter }) {
  const { rows, total } = await readPage(inOrder(ownTopUps(core, filter).selectAll(), 'top_ups', sort), page)
  return { items: rows.map(presentTopUp), total }
}

/** A page of the orders of everybody for admins, and their number. */
export async function listTopUps(core: Core, { filter, page, sort }: Listed & { filter: TopUpFilter }) {
  const { rows, total } = await readPage(inOrder(withUsers(allTopUps(core, filter)), 'top_ups', sort), page)
  return { items: rows.map(presentForAdmins), total }
}

const ownColumns: readonly CsvColumn<TopUp>[] = [
  ...(['trade_no', 'status', 'provider', 'method', 'quota', 'money_minor', 'currency'] as const),
  { name: 'created', time: (order) => order.created_time },
  { name: 'completed', time: (order) => order.completed_time },
]

/** A user's own orders that match, as CSV. */
export function exportOwnTopUps(core: Core, { filter, timeZone }: { filter: OwnTopUpFilter; timeZone: string }) {
  return csvFile({
    columns: ownColumns,
    timeZone,
    read: async (below, limit) => {
      const rows = await ownTopUps(core, filter).selectAll().where('id', '<', below).orderBy('id', 'desc').limit(limit).execute()
      return rows.map(presentTopUp)
    },
  })
}

const columns: readonly CsvColumn<AdminTopUp>[] = [
  'id',
  ...ownColumns,
  ...(['user_id', 'username', 'provider_id', 'payment_id', 'refunded_minor', 'dispute', 'withdrawn'] as const),
]

/** The matching orders as CSV. The export is recorded in the audit log. */
export async function* exportTopUps(
  core: Core,
  { filter, timeZone, caller }: { filter: TopUpFilter; timeZone: string; caller: Caller },
): AsyncGenerator<string> {
  await recordExport(core, caller, { action: 'top-up.export', target: 'top-ups', asked: filter })
  yield* csvFile({
    columns,
    timeZone,
    read: async (below, limit) => {
      const found = withUsers(allTopUps(core, filter)).where('top_ups.id', '<', below)
      const rows = await found.orderBy('top_ups.id', 'desc').limit(limit).execute()
      return rows.map(presentForAdmins)
    },
  })
}

export async function findTopUp(core: Core, id: number): Promise<AdminTopUp | undefined> {
  const row = await withUsers(joined(core)).where('top_ups.id', '=', id).executeTakeFirst()
  return row && presentForAdmins(row)
}

function ownTopUps({ db }: Core, { userId, keyword, status }: OwnTopUpFilter) {
  return db
    .selectFrom('top_ups')
    .where('user_id', '=', userId)
    .$if(keyword !== '', (query) => query.where('trade_no', '=', keyword))
    .$if(status !== '', (query) => query.where('status', '=', status))
}

function allTopUps(core: Core, { keyword, status, provider }: TopUpFilter) {
  return joined(core)
    .$if(keyword !== '', (query) =>
      query.where((eb) =>
        eb.or([
          eb('top_ups.trade_no', '=', keyword),
          eb('top_ups.provider_id', '=', keyword),
          eb('top_ups.payment_id', '=', keyword),
          eb('users.username', '=', keyword),
          ...(/^\d{1,15}$/.test(keyword) ? [eb('top_ups.user_id', '=', Number(keyword))] : []),
        ]),
      ),
    )
    .$if(status !== '', (query) => query.where('top_ups.status', '=', status))
    .$if(provider !== '', (query) => query.where('top_ups.provider', '=', provider))
}

const joined = ({ db }: Core) => db.selectFrom('top_ups').leftJoin('users', 'users.id', 'top_ups.user_id')
const withUsers = (query: ReturnType<typeof joined>) => query.selectAll('top_ups').select('users.username')

function presentForAdmins({ username, ...row }: Row<'top_ups'> & { username: string | null }): AdminTopUp {
  const { provider_id, payment_id } = row
  return { ...presentTopUp(row), username: username ?? '', provider_id, payment_id }
}

function presentTopUp({ provider_id: _provider, payment_id: _payment, ...row }: Row<'top_ups'>): TopUp {
  return row
}
