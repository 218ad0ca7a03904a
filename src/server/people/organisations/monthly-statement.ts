import { sql } from 'kysely'
import { csvText } from '../../../contract/csv.ts'
import { logType } from '../../../contract/entities/log.ts'
import type { MonthlyStatement } from '../../../contract/entities/monthly-statement.ts'
import type { Queries } from '../../base/db/open.ts'
import { spanOf } from '../../base/lib/time/calendar.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'

/** What a month has changed of a balance: that of an organisation by teams, as they were when a call was charged. */

interface Asked {
  readonly userId: number
  /** `2026-11`; '' for the current one. */
  readonly month: string
}

/** Fifteen days into a month it is that month in every time zone. */
const middleDay = 15

/**
 * The statement of a month, in the time zone of the site. One statement reads all of it, so that opening balance and changes add up to the
 * closing balance, and to the ledger, to the unit.
 */
export async function monthlyStatement(core: Core, { userId, month }: Asked): Promise<MonthlyStatement> {
  const time_zone = core.options.current.SiteTimeZone || 'UTC'
  const at = month === '' ? seconds(core.now()) : Date.parse(`${month}-${middleDay}T00:00:00Z`) / 1000
  const { start, end } = spanOf('month', time_zone, at)
  const rows = await sumsOf(core.db, { userId, start, end })
  const teams = await namesOf(core.db, userId)
  const sum = (amounts: readonly { readonly amount: number }[]) => amounts.reduce((total, { amount }) => total + amount, 0)
  const charges = rows.filter(({ kind }) => kind === 'charge')
  return {
    // Some days into the month the date has the same month in UTC.
    month: new Date((start + middleDay * 86_400) * 1000).toISOString().slice(0, 7),
    ...{ from: start, to: end, time_zone },
    opening: sum(rows.filter(({ kind }) => kind === '')),
    credits: rows
      .filter(({ kind }) => kind !== '' && kind !== 'charge')
      .map(({ kind, count, amount }) => ({ kind, count, amount })),
    charges: charges
      .map(({ team_id, model, count, amount }) => ({ team_id, team: teams.get(team_id) ?? '', model, count, amount }))
      .sort((one, other) => one.team.localeCompare(other.team) || one.amount - other.amount),
    closing: sum(rows),
  }
}

interface SumRow {
  /** Of the ledger; '' for all before the month. */
  readonly kind: string
  readonly team_id: number
  readonly model: string
  readonly count: number
  readonly amount: number
}

/** Model and team are those of the log row and of the place of the token when it was charged; a purged row has no model. */
async function sumsOf(db: Queries, { userId, start, end }: { userId: number; start: number; end: number }): Promise<SumRow[]> {
  const ofMonth = sql`ledger.kind = 'charge' and ledger.created_at >= ${start}`
  const { rows } = await sql<SumRow>`
    select kind, team_id, model, count(*) as count, sum(amount) as amount from (
      select ledger.amount,
        case when ledger.created_at < ${start} then '' else ledger.kind end as kind,
        case when ${ofMonth} then coalesce((
          select team_id from token_places
          where token_places.token_id = ledger.token_id and token_places.since <= ledger.created_at
          order by token_places.since desc limit 1
        ), 0) else 0 end as team_id,
        case when ${ofMonth} then coalesce((
          select model_name from logs
          where logs.user_id = ledger.user_id and logs.created_at = ledger.created_at
            and logs.type = ${sql.lit(logType.consume)} and logs.request_id = substr(ledger.reference, ${sql.lit(prefix + 1)})
          limit 1
        ), '') else '' end as model
      from ledger where ledger.user_id = ${userId} and ledger.created_at < ${end}
    ) as changes
    group by kind, team_id, model
    order by kind, team_id, model`.execute(db)
  return rows.map((row) => ({
    ...{ kind: row.kind, model: row.model },
    ...{ team_id: Number(row.team_id), count: Number(row.count), amount: Number(row.amount) },
  }))
}

const prefix = 'charge:'.length

/** Closed ones too. */
async function namesOf(db: Queries, organisationId: number): Promise<Map<number, string>> {
  const found = db.selectFrom('organisation_teams').select(['id', 'name']).where('organisation_id', '=', organisationId)
  return new Map((await found.execute()).map(({ id, name }) => [id, name]))
}

/** The lines of a statement in their order, each with its amount in units. */
export function* statementLines({ month, opening, credits, charges, closing }: MonthlyStatement): Generator<string> {
  yield csvText([
    ['month', 'line', 'team', 'model', 'count', 'amount'],
    [month, 'opening', '', '', '', opening],
    ...credits.map(({ kind, count, amount }) => [month, kind, '', '', count, amount]),
    ...charges.map(({ team, model, count, amount }) => [month, 'charge', team, model, count, amount]),
    [month, 'closing', '', '', '', closing],
  ])
}
