import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import type { Within } from '../../../base/db/open.ts'
import type { Core } from '../../../base/options/core.ts'
import { recordEvent } from '../../../usage/log/record-event.ts'

interface Change {
  readonly status: number
  /** The name of the admin; `system` for what happens automatically. */
  readonly by: string
  readonly reason?: string
}

/** Records `channel.enabled` or `channel.disabled` for channels whose status has just changed, in the same transaction. */
export async function recordStatusEvents(
  core: Core,
  within: Within,
  ids: readonly number[],
  { status, by, reason = '' }: Change,
): Promise<void> {
  if (ids.length === 0) return
  const rows = await within.selectFrom('channels').select(['id', 'name', 'tag']).where('id', 'in', ids).orderBy('id').execute()
  const type = status === channelStatus.enabled ? 'channel.enabled' : 'channel.disabled'
  for (const { id, name, tag } of rows)
    await recordEvent(core, within, type, { channel_id: id, name, tag, by, automatic: by === 'system', reason })
}
