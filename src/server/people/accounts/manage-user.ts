import { logType } from '../../../contract/entities/log.ts'
import { type ManageAction, type UserBatch, type UserBatchResult, userStatus } from '../../../contract/entities/user.ts'
import { isAdmin, isRoot, role } from '../../../contract/roles.ts'
import { inBothLanguages, type Language, type Text } from '../../../contract/text.ts'
import type { Within } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import type { Mailer } from '../notify/mailer.ts'
import { editByAdmin } from './edit-user.ts'
import { lockManaged } from './lock-user.ts'
import { deleteCodes } from './mailed-codes.ts'
import { removeUser } from './remove-user.ts'
import { sendSecurityNotice } from './security-notice.ts'
import { deleteSessions } from './sessions.ts'
import type { Accounts } from './sign-in.ts'
import { resetFactors } from './two-factor.ts'

/** Preconditions and effects of an action. `requires` throws when the action is not possible. */
interface Act {
  readonly words: Text
  requires(user: Row<'users'>, caller: Caller): void
  run(core: Core, within: Within, user: Row<'users'>): Promise<void>
}

const roleNames = {
  root: { zh: '超级管理员', en: 'the super admin' },
  admin: { zh: '管理员', en: 'an admin' },
  ordinary: { zh: '普通用户', en: 'an ordinary user' },
}

const acts: Readonly<Record<ManageAction, Act>> = {
  enable: {
    words: { zh: '管理员启用了账户', en: 'Enabled by an admin' },
    requires(user) {
      if (user.status === userStatus.locked) fail('user_locked')
    },
    run: (_core, within, { id }) => set(within, id, { status: userStatus.active }),
  },
  unlock: {
    words: { zh: '超级管理员解除了锁定', en: 'Unlocked by the super admin' },
    requires(user, caller) {
      if (!isRoot(caller.role)) fail('permission_denied')
      if (user.status !== userStatus.locked) fail('nothing_changed')
    },
    run: (_core, within, { id }) => set(within, id, { status: userStatus.active }),
  },
  disable: {
    words: { zh: '管理员封禁了账户', en: 'Banned by an admin' },
    requires(user) {
      if (isRoot(user.role)) fail('root_protected')
    },
    async run(_core, within, { id }) {
      await set(within, id, { status: userStatus.banned })
      await signOut(within, id)
    },
  },
  promote: {
    words: { zh: '被提升为管理员', en: 'Promoted to admin' },
    requires(user, caller) {
      if (!isRoot(caller.role)) fail('promote_forbidden')
      if (isAdmin(user.role)) fail('role_unchanged', { role: isRoot(user.role) ? roleNames.root : roleNames.admin })
    },
    run: (_core, within, { id }) => set(within, id, { role: role.admin }),
  },
  demote: {
    words: { zh: '被降级为普通用户', en: 'Demoted to an ordinary user' },
    requires(user) {
      if (isRoot(user.role)) fail('root_protected')
      if (!isAdmin(user.role)) fail('role_unchanged', { role: roleNames.ordinary })
    },
    run: (_core, within, { id }) => set(within, id, { role: role.ordinary }),
  },
  sign_out: {
    words: { zh: '管理员使所有登录和系统访问令牌失效', en: 'Signed out everywhere by an admin' },
    requires() {},
    async run(_core, within, { id }) {
      await set(within, id, { access_token_hash: null })
      await signOut(within, id)
    },
  },
  reset_factors: {
    words: { zh: '管理员清除了两步验证和通行密钥', en: 'Second factor and passkeys removed by an admin' },
    requires() {},
    async run(_core, within, { id }) {
      await resetFactors(within, id)
      await signOut(within, id)
    },
  },
  delete: {
    words: { zh: '管理员注销了账户', en: 'Deleted by an admin' },
    requires(user) {
      if (isRoot(user.role)) fail('root_protected')
    },
    run: (core, within, { id }) => removeUser(core, within, id),
  },
}

/**
 * Applies one action to one user, with its log row and audit row in one transaction; every node applies the change within a second.
 * Throws `not_found`, `user_protected`, `root_protected`, `promote_forbidden`, `permission_denied`, `user_locked`,
 * `role_unchanged`, `nothing_changed`.
 */
export async function manageUser(
  core: Core & { readonly mailer: Mailer },
  caller: Caller,
  { id, action }: { id: number; action: ManageAction },
): Promise<Row<'users'>> {
  const act = acts[action]
  const changed = await change(core, caller, async (within, audit) => {
    const user = await lockManaged(core, within, caller, id)
    act.requires(user, caller)
    await act.run(core, within, user)

    const record = { at: seconds(core.now()), userId: id, username: user.username, content: inBothLanguages(act.words) }
    await recordLog(within, { type: logType.manage, ...record })
    const after = await within.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    audit({
      action: `user.${action.replace('_', '-')}`,
      target: `user:${id}`,
      before: stateOf(user),
      after: stateOf(after),
      topic: 'user',
      id,
    })
    return after
  })
  if (action === 'reset_factors') sendSecurityNotice(core, { id }, 'factorsReset')
  return changed
}

async function set(
  within: Within,
  id: number,
  values: { status?: number; role?: number; access_token_hash?: null },
): Promise<void> {
  await within.updateTable('users').set(values).where('id', '=', id).execute()
}

async function signOut(within: Within, id: number): Promise<void> {
  await deleteSessions(within, id)
  await deleteCodes(within, id)
}

function stateOf({ role, status, deleted_at }: Row<'users'>): object {
  return { role, status, ...(deleted_at === null ? {} : { deleted_at }) }
}

/**
 * Applies the same action to several users, each in its own transaction: users that the caller may not change stay unchanged, and the
 * others are changed.
 */
export async function manageUsers(
  accounts: Accounts,
  caller: Caller,
  { batch: { ids, action, group }, language }: { batch: UserBatch; language: Language },
): Promise<UserBatchResult[]> {
  if (action === 'group' && group === '') fail('group_unknown', { group })
  const results: UserBatchResult[] = []
  for (const id of new Set(ids)) {
    try {
      if (action === 'group') await editByAdmin(accounts, caller, { id, group })
      else await manageUser(accounts, caller, { id, action })
      results.push({ id, done: true, message: '' })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      results.push({ id, done: false, message: error.text(language) })
    }
  }
  return results
}
