import type { RequestFacts } from '../wire-format.ts'

/** Facts of a call that is not a conversation: it does not stream, and output tokens are not counted from the answer's text. */
export function directFacts(model: string, more: Partial<RequestFacts> = {}): RequestFacts {
  return {
    model,
    stream: false,
    outputTokensMax: 0,
    mediaParts: 0,
    reasoningEffort: undefined,
    wantsUsage: true,
    streamOptions: undefined,
    ...more,
  }
}
