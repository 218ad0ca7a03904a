import { noUsage } from '../../src/contract/usage.ts'
import type { WriteContext } from '../../src/server/gateway/protocols/codec.ts'
import type { Dialogue } from '../../src/server/gateway/protocols/dialogue.ts'
import type { CallerFormat } from '../../src/server/gateway/protocols/format.ts'
import type { ReplyEvent } from '../../src/server/gateway/protocols/reply-events.ts'
import { dialogueOf, text, tideTool } from '../helpers/dialogue.ts'
import { anyReply } from '../helpers/replies.ts'

/** A random reply, the same for the same seed; some were requested differently, or end differently. */
export function replyOf(seed: number): ReplyEvent[] {
  const events = anyReply(seed).map((event): ReplyEvent => {
    if (event.type !== 'finish') return event
    return {
      ...event,
      ...(seed % 3 === 0 ? { explanation: 'not allowed' } : {}),
      ...(event.reason === 'stop-sequence' ? { stopSequence: 'END' } : {}),
    }
  })
  // The relay reports its own count when an upstream reports none.
  const told = events.some(({ type }) => type === 'usage')
  return told ? events : [...events.slice(0, -1), { type: 'usage', usage: { ...noUsage, input: 5, output: 2 } }, { type: 'end' }]
}

export function contextOf(format: CallerFormat, seed: number): WriteContext {
  let ids = 0
  const asked: Partial<Dialogue> = {
    from: format,
    wantsUsage: seed % 2 === 0,
    usesFunctions: seed % 7 === 0,
    tools:
      seed % 4 === 0 ? [tideTool, { ...tideTool, name: 'free', schema: undefined, custom: { format: { type: 'text' } } }] : [],
    toolChoice: seed % 8 === 0 ? { kind: 'allowed', names: ['get_tide'], isRequired: true } : undefined,
    parallelTools: seed % 4 === 0 ? false : undefined,
    sampling: seed % 3 === 0 ? { temperature: 0.5, topP: 0.9 } : {},
    outputTokensMax: seed % 3 === 0 ? 100 : undefined,
    reasoning: seed % 5 === 0 ? { mode: { effort: 'low' }, show: 'summary' } : undefined,
    output:
      seed % 6 === 0
        ? { kind: 'schema', name: 'a', description: undefined, schema: { type: 'object' }, strict: true }
        : undefined,
    ...(seed % 11 === 0 ? { logprobs: { top: 1 } } : {}),
    user: seed % 9 === 0 ? 'someone' : undefined,
    cacheKey: seed % 9 === 0 ? 'key' : undefined,
    system: seed % 10 === 0 ? [text('Be brief.')] : [],
  }
  return {
    id: `request${seed}`,
    createdAt: 1_790_000_000,
    model: 'asked',
    dialogue: dialogueOf(asked),
    newId: (prefix) => `${prefix}${++ids}`,
    inputTokensEstimate: 12,
    ...(seed % 5 < 2 ? { kept: { previousId: seed % 3 === 0 ? '' : 'resp_before', isBackground: seed % 5 === 1 } } : {}),
  }
}
