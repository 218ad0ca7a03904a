import { headBytesMax, type PartHead, readPartHead } from './multipart.ts'

/**
 * A piece of a form that arrives piece by piece. The bytes of all pieces together are the form unchanged: `frame` is its delimiters,
 * `part` the header lines that begin a part, `data` a piece of that part's body.
 */
export type FormPiece =
  | { readonly kind: 'frame'; readonly bytes: Buffer }
  | { readonly kind: 'part'; readonly bytes: Buffer; readonly head: PartHead }
  | { readonly kind: 'data'; readonly bytes: Buffer }

/** The form cannot be read, or another parser might read it differently. */
export class MalformedForm extends Error {
  constructor() {
    super('The form cannot be read')
  }
}

/**
 * Reads a `multipart/form-data` body of any size as it arrives, as strictly as `readMultipart`; it holds a header or a delimiter at
 * most. Throws `MalformedForm`.
 */
export async function* readFormPieces(chunks: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<FormPiece> {
  const reader = new FormReader(boundary)
  for await (const chunk of chunks) yield* reader.push(chunk)
  if (!reader.isComplete) throw new MalformedForm()
}

const lineEnd = Buffer.from('\r\n')
const headEnd = Buffer.from('\r\n\r\n')
const partsMax = 100

class FormReader {
  readonly #delimiter: Buffer
  readonly #between: Buffer
  #rest: Buffer = Buffer.alloc(0)
  #state: 'begin' | 'delimited' | 'head' | 'data' | 'end' = 'begin'
  #parts = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`--${boundary}`)
    this.#between = Buffer.from(`\r\n--${boundary}`)
  }

  get isComplete(): boolean {
    return this.#state === 'end' && (this.#rest.length === 0 || this.#rest.equals(lineEnd))
  }

  *push(chunk: Buffer): Generator<FormPiece> {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    for (;;) {
      const piece = this.#next()
      if (!piece) return
      if (piece.bytes.length > 0) yield piece
    }
  }

  /** Undefined when more bytes are needed. */
  #next(): FormPiece | undefined {
    switch (this.#state) {
      case 'begin':
        return this.#begin()
      case 'delimited':
        return this.#afterDelimiter()
      case 'head':
        return this.#head()
      case 'data':
        return this.#data()
      case 'end':
        return this.#afterEnd()
    }
  }

  #begin(): FormPiece | undefined {
    let start = 0
    while (this.#rest.subarray(start, start + 2).equals(lineEnd)) start += 2
    const found = this.#rest.subarray(start, start + this.#delimiter.length)
    if (!found.equals(this.#delimiter.subarray(0, found.length)) && !lineEnd.subarray(0, found.length).equals(found))
      throw new MalformedForm()
    if (found.length < this.#delimiter.length) return undefined
    if (start > headBytesMax) throw new MalformedForm()
    this.#state = 'delimited'
    return { kind: 'frame', bytes: this.#take(start + this.#delimiter.length) }
  }

  #afterDelimiter(): FormPiece | undefined {
    if (this.#rest.length < 2) return undefined
    const next = this.#rest.toString('latin1', 0, 2)
    if (next !== '\r\n' && next !== '--') throw new MalformedForm()
    this.#state = next === '--' ? 'end' : 'head'
    return { kind: 'frame', bytes: this.#take(2) }
  }

  #head(): FormPiece | undefined {
    const at = this.#rest.subarray(0, headBytesMax).indexOf(headEnd)
    if (at < 0 && this.#rest.length < headBytesMax) return undefined
    const head = at < 0 ? undefined : readPartHead(this.#rest.toString('utf8', 0, at))
    if (!head || ++this.#parts > partsMax) throw new MalformedForm()
    this.#state = 'data'
    return { kind: 'part', bytes: this.#take(at + headEnd.length), head }
  }

  /** A part without a body is followed by its delimiter at once. */
  #data(): FormPiece | undefined {
    const at = this.#rest.indexOf(this.#between)
    if (at > 0) return { kind: 'data', bytes: this.#take(at) }
    if (at === 0) {
      this.#state = 'delimited'
      return { kind: 'frame', bytes: this.#take(this.#between.length) }
    }
    // The end of what is here may be the beginning of a delimiter.
    const safe = this.#rest.length - (this.#between.length - 1)
    return safe > 0 ? { kind: 'data', bytes: this.#take(safe) } : undefined
  }

  #afterEnd(): FormPiece | undefined {
    if (this.#rest.length > 2) throw new MalformedForm()
    return this.#rest.length === 2 && this.#rest.equals(lineEnd) ? { kind: 'frame', bytes: this.#take(2) } : undefined
  }

  #take(length: number): Buffer {
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}
