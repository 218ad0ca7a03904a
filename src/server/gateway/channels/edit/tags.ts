import type { TagPatch } from '../../../../contract/entities/channel.ts'
import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import type { Within } from '../../../base/db/open.ts'
import { fail } from '../../../base/lib/failure.ts'
import { change } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { lockedIds } from '../row/rows.ts'
import { reviveKeys } from './channel-keys.ts'
import { readSharedFields } from './fields.ts'
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

  return change(core, caller, async (within, audit) => {
    const ids = await lockTagged(core, within, tag)
    await within.updateTable('channels').set(fields).where('id', 'in', ids).execute()
    audit({ action: 'channel.tag-edit', target: targetOf(tag, ids), after: fields, topic: 'channels' })
    return ids.length
  })
}

/**
 * Enables or disables all channels of a tag, and returns how many had another status before. Throws `tag_required` or
 * `channel_tag_unknown`.
 */
export async function setTagStatus(core: Core, { caller, tag, status }: Act & { tag: string; status: number }): Promise<number> {
  if (tag === '') fail('tag_required')
  return change(core, caller, async (within, audit) => {
    const ids = await lockTagged(core, within, tag)
    const rows = await within
      .updateTable('channels')
      .set({ status, other_info: '' })
      .where('id', 'in', ids)
      .where('status', '<>', status)
      .returning('id')
      .execute()
    const changed = rows.map(({ id }) => id)
    if (changed.length === 0) return 0
    if (status === channelStatus.enabled) await reviveKeys(within, changed)
    await recordStatusEvents(core, within, changed, { status, by: caller.username })
    audit({ action: 'channel.tag-status', target: targetOf(tag, changed), after: { status }, topic: 'channels' })
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
  return change(core, caller, async (within, audit) => {
    const found = await lockedIds(core, within).where('id', 'in', ids).execute()
    if (found.length === 0) return 0
    const present = found.map(({ id }) => id)
    await within.updateTable('channels').set({ tag }).where('id', 'in', present).execute()
    audit({ action: 'channel.tag', target: targetOf(tag, present), after: { tag }, topic: 'channels' })
    return present.length
  })
}

/** The ids of the channels of a tag. Throws `channel_tag_unknown`. */
async function lockTagged(core: Core, within: Within, tag: string): Promise<number[]> {
  const rows = await lockedIds(core, within).where('tag', '=', tag).execute()
  if (rows.length === 0) fail('channel_tag_unknown', { tag })
  return rows.map(({ id }) => id)
}

function targetOf(tag: string, ids: readonly number[]): string {
  return `tag:${tag} channel:${ids.join(',')}`
}
