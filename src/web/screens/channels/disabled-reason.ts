import type { Channel } from '../../../contract/entities/channel.ts'
import { channelStatus } from '../../../contract/entities/channel-status.ts'

interface DisabledReason {
  readonly reason: string
  /** Unix seconds. */
  readonly at: number
}

/** Why and when a channel was disabled automatically, as far as `other_info` contains it. */
export function readDisabledReason({ status, other_info: text }: Channel): DisabledReason | undefined {
  if (status !== channelStatus.autoDisabled) return undefined
  const info = parse(text)
  return { reason: String(info.status_reason ?? ''), at: Number(info.status_time) || 0 }
}

function parse(text: string): { status_reason?: unknown; status_time?: unknown } {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : {}
  } catch {
    return {}
  }
}
