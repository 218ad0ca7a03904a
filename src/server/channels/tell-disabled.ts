import { channelStatus } from '../../contract/entities/channel-status.ts'
import { userStatus } from '../../contract/entities/user.ts'
import { warningPauseSeconds } from '../../contract/entities/user-setting.ts'
import { role } from '../../contract/roles.ts'
import { isReachable, type Notifying, tellUser } from '../accounts/notices.ts'
import { seconds } from '../lib/clock.ts'

/**
 * Tells the super admins of channels that were disabled automatically and are so still, each the way their settings say, by mail or
 * webhook. Of one channel each is told once in two hours, however often it goes down, by whichever node comes first; what could not be
 * sent is tried again every five minutes. Nobody is told of what is more than a day old. Answers how many notices were sent.
 */
export async function tellDisabledChannels(parts: Notifying, signal: AbortSignal): Promise<number> {
  const channels = await readDisabled(parts)
  if (channels.length === 0) return 0
  let sent = 0
  for (const person of await readSuperAdmins(parts)) {
    if (!isReachable(person)) continue
    for (const channel of channels) if (!signal.aborted && (await tell(parts, { person, channel, signal }))) sent++
  }
  return sent
}

interface Disabled {
  readonly id: number
  readonly name: string
  readonly reason: string
  readonly at: number
}

async function readDisabled({ db, now }: Notifying): Promise<Disabled[]> {
  const rows = await db
    .selectFrom('channels')
    .select(['id', 'name', 'other_info'])
    .where('status', '=', channelStatus.autoDisabled)
    .orderBy('id')
    .execute()
  const oldest = seconds(now()) - toldWithinSeconds
  return rows.map(({ other_info, ...channel }) => ({ ...channel, ...readReason(other_info) })).filter(({ at }) => at > oldest)
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
  { person, channel, signal }: { person: SuperAdmin; channel: Disabled; signal: AbortSignal },
): Promise<boolean> {
  if (!(await claim(parts, person, channel))) return false
  const { id, name, reason } = channel
  const params = { channel: name, id, reason: reason === '' ? '-' : reason }
  const notice = {
    kind: 'channelDisabled',
    type: 'channel_disabled',
    params,
    values: [id, name, reason],
    path: '/channel',
  } as const
  try {
    await tellUser(parts, person, { ...notice, signal })
  } catch (error) {
    parts.logger.warn({ error, user: person.id, channel: id }, 'a super admin could not be told of a disabled channel')
    return false
  }
  await parts.db
    .updateTable('user_notices')
    .set({ retry_at: 0 })
    .where('user_id', '=', person.id)
    .where('kind', '=', kindOf(channel))
    .execute()
  return true
}

/** Whether it is this caller who tells, and not another node or an earlier moment. Whoever claims has five minutes to send it. */
async function claim({ db, now: nowMs }: Notifying, { id }: SuperAdmin, channel: Disabled): Promise<boolean> {
  const now = seconds(nowMs())
  const told = { sent_at: now, retry_at: now + retrySeconds }
  const claimed = await db
    .insertInto('user_notices')
    .values({ user_id: id, kind: kindOf(channel), ...told })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'kind'])
        .doUpdateSet(told)
        .where((row) =>
          row.or([
            row.and([row('user_notices.sent_at', '<', channel.at), row('user_notices.sent_at', '<=', now - warningPauseSeconds)]),
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

function kindOf({ id }: Disabled): string {
  return `channel-disabled:${id}`
}

function readReason(text: string): { reason: string; at: number } {
  try {
    const { status_reason: reason, status_time: at }: Readonly<Record<string, unknown>> = Object(JSON.parse(text))
    return { reason: typeof reason === 'string' ? reason : '', at: typeof at === 'number' ? at : 0 }
  } catch {
    return { reason: '', at: 0 }
  }
}

const toldWithinSeconds = 24 * 60 * 60
const retrySeconds = 5 * 60
