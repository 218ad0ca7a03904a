import { channelStatus } from '../../contract/entities/channel-status.ts'
import { logType } from '../../contract/entities/log.ts'
import { linesOf } from '../../contract/options/lists.ts'
import { seconds } from '../lib/clock.ts'
import { redact } from '../lib/logger.ts'
import { recordAudit } from '../options/audit.ts'
import type { Core } from '../options/core.ts'
import { recordLog } from '../usage/log.ts'
import type { RunningChannel } from './model-index.ts'
import { cut } from './values.ts'

/** What the upstream of a channel answered to an attempt, after the channel's status mapping. */
export interface ChannelFailure {
  /** 0 when there was no answer. */
  readonly status: number
  readonly code: string
  readonly type: string
  readonly message: string
}

const fatalCodes = new Set(['invalid_api_key', 'account_deactivated', 'billing_not_active'])
const fatalTypes = new Set([
  'insufficient_quota',
  'insufficient_user_quota',
  'authentication_error',
  'permission_error',
  'forbidden',
])
const reasonLengthMax = 500

/**
 * Disables a channel automatically when its failure says that it will not recover by itself: a refused key, an account without
 * balance, or a keyword of the options. Answers whether this call did it: of many failures at once one does. A failure with a key
 * that was replaced since, or of a channel that is disabled already, changes nothing.
 */
export async function reportFailure(core: Core, channel: RunningChannel, failure: ChannelFailure): Promise<boolean> {
  const { AutomaticDisableChannelEnabled, AutomaticDisableKeywords } = core.options.current
  if (!AutomaticDisableChannelEnabled || !channel.autoBan) return false
  if (!isFatal(channel, failure, linesOf(AutomaticDisableKeywords))) return false

  const at = seconds(core.now())
  const reason = reasonOf(channel, failure)
  const disabled = await core.db.transaction().execute(async (within) => {
    const row = await within
      .updateTable('channels')
      .set({ status: channelStatus.autoDisabled, other_info: JSON.stringify({ status_reason: reason, status_time: at }) })
      .where('id', '=', channel.id)
      .where('status', '=', channelStatus.enabled)
      .where('key_sealed', '=', channel.keySealed)
      .returning('id')
      .executeTakeFirst()
    if (!row) return false

    const content = `渠道 ${channel.name}（#${channel.id}）已被自动禁用 / Channel ${channel.name} (#${channel.id}) was disabled automatically: ${reason}`
    await recordLog(within, { type: logType.system, at, userId: 0, username: '', content })
    await recordAudit(core, within, {
      caller: undefined,
      action: 'channel.auto-disable',
      target: `channel:${channel.id}`,
      after: reason,
    })
    return true
  })
  if (disabled) core.bus.publish('channels', channel.id)
  return disabled
}

/** Remembers when a channel was tested and how long it took. Published to nobody: it decides nothing. */
export async function reportTest(core: Core, id: number, { ms }: { ms: number }): Promise<void> {
  await core.db
    .updateTable('channels')
    .set({ test_time: seconds(core.now()), response_time: Math.round(ms) })
    .where('id', '=', id)
    .execute()
}

function isFatal(
  { provider }: RunningChannel,
  { status, code, type, message }: ChannelFailure,
  keywords: readonly string[],
): boolean {
  if (provider.keyRefusedBy.includes(status) || fatalCodes.has(code) || fatalTypes.has(type)) return true
  const said = message.toLowerCase()
  return keywords.some((keyword) => said.includes(keyword.toLowerCase()))
}

function reasonOf({ key }: RunningChannel, { status, message }: ChannelFailure): string {
  const safe = redact(key === '' ? message : message.replaceAll(key, '…')).replace(/[\0\p{Cs}]/gu, '')
  const said = [status > 0 ? `status ${status}` : '', safe].filter((part) => part !== '')
  return cut(said.join(': '), reasonLengthMax)
}
