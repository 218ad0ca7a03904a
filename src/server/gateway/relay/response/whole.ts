import { closeJson } from '../../../base/lib/bytes/close-json.ts'
import { entriesOf, membersOf, memberValue } from '../../../base/lib/bytes/splice-json.ts'
import type { AnsweredModel } from '../../protocols/answered-model.ts'
import { readErrorInReply } from '../../protocols/openai-chat/errors.ts'
import { hasBothSides } from '../../protocols/usage-sides.ts'
import { isObject, type JsonObject, type RequestFacts, type WireFormat } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import { badReply, errorInReply, parseObject, tryReading, UpstreamFailure } from '../upstream/failure.ts'
import type { Receiver, Running } from '../upstream/http-exchange.ts'
import type { PartialReply, ResponseAdapter, Whole } from './adapter.ts'

/** Collects a whole JSON answer, validates it, and reads its usage. Nothing is sent to the caller before the charge. */
export class WholeReply implements Receiver {
  readonly #adapter: ResponseAdapter
  readonly #answered: AnsweredModel
  readonly #done: (outcome: Whole | UpstreamFailure) => void
  readonly #chunks: Buffer[] = []
  #contentType = ''
  #isBrokenOff = false

  constructor(adapter: ResponseAdapter, answered: AnsweredModel, done: (outcome: Whole | UpstreamFailure) => void) {
    this.#adapter = adapter
    this.#answered = answered
    this.#done = done
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#contentType = String(headers['content-type'] ?? '')
    this.#adapter.readHeaders?.(headers)
  }

  data(chunk: Buffer): void {
    this.#chunks.push(chunk)
  }

  end(): void {
    const [first] = this.#chunks
    const body = this.#chunks.length === 1 && first ? first : Buffer.concat(this.#chunks)
    this.#done(
      tryReading(() => {
        const whole = this.#adapter.readWhole(body, this.#contentType)
        this.#answered.readBody(body)
        return whole
      }),
    )
  }

  fail(failure: UpstreamFailure): void {
    this.#isBrokenOff = failure.kind === 'cut' || failure.kind === 'timeout'
    this.#done(failure)
  }

  /** The upstream's answer is incomplete. */
  get isBrokenOff(): boolean {
    return this.#isBrokenOff
  }

  /** The partial reply of an answer that broke off; undefined when no output can be read in it. */
  part(): PartialReply | undefined {
    const { readPart } = this.#adapter
    const begun = readPart && closeJson(Buffer.concat(this.#chunks).toString('utf8', 0, partBytesMax))
    if (!begun) return undefined
    const read = tryReading(() => readPart(Buffer.from(begun)))
    if (read instanceof UpstreamFailure || read.text === '') return undefined
    const { usage, text } = read
    return { usage, isComplete: () => false, text: () => text }
  }
}

/** Larger replies occur only with images. */
const partBytesMax = 4 * 1024 * 1024

const parseWholeBelow = 64 * 1024

/** Throws an UpstreamFailure when the body is an error, or anything but an answer of the format. */
export function readWhole(
  { format, facts, body: { json: asked } }: Pick<AdmittedRequest, 'body' | 'facts' | 'format'>,
  body: Buffer,
  contentType: string,
): Omit<Whole, 'write'> & { readonly body: Buffer } {
  const isSmall = body.length < parseWholeBelow
  const reply = isSmall ? parseObject(body) : readNeeded(body, format)
  refuseError(reply)
  if (!isAnswer(format, reply)) throw badReply(`the answer has no list ${format.answerIn}`)
  // The entries of a large reply are not parsed.
  if ((isSmall || format.billsEntries) && format.isEmpty?.(reply, asked)) throw badReply('its answer was empty')

  const usage = format.readUsage(reply, facts)
  return {
    body,
    contentType: contentType.includes('json') ? contentType : 'application/json',
    usage,
    text: !format.stream || (usage && hasBothSides(usage)) ? '' : format.replyText(isSmall ? reply : parseObject(body)),
  }
}

/** The received part of an answer of the format. Throws an UpstreamFailure when it is an error. */
export function readPart(format: WireFormat, facts: RequestFacts, begun: Buffer): Pick<Whole, 'usage' | 'text'> {
  const reply = parseObject(begun)
  refuseError(reply)
  return { usage: format.readUsage(reply, facts), text: format.replyText(reply) }
}

/** Throws an UpstreamFailure for an error in a JSON body with a 2xx status. */
export function requireNoError(body: Buffer): void {
  refuseError(parseObject(body))
}

function refuseError(reply: JsonObject): void {
  const error = readErrorInReply(reply)
  if (error) throw errorInReply(error)
}

function isAnswer({ answerIn, answersWithout, answersWith }: WireFormat, reply: JsonObject): boolean {
  if (answersWith) return answersWith(reply)
  return Array.isArray(reply[answerIn]) || (answersWithout !== undefined && isObject(reply[answersWithout]))
}

/**
 * Only the needed members of a large answer, such as many embeddings, are parsed. Its list is checked to be one; for formats that
 * bill its entries, they are counted.
 */
function readNeeded(body: Buffer, { answerIn: list, billsEntries }: WireFormat): JsonObject {
  const members = membersOf(body)
  if (!members) throw badReply('the answer is not a JSON object')
  const parsed = ['usage', 'usageMetadata', 'tool_usage', 'error', 'type', 'base_resp'].map((key) => [
    key,
    memberValue(body, members, key),
  ])
  const start = members.findLast((member) => member.key === list)?.valueStart ?? 0
  if (body[start] !== openBracket) return Object.fromEntries(parsed)
  const entries = billsEntries ? (entriesOf(body, start) ?? []) : []
  return { ...Object.fromEntries(parsed), [list]: entries.map((entry) => readEntry(body, entry)) }
}

/** A short entry is parsed, since it may be an error; a long one is assumed to be an image. */
function readEntry(body: Buffer, { start, end }: { readonly start: number; readonly end: number }): unknown {
  return end - start < wordsBelow ? JSON.parse(body.toString('utf8', start, end)) : longEntry
}

const longEntry = { b64_json: '…' }

const wordsBelow = 4096

const openBracket = 0x5b

/** Passes a binary answer (speech) on as it arrives. Its last piece is withheld until the charge. A JSON body is an error. */
export class BytesReply implements Receiver {
  readonly #call: ClientExchange
  readonly #now: () => number
  readonly #done: (outcome: 'complete' | UpstreamFailure) => void
  readonly #resume = () => this.#exchange?.resume()
  #exchange: Running | undefined
  #contentType = ''
  #isJson = false
  #json: Buffer[] = []
  #last: Buffer | undefined

  constructor(call: ClientExchange, more: { now: () => number; done: (outcome: 'complete' | UpstreamFailure) => void }) {
    this.#call = call
    this.#now = more.now
    this.#done = more.done
  }

  attach(exchange: Running): void {
    this.#exchange = exchange
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    this.#contentType = String(headers['content-type'] ?? 'application/octet-stream')
    this.#isJson = this.#contentType.includes('json')
    if (this.#contentType.includes('html'))
      throw new UpstreamFailure('bad-reply', { facts: { message: 'it answered with a page' } })
  }

  data(chunk: Buffer): void {
    if (this.#isJson) {
      this.#json.push(chunk)
      return
    }
    const before = this.#last
    this.#last = chunk
    if (before) this.#write(before)
  }

  end(): void {
    if (this.#isJson) {
      const read = tryReading(() => requireNoError(Buffer.concat(this.#json)))
      this.#done(read ?? new UpstreamFailure('bad-reply', { facts: { message: 'it answered with JSON instead of a file' } }))
      return
    }
    this.#done(this.#last ? 'complete' : new UpstreamFailure('bad-reply', { facts: { message: 'its answer was empty' } }))
  }

  fail(failure: UpstreamFailure): void {
    this.#done(failure)
  }

  /** Sends half of the last piece, but never its end. */
  sendEarly(): void {
    const last = this.#last ?? Buffer.alloc(0)
    const half = last.length >> 1
    if (half === 0) return
    this.#last = last.subarray(half)
    this.#write(last.subarray(0, half))
  }

  /** The whole answer, before any of it is sent. */
  get unsent(): { contentType: string; body: Buffer } {
    return { contentType: this.#contentType, body: this.#last ?? Buffer.alloc(0) }
  }

  /** Sends the last piece. */
  close(): void {
    this.#begin()
    this.#call.end(this.#last?.toString('latin1') ?? '')
  }

  #write(piece: Buffer): void {
    this.#begin()
    if (this.#call.write(piece.toString('latin1'), this.#now())) return
    this.#exchange?.pause()
    this.#call.whenDrained(this.#resume)
  }

  #begin(): void {
    if (!this.#call.isCommitted) this.#call.begin({ 'content-type': this.#contentType })
  }
}
