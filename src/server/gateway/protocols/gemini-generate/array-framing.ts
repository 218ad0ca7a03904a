import { EventBlocks, eventsIn, toByteText } from '../../../base/lib/bytes/sse.ts'
import type { Reframing } from '../wire-format.ts'

/**
 * The stream of a caller that did not request server-sent events: one JSON array, `[{…}`, `,\r\n{…}`, `\n]`. Takes the events as
 * binary strings, split anywhere, and returns binary strings; the output is a valid array after any failure. A comment becomes
 * white space, so that it still keeps a connection alive. Source: protocols notes 1.0.
 */
export class ArrayFraming implements Reframing {
  readonly contentType = 'application/json; charset=UTF-8'
  readonly #blocks = new EventBlocks(eventBytesMax)
  #isOpen = false

  push(byteText: string): string {
    const block = this.#blocks.push(byteText)
    return block === '' ? '' : this.#elements(block) || '\n'
  }

  end(): string {
    const rest = this.#elements(this.#blocks.flush())
    return `${rest}${this.#isOpen ? '\n]' : '[]'}`
  }

  #elements(block: string): string {
    let elements = ''
    for (const { data } of eventsIn(block)) {
      if (!isObjectText(data)) continue
      elements += (this.#isOpen ? ',\r\n' : '[') + toByteText(data)
      this.#isOpen = true
    }
    return elements
  }
}

const eventBytesMax = 16 * 1024 * 1024

/** Anything else, such as an end marker or a partial event, would break the array. */
function isObjectText(data: string): boolean {
  if (data.charCodeAt(0) !== 0x7b) return false
  try {
    JSON.parse(data)
    return true
  } catch {
    return false
  }
}
