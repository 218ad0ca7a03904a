import type { AdminTopUp, TopUp } from '../../contract/entities/top-up.ts'
import type { PageOf } from '../db/page.ts'
import type { Row } from '../db/schema.ts'
import type { Core } from '../options/core.ts'

/** A user's own orders, newest first, or the one with the number. */
export async function listOwnTopUps(core: Core, { userId, tradeNo, page }: { userId: number; tradeNo: string; page: PageOf }) {
  const matching = core.db
    .selectFrom('top_ups')
    .where('user_id', '=', userId)
    .$if(tradeNo !== '', (query) => query.where('trade_no', '=', tradeNo))
  const rows = await matching.selectAll().orderBy('id', 'desc').offset(page.offset).limit(page.limit).execute()
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { items: rows.map(presentTopUp), total }
}

export interface TopUpFilter {
  /** The order's number, one of the provider's, a user's id or name; '' for all. */
  readonly keyword: string
  readonly status: string
  readonly provider: string
}

/** Orders of everybody for admins, newest first. */
export async function listTopUps(core: Core, { filter, page }: { filter: TopUpFilter; page: PageOf }) {
  const { keyword, status, provider } = filter
  const matching = withNames(core)
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
  const rows = await matching
    .selectAll('top_ups')
    .select('users.username')
    .orderBy('top_ups.id', 'desc')
    .offset(page.offset)
    .limit(page.limit)
    .execute()
  const { total } = await matching.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  return { items: rows.map(presentForAdmins), total }
}

export async function findTopUp(core: Core, id: number): Promise<AdminTopUp | undefined> {
  const row = await withNames(core).selectAll('top_ups').select('users.username').where('top_ups.id', '=', id).executeTakeFirst()
  return row && presentForAdmins(row)
}

function withNames({ db }: Core) {
  return db.selectFrom('top_ups').leftJoin('users', 'users.id', 'top_ups.user_id')
}

function presentForAdmins({ username, ...row }: Row<'top_ups'> & { username: string | null }): AdminTopUp {
  const { provider_id, payment_id } = row
  return { ...presentTopUp(row), username: username ?? '', provider_id, payment_id }
}

function presentTopUp({ provider_id: _provider, payment_id: _payment, ...row }: Row<'top_ups'>): TopUp {
  return row
}
