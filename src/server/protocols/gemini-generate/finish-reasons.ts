import type { FinishReason } from '../reply-events.ts'

/** How a reply ended, by Gemini's word for it. Source: protocols notes 3.10. */
export type Outcome = FinishReason | 'broken'

/** `broken`: the model made no valid answer. Undefined while it goes on. */
export function readFinishReason(reason: unknown): Outcome | undefined {
  if (typeof reason !== 'string' || reason === '' || reason === 'FINISH_REASON_UNSPECIFIED') return undefined
  return outcomes.get(reason) ?? (reason.startsWith('IMAGE_') ? 'content-filter' : 'other')
}

export function writeFinishReason(reason: FinishReason): string {
  return words[reason]
}

const outcomes: ReadonlyMap<string, Outcome> = new Map<string, Outcome>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content-filter'],
  ['RECITATION', 'content-filter'],
  ['BLOCKLIST', 'content-filter'],
  ['PROHIBITED_CONTENT', 'content-filter'],
  ['SPII', 'content-filter'],
  ['MODEL_ARMOR', 'content-filter'],
  ['ESCALATION', 'content-filter'],
  ['PUP_LIMITED_DISABLED', 'content-filter'],
  ['CONTINUATION', 'pause'],
  ['MALFORMED_FUNCTION_CALL', 'broken'],
  ['UNEXPECTED_TOOL_CALL', 'broken'],
  ['TOO_MANY_TOOL_CALLS', 'broken'],
  ['MALFORMED_RESPONSE', 'broken'],
  ['MISSING_THOUGHT_SIGNATURE', 'broken'],
])

const words: Readonly<Record<FinishReason, string>> = {
  stop: 'STOP',
  'stop-sequence': 'STOP',
  'tool-calls': 'STOP',
  length: 'MAX_TOKENS',
  'context-full': 'MAX_TOKENS',
  'content-filter': 'SAFETY',
  pause: 'CONTINUATION',
  other: 'OTHER',
}
