import { destinationStatus } from '../../../contract/entities/destination.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { notifySuperAdmins, type OnceNotice } from '../../gateway/channels/health/notify-super-admins.ts'
import { purgeDeliveries } from '../../people/notify/deliveries.ts'
import type { App } from '../parts.ts'
import type { Job } from './runner.ts'

const notifyWithinSeconds = 86_400

/** Notifies super admins of webhooks that were disabled automatically, and deletes old deliveries. */
export const watchDestinations: Job = {
  name: 'watch-destinations',
  label: { zh: '检查通知目标', en: 'Watch destinations' },
  on: 'one-node',
  everyMs: () => 60_000,
  deadlineMs: 50_000,
  async run(app, signal) {
    const told = await notifySuperAdmins(app, await readDisabled(app), signal)
    return `${told} notified, ${await purgeDeliveries(app)} deliveries deleted`
  },
}

async function readDisabled({ db, now }: App): Promise<OnceNotice[]> {
  const rows = await db
    .selectFrom('destinations')
    .select(['id', 'name', 'last_error', 'status_time'])
    .where('status', '=', destinationStatus.autoDisabled)
    .where('organisation_id', '=', 0)
    .where('status_time', '>', seconds(now()) - notifyWithinSeconds)
    .execute()
  return rows.map(({ id, name, last_error: reason, status_time: at }) => ({
    subject: `destination:${id}`,
    kind: `destination-disabled:${id}`,
    dueSince: at,
    notice: {
      kind: 'destinationDisabled',
      type: 'destination_disabled',
      params: { name, reason: reason === '' ? '-' : reason },
      values: [id, name, reason],
      path: '/alerts?tab=webhooks',
    },
  }))
}
