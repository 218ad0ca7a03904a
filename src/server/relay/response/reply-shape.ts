import { eventsIn, toByteText, withLineFeeds } from '../../lib/sse.ts'
import { isObject, type JsonObject, type StreamFormat, type WireFormat } from '../../protocols/wire-format.ts'
import { UpstreamFailure } from '../upstream/failure.ts'
import { parse, StreamInterceptor } from './sse-interceptor.ts'

/**
 * For upstreams that answer in the other form than the one they were asked for: a stream is gathered into a whole reply, a whole reply
 * is told as a stream.
 */
export type Form = 'json' | 'events' | 'other'

/** What an answer looks like by its first byte that is not white space; undefined while there is none. */
export function replyShapeOf(bytes: Buffer): Form | undefined {
  const first = /[^\s\xef\xbb\xbf]/.exec(bytes.toString('latin1', 0, 1024))?.[0]
  if (first === undefined) return undefined
  if (first === '{' || first === '[') return 'json'
  return /[deir:]/.test(first) ? 'events' : 'other'
}

/** A body that is a stream of events as the whole reply that they make; any other as it is. Throws an UpstreamFailure for a broken stream. */
export function gathered({ stream }: WireFormat, body: Buffer): Buffer {
  if (!stream || replyShapeOf(body) !== 'events') return body
  const text = withLineFeeds(body.toString('latin1'))
  const interceptor = new StreamInterceptor(stream, { hideUsage: false, renameTo: undefined })
  interceptor.take(text)
  if (interceptor.error)
    throw new UpstreamFailure('status', { status: interceptor.error.status || 502, facts: interceptor.error })
  if (!interceptor.isComplete() || !interceptor.hasOutput) throw new UpstreamFailure('cut')
  const events = eventsIn(text)
    .map((event) => parse(event.data))
    .filter(isObject)
  return Buffer.from(JSON.stringify(stream.gather(events)))
}

/** A whole reply as byte text of a stream, with its terminal event. */
export function toldAsStream(format: StreamFormat, reply: JsonObject, { hideUsage }: { hideUsage: boolean }): string {
  const events = format.replay(reply).filter((event) => !(hideUsage && format.isUsageOnly(event)))
  const texts = events.map(
    (event) =>
      `${format.hasNamedEvents ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}${format.eventEnd ?? '\n\n'}`,
  )
  return toByteText(texts.join('')) + format.terminalText
}
