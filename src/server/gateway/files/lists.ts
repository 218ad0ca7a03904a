import type { ExpressionBuilder } from 'kysely'
import type { StoredFile } from '../../../contract/entities/stored-file.ts'
import { containsText, type PageOf } from '../../base/db/page.ts'
import type { Row, Tables } from '../../base/db/schema.ts'
import { type CsvColumn, csvOfPieces } from '../../base/lib/bytes/csv.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { inQuota } from '../relay/conversations/kept-files.ts'

/** Whose files: a user's, as their owner sees them, those of the user with a name, or everybody's. '' and absent mean any. */
interface OwnerOfFiles {
  readonly userId?: number
  readonly username?: string
}

/** Filters of the list; 0, '' and absent mean any. */
interface FileFilter extends OwnerOfFiles {
  readonly channel_id?: number
  readonly file_id: string
  /** A part of the name. */
  readonly filename: string
  readonly purpose: string
}

/** A page of files that count in the quotas of their owners, newest first. */
export async function listStoredFiles(core: Core, { filter, page }: { filter: FileFilter; page: PageOf }) {
  const { total } = await core.db
    .selectFrom('files')
    .where(fits(core, filter))
    .select((row) => row.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await matching(core, filter).offset(page.offset).limit(page.limit).execute()
  return { items: rows.map((row, at) => ({ id: page.offset + at + 1, ...present(row, filter) })), total: Number(total) }
}

/** The files that match, as CSV. */
export function exportFiles(core: Core, { filter, timeZone }: { readonly filter: FileFilter; readonly timeZone: string }) {
  const columns = filter.userId === undefined ? [...ownColumns, ...columnsForAdmins] : ownColumns
  return csvOfPieces({ columns, timeZone, pieces: piecesOf(core, filter) })
}

type Exported = Omit<StoredFile, 'id'>

const ownColumns: readonly CsvColumn<Exported>[] = [
  'file_id',
  { name: 'created', time: ({ created_at }) => created_at },
  { name: 'expires', time: ({ expires_at }) => expires_at },
  ...(['dialect', 'filename', 'purpose', 'bytes', 'state'] as const),
]
const columnsForAdmins = ['user_id', 'username', 'channel_id'] as const

async function* piecesOf(core: Core, filter: FileFilter): AsyncGenerator<readonly Exported[]> {
  for (let last: Row<'files'> | undefined; ; ) {
    const rows = await matching(core, filter, last).limit(rowsAtOnce).execute()
    yield rows.map((row) => present(row, filter))
    if (rows.length < rowsAtOnce) return
    last = rows.at(-1)
  }
}

const rowsAtOnce = 500

/** What files take of the quota of a user: those of one, or of all together. */
export async function usageOfFiles({ db, now, options }: Core, { userId, username = '' }: OwnerOfFiles) {
  const { 'files.count_max': count_max, 'files.megabytes_max': megabytesMax } = options.current
  const { count, bytes } = await db
    .selectFrom('files')
    .where(inQuota(seconds(now())))
    .where(ownedBy({ userId, username }))
    .select((row) => [
      row.fn.countAll<number>().as('count'),
      row.fn.coalesce(row.fn.sum<number>('bytes'), row.lit(0)).as('bytes'),
    ])
    .executeTakeFirstOrThrow()
  return { count: Number(count), bytes: Number(bytes), count_max, bytes_max: megabytesMax * 1024 ** 2 }
}

/** The newest first, behind the row `last` where there is one. */
function matching(core: Core, filter: FileFilter, last?: Row<'files'>) {
  const { created_at = 0, id = '' } = last ?? {}
  return core.db
    .selectFrom('files')
    .where(fits(core, filter))
    .$if(last !== undefined, (query) =>
      query.where((row) =>
        row.or([row('created_at', '<', created_at), row.and([row('created_at', '=', created_at), row('id', '<', id)])]),
      ),
    )
    .selectAll('files')
    .select((row) => [
      row.selectFrom('users').select('username').whereRef('users.id', '=', 'files.user_id').as('username'),
      row.selectFrom('channels').select('channels.id').whereRef('channels.id', '=', 'files.channel_id').as('channel'),
    ])
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
}

function fits({ now }: Core, { channel_id, file_id, filename, purpose, ...owner }: FileFilter) {
  return (row: ExpressionBuilder<Tables, 'files'>) =>
    row.and([
      inQuota(seconds(now()))(row),
      ownedBy(owner)(row),
      ...(channel_id ? [row('channel_id', '=', channel_id)] : []),
      ...(file_id === '' ? [] : [row('id', '=', file_id.replace(/^files\//, ''))]),
      ...(filename === '' ? [] : [containsText('filename', filename)]),
      ...(purpose === '' ? [] : [row('purpose', '=', purpose)]),
    ])
}

function ownedBy({ userId, username = '' }: OwnerOfFiles) {
  return (row: ExpressionBuilder<Tables, 'files'>) =>
    row.and([
      ...(userId === undefined ? [] : [row('user_id', '=', userId)]),
      ...(username === ''
        ? []
        : [row('user_id', 'in', row.selectFrom('users').select('users.id').where('users.username', '=', username))]),
    ])
}

type Found = Row<'files'> & { readonly username: string | null; readonly channel: number | null }

function present({ id, state, username, channel, ...row }: Found, { userId }: OwnerOfFiles): Exported {
  const { user_id, channel_id, dialect, filename, purpose, bytes, created_at } = row
  const isLost = state === 'kept' && channel === null
  const forAdmins = userId === undefined ? { username: username ?? '', channel_id } : { username: '', channel_id: 0 }
  return {
    ...{ file_id: id, user_id, dialect, filename, purpose, bytes, created_at, ...forAdmins },
    state: isLost ? 'lost' : state,
    // Until then an upload may go on; it is not the end of a file.
    expires_at: state === 'kept' ? row.expires_at : 0,
  }
}
