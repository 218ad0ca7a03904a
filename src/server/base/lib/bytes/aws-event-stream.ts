import { crc32 } from 'node:zlib'

/** An invalid frame: a wrong checksum, or lengths that contradict each other. */
export class FrameError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'FrameError'
  }
}

export interface AwsMessage {
  /** Only headers with string values; Bedrock sends no others. */
  readonly headers: ReadonlyMap<string, string>
  readonly payload: Buffer
}

/**
 * Cuts the bytes of an AWS event stream into messages:
 *
 *   length u32, length of headers u32, CRC32 of both u32, headers, payload, CRC32 of everything before u32
 *
 * Source: Amazon Event Stream specification (Smithy 2.0) and protocols notes 2.7.
 */
export class AwsMessages {
  #rest: Buffer[] = []
  #restBytes = 0
  #neededBytes = preludeBytes
  #failure: unknown

  /**
   * The messages completed by this chunk. Throws RangeError for one over the limit and FrameError for a broken one. If the chunk also
   * completes messages before it, the error is thrown by the next call, so that the result does not depend on where the bytes are
   * split.
   */
  push(chunk: Buffer): AwsMessage[] {
    if (this.#failure) throw this.#failure
    this.#rest.push(chunk)
    this.#restBytes += chunk.length
    if (this.#restBytes < this.#neededBytes) return []

    const bytes = this.#rest.length === 1 ? chunk : Buffer.concat(this.#rest)
    const messages: AwsMessage[] = []
    let at = 0
    this.#neededBytes = preludeBytes
    try {
      while (bytes.length - at >= this.#neededBytes) {
        const length = readPrelude(bytes, at)
        this.#neededBytes = length
        if (bytes.length - at < length) break
        messages.push(readMessage(bytes.subarray(at, at + length)))
        at += length
        this.#neededBytes = preludeBytes
      }
    } catch (error) {
      if (messages.length === 0) throw error
      this.#failure = error
    }
    this.#rest = at < bytes.length ? [bytes.subarray(at)] : []
    this.#restBytes = bytes.length - at
    return messages
  }

  /** Throws the deferred failure of an earlier call. A truncated message alone is not a failure. */
  finish(): void {
    if (this.#failure) throw this.#failure
  }
}

const preludeBytes = 12
const messageBytesMin = 16
const messageBytesMax = 16 * 1024 * 1024

/** Checks the prelude at `at` and returns the length of its message. */
function readPrelude(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at)
  if (length > messageBytesMax) throw new RangeError(`A message of the stream is larger than ${messageBytesMax} bytes`)
  if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8)) throw new FrameError('The checksum of a frame is wrong')
  if (length < messageBytesMin || bytes.readUInt32BE(at + 4) > length - messageBytesMin)
    throw new FrameError('The lengths of a frame contradict each other')
  return length
}

function readMessage(message: Buffer): AwsMessage {
  const end = message.length - 4
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end)) throw new FrameError('The checksum of a frame is wrong')
  const payloadStart = preludeBytes + message.readUInt32BE(4)
  return { headers: readHeaders(message.subarray(preludeBytes, payloadStart)), payload: message.subarray(payloadStart, end) }
}

/** Layout of a header: length of the name u8, name, type u8, value. */
function readHeaders(bytes: Buffer): Map<string, string> {
  const headers = new Map<string, string>()
  let at = 0
  try {
    while (at < bytes.length) {
      const typeAt = at + 1 + bytes.readUInt8(at)
      const type = bytes.readUInt8(typeAt)
      const valueAt = typeAt + 1 + (hasLength.has(type) ? 2 : 0)
      const length = hasLength.has(type) ? bytes.readUInt16BE(typeAt + 1) : fixedLengths[type]
      if (length === undefined || valueAt + length > bytes.length) throw new RangeError('The header has no such value')
      if (type === textType)
        headers.set(bytes.toString('utf8', at + 1, typeAt), bytes.toString('utf8', valueAt, valueAt + length))
      at = valueAt + length
    }
  } catch {
    throw new FrameError('The headers of a frame cannot be read')
  }
  return headers
}

const textType = 7
/** Types whose value is preceded by its length: bytes and strings. */
const hasLength: ReadonlySet<number> = new Set([6, textType])
/** Length of the value by type: true, false, byte, short, integer, long, then timestamp and UUID. */
const fixedLengths: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 }
