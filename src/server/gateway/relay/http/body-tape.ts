import { isUtf8 } from 'node:buffer'
import type { RecordedBody } from '../../../../contract/entities/recording.ts'
import { slicesOf } from '../../../base/lib/bytes/text-slices.ts'
import { yieldToEventLoop } from '../../../base/lib/time/yield-to-event-loop.ts'
import type { Redactor } from './recorded-secrets.ts'

/** The memory that one recording uses. */
export class Account {
  readonly #memory: { free: number }
  #taken = 0
  #isClosed = false

  constructor(memory: { free: number }) {
    this.#memory = memory
  }

  /** How many of these bytes may be kept. */
  take(bytes: number): number {
    const taken = this.#isClosed ? 0 : Math.max(0, Math.min(bytes, this.#memory.free))
    this.#memory.free -= taken
    this.#taken += taken
    return taken
  }

  close(): void {
    this.#isClosed = true
    this.#memory.free += this.#taken
    this.#taken = 0
  }
}

/** Bytes buffered beyond the limit, so that a secret at the end of a stored body is recognized completely. */
const beyondEnd = 8 * 1024

/** The beginning of a body, copied, and its length. */
export class BodyTape {
  readonly #bytesMax: number
  readonly #account: Account
  readonly #kept: Buffer[] = []
  #keptBytes = 0
  #bytes = 0
  #isFull = false
  #presented: Promise<RecordedBody> | undefined

  constructor(bytesMax: number, account: Account) {
    this.#bytesMax = bytesMax
    this.#account = account
  }

  push(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#isFull || piece.length === 0) return
    const taken = this.#account.take(Math.min(piece.length, this.#bytesMax + beyondEnd - this.#keptBytes))
    this.#isFull = taken < piece.length
    if (taken === 0) return
    // A chunk of a socket references a larger block of memory; a copy does not.
    this.#kept.push(Buffer.from(piece.subarray(0, taken)))
    this.#keptBytes += taken
  }

  /** The recorded body, without secrets. It is searched once, however often it is asked for, in slices with turns between them. */
  present(redactor: Redactor): Promise<RecordedBody> {
    this.#presented ??= this.#redacted(redactor)
    return this.#presented
  }

  async #redacted(redactor: Redactor): Promise<RecordedBody> {
    const kept = Buffer.concat(this.#kept)
    const facts = { bytes: this.#bytes, is_cut: this.#bytes > Math.min(this.#bytesMax, this.#keptBytes) }
    const text = textIn(kept, this.#isFull)
    if (text) return { text: await this.#masked(redactor, text, 'utf8'), encoding: 'text', ...facts }
    const bytes = Buffer.from(await this.#masked(redactor, kept, 'latin1'), 'latin1')
    return { text: bytes.toString('base64'), encoding: 'base64', ...facts }
  }

  /** The beginning of the masked text, as much as is stored. */
  async #masked(redactor: Redactor, bytes: Buffer, encoding: 'utf8' | 'latin1'): Promise<string> {
    const masking = redactor.masking()
    const pieces: string[] = []
    let free = this.#bytesMax
    const add = (piece: string) => {
      const fits = Buffer.byteLength(piece, encoding) <= free ? piece : beginningOf(piece, encoding, free)
      free -= fits === piece ? Buffer.byteLength(piece, encoding) : free
      pieces.push(fits)
    }
    for (const slice of slicesOf(bytes, encoding)) {
      await yieldToEventLoop()
      add(masking.push(slice))
      if (free === 0) return pieces.join('')
    }
    add(masking.end())
    return pieces.join('')
  }
}

function beginningOf(text: string, encoding: 'utf8' | 'latin1', bytesMax: number): string {
  const bytes = Buffer.from(text, encoding).subarray(0, bytesMax)
  return (encoding === 'utf8' ? (textIn(bytes, true) ?? bytes) : bytes).toString(encoding)
}

/** The bytes without an incomplete character at the end of a truncated body; undefined for bytes that are not UTF-8. */
function textIn(bytes: Buffer, isCut: boolean): Buffer | undefined {
  for (let end = bytes.length; end >= Math.max(0, bytes.length - (isCut ? 3 : 0)); end--) {
    const part = bytes.subarray(0, end)
    if (isUtf8(part)) return part
  }
  return undefined
}
