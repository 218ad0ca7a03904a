import type { UserBatch, UserBatchResult } from '../../contract/entities/user.ts'
import type { Language } from '../../contract/text.ts'
import { AppError, fail } from '../lib/failure.ts'
import type { Caller } from '../options/core.ts'
import { editByAdmin } from './edit-user.ts'
import { manageUser } from './manage-user.ts'
import type { Accounts } from './sign-in.ts'

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
