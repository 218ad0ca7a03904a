import type { Usage } from '../../../contract/usage.ts'
import type { EventReader } from './codec.ts'
import type { Opaque } from './dialogue.ts'
import type { Citation, FinishReason, OpenEvent, ReplyEvent, TokenLogprob } from './reply-events.ts'
import { isObject, type JsonObject, type StreamEvent, type UpstreamErrorFacts } from './wire-format.ts'

/**
 * Makes the events of one reply in the grammar of `ReplyEvent`, from pieces in any order: opens blocks with their first content,
 * closes them when another kind begins, holds the finish reason back until the end. The reader chooses the key of each tool call.
 * Nothing follows `end` or `fail`.
 */
export class ReplyBuilder {
  #made: ReplyEvent[] = []
  #hasStarted = false
  #isOver = false
  #blocks = 0
  #hasAnswer = false
  #calls = 0
  #hasUsage = false
  #open: { readonly index: number; readonly block: SaidBlock } | undefined
  readonly #openCalls = new Map<string, number>()
  /** Sources received while no text was open. */
  #citations: Citation[] = []
  /** Log probabilities of the text that comes next. */
  #logprobs: TokenLogprob[] = []
  #finish: { readonly reason: FinishReason | 'untold'; readonly explanation?: string; readonly stopSequence?: string } | undefined

  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the reply has any text or call. */
  get hasOutput(): boolean {
    return this.#blocks > 0
  }

  /** Whether the reply has any text or call besides reasoning. */
  get hasAnswer(): boolean {
    return this.#hasAnswer
  }

  /** Whether more content of this kind would continue the open block. */
  isSaying(block: SaidBlock): boolean {
    return this.#open?.block === block
  }

  /** The events since the last call. */
  take(): ReplyEvent[] {
    const made = this.#made
    this.#made = []
    return made
  }

  text(text: string): void {
    this.#say('text', text)
  }

  reasoning(text: string): void {
    this.#say('reasoning', text)
  }

  refusal(text: string): void {
    this.#say('refusal', text)
  }

  /** Adds opaque state to the open reasoning block, or opens one that holds only the state. */
  sealReasoning(opaque: Opaque): void {
    if (this.#isOver) return
    this.#add({ type: 'opaque', index: this.#openSaid('reasoning'), opaque })
  }

  /** Adds opaque state to the open text block; dropped if none is open. */
  sealText(opaque: Opaque): void {
    if (this.#open?.block === 'text') this.#add({ type: 'opaque', index: this.#open.index, opaque })
  }

  /** The next content begins a new block. */
  endSaid(): void {
    this.#closeText()
  }

  /** A complete image or audio block, in base64. */
  media(block: 'image' | 'audio', mediaType: string, data: string): void {
    if (data === '' || this.#isOver) return
    this.#closeAll()
    const index = this.#openBlock({ type: 'open', index: this.#blocks, block, mediaType })
    this.#add({ type: 'delta', index, text: data })
    this.#add({ type: 'close', index })
  }

  /** Adds a citation to the open text block, or else to the next one. */
  cite(citation: Citation): void {
    if (this.#open?.block === 'text') this.#add({ type: 'cite', index: this.#open.index, citation })
    else if (!this.#isOver) this.#citations.push(citation)
  }

  /** Adds log probabilities of the text that comes next. */
  logprobs(tokens: readonly TokenLogprob[]): void {
    if (!this.#isOver) this.#logprobs.push(...tokens)
  }

  openCall(key: string, call: { readonly callId: string; readonly name: string; readonly isCustom?: boolean }): void {
    if (this.#openCalls.has(key) || this.#isOver) return
    this.#closeText()
    const { isCustom, ...named } = call
    const block = isCustom ? 'custom-tool-call' : 'tool-call'
    const index = this.#openBlock({ type: 'open', index: this.#blocks, block, ...named })
    this.#openCalls.set(key, index)
    this.#calls++
  }

  /** Appends input to an open call. */
  callInput(key: string, text: string): void {
    const index = this.#openCalls.get(key)
    if (index !== undefined && text !== '') this.#add({ type: 'delta', index, text })
  }

  /** Adds opaque state to an open call. */
  sealCall(key: string, opaque: Opaque): void {
    const index = this.#openCalls.get(key)
    if (index !== undefined) this.#add({ type: 'opaque', index, opaque })
  }

  closeCall(key: string, { isCut = false } = {}): void {
    const index = this.#openCalls.get(key)
    if (index === undefined) return
    this.#openCalls.delete(key)
    this.#add({ type: 'close', index, ...(isCut ? { isCut } : {}) })
  }

  /** A complete call. */
  call(call: { readonly callId: string; readonly name: string; readonly input: string }): void {
    const { callId, name, input } = call
    const key = `whole ${this.#calls}`
    this.openCall(key, { callId, name })
    this.callInput(key, input)
    this.closeCall(key)
  }

  usage(usage: Usage): void {
    this.#hasUsage = true
    this.#add({ type: 'usage', usage })
  }

  /** Records the finish reason that the upstream reports. The first recognized one is kept. */
  stop(reason: FinishReason | 'untold', explanation?: string, stopSequence?: string): void {
    if (this.#finish === undefined || (isUnclear(this.#finish.reason) && reason !== 'untold')) {
      this.#finish = { reason, ...(explanation ? { explanation } : {}), ...(stopSequence ? { stopSequence } : {}) }
    }
  }

  fail(error: UpstreamErrorFacts): void {
    if (this.#isOver) return
    this.#made.push({ type: 'error', error })
    this.#isOver = true
  }

  /**
   * The upstream has ended the reply. An empty reply without a recognized finish reason is an error; with `needsUsage`, also one that
   * ended in the ordinary way and has no usage.
   */
  end({ needsUsage = false } = {}): void {
    if (this.#isOver) return
    const isUntold = needsUsage && this.#finish?.reason === 'stop' && !this.#hasUsage
    if (this.#finish && (isUntold || isUnclear(this.#finish.reason)) && !this.hasOutput) {
      this.fail(errorFacts('the upstream gave no answer'))
      return
    }
    this.#citeWaiting()
    this.#closeAll()
    if (this.#finish) this.#add({ type: 'finish', ...this.#finish, reason: this.#settledReason(this.#finish.reason) })
    this.#add({ type: 'end' })
    this.#isOver = true
  }

  /** The connection ended: a reply is only complete after a stop reason. */
  cut(): void {
    if (this.#finish) this.end()
    else if (!this.#isOver) this.#closeAll()
    this.#isOver = true
  }

  /**
   * Protocols notes 3.10: a reply with tool calls finishes with `tool-calls`, unless it was cut short; one without them never does.
   */
  #settledReason(reason: FinishReason | 'untold'): FinishReason {
    if (reason === 'untold' || reason === 'stop' || reason === 'tool-calls') return this.#calls > 0 ? 'tool-calls' : 'stop'
    return reason
  }

  #say(block: SaidBlock, text: string): void {
    if (text === '' || this.#isOver) return
    const index = this.#openSaid(block)
    if (block === 'text') this.#tellLogprobs(index)
    this.#add({ type: 'delta', index, text })
    if (block === 'text') this.#citeWaiting()
  }

  #tellLogprobs(index: number): void {
    if (this.#logprobs.length > 0) this.#add({ type: 'logprobs', index, tokens: this.#logprobs })
    this.#logprobs = []
  }

  /** Citations of a reply without text get an empty text block. */
  #citeWaiting(): void {
    if (this.#citations.length === 0) return
    const index = this.#openSaid('text')
    for (const citation of this.#citations) this.#add({ type: 'cite', index, citation })
    this.#citations = []
  }

  #openSaid(block: SaidBlock): number {
    if (this.#open?.block === block) return this.#open.index
    this.#closeAll()
    const index = this.#openBlock({ type: 'open', index: this.#blocks, block })
    this.#open = { block, index }
    return index
  }

  #openBlock(event: OpenEvent): number {
    this.#add(event)
    this.#hasAnswer ||= event.block !== 'reasoning'
    this.#blocks++
    return event.index
  }

  #closeText(): void {
    if (this.#open?.block === 'text') this.#tellLogprobs(this.#open.index)
    if (this.#open) this.#add({ type: 'close', index: this.#open.index })
    this.#open = undefined
  }

  #closeAll(): void {
    this.#closeText()
    for (const key of [...this.#openCalls.keys()]) this.closeCall(key)
  }

  #add(event: ReplyEvent): void {
    if (this.#isOver) return
    if (!this.#hasStarted) this.#made.push({ type: 'start' })
    this.#hasStarted = true
    this.#made.push(event)
  }
}

function isUnclear(reason: FinishReason | 'untold'): boolean {
  return reason === 'untold' || reason === 'other'
}

type SaidBlock = 'text' | 'reasoning' | 'refusal'

/** A stream reader from a function that reads one event. Events whose data is not a JSON object are ignored. */
export function readerOf(read: (reply: ReplyBuilder, data: JsonObject, event: StreamEvent) => void): EventReader {
  const reply = new ReplyBuilder()
  return {
    push(event) {
      const data = reply.isOver ? undefined : parseData(event.data)
      if (data) read(reply, data, event)
      return reply.take()
    },
    finish() {
      reply.cut()
      return reply.take()
    },
  }
}

/** The events of a complete (non-streamed) reply, from a function that reads it. An incomplete reply is an error. */
export function wholeReply(read: (reply: ReplyBuilder) => void): ReplyEvent[] {
  const reply = new ReplyBuilder()
  read(reply)
  reply.cut()
  const events = reply.take()
  const last = events.at(-1)?.type
  return last === 'end' || last === 'error' ? events : [{ type: 'error', error: errorFacts('the upstream sent no valid answer') }]
}

export function errorFacts(message: string, more: Partial<UpstreamErrorFacts> = {}): UpstreamErrorFacts {
  return { message, type: '', code: '', param: null, status: 0, ...more }
}

/** The data of an event as an object; undefined when it is not one. */
export function parseData(data: string): JsonObject | undefined {
  const text = data.trim()
  if (!text.startsWith('{')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
