import { describe, expect, it } from 'vitest'
import { noUsage } from '../../src/contract/usage.ts'
import { eventsIn } from '../../src/server/lib/sse.ts'
import type { Inbound, WriteContext } from '../../src/server/protocols/codec.ts'
import type { Dialogue } from '../../src/server/protocols/dialogue.ts'
import type { CallerFormat } from '../../src/server/protocols/format.ts'
import { inbounds } from '../../src/server/protocols/index.ts'
import type { ReplyEvent } from '../../src/server/protocols/reply-events.ts'
import { dialogueOf, tideTool } from '../helpers/codecs.ts'
import { anyReply } from '../helpers/replies.ts'
import { faultsOf, type Typed } from './compile.ts'

/**
 * Every reply and every event that is written here fits the types of the official SDKs, by the judgement of the compiler: replies of all
 * kinds are written out as literals of these types. Literals may not hold members that a type does not know.
 */
const seeds = Array.from({ length: 120 }, (_, at) => at + 1)
const error = { message: 'it broke', type: 'server_error', code: 'broken', param: null, status: 503 }

interface Dialect {
  readonly format: CallerFormat
  readonly reply: string
  readonly event: string
}

const dialects: readonly Dialect[] = [
  { format: 'openai.chat', reply: 'ChatReply', event: 'ChatChunk | OpenAiError' },
  { format: 'openai.completions', reply: 'CompletionsReply', event: 'CompletionsChunk | OpenAiError' },
  { format: 'openai.responses', reply: 'ResponsesReply', event: 'ResponsesEvent' },
  { format: 'anthropic.messages', reply: 'MessagesReply', event: 'MessagesEvent' },
  { format: 'gemini.generate', reply: 'GeminiReply', event: 'GeminiReply | GeminiError' },
]

/** The same for the same seed; every few replies are asked for otherwise, or end otherwise. */
function replyOf(seed: number): ReplyEvent[] {
  const events = anyReply(seed).map((event): ReplyEvent => {
    if (event.type !== 'finish') return event
    return {
      ...event,
      ...(seed % 3 === 0 ? { explanation: 'not allowed' } : {}),
      ...(event.reason === 'stop-sequence' ? { stopSequence: 'END' } : {}),
    }
  })
  // The relay tells what it has counted where an upstream tells nothing.
  const told = events.some(({ type }) => type === 'usage')
  return told ? events : [...events.slice(0, -1), { type: 'usage', usage: { ...noUsage, input: 5, output: 2 } }, { type: 'end' }]
}

function contextOf(format: CallerFormat, seed: number): WriteContext {
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
    user: seed % 9 === 0 ? 'someone' : undefined,
    cacheKey: seed % 9 === 0 ? 'key' : undefined,
    system: seed % 10 === 0 ? [{ kind: 'text', text: 'Be brief.' }] : [],
  }
  return {
    id: `request${seed}`,
    createdAt: 1_790_000_000,
    model: 'asked',
    dialogue: dialogueOf(asked),
    newId: (prefix) => `${prefix}${++ids}`,
    inputTokensEstimate: 12,
  }
}

/** The data of all events; of every fourth reply, an error ends them. */
function eventsOf(inbound: Inbound, format: CallerFormat, seed: number): string[] {
  const writer = inbound.writeEvents(contextOf(format, seed))
  const events = replyOf(seed)
  const cut = seed % 4 === 0 ? [...events.slice(0, Math.ceil(events.length / 2)), { type: 'error', error } as const] : events
  const text = cut.map((event) => writer.push(event)).join('')
  return eventsIn(Buffer.from(text).toString('latin1'))
    .map(({ data }) => data)
    .filter((data) => data !== '[DONE]')
}

function typedOf({ format, reply, event }: Dialect): Typed[] {
  const inbound = inbounds[format]
  if (!inbound) throw new Error(`${format} is not written`)
  return seeds.flatMap((seed) => [
    { type: reply, json: JSON.stringify(inbound.writeReply(replyOf(seed), contextOf(format, seed))) },
    ...eventsOf(inbound, format, seed).map((json) => ({ type: event, json })),
  ])
}

describe('replies as the official SDKs type them', () => {
  it('hold every member that the types want, and none that they do not know', async () => {
    const files = Object.fromEntries(dialects.map((dialect) => [dialect.format, typedOf(dialect)]))
    expect(await faultsOf(files)).toEqual([])
  }, 120_000)

  it('are judged by a compiler that finds what is missing, unknown or of another kind', async () => {
    const right = [
      { type: 'MessagesEvent', json: '{"type":"message_stop"}' },
      { type: 'GeminiReply', json: '{"candidates":[{"finishReason":"STOP"}]}' },
    ]
    const wrong = [
      { type: 'ChatReply', json: '{"id":"a","object":"chat.completion","created":1,"model":"m"}' },
      { type: 'ChatChunk', json: '{"id":"a","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"delta":{}}]}' },
      { type: 'ResponsesEvent', json: '{"type":"response.output_text.delta","delta":"a"}' },
      { type: 'MessagesEvent', json: '{"type":"message_stop","extra":1}' },
      { type: 'GeminiReply', json: '{"candidates":[{"finishReason":"NO_SUCH_REASON"}]}' },
    ]
    const faults = await faultsOf({ both: [...right, ...wrong] })
    const found = wrong.filter(({ json }) => faults.some((fault) => fault.includes(json)))
    expect([faults.length, found]).toEqual([wrong.length, wrong])
  }, 120_000)
})
