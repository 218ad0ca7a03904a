import { membersOf, spliceMembers } from '../../../base/lib/bytes/splice-json.ts'
import { eventsIn, toByteText, wholeStream } from '../../../base/lib/bytes/sse.ts'
import { AppError } from '../../../base/lib/failure.ts'
import { isObject, type JsonObject, type StreamFormat, type WireFormat } from '../../protocols/wire-format.ts'
import type { AdmittedRequest } from '../admission/admitted-request.ts'
import { badReply, errorInReply, parseObject, UpstreamFailure } from '../upstream/failure.ts'
import type { ResponseAdapter } from './adapter.ts'
import { parse, StreamInterceptor } from './sse-interceptor.ts'
import { readPart, readWhole, requireNoError } from './whole.ts'

type FormattedRequest = Pick<AdmittedRequest, 'body' | 'facts' | 'format'>

/** The changes to a reply that passes through. */
interface ReplyEdit {
  readonly hideUsage: boolean
  readonly renameTo: string | undefined
  /** Corrects a finish reason that disagrees with the calls of the reply. */
  readonly mendsFinish?: boolean
}

/**
 * Adapter for a reply in the caller's format: bytes pass unchanged except for the model name, a usage that was not requested, and the
 * finish reason of a reply with calls.
 */
export function passThrough(
  work: FormattedRequest,
  edit: ReplyEdit,
  readHeaders?: ResponseAdapter['readHeaders'],
): ResponseAdapter {
  const { format, facts } = work
  const { stream } = format
  const { hideUsage, renameTo, mendsFinish } = edit
  const readReply = repliesIn(work) === 'json' ? wholeReader(work, edit) : unchanged
  if (!stream) return { readHeaders, readWhole: readReply, openInterceptor: notStreamed, readReplay: notStreamed, heartbeat: '' }

  return {
    readHeaders,
    readWhole: readReply,
    readPart: (begun) => readPart(format, facts, gathered(format, begun)),
    openInterceptor: () =>
      new StreamInterceptor(stream, { ...edit, finish: mendsFinish ? stream.mendFinish?.(facts.completions ?? 1) : undefined }),
    readReplay(body) {
      const { usage, text } = readWhole(work, body, '')
      const reply = parseObject(mended(format, body, edit))
      const named = renameTo === undefined ? reply : { ...reply, [modelIn(format)]: renameTo }
      return { usage, text, write: () => replyAsStream(stream, named, { hideUsage }) }
    },
    heartbeat: stream.heartbeat,
  }
}

function wholeReader(work: FormattedRequest, edit: ReplyEdit): ResponseAdapter['readWhole'] {
  const { format } = work
  const { renameTo } = edit
  return (body, contentType) => {
    const whole = readWhole(work, mended(format, repaired(work, gathered(format, body)), edit), contentType)
    return { ...whole, write: () => (renameTo === undefined ? whole.body : renamed(whole.body, modelIn(format), renameTo)) }
  }
}

function mended(format: WireFormat, reply: Buffer, { mendsFinish }: ReplyEdit): Buffer {
  return (mendsFinish && format.mendFinish?.(reply)) || reply
}

/** Repairs a reply that ignored a part of the request. If it cannot be repaired, this channel has failed. */
function repaired({ format, body: { json } }: FormattedRequest, reply: Buffer): Buffer {
  try {
    return format.mendReply?.(reply, json) ?? reply
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (error.code === 'upstream_failed') throw badReply(error.message)
    throw new UpstreamFailure('untranslatable', { own: error })
  }
}

/** A reply that is not JSON, such as subtitles, passes unchanged. A JSON error under a 2xx status is still detected. */
const unchanged: ResponseAdapter['readWhole'] = (body, contentType) => {
  if (contentType.includes('json')) requireNoError(body)
  return { contentType: contentType || 'text/plain; charset=utf-8', usage: undefined, text: '', write: () => body }
}

function renamed(body: Buffer, member: string, model: string): Buffer {
  const namesModel = membersOf(body)?.some(({ key }) => key === member)
  return namesModel ? spliceMembers(body, { [member]: JSON.stringify(model) }) : body
}

function modelIn({ replyModelIn }: WireFormat): string {
  return replyModelIn ?? 'model'
}

function notStreamed(): never {
  throw new Error('This format has no streaming form')
}

/**
 * The shape of a reply. Some upstreams answer a streaming request with one JSON body, or the reverse: a stream is then collected
 * into a whole reply, and a whole reply is sent as a stream.
 */
export type Form = 'json' | 'events' | 'other'

/** The shape of a reply by its first byte that is not white space; undefined before that byte. */
export function replyShapeOf(bytes: Buffer): Form | undefined {
  const first = /[^\s\xef\xbb\xbf]/.exec(bytes.toString('latin1', 0, 1024))?.[0]
  if (first === undefined) return undefined
  if (first === '{' || first === '[') return 'json'
  return /[deir:]/.test(first) ? 'events' : 'other'
}

/**
 * Converts a body of stream events to a whole reply; returns any other body unchanged. Throws an UpstreamFailure for a broken
 * stream.
 */
function gathered({ stream }: WireFormat, body: Buffer): Buffer {
  if (!stream || replyShapeOf(body) !== 'events') return body
  const text = wholeStream(body.toString('latin1'))
  const interceptor = new StreamInterceptor(stream, { hideUsage: false, renameTo: undefined })
  interceptor.take(text)
  const { arrived } = interceptor
  if (arrived.error) throw errorInReply(arrived.error)
  if (!arrived.isComplete() || !arrived.hasOutput) throw new UpstreamFailure('cut')
  const events = eventsIn(text)
    .map((event) => parse(event.data))
    .filter(isObject)
  return Buffer.from(JSON.stringify(stream.gather(events)))
}

/** Converts a whole reply into the byte text of a stream, with its terminal event. */
export function replyAsStream(format: StreamFormat, reply: JsonObject, { hideUsage }: { hideUsage: boolean }): string {
  const events = format.replay(reply).filter((event) => !(hideUsage && format.isUsageOnly(event)))
  const texts = events.map(
    (event) =>
      `${format.hasNamedEvents ? `event: ${event[format.eventNameIn ?? 'type']}\n` : ''}data: ${JSON.stringify(event)}${format.eventEnd ?? '\n\n'}`,
  )
  return toByteText(texts.join('')) + format.terminalText
}

/** The kind of body with which the request is answered. */
export function repliesIn({ format, body }: Pick<AdmittedRequest, 'format' | 'body'>): 'json' | 'text' | 'bytes' {
  return format.repliesIn?.(body.json) ?? 'json'
}
