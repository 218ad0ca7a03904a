import { logType } from '../../../contract/entities/log.ts'
import type { Within } from '../../base/db/open.ts'
import { importedLogIds } from '../../usage/imported-logs.ts'
import { hourSeconds } from '../../usage/sums/hours.ts'
import { type Import, mappedIds } from './context.ts'
import { forgetRollup } from './logs.ts'
import { addFinding, type TableReport } from './report.ts'
import { Refused, type SourceRow } from './source-row.ts'

interface Sums {
  readonly token_used: number
  readonly count: number
  readonly quota: number
}

/**
 * Imports a page of hourly sums. Of each sum it imports the part that the imported log rows do not cover, because those rows were
 * deleted or are older than `--logs-days`. Such sums have neither channel nor group, and are stored under the negative id of the
 * import. Idempotent.
 */
export async function takeHours(run: Import, within: Within, rows: readonly SourceRow[], table: TableReport): Promise<void> {
  const users = await mappedIds(
    within,
    run.id,
    'users',
    rows.map((row) => row.integer('user_id')),
  )
  for (const row of rows) {
    table.read++
    try {
      const user_id = users.get(row.integer('user_id'))
      if (user_id === undefined) throw new Refused('its user was not imported')
      await takeHour(run, within, { row, user_id, table })
      table.nulls += row.nulls
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      table.refused++
      addFinding(table, 'refused', { what: error.message }, row.id)
    }
  }
}

async function takeHour(
  run: Import,
  within: Within,
  { row, user_id, table }: { row: SourceRow; user_id: number; table: TableReport },
): Promise<void> {
  const at = row.integer('created_at')
  const created_at = at - (at % hourSeconds)
  const model_name = row.text('model_name')
  const place = { created_at, user_id, model_name, channel_id: -run.id, group: '' }
  const given = { token_used: row.integer('token_used'), count: row.integer('count'), quota: row.integer('quota') }
  const logged = await loggedSums(run, within, place)
  const rest = {
    token_used: Math.max(0, given.token_used - logged.token_used),
    count: Math.max(0, given.count - logged.count),
    quota: Math.max(0, given.quota - logged.quota),
  }

  const key = within
    .selectFrom('quota_data')
    .select(['token_used', 'count', 'quota'])
    .where((eb) => eb.and(place))
  const known = await key.executeTakeFirst()
  const isNothing = rest.token_used === 0 && rest.count === 0 && rest.quota === 0
  const isSame = known
    ? known.token_used === rest.token_used && known.count === rest.count && known.quota === rest.quota
    : isNothing
  if (isSame) {
    table.same++
    return
  }
  table.taken++
  await within
    .insertInto('quota_data')
    .values({ ...place, ...rest, username: row.text('username') })
    .onConflict((conflict) => conflict.columns(['created_at', 'user_id', 'model_name', 'channel_id', 'group']).doUpdateSet(rest))
    .execute()
  await forgetRollup(within, created_at)
}

async function loggedSums(
  run: Import,
  within: Within,
  { created_at, user_id, model_name }: { created_at: number; user_id: number; model_name: string },
): Promise<Sums> {
  const { floor, ceiling } = importedLogIds(run.id)
  return within
    .selectFrom('logs')
    .select(({ fn, eb, lit }) => [
      fn.countAll<number>().as('count'),
      fn.coalesce(fn.sum<number>('quota'), lit(0)).as('quota'),
      fn.coalesce(fn.sum<number>(eb('prompt_tokens', '+', eb.ref('completion_tokens'))), lit(0)).as('token_used'),
    ])
    .where('user_id', '=', user_id)
    .where('created_at', '>=', created_at)
    .where('created_at', '<', created_at + hourSeconds)
    .where('model_name', '=', model_name)
    .where('type', '=', logType.consume)
    .where('id', '>', floor)
    .where('id', '<=', ceiling)
    .executeTakeFirstOrThrow()
}
