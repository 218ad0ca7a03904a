import type { Text } from '../../../../contract/text.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { callConfigured, type UpstreamAgents } from '../../../base/lib/net/http-client.ts'
import { CallFailure } from '../../../base/lib/net/upstream-http/exchange.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import type { Core } from '../../../base/options/core.ts'
import { openChannel, type RunningChannel } from '../index/model-index.ts'
import { withHeaderOverrides } from '../request/override.ts'
import { disableKey } from './auto-disable.ts'

/** Reads the balances of the accounts behind a channel's keys from their upstreams. */
type Parts = Core & { readonly upstream: UpstreamAgents }

const limits = { timeoutMs: 15_000, sizeBytesMax: 256 * 1024 }
/** No vendor needs more than two requests for a balance. */
const questionsMax = 4
/** The rate at which balances in yuan are converted, as common price lists do. */
const cnyPerUsd = 7.3
/** The number of keys of one channel that are asked, one after the other. */
const keysMax = 100

/**
 * Reads and stores the balance of a channel's accounts, in US dollars: the sum over its keys in use. A key without balance is disabled
 * if the options say so. Throws `not_found`, `channel_balance_unsupported`, or `channel_balance_failed` when no key reported one.
 */
export async function refreshBalance(parts: Parts, channelId: number): Promise<number> {
  const { keys, idle } = await openChannel(parts, channelId)
  const inUse = keys.filter(({ keyId }) => !idle.has(keyId))
  const asked = (inUse.length > 0 ? inUse : keys.slice(0, 1)).slice(0, keysMax)
  if (!asked.some(({ provider }) => provider.balance)) fail('channel_balance_unsupported')

  let sum = 0
  let failure: AppError | undefined
  let told = 0
  for (const channel of asked) {
    const left = await readBalance(parts, channel)
    if (left instanceof AppError) {
      failure = left
      continue
    }
    told++
    sum += left
    if (left <= 0) await noteEmpty(parts, channel)
  }
  if (failure && told === 0) throw failure
  const fresh = { balance: sum, balance_updated_time: seconds(parts.now()) }
  await parts.db.updateTable('channels').set(fresh).where('id', '=', channelId).execute()
  return sum
}

async function noteEmpty(core: Core, channel: RunningChannel): Promise<void> {
  if (!core.options.current.AutomaticDisableChannelEnabled || !channel.autoBan) return
  await disableKey(core, channel, '余额不足 / no balance is left')
}

/** US dollars, or why they are not known. */
async function readBalance(parts: Parts, channel: RunningChannel): Promise<number | AppError> {
  const { provider, setting } = channel
  const replies: unknown[] = []
  while (replies.length < questionsMax) {
    const step = provider.balance?.(channel, replies, parts.now())
    if (!step) break
    if (!('ask' in step)) return step.currency === 'CNY' ? step.amount / cnyPerUsd : step.amount
    const { url, headers } = step.ask
    // Only the channel's own address gets its header overrides.
    const isOwn = new URL(url).origin === new URL(channel.baseUrl).origin
    const call = { url, headers: isOwn ? withHeaderOverrides(channel, headers) : headers, proxy: setting.proxy ?? '' }
    const reply = await ask(parts.upstream, call)
    if (reply instanceof AppError) return reply
    replies.push(reply)
  }
  return failed({ zh: '上游的回答中没有余额', en: 'the answer does not tell a balance' })
}

async function ask(
  upstream: UpstreamAgents,
  call: { url: string; headers: Readonly<Record<string, string>>; proxy: string },
): Promise<unknown> {
  try {
    const { status, body } = await callConfigured(upstream, { ...call, ...limits })
    if (status < 200 || status > 299)
      return failed({ zh: `上游返回状态码 ${status}`, en: `the upstream answered with status ${status}` })
    return JSON.parse(body.toString())
  } catch (error) {
    if (error instanceof CallFailure) return failed(error.text, error)
    if (error instanceof SyntaxError) return failed({ zh: '上游的回答不是 JSON', en: 'the answer is not JSON' })
    throw error
  }
}

function failed(reason: Text, cause?: unknown): AppError {
  return new AppError('channel_balance_failed', { reason }, { cause })
}
