import type { Usage } from '../../../../contract/usage.ts'
import type { Codec, EventReader, ReadContext } from '../codec.ts'
import { errorFacts, parseData } from '../reply-builder.ts'
import type { FinishReason, ReplyEvent } from '../reply-events.ts'
import { asksForSomething } from '../unread-members.ts'
import { type JsonObject, objectAt, textAt } from '../wire-format.ts'
import { idOf, isSameMessage, replayMessage, secondMessage } from './forms.ts'
import { isEmptyMessage, readAnthropicError } from './messages.ts'
import { ReplyBlocks } from './reply-blocks.ts'
import { readMessagesUsage } from './usage.ts'

/**
 * Reads replies of Messages. A non-streamed one is read like a stream. The events keep the grammar of `ReplyEvent` for any input;
 * blocks of the vendor's own tools are hidden. Source: protocols notes 1.12, 3.7 and 3.10.
 */
export const readReply: Codec['readReply'] = (reply, context) => {
  if (reply.type === 'error' || objectAt(reply, 'error')) return [{ type: 'error', error: readAnthropicError(reply) }]
  if (!Array.isArray(reply.content)) return [{ type: 'error', error: errorFacts('the upstream sent no valid answer') }]
  if (isEmptyMessage(reply)) return [{ type: 'error', error: noAnswer }]
  const reader = new MessageReader(context)
  return [...replayMessage(reply), { type: 'message_stop' }].flatMap((event) => reader.read(event))
}

const noAnswer = errorFacts('the upstream gave no answer')

export const readEvents = (context: ReadContext): EventReader => {
  const reader = new MessageReader(context)
  return {
    push(event) {
      const data = parseData(event.data)
      return data ? reader.read('type' in data ? data : { ...data, type: event.name }) : []
    },
    finish: () => reader.finish(),
  }
}

class MessageReader {
  readonly #blocks: ReplyBlocks
  #hasStarted = false
  /** The id of the message; undefined before its beginning. */
  #headId: string | undefined
  #hasContent = false
  /** The end of the reply has a usage. */
  #isToldUsage = false
  #isOver = false
  #usage: Usage | undefined
  #finish: { readonly reason: FinishReason; readonly stopSequence?: string; readonly explanation?: string } | undefined

  readonly #lose: ReadContext['lose']

  constructor(context: ReadContext) {
    this.#blocks = new ReplyBlocks(context)
    this.#lose = context.lose
  }

  read(event: JsonObject): ReplyEvent[] {
    if (this.#isOver) return []
    // Hosts that speak several formats omit the type.
    if (event.type === 'error' || objectAt(event, 'error')) {
      this.#isOver = true
      return [{ type: 'error', error: readAnthropicError(event) }]
    }
    switch (event.type) {
      case 'message_start':
        if (this.#headId !== undefined) return this.#beganAgain(event)
        this.#headId = idOf(event)
        this.#loseIn(objectAt(event, 'message') ?? {})
        return this.#begun(this.#readUsage(objectAt(event, 'message') ?? {}))
      case 'content_block_start':
        this.#hasContent = true
        return this.#begun(this.#blocks.start(event.index, objectAt(event, 'content_block') ?? {}))
      case 'content_block_delta':
        return this.#begun(this.#blocks.delta(event.index, objectAt(event, 'delta') ?? {}))
      case 'content_block_stop':
        return this.#begun(this.#blocks.stop(event.index))
      case 'message_delta':
        this.#finish = readFinish(objectAt(event, 'delta') ?? {}) ?? this.#finish
        this.#loseIn({ ...event, ...objectAt(event, 'delta') })
        this.#isToldUsage ||= typeof objectAt(event, 'usage')?.output_tokens === 'number'
        return this.#begun(this.#readUsage(event))
      case 'message_stop':
        return this.#end()
      default:
        return []
    }
  }

  /** Reports what other formats have no place for; the explanation of a refusal is carried. */
  #loseIn(holder: JsonObject): void {
    for (const member of onlyHere) if (asksForSomething(holder[member])) this.#lose?.(member)
    for (const [member, value] of Object.entries(objectAt(holder, 'stop_details') ?? {}))
      if (member !== 'type' && member !== 'explanation' && asksForSomething(value)) this.#lose?.(`stop_details.${member}`)
  }

  /** A second message is an error, since the earlier content is not part of it. The same beginning once more is ignored. */
  #beganAgain(event: JsonObject): ReplyEvent[] {
    if (isSameMessage(this.#headId, event)) return []
    this.#isOver = true
    return [{ type: 'error', error: errorFacts(secondMessage.error.message, { status: 502 }) }]
  }

  /** After a stop reason a stream is complete even without its last event. */
  finish(): ReplyEvent[] {
    if (this.#isOver) return []
    if (this.#finish) return this.#end()
    this.#isOver = true
    return this.#blocks.stopAll()
  }

  #end(): ReplyEvent[] {
    if (!this.#hasContent && this.#settledReason() === 'stop' && !this.#isToldUsage) {
      this.#isOver = true
      return this.#begun([{ type: 'error', error: noAnswer }])
    }
    const events = this.#begun([...this.#blocks.stopAll(), ...this.#blocks.citeRest()])
    const finish = { type: 'finish' as const, ...this.#finish, reason: this.#settledReason() }
    this.#isOver = true
    return [...events, finish, { type: 'end' }]
  }

  /**
   * Protocols notes 3.10: a reply with calls finishes with `tool-calls` unless something cut it short; one without calls never
   * does.
   */
  #settledReason(): FinishReason {
    const reason = this.#finish?.reason ?? 'stop'
    if (reason !== 'stop' && reason !== 'stop-sequence' && reason !== 'tool-calls') return reason
    if (this.#blocks.hasCalls) return 'tool-calls'
    return reason === 'tool-calls' ? 'stop' : reason
  }

  #readUsage(holder: JsonObject): ReplyEvent[] {
    const usage = readMessagesUsage(holder, this.#usage)
    if (!usage || usage === this.#usage) return []
    this.#usage = usage
    return [{ type: 'usage', usage }]
  }

  #begun(events: ReplyEvent[]): ReplyEvent[] {
    if (this.#hasStarted) return events
    this.#hasStarted = true
    return [{ type: 'start' }, ...events]
  }
}

/** Members of a message about the vendor's own servers. */
const onlyHere = ['container', 'context_management', 'diagnostics', 'input_transformations'] as const

const reasons: ReadonlyMap<string, FinishReason> = new Map([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context-full'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'content-filter'],
  ['pause_turn', 'pause'],
  ['compaction', 'pause'],
])

/** Undefined while the reply continues. */
function readFinish(delta: JsonObject): { reason: FinishReason; stopSequence?: string; explanation?: string } | undefined {
  const stopReason = textAt(delta, 'stop_reason')
  if (stopReason === '') return undefined
  const stopSequence = textAt(delta, 'stop_sequence')
  const explanation = textAt(objectAt(delta, 'stop_details') ?? {}, 'explanation')
  return {
    reason: reasons.get(stopReason) ?? 'other',
    ...(stopSequence === '' ? {} : { stopSequence }),
    ...(explanation === '' ? {} : { explanation }),
  }
}
