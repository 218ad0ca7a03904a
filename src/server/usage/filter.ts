import { type Expression, type ExpressionBuilder, expressionBuilder, type SqlBool, sql } from 'kysely'
import { logType } from '../../contract/entities/log.ts'
import type { Queries } from '../base/db/open.ts'
import type { Tables } from '../base/db/schema.ts'
import { lastImportedLogId } from './imported-logs.ts'

/** Filters of the log; 0, '' and absent mean any. Times are inclusive unix seconds. */
export interface LogFilter {
  readonly userId?: number
  readonly type?: number
  readonly start_timestamp?: number
  readonly end_timestamp?: number
  /** The user who has this name now, regardless of the name in the row. */
  readonly username?: string
  readonly token_name?: string
  /** The id of a token, to distinguish tokens of the same name. */
  readonly tokenId?: number
  /** Only calls with one of these tokens. */
  readonly tokenIds?: readonly number[]
  /** Exact, or a pattern when it contains `%` for any characters; letter case is ignored in a pattern. */
  readonly model_name?: string
  readonly channel?: number
  readonly group?: string
  readonly request_id?: string
  /** Charges for which the site bore a part for this reason, a `SiteCostReason`. */
  readonly site_cost?: string
  /** Failed calls whose caller got this status, or this code. */
  readonly status?: number
  readonly code?: string
}

/** A filter with stored names instead of typed ones, and with the narrowest known time range. */
export type ResolvedFilter = Omit<LogFilter, 'username' | 'model_name'> & {
  readonly models?: readonly string[]
  /** Only rows that were imported. */
  readonly isImported?: true
}

/**
 * Resolves filters to indexed columns: a user's name to the id, a request to the user and the moment of its charge. Undefined when
 * nothing can match.
 */
export async function resolveFilter(
  db: Queries,
  { username, model_name, ...filter }: LogFilter,
): Promise<ResolvedFilter | undefined> {
  let resolved: ResolvedFilter = filter
  if (filter.status || filter.code) {
    if (filter.type && filter.type !== logType.error) return undefined
    resolved = { ...resolved, type: logType.error }
  }
  if (model_name) {
    const models = model_name.includes('%') ? await modelsLike(db, model_name) : [model_name]
    if (models.length === 0) return undefined
    resolved = { ...resolved, models }
  }
  if (username) {
    const user = await db.selectFrom('users').select('id').where('username', '=', username).executeTakeFirst()
    if (!user || (filter.userId && filter.userId !== user.id)) return undefined
    resolved = { ...resolved, userId: user.id }
  }
  return filter.request_id ? aroundRequest(db, resolved, filter.request_id) : resolved
}

/** The condition of a filter, for the `where` of a query over `logs`. */
export function matching(filter: ResolvedFilter) {
  return (eb: ExpressionBuilder<Tables, 'logs'>): Expression<SqlBool> =>
    eb.and([
      ...comparisons('logs', columnsOfLog, filter),
      ...(filter.type ? [ofType(eb, filter.type)] : []),
      ...(filter.isImported ? [eb('logs.id', '<=', lastImportedLogId)] : []),
    ])
}

/** The condition of a filter on hour buckets, which have neither tokens nor requests, and only whole hours. */
export function matchingHours(filter: ResolvedFilter) {
  return (eb: ExpressionBuilder<Tables, 'quota_data'>): Expression<SqlBool> =>
    eb.and(comparisons('quota_data', columnsOfBoth, filter))
}

/** A filter, and the column that it is compared with. */
type Comparison = readonly [filter: keyof ResolvedFilter, column: keyof Tables['logs'], operator: '=' | '>=' | '<=' | 'in']

const columnsOfBoth = [
  ['userId', 'user_id', '='],
  ['start_timestamp', 'created_at', '>='],
  ['end_timestamp', 'created_at', '<='],
  ['models', 'model_name', 'in'],
  ['channel', 'channel_id', '='],
  ['group', 'group', '='],
] as const satisfies readonly (Comparison & readonly [unknown, keyof Tables['quota_data'], unknown])[]

const columnsOfLog: readonly Comparison[] = [
  ...columnsOfBoth,
  ['tokenId', 'token_id', '='],
  ['tokenIds', 'token_id', 'in'],
  ['token_name', 'token_name', '='],
  ['request_id', 'request_id', '='],
  ['status', 'error_status', '='],
  ['code', 'error_code', '='],
]

function comparisons(
  table: 'logs' | 'quota_data',
  columns: readonly Comparison[],
  filter: ResolvedFilter,
): Expression<SqlBool>[] {
  const eb = expressionBuilder<Tables, 'logs' | 'quota_data'>()
  return columns.flatMap(([name, column, operator]) =>
    filter[name] ? [eb(sql.ref(`${table}.${column}`), operator, filter[name])] : [],
  )
}

/**
 * Written literally, as in the conditions of the partial indexes on rows without a charge: databases do not match parameters with
 * these.
 */
function ofType(eb: ExpressionBuilder<Tables, 'logs'>, type: number): Expression<SqlBool> {
  if (type === logType.error) return eb('logs.type', '=', eb.lit(logType.error))
  const equal = eb('logs.type', '=', type)
  return type === logType.consume ? equal : eb.and([equal, eb('logs.type', '<>', eb.lit(logType.consume))])
}

/** Models that were ever charged and match the pattern. The query skips from one name to the next. */
async function modelsLike(db: Queries, pattern: string): Promise<string[]> {
  const literal = pattern.replace(/[\\_]/g, (sign) => `\\${sign}`)
  const { rows } = await sql<{ name: string }>`
    with recursive names (name) as (
      select min(model_name) from quota_data
      union all
      select (select min(model_name) from quota_data where model_name > names.name) from names where name is not null
    )
    select name from names where name is not null and lower(name) like lower(${literal}) escape '\\' limit ${modelsMax}
  `.execute(db)
  return rows.map(({ name }) => name)
}

const modelsMax = 2000
const daySeconds = 86_400
/** A row and its charge are in one commit, but their times were read separately. */
const chargeSlackSeconds = 60

/**
 * The charge of a request names its user and its time, as does the row of a failed call. Any other row is looked up by the id,
 * which begins with the UTC time of arrival (`lib/ids`): a day on either side covers clocks that differ and long requests. Only imported
 * rows have ids of another form.
 */
async function aroundRequest(db: Queries, filter: ResolvedFilter, requestId: string): Promise<ResolvedFilter | undefined> {
  const charge = await db
    .selectFrom('ledger')
    .select(['user_id', 'created_at'])
    .where('reference', '=', `charge:${requestId}`)
    .executeTakeFirst()
  if (charge) {
    if (filter.userId && filter.userId !== charge.user_id) return undefined
    return narrowed({ ...filter, userId: charge.user_id }, charge.created_at, chargeSlackSeconds)
  }
  const failed = await db
    .selectFrom('logs')
    .select(['user_id', 'created_at'])
    .where('request_id', '=', requestId)
    .where((eb) => eb('type', '=', eb.lit(logType.error)))
    .executeTakeFirst()
  if (failed) {
    if (filter.userId && filter.userId !== failed.user_id) return undefined
    return narrowed({ ...filter, userId: failed.user_id }, failed.created_at, chargeSlackSeconds)
  }
  const arrived = arrivalOf(requestId)
  if (arrived !== undefined) return narrowed(filter, arrived, daySeconds)
  const imported = await db.selectFrom('logs').select('id').where('id', '<=', lastImportedLogId).limit(1).executeTakeFirst()
  return imported && { ...filter, isImported: true }
}

function arrivalOf(requestId: string): number | undefined {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d{3}\w{12}$/.exec(requestId) ?? []
  const arrived = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) / 1000
  return Number.isNaN(arrived) ? undefined : arrived
}

function narrowed(filter: ResolvedFilter, at: number, slackSeconds: number): ResolvedFilter {
  const { start_timestamp: start = 0, end_timestamp: end = 0 } = filter
  return {
    ...filter,
    start_timestamp: Math.max(start, at - slackSeconds),
    end_timestamp: Math.min(end || Number.MAX_SAFE_INTEGER, at + slackSeconds),
  }
}
