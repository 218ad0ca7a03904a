import type { RequestFacts } from '../wire-format.ts'

/** Facts of a call that is no conversation: nothing streams, and its answer is not counted by its text. */
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
