import type { Channel, ChannelInput, ChannelPatch } from '../../../../contract/entities/channel.ts'
import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import type { Within } from '../../../base/db/open.ts'
import type { NewRow, Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { openKey, readKeys, readOneKey } from '../row/keys.ts'
import { readSetting, truncate } from '../row/read-columns.ts'
import { findRow, type Locked, lockChannel, lockedIds } from '../row/rows.ts'
import { followKeys, insertKeys, replaceKeys, reviveKeys } from './channel-keys.ts'
import { destinationOf, type Fields, readFields, requireBaseUrl, requireProvider } from './fields.ts'
import { presentChannel } from './find-channels.ts'
import { refuseOwnSite } from './own-site.ts'
import { recordStatusEvents } from './status-events.ts'

/**
 * The channels: configured upstreams with their keys, addresses, models and groups. This folder is what admins see and change of them;
 * every change is audited in its transaction and published after its commit. The folders of channels own the tables `channels` (but for
 * `used_quota`, which is the ledger's), `channel_keys` and `upstream_models`. Not here: calling an upstream for a caller (relay).
 */
interface Act {
  readonly caller: Caller
}

const nameLengthMax = 100

/**
 * Creates one channel for each key, or with `multi_key` one channel for all keys, and returns their ids. Several channels are alike, but
 * for a number after their name; without a tag, their name is their tag, by which they can be changed together. Throws
 * `channel_name_required`, `channel_models_required`, `channel_type_unknown`, `channel_url_required`, `channel_url_invalid`,
 * `channel_mapping_loop`, `json_text_invalid` or `field_invalid`.
 */
export async function addChannels(core: Core, { caller, input }: Act & { input: ChannelInput }): Promise<number[]> {
  const { key, multi_key = false, single_key = false, status = channelStatus.enabled, ...given } = input
  const provider = requireProvider(given.type)
  const keys = (single_key ? readOneKey : readKeys)(provider, key)
  const groups = multi_key ? [keys] : keys.map((each) => [each])
  const tag = groups.length > 1 && !given.tag ? given.name : given.tag
  const fields = readFields(core.env, provider, { group: '', other: '', ...given, tag })
  requireBaseUrl(provider, fields.base_url)
  await refuseOwnSite(core, fields.base_url)

  return change(core, caller, async (within, audit) => {
    const made: number[] = []
    for (const [index, own] of groups.entries()) {
      const name = groups.length === 1 ? given.name : numbered(given.name, index + 1, groups.length)
      made.push(await insertChannel(core, within, { ...fields, type: given.type, name, status }, own))
    }
    audit({ action: 'channel.add', target: targetOf(made), after: shown(fields), topic: 'channels' })
    return made
  })
}

/**
 * Writes the given fields. An empty key keeps the stored one, unless the destination changes: `channel_key_reenter`. A status of 1 or
 * 2 also clears the reason of disabling. Throws `not_found`, `channel_has_keys` and what `addChannels` throws.
 */
export async function editChannel(core: Core, { caller, patch }: Act & { patch: ChannelPatch }): Promise<Channel> {
  const { id, key = '', multi_key = false, status, ...given } = patch
  await refuseOwnSite(core, given.base_url)

  const edited = await change(core, caller, async (within, audit) => {
    const before = await lockChannel(core, within, id)
    const provider = requireProvider(given.type ?? before.type)
    const keys = key.trim() === '' ? undefined : (multi_key ? readKeys : readOneKey)(provider, key)
    const fields = changesOf(before, {
      ...readFields(core.env, provider, given.type === undefined ? given : { ...given, other: given.other ?? before.other }),
      ...(status === undefined || status === before.status ? {} : { status, other_info: '' }),
    })
    const wanted = { ...before, ...fields }
    if (given.type !== undefined || given.base_url !== undefined) requireBaseUrl(provider, wanted.base_url)
    if (!keys && destinationOf(wanted) !== destinationOf(before)) fail('channel_key_reenter')
    if (!keys && Object.keys(fields).length === 0) return before

    // What was learnt ends with another upstream, and with an admin's word.
    const isNew = fields.base_url !== undefined || fields.type !== undefined
    const forgets = isNew || (fields.setting !== undefined && readSetting(fields.setting).adds_to_prompts !== undefined)
    // A replaced key must not remain in the column of the previous version.
    const changes = { ...fields, lacking: '', ...(forgets ? { prompt_additions: '' } : {}), ...(keys ? { key_sealed: '' } : {}) }
    await within.updateTable('channels').set(changes).where('id', '=', id).execute()
    if (keys) await followKeys(core, within, id, () => replaceKeys(core, within, { id, keys, isForAll: multi_key }))
    if (fields.status === channelStatus.enabled) await reviveKeys(within, [id])
    if (fields.status !== undefined) await recordStatusEvents(core, within, [id], { status: fields.status, by: caller.username })
    audit({
      action: 'channel.edit',
      target: targetOf([id]),
      before: shown(Object.fromEntries(Object.entries(before).filter(([column]) => column in fields))),
      after: shown({ ...fields, ...(keys ? { key: '(new)' } : {}) }),
      topic: 'channels',
      id,
    })
    return findRow(within, id)
  })
  return presentChannel(core.db, edited)
}

/** Makes a disabled channel with the same keys and settings, and no history. Throws `not_found`. */
export async function copyChannel(core: Core, { caller, id, suffix }: Act & { id: number; suffix: string }): Promise<Channel> {
  const copy = await change(core, caller, async (within, audit) => {
    const row = await findRow(within, id)
    const { id: _id, key_sealed: _sealed, test_time: _tested, test_failure: _failed, balance: _balance, ...more } = row
    const {
      balance_updated_time: _updated,
      used_quota: _used,
      other_info: _info,
      lacking: _lacking,
      prompt_additions: _added,
      response_time: _took,
      ...rest
    } = more
    const { created_time: _created, ...fields } = rest
    const name = truncate(row.name, nameLengthMax - suffix.length) + suffix
    const keys = await within.selectFrom('channel_keys').selectAll().where('channel_id', '=', id).orderBy('id').execute()
    const opened = keys.map((key) => openKey(core, key))
    const made = await insertChannel(core, within, { ...fields, name, status: channelStatus.disabled }, opened)
    audit({ action: 'channel.copy', target: targetOf([id]), after: targetOf([made]), topic: 'channels', id: made })
    return findRow(within, made)
  })
  return presentChannel(core.db, copy)
}

/** Returns the number of deleted channels. */
export function deleteChannels(core: Core, { caller, ids }: Act & { ids: readonly number[] }): Promise<number> {
  return deleteWhere(core, caller, (row) => row.where('id', 'in', ids))
}

/** Deletes every channel that is disabled, by hand or automatically, and returns their number. */
export function deleteDisabledChannels(core: Core, { caller }: Act): Promise<number> {
  return deleteWhere(core, caller, (row) => row.where('status', '<>', channelStatus.enabled))
}

/** Returns the number of channels that had another status before. */
export function setChannelStatus(
  core: Core,
  { caller, ids, status }: Act & { ids: readonly number[]; status: number },
): Promise<number> {
  return change(core, caller, async (within, audit) => {
    const rows = await within
      .updateTable('channels')
      .set({ status, other_info: '', lacking: '' })
      .where('id', 'in', lockedIds(core, within).where('id', 'in', ids).where('status', '<>', status))
      .returning('id')
      .execute()
    const changed = rows.map(({ id }) => id)
    if (changed.length === 0) return 0
    if (status === channelStatus.enabled) await reviveKeys(within, changed)
    await recordStatusEvents(core, within, changed, { status, by: caller.username })
    audit({ action: 'channel.status', target: targetOf(changed), after: shown({ status }), topic: 'channels' })
    return changed.length
  })
}

/**
 * Deletes keys of deleted channels, and makes every node reload the channels. Routing is built from the channels alone, so nothing
 * else needs repair. Returns the number of channels.
 */
export function repairChannels(core: Core, { caller }: Act): Promise<number> {
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

type NewChannel = Omit<NewRow<'channels'>, 'key_sealed' | 'created_time'>

/** The ciphertext of a key is bound to its channel's id, which exists only after the insert. */
/** The name with a number that has as many digits as the greatest, so that the order of the names is that of the numbers. */
function numbered(name: string, number: number, count: number): string {
  const suffix = ` ${String(number).padStart(String(count).length, '0')}`
  return truncate(name, nameLengthMax - suffix.length) + suffix
}

async function insertChannel(core: Core, within: Within, fields: NewChannel, keys: readonly string[]): Promise<number> {
  const { id } = await within
    .insertInto('channels')
    .values({ ...fields, key_sealed: '', created_time: seconds(core.now()) })
    .returning('id')
    .executeTakeFirstOrThrow()
  await insertKeys(core, within, id, keys)
  return id
}

function deleteWhere(core: Core, caller: Caller, which: (rows: Locked) => Locked): Promise<number> {
  return change(core, caller, async (within, audit) => {
    const rows = await within
      .deleteFrom('channels')
      .where('id', 'in', which(lockedIds(core, within)))
      .returning(['id', 'name', 'type', 'base_url'])
      .execute()
    if (rows.length === 0) return 0
    const ids = rows.map(({ id }) => id)
    await within.deleteFrom('channel_keys').where('channel_id', 'in', ids).execute()
    await within.deleteFrom('upstream_models').where('channel_id', 'in', ids).execute()
    audit({ action: 'channel.delete', target: targetOf(ids), before: shown(rows), topic: 'channels' })
    return rows.length
  })
}

function changesOf(before: Row<'channels'>, fields: Fields): Fields {
  const old = new Map<string, unknown>(Object.entries(before))
  return Object.fromEntries(Object.entries(fields).filter(([column, value]) => old.get(column) !== value))
}

function targetOf(ids: readonly number[]): string {
  return `channel:${ids.join(',')}`
}

/** The fields in the audit log: no key, no proxy credentials, and no header values, which may be secrets. */
function shown(fields: object): string {
  const safe =
    'setting' in fields && typeof fields.setting === 'string' ? { ...fields, setting: withoutHeaders(fields.setting) } : fields
  return JSON.stringify(safe).replace(/\/\/[^/@"\s]*@/g, '//…@')
}

function withoutHeaders(setting: string): string {
  try {
    const { header_override: headers = {}, ...rest } = readSetting(setting)
    const names = Object.keys(headers)
    return names.length === 0 ? setting : JSON.stringify({ ...rest, header_override: names })
  } catch {
    return '(broken)'
  }
}
