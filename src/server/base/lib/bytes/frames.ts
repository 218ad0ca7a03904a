import { BedrockEvents } from './bedrock-events.ts'
import { streamLineBytesMax } from './sse.ts'

/**
 * Frames of a streamed reply: lines of JSON, AWS event stream messages, or text messages of a WebSocket to which the body is sent
 * first.
 */
export type Framing = 'sse' | 'ndjson' | 'aws-event-stream' | 'websocket'

/**
 * Converts the bytes of a reply to the byte text of server-sent events (see `sse.ts`), so that all later steps see only events. Bytes
 * may be split anywhere. `push` throws RangeError for a frame over its limit and FrameError for a broken one.
 */
export interface Unframe {
  push(chunk: Buffer): string
  /** The bytes after the last complete frame, if they have content. */
  flush(): string
}

/** Messages of a WebSocket arrive complete and already as events, so that they are not split here. */
export function openFraming(framing: Framing): Unframe {
  if (framing === 'ndjson') return new JsonLines()
  if (framing === 'aws-event-stream') return new BedrockEvents()
  return passThrough
}

const passThrough: Unframe = {
  push: (chunk) => chunk.toString('latin1'),
  flush: () => '',
}

/** Every line that is not empty is the data of an event. A line is collected in pieces: it may arrive in thousands of them. */
class JsonLines implements Unframe {
  #rest: string[] = []
  #restBytes = 0
  #isFirst = true

  push(chunk: Buffer): string {
    this.#checkLength()
    const text = chunk.toString('latin1')
    const end = text.lastIndexOf('\n')
    if (end < 0) {
      this.#keep(text)
      return ''
    }
    const whole = this.#rest.join('') + text.slice(0, end)
    this.#rest = []
    this.#restBytes = 0
    this.#keep(text.slice(end + 1))
    return this.#lines(whole).map(eventOf).join('')
  }

  /** The last line, without a blank line after it: the reader decides whether it is complete. */
  flush(): string {
    this.#checkLength()
    const rest = this.#lines(this.#rest.join(''))
    this.#rest = []
    return rest.map((line) => `data: ${line}`).join('\n\n')
  }

  #keep(piece: string): void {
    this.#restBytes += piece.length
    this.#rest.push(piece)
  }

  /** Checked one call late, so that complete lines before the long one are returned wherever the bytes are split. */
  #checkLength(): void {
    if (this.#restBytes > streamLineBytesMax)
      throw new RangeError(`A line of the stream is larger than ${streamLineBytesMax} bytes`)
  }

  #lines(text: string): string[] {
    const begun = this.#isFirst && text.startsWith(byteOrderMark) ? text.slice(byteOrderMark.length) : text
    if (text !== '') this.#isFirst = false
    return begun.split('\n').flatMap((line) => line.trim() || [])
  }
}

function eventOf(line: string): string {
  return `data: ${line}\n\n`
}

const byteOrderMark = '\xef\xbb\xbf'
