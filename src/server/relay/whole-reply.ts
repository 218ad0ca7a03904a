import type { Usage } from '../../contract/usage.ts'
import { membersOf, memberValue, spliceMembers } from '../lib/splice-json.ts'
import { isObject, type JsonObject, type WireFormat } from '../protocols/wire-format.ts'
import { type Receiver, readHiddenError } from './exchange.ts'
import { UpstreamFailure } from './failure.ts'

/** Collects a whole JSON answer, checks that it is one, and reads its usage. Nothing goes to the caller before the charge. */
export class WholeReply implements Receiver {
  readonly #format: WireFormat
  readonly #done: (outcome: Whole | UpstreamFailure) => void
  #chunks: Buffer[] = []
  #bytes = 0
  #contentType = 'application/json'

  constructor(format: WireFormat, done: (outcome: Whole | UpstreamFailure) => void) {
    this.#format = format
    this.#done = done
  }

  get receivedBytes(): number {
    return this.#bytes
  }

  begin(headers: Readonly<Record<string, string | string[] | undefined>>): void {
    const type = String(headers['content-type'] ?? '')
    if (type.includes('json')) this.#contentType = type
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > replyBytesMax) throw new UpstreamFailure('bad-reply', { facts: { message: 'the answer is too large' } })
    this.#chunks.push(chunk)
  }

  end(): void {
    const body = this.#chunks.length === 1 && this.#chunks[0] ? this.#chunks[0] : Buffer.concat(this.#chunks)
    try {
      this.#done(readWhole(this.#format, body, this.#contentType))
    } catch (error) {
      this.#done(error instanceof UpstreamFailure ? error : new UpstreamFailure('bad-reply', { cause: error }))
    }
  }

  fail(failure: UpstreamFailure): void {
    this.#done(failure)
  }
}

export interface Whole {
  readonly body: Buffer
  readonly contentType: string
  readonly usage: Usage | undefined
  /** The text of the answer; only worked out when there is no usage. */
  text(): string
  /** The body with another model name. */
  renamed(model: string): Buffer
}

const replyBytesMax = 64 * 1024 * 1024
const parseWholeBelow = 64 * 1024

function readWhole(format: WireFormat, body: Buffer, contentType: string): Whole {
  const reply = body.length < parseWholeBelow ? parseObject(body) : readNeeded(body)
  const error = readHiddenError(reply)
  if (error) throw new UpstreamFailure('status', { status: error.status || 502, facts: error })

  return {
    body,
    contentType,
    usage: format.readUsage(reply),
    text: () => format.replyText(parseObject(body)),
    renamed: (model) =>
      membersOf(body)?.some((member) => member.key === 'model') ? spliceMembers(body, { model: JSON.stringify(model) }) : body,
  }
}

/** Of a large answer, as of many embeddings, only the members that matter are parsed. */
function readNeeded(body: Buffer): JsonObject {
  const members = membersOf(body)
  if (!members) throw notAnObject()
  return Object.fromEntries(['usage', 'error', 'type', 'base_resp'].map((key) => [key, memberValue(body, members, key)]))
}

function parseObject(body: Buffer): JsonObject {
  const value: unknown = JSON.parse(body.toString('utf8', body[0] === 0xef ? 3 : 0))
  if (!isObject(value)) throw notAnObject()
  return value
}

function notAnObject(): UpstreamFailure {
  return new UpstreamFailure('bad-reply', { facts: { message: 'the answer is not a JSON object' } })
}
