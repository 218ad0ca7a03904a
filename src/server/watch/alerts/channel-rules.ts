import { channelStatus } from '../../../contract/entities/channel-status.ts'
import type { App } from '../parts.ts'
import type { Measured, PastMeasured } from './measures.ts'

/** Channels that were disabled automatically; the value of each is 1. */
export async function disabledChannels({ db }: App): Promise<Measured[]> {
  const rows = await db.selectFrom('channels').select(['id', 'name']).where('status', '=', channelStatus.autoDisabled).execute()
  return rows.map(({ id, name }) => ({ subject: `channel:${id}`, name: nameOf(id, name), value: 1 }))
}

/** The number of automatically disabled keys of each enabled channel. */
export async function disabledKeys({ db }: App): Promise<Measured[]> {
  const rows = await db
    .selectFrom('channel_keys')
    .innerJoin('channels', 'channels.id', 'channel_keys.channel_id')
    .select(['channels.id', 'channels.name'])
    .select((row) => row.fn.countAll<number>().as('value'))
    .where('channel_keys.status', '=', channelStatus.autoDisabled)
    .where('channels.status', '=', channelStatus.enabled)
    .groupBy(['channels.id', 'channels.name'])
    .execute()
  return rows.map(({ id, name, value }) => ({ subject: `channel:${id}`, name: nameOf(id, name), value: Number(value) }))
}

/**
 * Each time that a channel or a key was disabled automatically, by the `action` of the audit log; from and to in unix seconds, both
 * included.
 */
export async function pastDisabled(
  { db }: App,
  action: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<PastMeasured[]> {
  const rows = await db
    .selectFrom('audit')
    .select(['target', 'created_at'])
    .where('action', '=', action)
    .where('created_at', '>=', from)
    .where('created_at', '<=', to)
    .orderBy('id')
    .execute()
  const named = await db.selectFrom('channels').select(['id', 'name']).execute()
  const names = new Map(named.map(({ id, name }) => [`channel:${id}`, nameOf(id, name)]))
  return rows.map(({ target, created_at: at }) => {
    const [subject = target] = target.split('/')
    return { subject, name: names.get(subject) ?? subject, value: 1, from: at, to: at }
  })
}

function nameOf(id: number, name: string): string {
  return `${name} (#${id})`
}
