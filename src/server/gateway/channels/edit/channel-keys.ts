import type { ChannelKey } from '../../../../contract/entities/channel.ts'
import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import type { Within } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change, type Report } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { openKey, readKeys, sealKey, tailOf } from '../row/keys.ts'
import { findRow, lockChannel } from '../row/rows.ts'
import { requireProvider } from './fields.ts'
import { recordStatusEvents } from './status-events.ts'

/**
 * The keys of a channel: this file owns the table `channel_keys`, except for the columns that `auto-disable.ts` writes when a key fails. A
 * channel without an enabled key is disabled; one that was disabled only for that reason is enabled again with its next key.
 */
interface Act {
  readonly caller: Caller
  readonly channelId: number
}

/** Lists the keys of a channel without their values. Throws `not_found`. */
export async function listKeys(core: Core, channelId: number): Promise<ChannelKey[]> {
  await findRow(core.db, channelId)
  const rows = await core.db.selectFrom('channel_keys').selectAll().where('channel_id', '=', channelId).orderBy('id').execute()
  return rows.map((row) => presentKey(core, row))
}

/**
 * Adds the keys that the channel does not have, and returns their ids. Throws `not_found`, `channel_name_required` or
 * `field_invalid`.
 */
export async function addKeys(core: Core, { caller, channelId, key }: Act & { key: string }): Promise<number[]> {
  return changeKeys(core, { caller, channelId }, async (within, audit, channel) => {
    const known = new Set((await keyRows(within, channelId)).map((row) => readKey(core, row)))
    const given = readKeys(requireProvider(channel.type), key).filter((each) => !known.has(each))
    const ids = await insertKeys(core, within, channelId, given)
    if (ids.length > 0) audit({ action: 'channel.key-add', target: targetOf(channelId, ids) })
    return ids
  })
}

/** Returns the number of keys that had another status before. Throws `not_found`. */
export async function setKeyStatus(
  core: Core,
  { caller, channelId, ids, status }: Act & { ids: readonly number[]; status: number },
): Promise<number> {
  return changeKeys(core, { caller, channelId }, async (within, audit) => {
    const rows = await within
      .updateTable('channel_keys')
      .set({ status, status_reason: '', status_time: 0 })
      .where('channel_id', '=', channelId)
      .where('id', 'in', ids)
      .where('status', '<>', status)
      .returning('id')
      .execute()
    const changed = rows.map(({ id }) => id).sort((a, b) => a - b)
    if (changed.length > 0) audit({ action: 'channel.key-status', target: targetOf(channelId, changed), after: { status } })
    return changed.length
  })
}

/** Throws `not_found` or `channel_key_last`. */
export function removeKey(core: Core, { caller, channelId, keyId }: Act & { keyId: number }): Promise<void> {
  return changeKeys(core, { caller, channelId }, async (within, audit) => {
    const rows = await keyRows(within, channelId)
    if (!rows.some(({ id }) => id === keyId)) fail('not_found')
    if (rows.length === 1) fail('channel_key_last')
    await within.deleteFrom('channel_keys').where('id', '=', keyId).execute()
    // The key must not remain in the column of the previous version either.
    await within.updateTable('channels').set({ key_sealed: '' }).where('id', '=', channelId).execute()
    audit({ action: 'channel.key-remove', target: targetOf(channelId, [keyId]) })
  })
}

/** Adds keys to a channel that the transaction has locked or created, each once. Returns their ids. */
export async function insertKeys(core: Core, within: Within, channelId: number, keys: readonly string[]): Promise<number[]> {
  const once = [...new Set(keys)]
  if (once.length === 0) return []
  const created_time = seconds(core.now())
  const rows = await within
    .insertInto('channel_keys')
    .values(once.map((key) => ({ channel_id: channelId, key_sealed: sealKey(core, channelId, key), created_time })))
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Replaces keys of a locked channel: its only one, which keeps its id, or all of them with `isForAll`. Throws `channel_has_keys` when
 * one key would replace several without `isForAll`.
 */
export async function replaceKeys(
  core: Core,
  within: Within,
  { id, keys, isForAll }: { id: number; keys: readonly string[]; isForAll: boolean },
): Promise<void> {
  const [old, ...more] = await keyRows(within, id)
  if (more.length > 0 && !isForAll) fail('channel_has_keys')
  const [key, ...others] = keys
  if (old && key !== undefined && more.length === 0 && others.length === 0) {
    const fresh = { key_sealed: sealKey(core, id, key), status: channelStatus.enabled, status_reason: '', status_time: 0 }
    await within.updateTable('channel_keys').set(fresh).where('id', '=', old.id).execute()
    return
  }
  await within.deleteFrom('channel_keys').where('channel_id', '=', id).execute()
  await insertKeys(core, within, id, keys)
}

/**
 * Enables keys of locked channels that are enabled again but have no key in use: the automatically disabled ones, or all keys when
 * there are no such ones.
 */
export async function reviveKeys(within: Within, channelIds: readonly number[]): Promise<void> {
  if (channelIds.length === 0) return
  const rows = await within.selectFrom('channel_keys').selectAll().where('channel_id', 'in', channelIds).execute()
  const served = new Set(rows.filter(isEnabled).map(({ channel_id }) => channel_id))
  const idle = rows.filter(({ channel_id }) => !served.has(channel_id))
  const failed = idle.filter(({ status }) => status === channelStatus.autoDisabled)
  const withFailed = new Set(failed.map(({ channel_id }) => channel_id))
  const revived = [...failed, ...idle.filter(({ channel_id }) => !withFailed.has(channel_id))].map(({ id }) => id)
  if (revived.length === 0) return
  await within
    .updateTable('channel_keys')
    .set({ status: channelStatus.enabled, status_reason: '', status_time: 0 })
    .where('id', 'in', revived)
    .execute()
}

/** Runs a change of the keys of a locked channel, and adapts the status of the channel to its keys. */
export async function followKeys<Result>(
  core: Core,
  within: Within,
  channelId: number,
  step: () => Promise<Result>,
): Promise<Result> {
  const hadKey = (await keyRows(within, channelId)).some(isEnabled)
  const result = await step()
  const hasKey = (await keyRows(within, channelId)).some(isEnabled)

  const follow = async (from: number, to: { status: number; other_info: string }) => {
    const changed = within.updateTable('channels').set(to).where('id', '=', channelId).where('status', '=', from)
    const rows = await changed.returning('id').execute()
    if (rows.length > 0) await recordStatusEvents(core, within, [channelId], { status: to.status, by: 'system' })
  }
  if (!hasKey) await follow(channelStatus.enabled, { status: channelStatus.autoDisabled, other_info: noKeyInfo(core) })
  else if (!hadKey) await follow(channelStatus.autoDisabled, { status: channelStatus.enabled, other_info: '' })
  return result
}

/** Every node reads the channel again, because its status may have followed its keys. */
function changeKeys<Result>(
  core: Core,
  { caller, channelId }: Act,
  step: (within: Within, report: Report, channel: Row<'channels'>) => Promise<Result>,
): Promise<Result> {
  return change(core, caller, async (within, report) => {
    const channel = await lockChannel(core, within, channelId)
    report({ topic: 'channels', id: channelId })
    return followKeys(core, within, channelId, () => step(within, report, channel))
  })
}

type KeyRow = Row<'channel_keys'>

function keyRows(within: Within, channelId: number): Promise<KeyRow[]> {
  return within.selectFrom('channel_keys').selectAll().where('channel_id', '=', channelId).orderBy('id').execute()
}

function isEnabled({ status }: KeyRow): boolean {
  return status === channelStatus.enabled
}

function presentKey(core: Core, row: KeyRow): ChannelKey {
  const { channel_id: _channel, key_sealed: _sealed, ...shown } = row
  return { ...shown, tail: tailOf(readKey(core, row) ?? '') }
}

/** Undefined for a key that cannot be decrypted: it can only be removed. */
function readKey(core: Core, row: KeyRow): string | undefined {
  try {
    return openKey(core, row)
  } catch {
    return undefined
  }
}

function noKeyInfo(core: Core): string {
  return JSON.stringify({ status_reason: '没有可用的密钥 / no key is in use', status_time: seconds(core.now()) })
}

function targetOf(channelId: number, keyIds: readonly number[]): string {
  return `channel:${channelId}/key:${keyIds.join(',')}`
}
