import { change } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'

/**
 * Deletes keys of deleted channels, and makes every node reload the channels. Routing is built from the channels alone, so nothing
 * else needs repair. Returns the number of channels.
 */
export function repairChannels(core: Core, { caller }: { caller: Caller }): Promise<number> {
  return change(core, caller, async (within, audit) => {
    const rows = await within
      .deleteFrom('channel_keys')
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom('channels').select('channels.id').whereRef('channels.id', '=', 'channel_keys.channel_id'))),
      )
      .returning('id')
      .execute()
    const { count } = await within
      .selectFrom('channels')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    audit({ action: 'channel.fix', target: 'channels', after: { channels: count, keys_removed: rows.length }, topic: 'channels' })
    return count
  })
}
