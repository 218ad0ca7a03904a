import type { SiteCostReason } from '../../../../contract/entities/site-cost.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { NotifierParts } from '../../../people/accounts/notices.ts'
import { notifySuperAdmins, type OnceNotice } from './notify-super-admins.ts'

const daySeconds = 86_400
const reasons = ['usage_implausible', 'prompt_addition'] as const satisfies readonly SiteCostReason[]

/**
 * Notifies the super admins of channels that reported more usage within the last day than their requests can have, or longer prompts than
 * were held: once a day (UTC) per channel and reason. Returns the number of sent notices.
 */
export async function notifyImplausibleUsage(parts: NotifierParts, signal: AbortSignal): Promise<number> {
  const { db, now } = parts
  const rows = await db
    .selectFrom('site_costs')
    .leftJoin('channels', 'channels.id', 'site_costs.channel_id')
    .select(({ fn }) => [
      'site_costs.channel_id as id',
      'site_costs.reason',
      'channels.name',
      fn.countAll<number>().as('count'),
      fn.max<number>('site_costs.created_at').as('at'),
    ])
    .where('site_costs.reason', 'in', reasons)
    .where('site_costs.created_at', '>', seconds(now()) - daySeconds)
    .groupBy(['site_costs.channel_id', 'site_costs.reason', 'channels.name'])
    .orderBy('site_costs.channel_id')
    .orderBy('site_costs.reason')
    .execute()
  return notifySuperAdmins(parts, rows.map(noticeOf), signal)
}

interface Reported {
  readonly id: number
  readonly reason: string
  readonly name: string | null
  /** Requests of the last 24 hours. */
  readonly count: number
  readonly at: number
}

function noticeOf({ id, reason, name, count, at }: Reported): OnceNotice {
  const channel = name ?? String(id)
  const isAddition = reason === 'prompt_addition'
  return {
    subject: `channel:${id}`,
    kind: `${isAddition ? 'prompt-addition' : 'usage-implausible'}:${id}`,
    dueSince: at - (at % daySeconds),
    notice: {
      kind: isAddition ? 'promptAddition' : 'usageImplausible',
      type: isAddition ? 'prompt_addition' : 'usage_implausible',
      params: { channel, id, count: Number(count) },
      values: [id, channel, Number(count)],
      path: `/log?site_cost=${reason}`,
    },
  }
}
