import type { Text } from '../../../contract/text.ts'
import type { Price } from '../../money/pricing/quote.ts'
import type { RunningChannel } from '../channels/index/model-index.ts'
import type { TaskFormat } from '../protocols/format.ts'
import type { JsonObject } from '../protocols/wire-format.ts'
import type { Details } from './advance.ts'
import type { TaskCall } from './call-upstream.ts'
import type { TaskTable } from './task-table.ts'

/** A caller's order, read from the request: the facts about a drawing, a piece of music or clips for `submit.ts`. */
export interface Order {
  readonly table: TaskTable
  readonly format: TaskFormat
  /** `IMAGINE`, `UPSCALE`, `MUSIC` … */
  readonly action: string
  /** The model names of the order, in channels and in limits of tokens, the usual one first. */
  readonly models: readonly string[]
  /** The model names that may have its price; the first one with a price counts. */
  readonly prices: readonly string[]
  readonly prompt: string
  /** The caller's task that it continues; it is then sent to the channel and key of that task. */
  readonly parent: { readonly id: string; readonly mustBeDone: boolean } | undefined
  /** Columns of the new row. */
  readonly details: Details
  /** What clips are sold as; absent for orders with one price per call. */
  readonly sold?: SoldClips
  /** Further columns of the new row, which its price decides. */
  priced?(price: Price): Details
  /** Throws `field_invalid` for an order that the channel cannot take. */
  question(facts: QuestionFacts): TaskCall | Promise<TaskCall>
  /** Reads the upstream's reply. Undefined when it is no reply to an order. */
  read(answer: JsonObject, channel: RunningChannel, upstreamModel: string): Verdict | undefined
}

interface SoldClips {
  /** US dollars of one clip by its price table; undefined where there is none. */
  readonly usd: number | undefined
  readonly pieces: number
  readonly seconds: number
  readonly text: Text
  /** The id that the caller sees instead of the upstream's. */
  readonly id: string
}

export interface QuestionFacts {
  readonly channel: RunningChannel
  /** The channel with an access token in place of its key. */
  readonly keyed: RunningChannel

  /** The URL to which the upstream may report; '' for none. */
  readonly hook: string
  /** The model name for which the price was found. */
  readonly priced: string
  /** The upstream's name of a model, by the mapping of the channel. */
  mapped(model: string): string
}

export type Verdict = Accepted | Refused

export interface Accepted {
  readonly isAccepted: true
  /** '' for a task that is completed at once and has no id at the upstream. */
  readonly upstreamId: string
  /** The upstream has returned a drawing that it had made before. */
  readonly isRepeated: boolean
  readonly status: string
  readonly details: Details
  /** The reply to the caller. */
  readonly answer: JsonObject
}

export interface Refused {
  readonly isAccepted: false
  /** Another channel may take it. */
  readonly isChannels: boolean
  /** The channel has no account to make it with. */
  readonly isOutOfAccounts: boolean
  readonly code: string
  readonly reason: string
  /** The upstream's reply, passed to the caller unchanged; undefined for an error in the caller's dialect. */
  readonly answer: JsonObject | undefined
  readonly details: Details
}

/** An id that an upstream may give a task: printable, without spaces, and short. */
export function isTaskId(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.:-]{1,128}$/.test(value)
}
