import { eventsIn } from '../../src/server/lib/sse.ts'
import type { Codec, EventReader, Quirks, ReadContext, RequestContext } from '../../src/server/protocols/codec.ts'
import type { Dialogue, Turn } from '../../src/server/protocols/dialogue.ts'
import type { ReplyEvent } from '../../src/server/protocols/reply-events.ts'
import type { JsonObject, StreamEvent } from '../../src/server/protocols/wire-format.ts'

/** A request of a Chat caller with one turn, plus the members that a test adds. */
export function dialogueOf(more: Partial<Dialogue> = {}): Dialogue {
  return {
    from: 'openai.chat',
    model: 'asked',
    system: [],
    turns: [userTurn('Hello')],
    tools: [],
    toolChoice: undefined,
    parallelTools: undefined,
    sampling: {},
    outputTokensMax: undefined,
    stop: [],
    reasoning: undefined,
    output: undefined,
    search: undefined,
    stream: false,
    wantsUsage: true,
    usesFunctions: false,
    user: undefined,
    cacheKey: undefined,
    extra: {},
    ...more,
  }
}

export function userTurn(text: string): Turn {
  return { role: 'user', parts: [{ kind: 'text', text }] }
}

export function assistantTurn(text: string): Turn {
  return { role: 'assistant', parts: [{ kind: 'text', text }] }
}

/** A call of `get_tide` and its result, as two turns. */
export function toolTurns(result = 'high', callId = 'call_1'): Turn[] {
  return [
    { role: 'assistant', parts: [{ kind: 'tool-call', callId, name: 'get_tide', input: '{"port":"Rye"}', isCustom: false }] },
    {
      role: 'user',
      parts: [{ kind: 'tool-result', callId, parts: [{ kind: 'text', text: result }], isError: false, isCustom: false }],
    },
  ]
}

export const tideTool: Dialogue['tools'][number] = {
  name: 'get_tide',
  description: 'Tide of a port',
  schema: { type: 'object', properties: { port: { type: 'string' } }, required: ['port'] },
  strict: undefined,
  custom: undefined,
}

/** Writes a request and returns it with the lost members. */
export function written(codec: Codec, dialogue: Partial<Dialogue>, more: { model?: string; quirks?: Quirks } = {}) {
  const lost = new Set<string>()
  const context: RequestContext = {
    model: more.model ?? 'm',
    quirks: more.quirks ?? {},
    settings: { claudeDefaultMaxTokens: { default: 8192 }, claudeThinkingShare: undefined, geminiSafety: {} },
    lose: (field) => lost.add(field),
  }
  return { ...codec.writeRequest(dialogueOf(dialogue), context), lost: [...lost].sort() }
}

export function readContext(quirks: Quirks = {}): ReadContext {
  let calls = 0
  return { newCallId: () => `call_made_${++calls}`, quirks }
}

/** Events of a stream of server-sent events. */
export function readSse(codec: Codec, text: string, quirks: Quirks = {}): ReplyEvent[] {
  return readAll(codec.readEvents(readContext(quirks)), eventsIn(Buffer.from(text).toString('latin1')))
}

/** Events of a stream whose frames are these texts. */
export function readFrames(codec: Codec, frames: readonly string[], quirks: Quirks = {}): ReplyEvent[] {
  return readAll(
    codec.readEvents(readContext(quirks)),
    frames.map((data) => ({ name: '', data })),
  )
}

function readAll(reader: EventReader, events: readonly StreamEvent[]): ReplyEvent[] {
  return [...events.flatMap((event) => reader.push(event)), ...reader.finish()]
}

/** The blocks of a reply and its end, for comparison in tests. */
export function summary(events: readonly ReplyEvent[]) {
  const blocks: { block: string; text: string; name?: string; callId?: string }[] = []
  for (const event of events) {
    if (event.type === 'open') {
      const called = 'callId' in event ? { name: event.name, callId: event.callId } : {}
      blocks[event.index] = { block: event.block, text: '', ...called }
    }
    const block = event.type === 'delta' ? blocks[event.index] : undefined
    if (block && event.type === 'delta') block.text += event.text
  }
  const last = events.at(-1)
  return {
    blocks,
    usage: events.findLast((event) => event.type === 'usage')?.usage,
    finish: events.find((event) => event.type === 'finish')?.reason,
    error: last?.type === 'error' ? last.error : undefined,
    isComplete: last?.type === 'end',
  }
}

/** The violations of the grammar of `ReplyEvent` in a list of events; empty if there are none. */
export function grammarFaults(events: readonly ReplyEvent[]): string[] {
  const faults: string[] = []
  const open = new Map<number, string>()
  let next = 0
  let stage: 'new' | 'open' | 'finished' | 'over' = 'new'

  for (const event of events) {
    if (stage === 'over') faults.push(`${event.type} behind the end`)
    if (event.type === 'error') {
      stage = 'over'
      continue
    }
    if (event.type === 'start' ? stage !== 'new' : stage === 'new') faults.push(`${event.type} at the wrong place`)
    if (event.type === 'start') stage = 'open'
    if (event.type === 'open') {
      if (stage === 'finished') faults.push('a block opens behind the finish')
      if (event.index !== next++) faults.push(`block ${event.index} is not next`)
      const isCall = event.block.endsWith('tool-call')
      if ([...open.values()].some((other) => !isCall || !other.endsWith('tool-call'))) faults.push('two blocks are open')
      if (isCall && 'name' in event && (event.name === '' || event.callId === '')) faults.push('a call without a name or id')
      open.set(event.index, event.block)
    }
    if ('index' in event && event.type !== 'open' && !open.has(event.index)) faults.push(`${event.type} in a closed block`)
    if (event.type === 'delta' && event.text === '') faults.push('an empty delta')
    if (event.type === 'close') open.delete(event.index)
    if (event.type === 'finish' || event.type === 'end') {
      if (open.size > 0) faults.push(`${event.type} with open blocks`)
      if (event.type === 'finish' && stage === 'finished') faults.push('two finishes')
      stage = event.type === 'end' ? 'over' : 'finished'
    }
  }
  if (open.size > 0 && events.at(-1)?.type !== 'error') faults.push('a block stays open')
  return faults
}

/** Numbers from 0 to below 1, the same for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Invalid streams: the samples shuffled, repeated, cut and with members of any kind. */
export function hostileStreams(samples: readonly StreamEvent[], count: number): StreamEvent[][] {
  return Array.from({ length: count }, (_, seed) => {
    const random = seeded(seed + 1)
    const pick = <T>(values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)]
    return Array.from({ length: Math.floor(random() * 12) }, () => {
      const { name = '', data = '' } = pick(samples) ?? {}
      if (random() < 0.1) return { name, data: data.slice(0, Math.floor(random() * data.length)) }
      return { name: random() < 0.1 ? 'other' : name, data: random() < 0.5 ? data : mutated(data, random) }
    })
  })
}

const oddities: readonly unknown[] = [
  null,
  '',
  'null',
  0,
  -1,
  1e300,
  true,
  [],
  {},
  [null],
  [[]],
  [{}],
  'x',
  { type: 'text' },
  '{"a":1}',
]

function mutated(data: string, random: () => number): string {
  try {
    return JSON.stringify(replaced(JSON.parse(data), random))
  } catch {
    return data
  }
}

function replaced(value: unknown, random: () => number): unknown {
  if (random() < 0.15) return oddities[Math.floor(random() * oddities.length)]
  if (Array.isArray(value)) return value.map((item) => replaced(item, random))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value as JsonObject).map(([key, member]) => [key, replaced(member, random)]))
}

/** Faults of a codec over hostile streams and hostile JSON replies; empty if its readers keep the grammar and never throw. */
export function readerFaults(codec: Codec, samples: readonly StreamEvent[]): string[] {
  return hostileStreams(samples, 600).flatMap((stream) => {
    const faults = grammarFaults(readAll(codec.readEvents(readContext()), stream))
    const whole = stream.flatMap(({ data }) => wholeFaults(codec, data))
    return [...faults, ...whole].map((fault) => `${fault}: ${JSON.stringify(stream)}`)
  })
}

function wholeFaults(codec: Codec, data: string): string[] {
  try {
    const value: unknown = JSON.parse(data)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
    const events = codec.readReply(value as JsonObject, readContext())
    const last = events.at(-1)?.type
    return [...grammarFaults(events), ...(last === 'end' || last === 'error' ? [] : ['a whole reply without an end'])]
  } catch (error) {
    return error instanceof SyntaxError ? [] : [`it throws ${String(error)}`]
  }
}
