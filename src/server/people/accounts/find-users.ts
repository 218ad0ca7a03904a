import type { ExpressionBuilder } from 'kysely'
import { type User, userSorts } from '../../../contract/entities/user.ts'
import { isRoot, mayManage } from '../../../contract/roles.ts'
import { containsText, inOrder, type PageOf, readPage } from '../../base/db/page.ts'
import type { Tables } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { accountKind, findUser, presentUser } from './users.ts'

/** Users as admins search for them. Admins see only users that they may change, and themselves. */
export interface UserSearch {
  /** Part of the name, the display name or the address, in any case; or the complete id. */
  readonly keyword?: string
  /** '' for any. */
  readonly group?: string
  /** 0 for any. */
  readonly role?: number
  /** 0 for any status, deleted users included. */
  readonly status?: number
  /** Only deleted users. */
  readonly deleted?: boolean
  /** A figure of `userSorts`; anything else is the id. */
  readonly sort?: string
  readonly ascending?: boolean
}

/** A page of users, including deleted ones, newest first unless a column is given, and the total number of matches. */
export async function listUsers(
  core: Core,
  { caller, search, page }: { caller: Caller; search: UserSearch; page: PageOf },
): Promise<{ items: User[]; total: number }> {
  const sort = { by: userSorts.find((name) => name === search.sort) ?? 'id', descending: !search.ascending }
  const { rows, total } = await readPage(inOrder(usersFor(core, caller, search).selectAll(), 'users', sort), page)
  return { items: rows.map(presentUser), total }
}

/** The matching users that the caller may see. */
export function usersFor({ db }: Core, caller: Caller, search: UserSearch) {
  return db
    .selectFrom('users')
    .where('kind', '=', accountKind.person)
    .$if(!isRoot(caller.role), (query) =>
      query.where((row) => row.or([row('role', '<', caller.role), row('id', '=', caller.id)])),
    )
    .where(matching(search))
}

/** Throws `not_found`, `user_protected`. */
export async function findUserFor(core: Core, caller: Caller, id: number): Promise<User> {
  const user = await findUser(core.db, id)
  if (user.id !== caller.id && !mayManage(caller.role, user.role)) fail('user_protected')
  return presentUser(user)
}

function matching({ keyword = '', group = '', role = 0, status = 0, deleted = false }: UserSearch) {
  return (row: ExpressionBuilder<Tables, 'users'>) =>
    row.and([
      ...(keyword === '' ? [] : [row.or([...searched.map((column) => containsText(column, keyword)), ...withId(row, keyword)])]),
      ...(group === '' ? [] : [row('group', '=', group)]),
      ...(role === 0 ? [] : [row('role', '=', role)]),
      ...(status === 0 ? [] : [row('status', '=', status), row('deleted_at', 'is', null)]),
      ...(deleted ? [row('deleted_at', 'is not', null)] : []),
    ])
}

const searched = ['username', 'display_name', 'email'] as const

function withId(row: ExpressionBuilder<Tables, 'users'>, keyword: string) {
  const id = /^\d{1,16}$/.test(keyword) ? Number(keyword) : 0
  return Number.isSafeInteger(id) && id > 0 ? [row('id', '=', id)] : []
}
