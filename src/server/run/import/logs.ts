import { sql } from 'kysely'
import { logType } from '../../../contract/entities/log.ts'
import type { Within } from '../../base/db/open.ts'
import type { NewRow } from '../../base/db/schema.ts'
import { importedLogId } from '../../usage/imported-logs.ts'
import { hourSeconds } from '../../usage/sums/hours.ts'
import { type Import, mappedIds } from './context.ts'
import { addFinding, type TableReport } from './report.ts'
import { Refused, type SourceRow } from './source-row.ts'

type LogRow = NewRow<'logs'> & { readonly id: number }

/** Failed calls of other programs name channels in a text that owners can read, so they become system rows. */
const types: ReadonlySet<number> = new Set(Object.values(logType).filter((type) => type !== logType.error))

/**
 * Imports a page of log rows, leaving out those that an earlier run imported, and adds the new rows to the hourly sums in the same transaction.
 * Idempotent.
 */
export async function takeLogs(run: Import, within: Within, rows: readonly SourceRow[], table: TableReport): Promise<void> {
  table.read += rows.length
  const numbered = rows.flatMap((row) => {
    const id = importedLogId(run.id, row.id)
    if (id !== undefined) return [{ id, row }]
    table.refused++
    addFinding(table, 'refused', { what: 'its id is below 1 or too large' }, row.id)
    return []
  })
  const [first, last] = [numbered[0], numbered.at(-1)]
  if (!first || !last) return
  const known = await within.selectFrom('logs').select('id').where('id', '>=', first.id).where('id', '<=', last.id).execute()
  const here = new Set(known.map(({ id }) => id))
  const fresh = numbered.filter(({ id }) => !here.has(id))
  table.same += numbered.length - fresh.length
  if (fresh.length === 0) return

  const idsIn = (column: string) => fresh.map(({ row }) => Number(row.integer(column)))
  const users = await mappedIds(within, run.id, 'users', idsIn('user_id'))
  const tokens = await mappedIds(within, run.id, 'tokens', idsIn('token_id'))
  const channels = await mappedIds(within, run.id, 'channels', idsIn('channel_id'))
  const values: LogRow[] = []
  for (const { id, row } of fresh) {
    try {
      values.push({ id, ...columnsOf(row, { users, tokens, channels }) })
      table.taken++
      table.nulls += row.nulls
      if (row.changes.length > 0) table.changed++
      for (const change of row.changes) addFinding(table, 'changed', change, row.id)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      table.refused++
      addFinding(table, 'refused', { what: error.message }, row.id)
    }
  }
  if (values.length === 0) return
  await within.insertInto('logs').values(values).execute()
  await addHours(within, values)
}

type Maps = Readonly<Record<'users' | 'tokens' | 'channels', ReadonlyMap<number, number>>>

function columnsOf(row: SourceRow, { users, tokens, channels }: Maps) {
  const user_id = users.get(row.integer('user_id'))
  if (user_id === undefined) throw new Refused('its user was not imported')
  const given = row.integer('type')
  if (!types.has(given)) row.change('unknown log type: imported as a system row', String(given))
  return {
    user_id,
    created_at: row.integer('created_at'),
    type: types.has(given) ? given : logType.system,
    content: row.text('content'),
    username: row.text('username'),
    token_id: tokens.get(row.integer('token_id')) ?? 0,
    token_name: row.text('token_name'),
    model_name: row.text('model_name'),
    quota: row.integer('quota'),
    prompt_tokens: row.integer('prompt_tokens'),
    completion_tokens: row.integer('completion_tokens'),
    // one-api stores milliseconds.
    use_time: row.has('elapsed_time') ? Math.ceil(row.integer('elapsed_time') / 1000) : row.integer('use_time'),
    is_stream: row.flag('is_stream'),
    channel_id: channels.get(row.integer('channel_id')) ?? 0,
    group: row.text('group'),
    request_id: row.text('request_id'),
    other: row.text('other'),
  }
}

/** Adds rows to the hourly sums of charges, from which lists and statistics are made. */
async function addHours(within: Within, rows: readonly LogRow[]): Promise<void> {
  const buckets = new Map<string, NewRow<'quota_data'>>()
  for (const row of rows) {
    if (row.type !== logType.consume) continue
    const { user_id, username = '', model_name = '', channel_id = 0, group = '', quota = 0 } = row
    const created_at = row.created_at - (row.created_at % hourSeconds)
    const token_used = (row.prompt_tokens ?? 0) + (row.completion_tokens ?? 0)
    const key = JSON.stringify([created_at, user_id, model_name, channel_id, group])
    const bucket = buckets.get(key)
    buckets.set(
      key,
      bucket
        ? { ...bucket, token_used: bucket.token_used + token_used, count: bucket.count + 1, quota: bucket.quota + quota }
        : { created_at, user_id, username, model_name, channel_id, group, token_used, count: 1, quota },
    )
  }
  if (buckets.size === 0) return
  const sum = (column: 'token_used' | 'count' | 'quota') =>
    sql<number>`${sql.ref(`quota_data.${column}`)} + ${sql.ref(`excluded.${column}`)}`
  await within
    .insertInto('quota_data')
    .values([...buckets.values()])
    .onConflict((conflict) =>
      conflict
        .columns(['created_at', 'user_id', 'model_name', 'channel_id', 'group'])
        .doUpdateSet({ token_used: sum('token_used'), count: sum('count'), quota: sum('quota') }),
    )
    .execute()
  await forgetRollup(within, Math.min(...[...buckets.values()].map(({ created_at }) => created_at)))
}

/** Deletes the rollup from an hour on. It is rebuilt from there, because it only proceeds forward. */
export async function forgetRollup(within: Within, since: number): Promise<void> {
  await within.deleteFrom('usage_hours').where('hour', '>=', since).execute()
}
