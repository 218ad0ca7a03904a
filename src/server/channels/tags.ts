import type { TagPatch } from '../../contract/entities/channel.ts'
import { channelStatus } from '../../contract/entities/channel-status.ts'
import type { Within } from '../db/open.ts'
import { fail } from '../lib/failure.ts'
import { recordAudit } from '../options/audit.ts'
import type { Caller, Core } from '../options/core.ts'
import { reviveKeys } from './channel-keys.ts'
import { type Fields, readSharedFields } from './fields.ts'
import { lockedIds } from './locks.ts'
import { recordStatusEvents } from './status-events.ts'

/** Channels that share a tag are changed together. */
interface Act {
  readonly caller: Caller
}

/**
 * Writes the given fields to all channels of a tag; '' keeps a list or mapping, and '' as the new tag dissolves the tag. Returns the
 * number of channels. Throws `tag_required`, `nothing_changed`, `channel_tag_unknown` and what an edit throws.
 */
export async function editTag(core: Core, { caller, patch }: Act & { patch: TagPatch }): Promise<number> {
  const { tag, new_tag, models = '', groups = '', model_mapping = '', priority, weight } = patch
  if (tag === '') fail('tag_required')
  const fields = readSharedFields({
    ...(new_tag === undefined || new_tag === tag ? {} : { tag: new_tag }),
    ...(models.trim() === '' ? {} : { models }),
    ...(groups.trim() === '' ? {} : { group: groups }),
    ...(model_mapping.trim() === '' ? {} : { model_mapping }),
    ...(priority === undefined ? {} : { priority }),
    ...(weight === undefined ? {} : { weight }),
  })
  if (Object.keys(fields).length === 0) fail('nothing_changed')

  return changeTagged(core, tag, async (within, ids) => {
    await within.updateTable('channels').set(fields).where('id', 'in', ids).execute()
    await audit(core, within, { caller, action: 'channel.tag-edit', tag, ids, fields })
    return ids.length
  })
}

/**
 * Enables or disables all channels of a tag, and returns how many had another status before. Throws `tag_required` or
 * `channel_tag_unknown`.
 */
export async function setTagStatus(core: Core, { caller, tag, status }: Act & { tag: string; status: number }): Promise<number> {
  if (tag === '') fail('tag_required')
  return changeTagged(core, tag, async (within, ids) => {
    const fields = { status, other_info: '' }
    const rows = await within
      .updateTable('channels')
      .set(fields)
      .where('id', 'in', ids)
      .where('status', '<>', status)
      .returning('id')
      .execute()
    const changed = rows.map(({ id }) => id)
    if (status === channelStatus.enabled) await reviveKeys(within, changed)
    await recordStatusEvents(core, within, changed, { status, by: caller.username })
    if (changed.length > 0)
      await audit(core, within, { caller, action: 'channel.tag-status', tag, ids: changed, fields: { status } })
    return changed.length
  })
}

/** Sets the tag of channels, or removes it with null, and returns the number of channels. Throws `tag_required`. */
export async function tagChannels(
  core: Core,
  { caller, ids, tag: given }: Act & { ids: readonly number[]; tag: string | null },
): Promise<number> {
  if (given === '') fail('tag_required')
  const tag = given ?? ''
  const tagged = await core.db.transaction().execute(async (within) => {
    const found = await lockedIds(core, within).where('id', 'in', ids).execute()
    if (found.length === 0) return 0
    const present = found.map(({ id }) => id)
    await within.updateTable('channels').set({ tag }).where('id', 'in', present).execute()
    await audit(core, within, { caller, action: 'channel.tag', tag, ids: present, fields: { tag } })
    return present.length
  })
  if (tagged > 0) core.bus.publish('channels')
  return tagged
}

async function changeTagged(
  core: Core,
  tag: string,
  change: (within: Within, ids: readonly number[]) => Promise<number>,
): Promise<number> {
  const changed = await core.db.transaction().execute(async (within) => {
    const rows = await lockedIds(core, within).where('tag', '=', tag).execute()
    if (rows.length === 0) fail('channel_tag_unknown', { tag })
    return change(
      within,
      rows.map(({ id }) => id),
    )
  })
  core.bus.publish('channels')
  return changed
}

interface TagAudit {
  readonly caller: Caller
  readonly action: string
  readonly tag: string
  readonly ids: readonly number[]
  readonly fields: Fields
}

function audit(core: Core, within: Within, { caller, action, tag, ids, fields }: TagAudit): Promise<void> {
  return recordAudit(core, within, {
    caller,
    action,
    target: `tag:${tag} channel:${ids.join(',')}`,
    after: JSON.stringify(fields),
  })
}
