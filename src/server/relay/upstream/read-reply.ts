import { isObject, type JsonObject } from '../../protocols/wire-format.ts'
import { UpstreamFailure } from './failure.ts'

/** What `read` answers, or the failure that a broken answer is. */
export function tryReading<Read>(read: () => Read): Read | UpstreamFailure {
  try {
    return read()
  } catch (cause) {
    return cause instanceof UpstreamFailure ? cause : new UpstreamFailure('bad-reply', { cause })
  }
}

/** Throws an UpstreamFailure when the body is anything but a JSON object. */
export function parseObject(body: Buffer): JsonObject {
  const value: unknown = JSON.parse(body.toString('utf8', body[0] === 0xef ? 3 : 0))
  if (!isObject(value)) throw badReply('the answer is not a JSON object')
  return value
}

export function badReply(message: string): UpstreamFailure {
  return new UpstreamFailure('bad-reply', { facts: { message } })
}
