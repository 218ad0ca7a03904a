import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import { warningPauseSeconds } from '../../../../contract/entities/user-setting.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { NotifierParts } from '../../../people/accounts/notices.ts'
import { notifySuperAdmins, type OnceNotice } from './notify-super-admins.ts'

/**
 * Notifies the super admins of channels that were disabled automatically and still are: at most once in two hours per channel and
 * super admin, and never of an event that is more than a day old. Returns the number of sent notices.
 */
export async function notifyDisabledChannels(parts: NotifierParts, signal: AbortSignal): Promise<number> {
  const pausedSince = seconds(parts.now()) - warningPauseSeconds
  const notices = (await readDisabled(parts)).map((channel) => noticeOf(channel, pausedSince))
  return notifySuperAdmins(parts, notices, signal)
}

interface Disabled {
  readonly id: number
  readonly name: string
  readonly reason: string
  readonly at: number
}

async function readDisabled({ db, now }: NotifierParts): Promise<Disabled[]> {
  const rows = await db
    .selectFrom('channels')
    .select(['id', 'name', 'other_info'])
    .where('status', '=', channelStatus.autoDisabled)
    .orderBy('id')
    .execute()
  const oldest = seconds(now()) - notifyWithinSeconds
  return rows.map(({ other_info, ...channel }) => ({ ...channel, ...readReason(other_info) })).filter(({ at }) => at > oldest)
}

function noticeOf({ id, name, reason, at }: Disabled, pausedSince: number): OnceNotice {
  return {
    subject: `channel:${id}`,
    kind: `channel-disabled:${id}`,
    dueSince: Math.min(at, pausedSince + 1),
    notice: {
      kind: 'channelDisabled',
      type: 'channel_disabled',
      params: { channel: name, id, reason: reason === '' ? '-' : reason },
      values: [id, name, reason],
      path: '/channel',
    },
  }
}

function readReason(text: string): { reason: string; at: number } {
  try {
    const { status_reason: reason, status_time: at }: Readonly<Record<string, unknown>> = Object(JSON.parse(text))
    return { reason: typeof reason === 'string' ? reason : '', at: typeof at === 'number' ? at : 0 }
  } catch {
    return { reason: '', at: 0 }
  }
}

const notifyWithinSeconds = 24 * 60 * 60
