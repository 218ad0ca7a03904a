import { userStatus } from '../../../contract/entities/user.ts'
import { warningPauseSeconds } from '../../../contract/entities/user-setting.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import type { Ledger } from '../../money/ledger/ledger.ts'
import { quotaText } from '../../money/ledger/quota-text.ts'
import { isSubscribed, recordEvent } from '../../usage/log/record-event.ts'
import { isReachable, type NotifierParts, notifyUser } from './notices.ts'
import { readSetting } from './setting.ts'

const kind = 'low-quota'
/** The event for webhooks of admins: recorded as often as the warning, whether or not the user can be notified. */
const eventKind = 'low-quota-event'
const readAtOnce = 500

/** After this time a warning that could not be sent is retried. */
const retrySeconds = 5 * 60

/**
 * Warns users who spent quota on this node since the last call and whose balance is below their own or the site's threshold, and
 * retries warnings that could not be sent. Each user is warned once in two hours, over all nodes: the warning is recorded before it is
 * sent, and the node that records it first sends it. A warning that could not be sent, even because the process died, is retried every
 * five minutes for two hours. Returns the number of warnings sent.
 */
export async function warnLowQuota(parts: NotifierParts & { readonly ledger: Ledger }, signal: AbortSignal): Promise<number> {
  const candidates = [...new Set([...parts.ledger.takeSpenders(), ...(await readUnsent(parts))])]
  const hasSubscribers = candidates.length > 0 && (await isSubscribed(parts.db, 'user.low_quota'))
  let sent = 0
  for (let start = 0; start < candidates.length; start += readAtOnce) {
    const users = await readUsers(parts, candidates.slice(start, start + readAtOnce))
    const outcomes = await Promise.all(users.map((user) => warn(parts, user, { hasSubscribers, signal })))
    sent += outcomes.filter((isSent) => isSent).length
  }
  return sent
}

/** Users whose warning is due again. */
async function readUnsent({ db, now: nowMs }: Core): Promise<number[]> {
  const now = seconds(nowMs())
  const rows = await db
    .selectFrom('user_notices')
    .select('user_id')
    .where('kind', '=', kind)
    .where('retry_at', '>', 0)
    .where('retry_at', '<=', now)
    .where('sent_at', '>', now - warningPauseSeconds)
    .limit(readAtOnce)
    .execute()
  return rows.map(({ user_id }) => user_id)
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

async function warn(
  parts: NotifierParts,
  user: Spender,
  { hasSubscribers, signal }: { hasSubscribers: boolean; signal: AbortSignal },
): Promise<boolean> {
  const threshold = readSetting(user.setting).quota_warning_threshold ?? parts.options.current.QuotaRemindThreshold
  if (user.quota >= threshold) return false
  if (hasSubscribers && (await claim(parts, user.id, eventKind))) await announce(parts, user, threshold)
  if (!isReachable(user) || !(await claim(parts, user.id, kind))) return false

  const params = { left: quotaText(parts, user.quota, 'down'), threshold: quotaText(parts, threshold, 'up') }
  const notice = { kind: 'lowQuota', type: 'quota_exceed', params, values: [user.quota, threshold], path: '/topup' } as const
  try {
    await notifyUser(parts, user, { ...notice, signal })
  } catch (error) {
    parts.logger.warn({ error, user: user.id }, 'a user could not be warned of a low quota')
    return false
  }
  await noteSent(parts, user.id, kind)
  return true
}

async function announce(parts: NotifierParts, { id, username, quota }: Spender, threshold: number): Promise<void> {
  await recordEvent(parts, parts.db, 'user.low_quota', { user_id: id, username, quota, threshold })
  await noteSent(parts, id, eventKind)
}

/** Claims the warning for this node, so that no other node sends it. The claim lasts five minutes. */
async function claim(core: Core, userId: number, kind: string): Promise<boolean> {
  const now = seconds(core.now())
  const pauseEnded = now - warningPauseSeconds
  const retryAt = now + retrySeconds
  const claimed = await core.db
    .insertInto('user_notices')
    .values({ user_id: userId, kind, sent_at: now, retry_at: retryAt })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'kind'])
        .doUpdateSet((row) => ({
          // Retries keep the time of the first try: they end two hours after it.
          sent_at: row
            .case()
            .when(row.between('user_notices.sent_at', pauseEnded + 1, now))
            .then(row.ref('user_notices.sent_at'))
            .else(now)
            .end(),
          retry_at: retryAt,
        }))
        // A time in the future was written before the clock was set back.
        .where((row) =>
          row.or([
            row('user_notices.sent_at', '<=', pauseEnded),
            row('user_notices.sent_at', '>', now),
            row.and([row('user_notices.retry_at', '>', 0), row('user_notices.retry_at', '<=', now)]),
          ]),
        ),
    )
    .returning('user_id')
    .executeTakeFirst()
  return claimed !== undefined
}

async function noteSent(core: Core, userId: number, kind: string): Promise<void> {
  await core.db
    .updateTable('user_notices')
    .set({ sent_at: seconds(core.now()), retry_at: 0 })
    .where('user_id', '=', userId)
    .where('kind', '=', kind)
    .execute()
}
