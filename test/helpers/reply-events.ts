import { noUsage, type Usage } from '../../src/contract/usage.ts'
import type { Opaque } from '../../src/server/gateway/protocols/dialogue.ts'
import type { FinishReason, OpenEvent, ReplyEvent } from '../../src/server/gateway/protocols/reply-events.ts'
import type { UpstreamErrorFacts } from '../../src/server/gateway/protocols/wire-format.ts'

type Spoken = 'text' | 'reasoning' | 'refusal'

export const start: ReplyEvent = { type: 'start' }
export const end: ReplyEvent = { type: 'end' }
export const open = (index: number, block: Spoken = 'text'): OpenEvent => ({ type: 'open', index, block })
export const openCall = (index: number, name = 'get_tide', block: 'tool-call' | 'custom-tool-call' = 'tool-call'): OpenEvent => ({
  type: 'open',
  index,
  block,
  callId: `call_${index}`,
  name,
})
export const openMedia = (index: number, mediaType: string): OpenEvent => ({
  type: 'open',
  index,
  block: mediaType.startsWith('audio/') ? 'audio' : 'image',
  mediaType,
})
export const delta = (index: number, text: string): ReplyEvent => ({ type: 'delta', index, text })
export const close = (index: number): ReplyEvent => ({ type: 'close', index })
export const sealed = (index: number, opaque: Opaque): ReplyEvent => ({ type: 'opaque', index, opaque })
export const cite = (index: number, start: number, end: number): ReplyEvent => ({
  type: 'cite',
  index,
  citation: { url: 'https://a.example', title: 'A', start, end },
})
export const finish = (
  reason: FinishReason = 'stop',
  more: { stopSequence?: string; explanation?: string } = {},
): ReplyEvent => ({
  type: 'finish',
  reason,
  ...more,
})
export const used = (more: Partial<Usage>): ReplyEvent => ({ type: 'usage', usage: { ...noUsage, ...more } })
export const failed = (more: Partial<UpstreamErrorFacts> = {}): ReplyEvent => ({
  type: 'error',
  error: { message: 'busy', type: '', code: '', param: null, status: 503, ...more },
})

/** A whole block of a text in these pieces. */
export const block = (index: number, kind: Spoken, ...pieces: readonly string[]): ReplyEvent[] => [
  open(index, kind),
  ...pieces.map((piece) => delta(index, piece)),
  close(index),
]
/** A whole call whose input arrives in these pieces. */
export const called = (index: number, ...pieces: readonly string[]): ReplyEvent[] => [
  openCall(index),
  ...pieces.map((piece) => delta(index, piece)),
  close(index),
]
