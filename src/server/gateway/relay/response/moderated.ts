import type { Usage } from '../../../../contract/usage.ts'
import { type EventText, readEvents, toByteText } from '../../../base/lib/bytes/sse.ts'
import { CompletionCheck, type CompletionRule } from '../../moderation/completion-check.ts'
import { formats } from '../../protocols/index.ts'
import { type ReplyTexts, type TextSlot, withTexts } from '../../protocols/text-slots.ts'
import type { JsonObject, StreamFormat, UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { GatewayParts } from '../gateway-parts.ts'
import { parseObject } from '../upstream/failure.ts'
import type { ArrivedReply, ResponseAdapter, SseInterceptor } from './adapter.ts'
import { parse } from './sse-interceptor.ts'

/**
 * Returns an adapter that filters listed words from the reply, in the caller's format: it masks them, or ends the reply at the first one. A
 * format without text for people gets its adapter back unchanged.
 */
export function moderatedAdapter(
  { callerLog }: Pick<GatewayParts, 'callerLog'>,
  rule: CompletionRule,
  { call, format, facts }: Pick<AdmittedRequest, 'call' | 'format' | 'facts'>,
  adapter: ResponseAdapter,
): ResponseAdapter {
  const { texts } = formats[format.format]
  if (!texts) return adapter
  const found = (word: string) => callerLog.of(call.client).info({ request: call.id, word }, 'a completion had a listed word')
  const checkFacts = format.stream && { rule, texts, stream: format.stream, wantsUsage: facts.wantsUsage, found }

  return {
    ...adapter,
    readWhole(body, contentType) {
      const whole = adapter.readWhole(body, contentType)
      return { ...whole, write: (billed) => checkedReply(whole.write(billed), texts, { rule, found }) }
    },
    openInterceptor: () =>
      checkFacts ? new ModeratingInterceptor(adapter.openInterceptor(), checkFacts) : adapter.openInterceptor(),
    readReplay(body) {
      const replay = adapter.readReplay(body)
      return {
        ...replay,
        write: (billed) => (checkFacts ? checkedEvents(replay.write(billed), checkFacts, billed) : replay.write(billed)),
      }
    },
  }
}

/** Returns the same bytes when no word is found. */
function checkedReply(body: Buffer, texts: ReplyTexts, { rule, found }: Pick<CheckFacts, 'rule' | 'found'>): Buffer {
  const reply = parseObject(body)
  let isStopped = false
  const passed = texts.inReply(reply).map(({ path, text }) => {
    if (isStopped) return { path, text: '', isChanged: true }
    const check = new CompletionCheck(rule)
    const checked = check.push(text)
    if (checked.found === undefined) return { path, text, isChanged: false }
    found(checked.found)
    isStopped = rule.stops
    return { path, text: checked.pass + check.flush().pass, isChanged: true }
  })
  const changed = passed.filter(({ isChanged }) => isChanged)
  if (changed.length === 0) return body
  const kept: JsonObject = withTexts(reply, changed)
  return Buffer.from(JSON.stringify(isStopped ? texts.stoppedReply(kept) : kept))
}

function checkedEvents(events: string, facts: CheckFacts, billed: Usage): string {
  const checked = new CheckedEvents(facts)
  const passed = checked.take(events)
  return checked.isStopped ? passed + checked.closing(billed) : passed + checked.flush()
}

/**
 * A stream whose texts are checked before they are sent to the caller. A stopped stream has ended: later events of the upstream are
 * ignored.
 */
class ModeratingInterceptor implements SseInterceptor {
  readonly arrived: ArrivedReply
  readonly #interceptor: SseInterceptor
  readonly #events: CheckedEvents

  constructor(interceptor: SseInterceptor, facts: CheckFacts) {
    this.arrived = interceptor.arrived
    this.#interceptor = interceptor
    this.#events = new CheckedEvents(facts)
  }

  take(block: string): string {
    return this.#events.isStopped ? '' : this.#pass(this.#interceptor.take(block))
  }

  finish(rest: string): string {
    return this.#events.isStopped ? '' : this.#pass(this.#interceptor.finish(rest))
  }

  ending(billed: Usage): string {
    if (this.#events.isStopped) return this.#events.closing(billed)
    const last = this.#check(this.#interceptor.ending(billed))
    return last + (this.#events.isStopped ? this.#events.closing(billed) : this.#events.flush())
  }

  writeError(error: UpstreamErrorFacts): string | undefined {
    return this.#interceptor.writeError?.(error)
  }

  #pass(out: string): string {
    const { error } = this.arrived
    const passed = this.#check(out)
    return error ? passed + this.#events.flush() : passed
  }

  #check(out: string): string {
    const passed = this.#events.take(out)
    if (this.#events.isStopped) this.arrived.stop('moderation')
    return passed
  }
}

interface CheckFacts {
  readonly rule: CompletionRule
  readonly texts: ReplyTexts
  readonly stream: StreamFormat
  /** The caller requested the usage at the end of the stream. */
  readonly wantsUsage: boolean
  found(word: string): void
}

/**
 * Checks the texts of a stream of byte text in the caller's format. An event is queued while its text may be the beginning of a word, and
 * later events are queued behind it; it is then sent with the text that is known to be harmless. Events that need no change are sent byte
 * for byte. When a word stops the stream, no later event is sent, and `closing` ends it as the format requires.
 */
export class CheckedEvents {
  readonly #facts: CheckFacts
  readonly #running = new Map<string, RunningText>()
  /** The text of each slot so far. */
  readonly #texts = new Map<string, string>()
  #line: Waiting[] = []
  #first: JsonObject = {}
  #last: JsonObject = {}
  #isStopped = false

  constructor(facts: CheckFacts) {
    this.#facts = facts
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Accepts whole events and returns the output that may be sent now. */
  take(block: string): string {
    let end = 0
    for (const event of readEvents(block)) {
      if (this.#isStopped) return this.#drain()
      if (event.start > end) this.#line.push({ ...untouched, raw: block.slice(end, event.start) })
      this.#check(event, block.slice(event.start, event.end))
      end = event.end
    }
    if (end < block.length && !this.#isStopped) this.#line.push({ ...untouched, raw: block.slice(end) })
    return this.#drain()
  }

  /** The input has ended: returns the queued events. */
  flush(): string {
    this.#close('')
    return this.#drain()
  }

  /** Returns the last events of a stream that was stopped. */
  closing(usage: Usage): string {
    const { texts, stream, wantsUsage } = this.#facts
    const seen = { first: this.#first, last: this.#last, texts: this.#texts, usage, wantsUsage }
    return (
      texts
        .stoppedEvents(seen)
        .map((data) => this.#write('', data))
        .join('') + stream.terminalText
    )
  }

  #check(event: EventText, raw: string): void {
    const { texts } = this.#facts
    const data = parse(event.data)
    const slots = data ? texts.inEvent(data) : []
    const waiting: Waiting = { raw, name: event.name, data, slots, passed: slots.map(({ text }) => text), open: new Set() }
    this.#line.push(waiting)
    if (!data) return

    if (Object.keys(this.#first).length === 0) this.#first = data
    if (slots.some(({ textId }) => textId !== undefined)) this.#last = data
    for (const [index, slot] of slots.entries()) this.#checkSlot(waiting, index, slot)
    if (this.#isStopped) this.#stopAt(waiting, data)
    else for (const group of texts.closedBy(data)) this.#close(group)
  }

  #checkSlot(waiting: Waiting, index: number, { textId, text }: TextSlot): void {
    if (this.#isStopped) waiting.passed[index] = ''
    else if (textId === undefined) waiting.passed[index] = this.#checkWhole(text)
    else if (text !== '') this.#checkPiece(waiting, index, textId, text)
  }

  #checkWhole(text: string): string {
    const check = new CompletionCheck(this.#facts.rule)
    return this.#note(check.push(text)) + check.flush().pass
  }

  #checkPiece(waiting: Waiting, index: number, name: string, text: string): void {
    const [group = ''] = name.split('/')
    for (const other of this.#running.keys()) if (other !== name && other.startsWith(`${group}/`)) this.#endText(other)
    const running = this.#running.get(name) ?? { check: new CompletionCheck(this.#facts.rule), holder: undefined }
    this.#running.set(name, running)
    running.holder?.waiting.open.delete(name)

    const pass = this.#note(running.check.push(text))
    waiting.passed[index] = pass
    this.#texts.set(name, (this.#texts.get(name) ?? '') + pass)
    running.holder = running.check.isHolding ? { waiting, index } : undefined
    if (running.holder) waiting.open.add(name)
  }

  #note({ pass, found }: { pass: string; found: string | undefined }): string {
    if (found !== undefined) this.#facts.found(found)
    if (found !== undefined && this.#facts.rule.stops) this.#isStopped = true
    return pass
  }

  /** Ends the texts of a group: withheld text is sent with the event that is queued for it. */
  #close(group: string): void {
    for (const name of this.#running.keys()) if (group === '' || name.startsWith(`${group}/`)) this.#endText(name)
  }

  #endText(name: string): void {
    const running = this.#running.get(name)
    this.#running.delete(name)
    if (!running?.holder) return
    const { waiting, index } = running.holder
    const { pass } = running.check.flush()
    waiting.passed[index] += pass
    waiting.open.delete(name)
    this.#texts.set(name, (this.#texts.get(name) ?? '') + pass)
  }

  /** Discards the withheld text of other slots. The event with the word no longer reports that the reply is complete. */
  #stopAt(waiting: Waiting, data: JsonObject): void {
    for (const one of this.#line) one.open.clear()
    waiting.data = this.#facts.texts.unfinished(data)
    if (waiting.passed.every((text) => text === '')) this.#line.pop()
  }

  #drain(): string {
    let ready = 0
    let out = ''
    for (const waiting of this.#line) {
      if (waiting.open.size > 0) break
      out += this.#written(waiting)
      ready++
    }
    this.#line = this.#line.slice(ready)
    return out
  }

  #written({ raw, name, data, slots, passed }: Waiting): string {
    const changed = slots.flatMap(({ path, text }, index) => {
      const now = passed[index] ?? text
      return now === text ? [] : [{ path, text: now }]
    })
    return data && changed.length > 0 ? this.#write(name, withTexts(data, changed)) : raw
  }

  #write(name: string, data: JsonObject): string {
    const { hasNamedEvents, eventNameIn = 'type', eventEnd = '\n\n' } = this.#facts.stream
    const type = data[eventNameIn]
    const named = name || (hasNamedEvents && typeof type === 'string' ? type : '')
    return toByteText(`${named === '' ? '' : `event: ${named}\n`}data: ${JSON.stringify(data)}${eventEnd}`)
  }
}

/** A queued event, or bytes that are not an event. */
interface Waiting {
  readonly raw: string
  readonly name: string
  data: JsonObject | undefined
  readonly slots: readonly TextSlot[]
  /** The text to send, by slot. */
  readonly passed: string[]
  /** Open texts whose withheld part may still be sent with this event. */
  readonly open: Set<string>
}

const untouched: Omit<Waiting, 'raw'> = { name: '', data: undefined, slots: [], passed: [], open: new Set() }

interface RunningText {
  readonly check: CompletionCheck
  /** The event that is queued for the withheld text. */
  holder: { readonly waiting: Waiting; readonly index: number } | undefined
}
