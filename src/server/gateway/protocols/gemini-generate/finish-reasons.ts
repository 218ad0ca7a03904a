import type { FinishReason } from '../reply-events.ts'

/** The result of a reply, from Gemini's finish reason. Source: protocols notes 3.10. */
export type Outcome = FinishReason | 'broken'

/** `broken`: the model produced no valid answer. Undefined while the reply continues. */
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
