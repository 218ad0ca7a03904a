import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { csvText } from '../../../contract/csv.ts'
import { logType } from '../../../contract/entities/log.ts'
import {
  type OrganisationUsage,
  otherUsage,
  type UsageRow,
  type UsageSide,
} from '../../../contract/entities/organisation-usage.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type Membership, managesAll, reachOf } from './membership.ts'

/** What the calls of an organisation have cost, by team, member, token or model: the place is that of the token when it was charged. */

interface Asked {
  /** Unix seconds: the first, and the one after the last; 0 for 30 days, and for now. */
  readonly from: number
  readonly to: number
  readonly by: UsageSide
}

const daySeconds = 86_400
const usualDays = 30
const daysMax = 366
/** Rows of their own in a reply; a file has all. */
const rowsShownMax = 200

/**
 * The sums that the caller may see: all, or for a member those of the own tokens and of the teams that the member manages. One statement
 * reads them, so that the costs add up to the charges and refunds of the ledger, to the unit. Throws `data_span_too_long`.
 */
export async function organisationUsage(core: Core, membership: Membership, asked: Asked): Promise<OrganisationUsage> {
  const to = asked.to || seconds(core.now()) + 1
  const from = asked.from || Math.max(0, to - usualDays * daySeconds)
  if (to - from > daysMax * daySeconds) fail('data_span_too_long', { days: daysMax })
  const rows = await readRows(core, membership, { from, to, by: asked.by })
  return { from, to, rows, total: sumOf(rows) }
}

/** The costliest rows, and one for all others. */
export function shortened({ rows, ...usage }: OrganisationUsage): OrganisationUsage {
  if (rows.length <= rowsShownMax) return { ...usage, rows }
  const others = { key: otherUsage, name: '', ...sumOf(rows.slice(rowsShownMax - 1)) }
  return { ...usage, rows: [...rows.slice(0, rowsShownMax - 1), others] }
}

/** All rows, each with its cost in units. */
export function usageCsv({ rows }: OrganisationUsage): string {
  return csvText([
    ['key', 'name', 'calls', 'failed', 'input_tokens', 'output_tokens', 'cost'],
    ...rows.map(({ key, name, calls, failed, input_tokens: input, output_tokens: output, cost }) => {
      return [key, name, calls, failed, input, output, cost]
    }),
  ])
}

function sumOf(rows: readonly UsageRow[]): OrganisationUsage['total'] {
  const sum = (figure: keyof OrganisationUsage['total']) => rows.reduce((total, row) => total + row[figure], 0)
  return {
    calls: sum('calls'),
    failed: sum('failed'),
    input_tokens: sum('input_tokens'),
    output_tokens: sum('output_tokens'),
    cost: sum('cost'),
  }
}

/** `charge:` and `refund:` are before the id of the request. */
const idFrom = sql.lit('charge:'.length + 1)

/**
 * Charges and refunds of the ledger, a refund with token and time of its charge, and calls of the log, which alone has tokens of text and
 * failures. Types are literal, for the partial indexes of the log.
 */
async function readRows(core: Core, membership: Membership, { from, to, by }: Asked): Promise<UsageRow[]> {
  const userId = membership.payer.id
  const { key, name } = sides[by]
  const { rows } = await sql<Record<keyof UsageRow, string | number | null>>`
    select key, ${name} as name, calls, failed, input_tokens, output_tokens, cost from (
      select ${key} as key, sum(calls) as calls, sum(failed) as failed, sum(cost) as cost,
        sum(input_tokens) as input_tokens, sum(output_tokens) as output_tokens
      from (
        select coalesce(charged.token_id, ledger.token_id) as token_id, coalesce(charged.created_at, ledger.created_at) as at,
          ${by === 'model' ? modelOfCharge : sql`''`} as model,
          case when ledger.kind = 'charge' then 1 else 0 end as calls, 0 as failed,
          0 as input_tokens, 0 as output_tokens, -ledger.amount as cost
        from ledger left join ledger as charged
          on ledger.kind = 'refund' and charged.reference = 'charge:' || substr(ledger.reference, ${idFrom})
        where ledger.user_id = ${userId} and ledger.created_at >= ${from} and ledger.created_at < ${to}
          and (ledger.kind = 'charge' or charged.id is not null)
        union all
        select token_id, created_at as at, model_name as model, 0 as calls,
          case when type = ${sql.lit(logType.error)} then 1 else 0 end as failed,
          prompt_tokens as input_tokens, completion_tokens as output_tokens, 0 as cost
        from logs where user_id = ${userId} and created_at >= ${from} and created_at < ${to}
          and type in (${sql.lit(logType.consume)}, ${sql.lit(logType.error)})
      ) as moves
      where ${await withinReach(core, membership)}
      group by key
    ) as sums
    order by cost desc, calls desc, key`.execute(core.db)
  return rows.map((row) => ({
    ...{ key: String(row.key), name: String(row.name ?? '') },
    ...{ calls: Number(row.calls), failed: Number(row.failed), cost: Number(row.cost) },
    ...{ input_tokens: Number(row.input_tokens), output_tokens: Number(row.output_tokens) },
  }))
}

/** A purged row has no model. */
const modelOfCharge = sql`coalesce((
  select model_name from logs
  where logs.user_id = ledger.user_id and logs.created_at = coalesce(charged.created_at, ledger.created_at)
    and logs.type = ${sql.lit(logType.consume)} and logs.request_id = substr(ledger.reference, ${idFrom})
  limit 1
), '')`

/** Where the token of a row was at its time; 0 for none. */
const placed = (column: 'team_id' | 'member_id') => sql<number>`coalesce((
  select ${sql.ref(`token_places.${column}`)} from token_places
  where token_places.token_id = moves.token_id and token_places.since <= moves.at
  order by token_places.since desc limit 1
), 0)`

const sides: Readonly<Record<UsageSide, { readonly key: RawBuilder<unknown>; readonly name: RawBuilder<unknown> }>> = {
  team: { key: placed('team_id'), name: sql`(select name from organisation_teams where id = sums.key)` },
  member: {
    key: placed('member_id'),
    name: sql`(
      select users.username from organisation_members join users on users.id = organisation_members.user_id
      where organisation_members.id = sums.key
    )`,
  },
  token: { key: sql`moves.token_id`, name: sql`(select name from tokens where id = sums.key)` },
  model: { key: sql`moves.model`, name: sql`sums.key` },
}

async function withinReach({ db }: Core, membership: Membership): Promise<RawBuilder<SqlBool>> {
  if (managesAll(membership) || membership.role === 'billing') return sql<SqlBool>`1 = 1`
  const { memberId, teamIds } = await reachOf(db, membership)
  const own = sql<SqlBool>`${placed('member_id')} = ${memberId}`
  return teamIds.length === 0 ? own : sql<SqlBool>`(${own} or ${placed('team_id')} in (${sql.join(teamIds)}))`
}
