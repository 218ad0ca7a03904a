import type { Row } from '../../base/db/schema.ts'
import { type CsvColumn, csvFile, csvTime } from '../../base/lib/bytes/csv.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordExport } from '../../base/options/record-export.ts'
import { type UserSearch, usersFor } from './find-users.ts'

const statusNames: Readonly<Record<number, string>> = { 1: 'active', 2: 'banned', 3: 'locked' }

const columns: readonly CsvColumn<Row<'users'>>[] = [
  ...(['id', 'username', 'display_name', 'email', 'group', 'role'] as const),
  { name: 'status', value: ({ deleted_at, status }) => (deleted_at === null ? (statusNames[status] ?? '') : 'deleted') },
  ...(['quota', 'used_quota', 'request_count', 'aff_count', 'inviter_id'] as const),
  { name: 'created', value: (user) => csvTime(user.created_time) },
]

/** The matching users as CSV, newest first. The export is recorded in the audit log. */
export async function* exportUsers(
  core: Core,
  { caller, search }: { caller: Caller; search: UserSearch },
): AsyncGenerator<string> {
  await recordExport(core, caller, { action: 'user.export', target: 'users', asked: search })
  yield* csvFile({
    columns,
    read: (below, limit) =>
      usersFor(core, caller, search).selectAll().where('id', '<', below).orderBy('id', 'desc').limit(limit).execute(),
  })
}
