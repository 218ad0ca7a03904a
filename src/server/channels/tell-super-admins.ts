import { userStatus } from '../../contract/entities/user.ts'
import { role } from '../../contract/roles.ts'
import { isReachable, type Notifying, tellUser, type UserNotice } from '../accounts/notices.ts'
import { seconds } from '../lib/clock.ts'

/** Something about a channel that super admins should know. */
export interface ChannelNotice {
  readonly channelId: number
  /** One kind of one channel is told once, until it is due again. */
  readonly kind: string
  /** Who was told before this time is told again; unix seconds. */
  readonly dueSince: number
  readonly notice: UserNotice
}

/**
 * Tells every super admin, the way their settings say, by mail or webhook. Each is told once of a kind, by whichever node comes first; what
 * could not be sent is tried again every five minutes. Answers how many notices were sent.
 */
export async function tellSuperAdmins(parts: Notifying, notices: readonly ChannelNotice[], signal: AbortSignal): Promise<number> {
  if (notices.length === 0) return 0
  let sent = 0
  for (const person of await readSuperAdmins(parts)) {
    if (!isReachable(person)) continue
    for (const notice of notices) if (!signal.aborted && (await tell(parts, { person, notice, signal }))) sent++
  }
  return sent
}

function readSuperAdmins({ db }: Notifying) {
  return db
    .selectFrom('users')
    .select(['id', 'username', 'email', 'setting'])
    .where('role', '>=', role.root)
    .where('status', '=', userStatus.active)
    .where('deleted_at', 'is', null)
    .execute()
}

type SuperAdmin = Awaited<ReturnType<typeof readSuperAdmins>>[number]

async function tell(
  parts: Notifying,
  { person, notice, signal }: { person: SuperAdmin; notice: ChannelNotice; signal: AbortSignal },
): Promise<boolean> {
  if (!(await claim(parts, person, notice))) return false
  const { kind, channelId } = notice
  try {
    await tellUser(parts, person, { ...notice.notice, signal })
  } catch (error) {
    parts.logger.warn({ error, user: person.id, channel: channelId, kind }, 'a super admin could not be told of a channel')
    return false
  }
  await parts.db
    .updateTable('user_notices')
    .set({ retry_at: 0 })
    .where('user_id', '=', person.id)
    .where('kind', '=', kind)
    .execute()
  return true
}

/** Whether it is this caller who tells, and not another node or an earlier moment. Whoever claims has five minutes to send it. */
async function claim({ db, now: nowMs }: Notifying, { id }: SuperAdmin, { kind, dueSince }: ChannelNotice): Promise<boolean> {
  const now = seconds(nowMs())
  const told = { sent_at: now, retry_at: now + retrySeconds }
  const claimed = await db
    .insertInto('user_notices')
    .values({ user_id: id, kind, ...told })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'kind'])
        .doUpdateSet(told)
        .where((row) =>
          row.or([
            row('user_notices.sent_at', '<', dueSince),
            row.and([row('user_notices.retry_at', '>', 0), row('user_notices.retry_at', '<=', now)]),
            // Left from before the clock was put back.
            row('user_notices.sent_at', '>', now),
          ]),
        ),
    )
    .returning('user_id')
    .executeTakeFirst()
  return claimed !== undefined
}

const retrySeconds = 5 * 60
