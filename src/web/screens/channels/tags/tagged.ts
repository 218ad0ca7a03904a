import type { Channel } from '../../../../contract/entities/channel.ts'

/** A tag with all of its channels. */
export interface Tagged {
  readonly tag: string
  readonly channels: readonly Channel[]
}
