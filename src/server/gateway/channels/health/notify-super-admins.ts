import { userStatus } from '../../../../contract/entities/user.ts'
import { role } from '../../../../contract/roles.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { isReachable, type NotifierParts, notifyUser, type UserNotice } from '../../../people/accounts/notices.ts'

/** A notice that super admins, or the affected person, should get once. */
export interface OnceNotice {
  /** Named in the log, such as `channel:5`. */
  readonly subject: string
  /** A notice of one kind is sent once, until it is due again. */
  readonly kind: string
  /** A person whose last notice is older than this is notified again; unix seconds. */
  readonly dueSince: number
  readonly notice: UserNotice
}

/**
 * Notifies every super admin by mail or webhook, as their settings say. Each gets a notice of one kind once, from whichever node
 * claims it first; a failed delivery is retried every five minutes. Returns the number of sent notices.
 */
export async function notifySuperAdmins(
  parts: NotifierParts,
  notices: readonly OnceNotice[],
  signal: AbortSignal,
): Promise<number> {
  if (notices.length === 0) return 0
  let sent = 0
  for (const person of await readSuperAdmins(parts)) {
    if (!isReachable(person)) continue
    for (const notice of notices) if (!signal.aborted && (await notifyOnce(parts, { person, notice, signal }))) sent++
  }
  return sent
}

function readSuperAdmins({ db }: NotifierParts) {
  return db
    .selectFrom('users')
    .select(['id', 'username', 'email', 'setting'])
    .where('role', '>=', role.root)
    .where('status', '=', userStatus.active)
    .where('deleted_at', 'is', null)
    .execute()
}

type Person = Awaited<ReturnType<typeof readSuperAdmins>>[number]

/**
 * Sends a notice to a reachable person, unless they got it or another node is sending it. Also returns false when the delivery
 * failed: then call it again.
 */
export async function notifyOnce(
  parts: NotifierParts,
  { person, notice, signal }: { person: Person; notice: OnceNotice; signal: AbortSignal },
): Promise<boolean> {
  if (!(await claim(parts, person, notice))) return false
  const { kind, subject } = notice
  try {
    await notifyUser(parts, person, { ...notice.notice, signal })
  } catch (error) {
    parts.logger.warn({ error, user: person.id, subject, kind }, 'a person could not be notified')
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

/** Claims a notice for this node, unless another node has claimed it or it was sent. The claim lasts five minutes. */
async function claim({ db, now: nowMs }: NotifierParts, { id }: Person, { kind, dueSince }: OnceNotice): Promise<boolean> {
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
            // A notice with a time in the future: the clock was set back since.
            row('user_notices.sent_at', '>', now),
          ]),
        ),
    )
    .returning('user_id')
    .executeTakeFirst()
  return claimed !== undefined
}

const retrySeconds = 5 * 60
