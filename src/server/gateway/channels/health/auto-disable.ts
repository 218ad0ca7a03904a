import { channelStatus } from '../../../../contract/entities/channel-status.ts'
import { logType } from '../../../../contract/entities/log.ts'
import { linesOf } from '../../../../contract/options/lists.ts'
import type { Within } from '../../../base/db/open.ts'
import { redact } from '../../../base/lib/log/logger.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change, type Report } from '../../../base/options/change.ts'
import type { Core } from '../../../base/options/core.ts'
import { recordLog } from '../../../usage/log/log.ts'
import { recordEvent } from '../../../usage/log/record-event.ts'
import { recognise } from '../../protocols/known-errors.ts'
import { reviveKeys } from '../edit/channel-keys.ts'
import { recordStatusEvents } from '../edit/status-events.ts'
import type { RunningChannel } from '../index/model-index.ts'
import { truncate } from '../row/read-columns.ts'
import { lockChannel, lockedIds } from '../row/rows.ts'

/**
 * An upstream's response to an attempt, after the channel's status mapping. This folder takes failing keys and channels out of service and
 * back, and tells super admins and the console how channels are.
 */
export interface ChannelFailure {
  /** 0 when there was no answer. */
  readonly status: number
  readonly code: string
  readonly type: string
  readonly message: string
}

const fatalCodes = new Set(['invalid_api_key', 'account_deactivated', 'billing_not_active'])
const fatalTypes = new Set(['authentication_error', 'permission_error', 'forbidden'])
const reasonLengthMax = 500
const { enabled } = channelStatus

/**
 * Disables a key automatically when its failure is permanent: it is refused, its account has no balance, or the error contains a
 * keyword of the options. The channel is disabled with its last key. Returns whether this call disabled it: of many simultaneous
 * failures only one does. A failure with a key that was replaced or disabled since, or of a channel that is disabled already,
 * changes nothing.
 */
export async function reportFailure(core: Core, channel: RunningChannel, failure: ChannelFailure): Promise<boolean> {
  const { AutomaticDisableChannelEnabled, AutomaticDisableKeywords } = core.options.current
  if (!AutomaticDisableChannelEnabled || !channel.autoBan) return false
  if (!isFatal(channel, failure, linesOf(AutomaticDisableKeywords))) return false
  return disableKey(core, channel, reasonOf(channel, failure))
}

/**
 * Keys that are being disabled, or were: of a thousand simultaneous failures one reaches the database. A key that is enabled again is
 * a new object.
 */
const disabling = new WeakMap<RunningChannel, Promise<boolean>>()

/** Disables a key for the given reason, whatever the options. Returns the same as `reportFailure`. */
export async function disableKey(core: Core, channel: RunningChannel, reason: string): Promise<boolean> {
  const running = disabling.get(channel)
  if (running) {
    await running
    return false
  }
  const disabled = writeDisabled(core, channel, reason)
  disabling.set(channel, disabled)
  try {
    return await disabled
  } catch (error) {
    disabling.delete(channel)
    throw error
  }
}

function writeDisabled(core: Core, channel: RunningChannel, reason: string): Promise<boolean> {
  const at = seconds(core.now())
  return change(core, undefined, async (within, audit) => {
    const locked = await lockedIds(core, within).where('id', '=', channel.id).where('status', '=', enabled).executeTakeFirst()
    const key = locked && (await noteOnKey(within, channel, { reason, at }))
    if (!key) return false

    const left = await within
      .selectFrom('channel_keys')
      .select('id')
      .where('channel_id', '=', channel.id)
      .where('status', '=', enabled)
      .limit(1)
      .executeTakeFirst()
    const disabled = { channel, reason, at, audit }
    if (left) await record(core, within, { ...disabled, of: 'key' })
    else await noteOnChannel(core, within, disabled)
    return true
  })
}

/** Disables a channel without its keys, because they are not the cause. Returns whether this call disabled it. */
export function disableChannel(core: Core, channel: RunningChannel, reason: string): Promise<boolean> {
  const at = seconds(core.now())
  return change(core, undefined, (within, audit) => noteOnChannel(core, within, { channel, reason, at, audit }))
}

function noteOnKey(within: Within, channel: RunningChannel, { reason, at }: { reason: string; at: number }) {
  return within
    .updateTable('channel_keys')
    .set({ status: channelStatus.autoDisabled, status_reason: reason, status_time: at })
    .where('id', '=', channel.keyId)
    .where('status', '=', enabled)
    .where('key_sealed', '=', channel.keySealed)
    .returning('id')
    .executeTakeFirst()
}

interface Disabling {
  readonly channel: RunningChannel
  readonly reason: string
  readonly at: number
  readonly audit: Report
}

async function noteOnChannel(core: Core, within: Within, disabled: Disabling): Promise<boolean> {
  const { channel, reason, at } = disabled
  const row = await within
    .updateTable('channels')
    .set({ status: channelStatus.autoDisabled, other_info: JSON.stringify({ status_reason: reason, status_time: at }) })
    .where('id', '=', channel.id)
    .where('status', '=', enabled)
    .returning('id')
    .executeTakeFirst()
  if (row) await record(core, within, { ...disabled, of: 'channel' })
  return row !== undefined
}

/** Records that a channel or key was disabled: in the system log, in the audit, and as an event. */
async function record(core: Core, within: Within, { channel, of, reason, at, audit }: Disabling & { of: 'key' | 'channel' }) {
  const { id, name, keyId } = channel
  const content =
    of === 'channel'
      ? `渠道 ${name}（#${id}）已被自动禁用 / Channel ${name} (#${id}) was disabled automatically: ${reason}`
      : `渠道 ${name}（#${id}）的密钥 #${keyId} 已被自动禁用 / Key #${keyId} of channel ${name} (#${id}) was disabled automatically: ${reason}`
  await recordLog(within, { type: logType.system, at, userId: 0, username: '', content })
  if (of === 'channel') await recordStatusEvents(core, within, [id], { status: channelStatus.autoDisabled, by: 'system', reason })
  else await recordEvent(core, within, 'channel.key_disabled', { channel_id: id, name, key_id: keyId, reason })
  audit({
    action: of === 'channel' ? 'channel.auto-disable' : 'channel.key-auto-disable',
    target: of === 'channel' ? `channel:${id}` : `channel:${id}/key:${keyId}`,
    after: reason,
    topic: 'channels',
    id,
  })
}

/**
 * Puts a key that passed a test back into service, and its channel, if they were disabled automatically and the options allow it.
 * Returns whether anything changed.
 */
export async function enableAfterTest(core: Core, channel: RunningChannel): Promise<boolean> {
  if (!core.options.current.AutomaticEnableChannelEnabled) return false
  return change(core, undefined, async (within, audit) => {
    const row = await lockChannel(core, within, channel.id)
    const key = await within
      .updateTable('channel_keys')
      .set({ status: enabled, status_reason: '', status_time: 0 })
      .where('id', '=', channel.keyId)
      .where('status', '=', channelStatus.autoDisabled)
      .returning('id')
      .executeTakeFirst()
    const isBack = row.status === channelStatus.autoDisabled
    if (isBack) {
      await within.updateTable('channels').set({ status: enabled, other_info: '' }).where('id', '=', channel.id).execute()
      await reviveKeys(within, [channel.id])
    }
    if (!key && !isBack) return false
    if (isBack) await recordStatusEvents(core, within, [channel.id], { status: enabled, by: 'system' })
    else
      await recordEvent(core, within, 'channel.key_enabled', {
        channel_id: channel.id,
        name: channel.name,
        key_id: channel.keyId,
      })
    audit({
      action: isBack ? 'channel.auto-enable' : 'channel.key-auto-enable',
      target: isBack ? `channel:${channel.id}` : `channel:${channel.id}/key:${channel.keyId}`,
      topic: 'channels',
      id: channel.id,
    })
    return true
  })
}

interface TestResult {
  readonly ms: number
  /** Absent when it passed. The reason is for admins. */
  readonly failure?: { readonly status: number; readonly reason: string }
}

/** Stores when a channel was tested, how long it took and why it failed. Not published, because no decision depends on it. */
export async function reportTest(core: Core, id: number, { ms, failure }: TestResult): Promise<void> {
  const told = failure ? `${failure.status} ${redact(failure.reason)}` : ''
  await core.db
    .updateTable('channels')
    .set({
      test_time: seconds(core.now()),
      response_time: Math.max(1, Math.round(ms)),
      test_failure: truncate(told.replace(/[\0\p{Cs}]/gu, ''), reasonLengthMax),
    })
    .where('id', '=', id)
    .execute()
}

function isFatal({ provider }: RunningChannel, failure: ChannelFailure, keywords: readonly string[]): boolean {
  const { status, code, type, message } = failure
  const known = recognise({ ...failure, param: null }, status)
  if (known?.kind === 'quota-exhausted' && !known.isPartial) return true
  if (provider.keyRefusedBy.includes(status) || provider.refusesKey?.({ status, code })) return true
  if (fatalCodes.has(code) || fatalTypes.has(type)) return true
  const said = message.toLowerCase()
  return keywords.some((keyword) => said.includes(keyword.toLowerCase()))
}

function reasonOf({ key }: RunningChannel, { status, message }: ChannelFailure): string {
  const safe = redact(key === '' ? message : message.replaceAll(key, '…')).replace(/[\0\p{Cs}]/gu, '')
  const said = [status > 0 ? `status ${status}` : '', safe].filter((part) => part !== '')
  return truncate(said.join(': '), reasonLengthMax)
}
