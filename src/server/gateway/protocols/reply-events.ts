import type { Usage } from '../../../contract/usage.ts'
import type { Opaque } from './dialogue.ts'
import type { UpstreamErrorFacts } from './wire-format.ts'

/**
 * The neutral form of a reply, streamed or not:
 *
 *   start (open(i) (logprobs(i) | delta(i) | opaque(i) | cite(i))* close(i) | usage)* finish? end      or `error` at any place, which ends it
 *
 * Blocks are numbered 0, 1, 2 … in the order in which they open. Only tool call blocks may be open at the same time; every other
 * block opens after all blocks before it are closed. Readers produce only such sequences; writers may rely on it. `usage` may occur
 * several times; each one is complete and the last one counts. `finish` may occur before the last `usage`, but no block opens after
 * it.
 */
export type ReplyEvent =
  | { readonly type: 'start' }
  | OpenEvent
  /**
   * A further part of a block: text; JSON of a tool call's input as it is generated; base64 of an image or audio, in complete
   * groups of three bytes.
   */
  | { readonly type: 'delta'; readonly index: number; readonly text: string }
  /** Log probabilities of tokens of text block `index`, in their order, before the delta with their text. */
  | { readonly type: 'logprobs'; readonly index: number; readonly tokens: readonly TokenLogprob[] }
  | { readonly type: 'opaque'; readonly index: number; readonly opaque: Opaque }
  | { readonly type: 'cite'; readonly index: number; readonly citation: Citation }
  /** `isCut`: the input of a call was cut off at the output limit. */
  | { readonly type: 'close'; readonly index: number; readonly isCut?: boolean }
  | { readonly type: 'usage'; readonly usage: Usage }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly stopSequence?: string; readonly explanation?: string }
  | { readonly type: 'error'; readonly error: UpstreamErrorFacts }
  | { readonly type: 'end' }

export type OpenEvent =
  | { readonly type: 'open'; readonly index: number; readonly block: 'text' | 'reasoning' | 'refusal' }
  | {
      readonly type: 'open'
      readonly index: number
      readonly block: 'tool-call' | 'custom-tool-call'
      readonly callId: string
      readonly name: string
    }
  | { readonly type: 'open'; readonly index: number; readonly block: 'image' | 'audio'; readonly mediaType: string }

/** A source of the text of block `index`; `start` and `end` are offsets in it, in UTF-16 units. */
export interface Citation {
  readonly url: string
  readonly title: string
  readonly start: number
  readonly end: number
}

/** A chosen token, and the likeliest tokens in its place. */
export interface TokenLogprob extends TokenChance {
  readonly top: readonly TokenChance[]
}

/** `bytes` are those of the token in UTF-8, null where the upstream reports none: a token may be a part of a character. */
export interface TokenChance {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[] | null
}

/**
 * `content-filter`: refused by a classifier. `pause`: the vendor wants to continue in another request. `other`: an unknown reason.
 * Only `stop`, `stop-sequence` and `tool-calls` mean a complete answer.
 */
export type FinishReason =
  | 'stop'
  | 'stop-sequence'
  | 'length'
  | 'context-full'
  | 'tool-calls'
  | 'content-filter'
  | 'pause'
  | 'other'
