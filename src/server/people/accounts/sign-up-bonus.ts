import { logType } from '../../../contract/entities/log.ts'
import { userStatus } from '../../../contract/entities/user.ts'
import { inBothLanguages } from '../../../contract/text.ts'
import type { Within } from '../../base/db/open.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { credit } from '../../money/ledger/credit.ts'
import { quotaText } from '../../money/ledger/quota-text.ts'
import { recordLog } from '../../usage/log/log.ts'
import { accountKind } from './users.ts'

/** The bonus of a new user and of their inviter, in the transaction that creates the user, so that it is granted once. */
interface NewMember {
  readonly userId: number
  readonly username: string
  /** 0 without an inviter. */
  readonly inviterId: number
}

/** The inviter of an invite code; 0 for an unknown code, or one of a user who may no longer invite. */
export async function findInviter(within: Within, code: string): Promise<number> {
  if (code === '') return 0
  const inviter = await within
    .selectFrom('users')
    .select('id')
    .where('aff_code', '=', code)
    .where('kind', '=', accountKind.person)
    .where('status', '=', userStatus.active)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return inviter?.id ?? 0
}

/** Credits the bonuses of the options to the new user's balance and to the inviter's earnings, with their log rows. */
export async function grantSignUpBonus(core: Core, within: Within, { userId, username, inviterId }: NewMember): Promise<void> {
  const { QuotaForNewUser: forAll, QuotaForInvitee: forInvited } = core.options.current
  const at = seconds(core.now())
  const grant = async (amount: number, kind: 'grant' | 'reward', words: { zh: string; en: string }) => {
    if (amount === 0) return
    await credit(within, { userId, kind, amount, reference: `${kind}:welcome:${userId}`, at })
    const text = quotaText(core, amount)
    const content = inBothLanguages({ zh: `${words.zh} ${text}`, en: `${words.en} ${text}` })
    await recordLog(within, { type: logType.system, at, userId, username, content, quota: amount })
  }

  await grant(forAll, 'grant', { zh: '新用户注册赠送', en: 'Gift for registering:' })
  if (inviterId === 0) return
  await grant(forInvited, 'reward', { zh: '使用邀请码赠送', en: 'Gift for using an invite code:' })
  await rewardInviter(core, within, { inviterId, at })
}

/** The bonus of an inviter is not part of the balance yet: the inviter transfers it. */
async function rewardInviter(core: Core, within: Within, { inviterId, at }: { inviterId: number; at: number }): Promise<void> {
  const amount = core.options.current.QuotaForInviter
  const inviter = await within
    .updateTable('users')
    .set((row) => ({
      aff_count: row('aff_count', '+', 1),
      aff_quota: row('aff_quota', '+', amount),
      aff_history_quota: row('aff_history_quota', '+', amount),
    }))
    .where('id', '=', inviterId)
    .returning('username')
    .executeTakeFirstOrThrow()
  if (amount === 0) return
  const content = `邀请用户奖励 ${quotaText(core, amount)} / Earned ${quotaText(core, amount)} by inviting a user`
  await recordLog(within, { type: logType.system, at, userId: inviterId, username: inviter.username, content, quota: amount })
}
