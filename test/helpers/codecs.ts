import { expect, it } from 'vitest'
import { eventsIn } from '../../src/server/base/lib/bytes/sse.ts'
import { AppError } from '../../src/server/base/lib/failure.ts'
import type {
  Codec,
  EventReader,
  Inbound,
  Quirks,
  ReadContext,
  RequestContext,
} from '../../src/server/gateway/protocols/codec.ts'
import type { Dialogue } from '../../src/server/gateway/protocols/dialogue.ts'
import type { Format } from '../../src/server/gateway/protocols/format.ts'
import { formats } from '../../src/server/gateway/protocols/index.ts'
import type { ReplyEvent } from '../../src/server/gateway/protocols/reply-events.ts'
import type { JsonObject, StreamEvent } from '../../src/server/gateway/protocols/wire-format.ts'
import { dialogueOf } from './dialogue.ts'

/** How an upstream of a format is called. */
export function codecOf(format: Format): Codec {
  const { codec } = formats[format]
  if (!codec) throw new Error(`${format} has no codec`)
  return codec
}

/** How callers of a format are read and answered where the upstream speaks another one. */
export function inboundOf(format: Format): Inbound {
  const { inbound } = formats[format]
  if (!inbound) throw new Error(`${format} has no conversations of callers`)
  return inbound
}

interface WriteMore {
  readonly model?: string
  readonly quirks?: Quirks
  readonly settings?: Partial<RequestContext['settings']>
}

/** Writes a request and returns it with the lost members. */
export function written(codec: Codec, dialogue: Partial<Dialogue>, { model = 'm', quirks = {}, settings = {} }: WriteMore = {}) {
  const lost = new Set<string>()
  const context: RequestContext = {
    model,
    quirks,
    settings: { claudeDefaultMaxTokens: { default: 8192 }, claudeThinkingShare: undefined, geminiSafety: {}, ...settings },
    lose: (field) => lost.add(field),
  }
  return { ...codec.writeRequest(dialogueOf(dialogue), context), lost: [...lost].sort() }
}

/** The error with which an action refuses a request; undefined when it does not. */
export function refusalOf(action: () => unknown): { code: string; field: unknown; text: string } | undefined {
  try {
    action()
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, field: error.params.field, text: error.text('en') }
    throw error
  }
  return undefined
}

/** A dialogue for a model, and what is expected of its request. */
interface WriteCase extends WriteMore {
  readonly asks?: Partial<Dialogue>
  /** The whole body. */
  readonly body?: object
  /** Members of the body, each of them whole. */
  readonly is?: Readonly<Record<string, unknown>>
  /** A part of the body. */
  readonly has?: object
  /** Members that the body must not have. */
  readonly lacks?: readonly string[]
  readonly lost?: readonly string[]
  /** A part of the message with which it is refused. */
  readonly refused?: string
}

/** Tests of the requests of a codec, by their titles. `common` is part of every case. */
export function itWrites(
  codec: Codec,
  tests: Readonly<Record<string, WriteCase | readonly WriteCase[]>>,
  common: WriteCase = {},
) {
  it.each(Object.entries(tests))('%s', (_, cases) => {
    for (const each of [cases].flat()) {
      const { asks, body, is = {}, has, lacks = [], lost, refused, ...more } = { ...common, ...each }
      const write = () => written(codec, { ...common.asks, ...asks }, more)
      if (refused !== undefined) {
        expect(write).toThrow(refused)
        continue
      }
      const request = write()
      if (body) expect(request.body).toEqual(body)
      for (const [member, value] of Object.entries(is)) expect(request.body[member]).toEqual(value)
      if (has) expect(request.body).toMatchObject(has)
      for (const member of lacks) expect(request.body).not.toHaveProperty(member)
      if (lost) expect(request.lost).toEqual(lost)
    }
  })
}

/** What a codec reads from a stream of server-sent events, and from a whole reply. */
export function reading(codec: Codec) {
  return {
    stream: (...events: readonly string[]) => summary(readSse(codec, events.join(''))),
    whole: (reply: object) => summary(codec.readReply({ ...reply }, readContext())),
  }
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
function hostileStreams(samples: readonly StreamEvent[], count: number): StreamEvent[][] {
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
    return JSON.stringify(withOddities(JSON.parse(data), random, 0.15))
  } catch {
    return data
  }
}

/** A value in which some members are replaced by others of any kind. */
export function withOddities(value: unknown, random: () => number, chance: number): unknown {
  if (random() < chance) return oddities[Math.floor(random() * oddities.length)]
  if (Array.isArray(value)) return value.map((item) => withOddities(item, random, chance))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, member]) => [key, withOddities(member, random, chance)]),
  )
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
