import { budgetInput } from '../../../contract/entities/budget.ts'
import { tokenInput } from '../../../contract/entities/token.ts'
import type { User } from '../../../contract/entities/user.ts'
import type { Caller } from '../../base/options/core.ts'
import { addBudget } from '../../gateway/limits/manage-budgets.ts'
import { createByAdmin } from '../../people/accounts/edit-user.ts'
import { addToken } from '../../people/tokens/tokens.ts'
import type { App } from '../../watch/parts.ts'

interface NewUser {
  readonly username: string
  readonly display_name: string
  readonly password: string
  readonly provision: {
    readonly group: string
    readonly quota: number
    readonly daily_budget: number
    readonly token_name: string
  }
}

/**
 * Creates a user ready to call: with group, quota (units), a budget a day and a token, all in one transaction. Throws what
 * `createByAdmin` throws, and `token_name_required` for a name that is too long.
 */
export async function createUser(
  app: App,
  caller: Caller,
  { provision: { daily_budget, token_name, ...given }, ...account }: NewUser,
): Promise<User & { token_key?: string }> {
  const { user, provided } = await createByAdmin(app, caller, { ...account, ...given }, async (within, audit, userId) => {
    if (daily_budget > 0) {
      const input = budgetInput.parse({ scope: 'user', subject: String(userId), period: 'day', amount: daily_budget })
      audit({ topic: 'budgets' })
      await addBudget(app, within, audit, { caller, input })
    }
    if (token_name === '') return {}
    const input = tokenInput.parse({ name: token_name, unlimited_quota: true })
    const { key } = await addToken(app, within, audit, { userId, input })
    return { token_key: key }
  })
  if (daily_budget > 0) await app.budgets.refresh()
  return { ...user, ...provided }
}
