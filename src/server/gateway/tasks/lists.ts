import type { ExpressionBuilder } from 'kysely'
import { type Drawing, type Task, tasksCountedAhead, type Video } from '../../../contract/entities/task.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { inOrder, type PageOf } from '../../base/db/page.ts'
import type { Row, Tables } from '../../base/db/schema.ts'
import { readJson } from '../../base/lib/bytes/read-json.ts'
import type { Core } from '../../base/options/core.ts'
import { refundsOf } from '../../money/ledger/refund.ts'
import { isObject, textAt } from '../protocols/wire-format.ts'
import { imagePath } from './links.ts'
import { imageUrl, toldTexts } from './present.ts'
import { eitherOf, shownColumn, type TaskTable } from './task-table.ts'
import { presentVideoRow } from './videos/present-video.ts'

/** Filters of the lists; 0, '' and absent mean any. Times are inclusive, in the unit of the table. */
export interface TaskFilter {
  readonly userId?: number
  /** Only orders of these tokens. */
  readonly tokenIds?: readonly number[]
  /** Only rows after the row with this id in the order of the list; so every page is read as quickly as the first. */
  readonly before?: number | undefined
  readonly channel_id?: number
  readonly username?: string
  /** The id that its owner sees. */
  readonly shownId?: string
  readonly platform?: string
  readonly action?: string
  readonly status?: string
  readonly start_timestamp?: number
  readonly end_timestamp?: number
}

interface TaskPage {
  readonly filter: TaskFilter
  readonly page: PageOf
  /** Newest first when absent. */
  readonly sort?: SortBy<'id'> | undefined
}

/** A page of drawings. `total` is exact up to 10,000 rows behind the start of the page, and is that bound if there are more. */
export async function listDrawings(core: Core, asked: TaskPage) {
  const total = await countUpTo(core, 'midjourneys', asked)
  return { items: await readDrawings(core, asked), total }
}

/** As `listDrawings`, for music. */
export async function listTasks(core: Core, asked: TaskPage) {
  const total = await countUpTo(core, 'tasks', asked)
  return { items: await readTasks(core, asked), total }
}

/** As `listDrawings`, for videos; those that their owner has deleted are left out of the lists of one user. */
export async function listVideos(core: Core, asked: TaskPage) {
  const total = await countUpTo(core, 'videos', asked)
  return { items: await readVideos(core, asked), total }
}

export async function readDrawings(core: Core, asked: TaskPage): Promise<Drawing[]> {
  const rows = await readPage(core, 'midjourneys', asked)
  return rows.map((row) => presentRow(core, row))
}

export async function readTasks(core: Core, asked: TaskPage): Promise<Task[]> {
  // `readPage` is typed with the name of the other table; the rows are those of this one.
  const rows = (await readPage(core, 'tasks', asked)) as unknown as (Row<'tasks'> & Named)[]
  return rows.map(presentTask)
}

export async function readVideos(core: Core, asked: TaskPage): Promise<Video[]> {
  // As above.
  const rows = (await readPage(core, 'videos', asked)) as unknown as (Row<'videos'> & Named)[]
  const refunds = await refundsOf(
    core,
    rows.map(({ request_id }) => request_id),
  )
  return rows.map((row) => presentVideoRow(core, row, refunds.get(row.request_id) ?? 0))
}

/** Without the columns for admins, and with the texts of upstreams as owners may see them. */
export function forOwner<Item extends Drawing | Task | Video>(items: readonly Item[]): Item[] {
  return items.map((item) => ({ ...toldTexts(item), channel_id: 0, username: '' }))
}

interface Named {
  readonly username: string | null
}

function readPage({ db }: Core, table: TaskTable, { filter, page, sort }: TaskPage) {
  const either = eitherOf(table)
  const found = db
    .selectFrom(either)
    .selectAll(either)
    .select((eb) => eb.selectFrom('users').select('username').whereRef('users.id', '=', `${either}.user_id`).as('username'))
    .where(matching(table, filter, sort))
  return inOrder(found, either, sort).offset(page.offset).limit(page.limit).execute()
}

async function countUpTo({ db }: Core, table: TaskTable, { filter, page, sort }: TaskPage): Promise<number> {
  const either = eitherOf(table)
  const counted = db
    .selectFrom(either)
    .select('id')
    .where(matching(table, filter, sort))
    .limit(page.offset + tasksCountedAhead)
  const { count } = await db
    .selectFrom(counted.as('counted'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

function matching(table: TaskTable, filter: TaskFilter, sort: TaskPage['sort']) {
  return (eb: ExpressionBuilder<Tables, 'midjourneys'>) => {
    const { username } = filter
    const exact: Readonly<Record<string, string | number | undefined>> = {
      user_id: filter.userId,
      channel_id: filter.channel_id,
      [shownColumn(table)]: filter.shownId,
      platform: table === 'tasks' ? filter.platform : undefined,
      action: filter.action?.toUpperCase(),
      status: filter.status?.toUpperCase(),
    }
    // The names are columns of the table: those above.
    const equal = (name: string, value: string | number) => eb(name as 'action', '=', value as string)
    const all = Object.entries(exact).flatMap(([name, value]) => (value ? [equal(name, value)] : []))
    if (table === 'videos' && filter.userId !== undefined) all.push(eb('deleted_at' as 'submit_time', '=', 0))
    if (filter.tokenIds) all.push(eb('token_id', 'in', filter.tokenIds))
    if (filter.before) all.push(eb('id', !sort || sort.descending ? '<' : '>', filter.before))
    if (filter.start_timestamp) all.push(eb('submit_time', '>=', filter.start_timestamp))
    if (filter.end_timestamp) all.push(eb('submit_time', '<=', filter.end_timestamp))
    if (username) all.push(eb('user_id', 'in', eb.selectFrom('users').select('users.id').where('users.username', '=', username)))
    return eb.and(all)
  }
}

function presentRow(core: Core, row: Row<'midjourneys'> & Named): Drawing {
  const preview = row.image_url === '' ? '' : imagePath(core, { id: row.id, upstreamId: row.mj_id })
  return { ...row, quota: costOf(row), username: row.username ?? '', image_url: imageUrl(core, row), preview_url: preview }
}

function presentTask(row: Row<'tasks'> & Named): Task {
  const properties = readJson(row.properties)
  const input = isObject(properties) ? textAt(properties, 'input') : ''
  return { ...row, quota: costOf(row), username: row.username ?? '', properties: { input }, data: readJson(row.data) ?? null }
}

/** Units that the owner has paid: the charge of a failed task was refunded in the transaction that ended it. */
function costOf({ status, quota }: { readonly status: string; readonly quota: number }): number {
  return status === 'FAILURE' ? 0 : quota
}
