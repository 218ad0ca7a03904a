import { csvLine, csvTime } from '../lib/csv.ts'
import { recordAudit } from '../options/audit.ts'
import type { Caller, Core } from '../options/core.ts'
import { type UserSearch, usersFor } from './find-users.ts'

const exportedAtOnce = 500
const statusNames: Readonly<Record<number, string>> = { 1: 'active', 2: 'banned', 3: 'locked' }
const figures = ['quota', 'used_quota', 'request_count', 'aff_count', 'inviter_id'] as const

/**
 * The matching users as CSV lines, newest first; some hundred are read at a time. The audit tells who took them before the first
 * leaves.
 */
export async function* exportUsers(
  core: Core,
  { caller, search }: { caller: Caller; search: UserSearch },
): AsyncGenerator<string> {
  const entry = { caller, action: 'user.export', target: 'users', after: JSON.stringify(search) }
  await core.db.transaction().execute((within) => recordAudit(core, within, entry))
  // The mark tells spreadsheets that the text is UTF-8.
  yield `\uFEFF${csvLine(['id', 'username', 'display_name', 'email', 'group', 'role', 'status', ...figures, 'created'])}`

  let lastId = Number.MAX_SAFE_INTEGER
  for (;;) {
    const rows = await usersFor(core, caller, search)
      .selectAll()
      .where('id', '<', lastId)
      .orderBy('id', 'desc')
      .limit(exportedAtOnce)
      .execute()
    const lines = rows.map((user) => {
      const status = user.deleted_at === null ? (statusNames[user.status] ?? '') : 'deleted'
      const names = [user.username, user.display_name, user.email, user.group]
      return csvLine([user.id, ...names, user.role, status, ...figures.map((figure) => user[figure]), csvTime(user.created_time)])
    })
    if (rows.length > 0) yield lines.join('')
    lastId = rows.at(-1)?.id ?? 0
    if (rows.length < exportedAtOnce) return
  }
}
