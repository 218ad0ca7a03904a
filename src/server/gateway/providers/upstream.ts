import type { ChannelSetting } from '../../../contract/entities/channel.ts'

/** A provider's view of a channel. The key is in clear text here: it must only go into headers or the URL of this origin. */
export interface Upstream {
  readonly id: number
  readonly type: number
  readonly key: string
  /** The channel's own address, or else the provider's, without a trailing slash. */
  readonly baseUrl: string
  readonly organization: string
  readonly other: string
  readonly setting: ChannelSetting
}
