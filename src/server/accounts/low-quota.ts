import { userStatus } from '../../contract/entities/user.ts'
import { warningPauseSeconds } from '../../contract/entities/user-setting.ts'
import { seconds } from '../lib/clock.ts'
import type { Core } from '../options/core.ts'
import type { Ledger } from '../wallet/ledger.ts'
import { quotaText } from '../wallet/quota-text.ts'
import { isReachable, type Notifying, tellUser } from './notices.ts'
import { readSetting } from './setting.ts'

const kind = 'low-quota'
const readAtOnce = 500

/**
 * Warns the users who have spent on this node since the last call and have less left than they want to, or than the site wants them to.
 * Each is warned once in two hours, whichever nodes they spend on: the warning is noted before it is sent, and a note that another node
 * made first ends it. A warning that could not be sent is not repeated within that time. Answers how many were sent.
 */
export async function warnLowQuota(parts: Notifying & { readonly ledger: Ledger }, signal: AbortSignal): Promise<number> {
  const spenders = parts.ledger.takeSpenders()
  let sent = 0
  for (let start = 0; start < spenders.length; start += readAtOnce) {
    const users = await readUsers(parts, spenders.slice(start, start + readAtOnce))
    const outcomes = await Promise.all(users.map((user) => warn(parts, user, signal)))
    sent += outcomes.filter((isSent) => isSent).length
  }
  return sent
}

type Spender = Awaited<ReturnType<typeof readUsers>>[number]

function readUsers({ db }: Core, ids: readonly number[]) {
  return db
    .selectFrom('users')
    .select(['id', 'username', 'email', 'setting', 'quota'])
    .where('id', 'in', ids)
    .where('status', '=', userStatus.active)
    .where('deleted_at', 'is', null)
    .execute()
}

async function warn(parts: Notifying, user: Spender, signal: AbortSignal): Promise<boolean> {
  const threshold = readSetting(user.setting).quota_warning_threshold ?? parts.options.current.QuotaRemindThreshold
  if (user.quota >= threshold || !isReachable(user) || !(await claim(parts, user.id))) return false

  const params = { left: quotaText(parts, user.quota), threshold: quotaText(parts, threshold) }
  const notice = { kind: 'lowQuota', type: 'quota_exceed', params, values: [user.quota, threshold], path: '/topup' } as const
  try {
    await tellUser(parts, user, { ...notice, signal })
    return true
  } catch (error) {
    parts.logger.warn({ error, user: user.id }, 'a user could not be warned of a low quota')
    return false
  }
}

/** Whether it is this caller who warns, and not another node or an earlier moment. */
async function claim(core: Core, userId: number): Promise<boolean> {
  const now = seconds(core.now())
  const claimed = await core.db
    .insertInto('user_notices')
    .values({ user_id: userId, kind, sent_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'kind'])
        .doUpdateSet({ sent_at: now })
        // A time ahead of ours is left from before the clock was put back.
        .where((row) =>
          row.or([row('user_notices.sent_at', '<=', now - warningPauseSeconds), row('user_notices.sent_at', '>', now)]),
        ),
    )
    .returning('user_id')
    .executeTakeFirst()
  return claimed !== undefined
}
