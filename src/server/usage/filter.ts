import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Tables } from '../db/schema.ts'

/** What logs are asked for; 0, '' and absent mean any. Times are inclusive unix seconds. */
export interface LogFilter {
  readonly userId?: number
  readonly type?: number
  readonly start_timestamp?: number
  readonly end_timestamp?: number
  readonly username?: string
  readonly token_name?: string
  /** Exact, or a pattern when it contains `%`, which then stands for any characters; letter case is ignored in a pattern. */
  readonly model_name?: string
  readonly channel?: number
  readonly group?: string
  readonly request_id?: string
}

/** The condition of a filter, for the `where` of a query over `logs`. */
export function matching(filter: LogFilter) {
  return (eb: ExpressionBuilder<Tables, 'logs'>): Expression<SqlBool> => {
    const all: Expression<SqlBool>[] = []
    if (filter.userId) all.push(eb('logs.user_id', '=', filter.userId))
    if (filter.type) all.push(eb('logs.type', '=', filter.type))
    if (filter.start_timestamp) all.push(eb('logs.created_at', '>=', filter.start_timestamp))
    if (filter.end_timestamp) all.push(eb('logs.created_at', '<=', filter.end_timestamp))
    if (filter.username) all.push(eb('logs.username', '=', filter.username))
    if (filter.token_name) all.push(eb('logs.token_name', '=', filter.token_name))
    if (filter.model_name?.includes('%')) all.push(likeModel(filter.model_name))
    else if (filter.model_name) all.push(eb('logs.model_name', '=', filter.model_name))
    if (filter.channel) all.push(eb('logs.channel_id', '=', filter.channel))
    if (filter.group) all.push(eb('logs.group', '=', filter.group))
    if (filter.request_id) all.push(eb('logs.request_id', '=', filter.request_id), ...aroundRequest(eb, filter.request_id))
    return eb.and(all)
  }
}

function likeModel(pattern: string): Expression<SqlBool> {
  const literal = pattern.replace(/[\\_]/g, (sign) => `\\${sign}`)
  return sql<SqlBool>`lower(logs.model_name) like lower(${literal}) escape '\\'`
}

const daySeconds = 86_400

/**
 * A request id begins with the UTC time of its arrival (`lib/ids`), so that the index over `created_at` finds its row. A day on either
 * side covers clocks that differ and requests that ran for long. Ids of another form are looked for everywhere.
 */
function aroundRequest(eb: ExpressionBuilder<Tables, 'logs'>, requestId: string): Expression<SqlBool>[] {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)\d{3}\w{12}$/.exec(requestId) ?? []
  const arrived = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) / 1000
  if (Number.isNaN(arrived)) return []
  return [eb('logs.created_at', '>=', arrived - daySeconds), eb('logs.created_at', '<=', arrived + daySeconds)]
}
