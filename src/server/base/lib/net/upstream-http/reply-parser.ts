/** A reply that is not HTTP/1.1 by RFC 9112, or whose end is ambiguous. */
export class MalformedReply extends Error {
  readonly code = 'MALFORMED_REPLY'
}

export type ReplyHeaders = Record<string, string | string[]>

export interface ReplyListener {
  /** The final status, once. Interim replies are skipped. */
  head(status: number, headers: ReplyHeaders): void
  /** Part of the body, without its transfer coding. At most once for each `push`; the bytes belong to the listener. */
  data(bytes: Buffer): void
  /** The reply is complete. */
  end(): void
}

const headBytesMax = 16 * 1024
/** Limit of all chunk extensions of a reply together. */
const extensionBytesMax = 16 * 1024
const interimMax = 100
/** A chunk of more digits would be larger than 2^48 bytes. */
const sizeDigitsMax = 12

const cr = 0x0d
const lf = 0x0a
const semicolon = 0x3b

type State =
  | 'head'
  | 'length'
  | 'until-close'
  | 'chunk-size'
  | 'chunk-extension'
  | 'chunk-size-lf'
  | 'chunk-data'
  | 'chunk-cr'
  | 'chunk-lf'
  | 'trailers'
  | 'done'

/**
 * Reads the replies of one connection, in pieces of any size. It refuses what another reader could understand differently: a bare CR or
 * LF, folded lines, a space before a colon, two lengths, a length beside a transfer coding, a chunk size that is not plain hexadecimal.
 * The chunks of one piece are joined in place, so that a burst of events is one piece for the listener. Source: RFC 9112.
 */
export class ReplyParser {
  readonly #listener: ReplyListener
  #state: State = 'head'
  /** An incomplete head or trailer section. */
  #held: Buffer | undefined
  /** Bytes that are left of the body or of the current chunk. */
  #left = 0
  #sizeDigits = 0
  #extensionBytes = 0
  #interim = 0
  #keepsAlive = false
  #idleMsMax = Number.POSITIVE_INFINITY
  #isStopped = false

  constructor(listener: ReplyListener) {
    this.#listener = listener
  }

  get isDone(): boolean {
    return this.#state === 'done'
  }

  /** Whether the connection may carry another request; final when the reply is done. */
  get keepsAlive(): boolean {
    return this.#keepsAlive
  }

  /** How long the upstream keeps an idle connection open; infinite if it does not announce that. */
  get idleMsMax(): number {
    return this.#idleMsMax
  }

  /** Begins the next reply of the connection. */
  reset(): void {
    this.#state = 'head'
    this.#held = undefined
    this.#left = 0
    this.#extensionBytes = 0
    this.#interim = 0
    this.#keepsAlive = false
    this.#idleMsMax = Number.POSITIVE_INFINITY
  }

  /** The listener is not called any more. */
  stop(): void {
    this.#isStopped = true
  }

  /**
   * Reads the next bytes of the connection. Throws `MalformedReply`. Bytes after the reply make the connection unfit for another.
   */
  push(bytes: Buffer): void {
    let at = 0
    while (this.#state === 'head' && at < bytes.length) {
      const piece = this.#joined(bytes, at)
      const end = piece.indexOf('\r\n\r\n')
      if (end < 0 || end > headBytesMax) {
        this.#hold(piece)
        return
      }
      at = bytes.length - (piece.length - end - 4)
      this.#readHead(piece.toString('latin1', 0, end + 2))
      if (this.#isStopped) return
    }
    if (at < bytes.length) at = this.#readBody(bytes, at)
    if (this.#isStopped || !this.isDone) return
    if (at < bytes.length) this.#keepsAlive = false
    this.#listener.end()
  }

  /** The upstream has closed its side. Returns whether this completes the reply; if so, it calls `end` of the listener. */
  close(): boolean {
    if (this.#state !== 'until-close') return false
    this.#state = 'done'
    this.#listener.end()
    return true
  }

  /** The held bytes, followed by the new ones from `at` on. */
  #joined(bytes: Buffer, at: number): Buffer {
    const piece = at === 0 ? bytes : bytes.subarray(at)
    const held = this.#held
    this.#held = undefined
    return held ? Buffer.concat([held, piece]) : piece
  }

  /** Keeps an incomplete head or trailer section. What cannot become a valid one is refused now, not at the deadline. */
  #hold(piece: Buffer): void {
    if (piece.length > headBytesMax) throw new MalformedReply('The head of the reply is too large')
    if (this.#state === 'head' && !mayBeginReply(piece)) throw noStatusLine()
    for (let at = piece.indexOf(lf); at >= 0; at = piece.indexOf(lf, at + 1)) {
      if (piece[at - 1] !== cr) throw new MalformedReply('A line of the reply ends in LF alone')
    }
    this.#held = piece
  }

  /** `text` is the status line and the headers, each with its CRLF. */
  #readHead(text: string): void {
    statusLine.lastIndex = 0
    const found = statusLine.exec(text)
    if (!found) throw noStatusLine()
    const status = Number(found[2])
    const headers = readHeaders(text, statusLine.lastIndex)
    if (status >= 200) {
      this.#frame(status, found[1] === '1', headers)
      this.#listener.head(status, headers)
      return
    }
    if (status === 101) throw new MalformedReply('The upstream switches the protocol without being asked to')
    if (++this.#interim > interimMax) throw new MalformedReply('The upstream sends too many interim replies')
  }

  /** Determines how the body ends, by RFC 9112, 6.3. */
  #frame(status: number, isNew: boolean, headers: ReplyHeaders): void {
    const { connection, 'transfer-encoding': coding, 'content-length': length } = headers
    const options = connection === undefined ? '' : String(connection).toLowerCase()
    this.#keepsAlive = isNew ? !hasOption(options, 'close') : hasOption(options, 'keep-alive')
    this.#idleMsMax = readIdleMs(headers['keep-alive'])
    if (coding !== undefined && length !== undefined) throw new MalformedReply('The reply has a length and a transfer coding')

    if (status === 204 || status === 304) {
      // It has no body, whatever it announces; the bytes after it must not be read as the next reply.
      if (coding !== undefined || (length !== undefined && readLength(length) > 0)) this.#keepsAlive = false
      this.#state = 'done'
    } else if (coding !== undefined) this.#frameCoded(coding, isNew)
    else if (length !== undefined) {
      this.#left = readLength(length)
      this.#state = this.#left === 0 ? 'done' : 'length'
    } else this.#untilClose()
  }

  #frameCoded(coding: string | string[], isNew: boolean): void {
    const name = typeof coding === 'string' ? coding.toLowerCase() : ''
    if (name === 'identity') {
      this.#untilClose()
      return
    }
    if (name !== 'chunked') throw new MalformedReply('The transfer coding of the reply is not known')
    this.#state = 'chunk-size'
    this.#sizeDigits = 0
    this.#left = 0
    if (!isNew) this.#keepsAlive = false
  }

  #untilClose(): void {
    this.#state = 'until-close'
    this.#keepsAlive = false
  }

  /** Returns the offset at which the body ends in these bytes, or their length. */
  #readBody(bytes: Buffer, at: number): number {
    if (this.#state === 'until-close') {
      this.#listener.data(at === 0 ? bytes : bytes.subarray(at))
      return bytes.length
    }
    if (this.#state === 'length') {
      const end = Math.min(bytes.length, at + this.#left)
      this.#left -= end - at
      if (this.#left === 0) this.#state = 'done'
      this.#listener.data(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
      return end
    }
    return this.#readChunks(bytes, at)
  }

  /** Moves the data of the chunks in `bytes` together, over their framing. */
  #readChunks(bytes: Buffer, from: number): number {
    let at = from
    /** The part that has been joined so far is between these two offsets. */
    let start = 0
    let end = 0
    try {
      while (at < bytes.length && this.#state !== 'done') {
        if (this.#state === 'chunk-data') {
          const until = Math.min(bytes.length, at + this.#left)
          this.#left -= until - at
          if (end === 0) {
            start = at
            end = until
          } else {
            bytes.copyWithin(end, at, until)
            end += until - at
          }
          at = until
          if (this.#left === 0) this.#state = 'chunk-cr'
        } else if (this.#state === 'trailers') at = this.#readTrailers(bytes, at)
        else this.#readFraming(Number(bytes[at++]))
      }
    } finally {
      // Includes the bytes before a malformed chunk: the upstream may bill them.
      if (end > start) this.#listener.data(bytes.subarray(start, end))
    }
    return at
  }

  /** Reads one byte of the framing between chunks. */
  #readFraming(byte: number): void {
    switch (this.#state) {
      case 'chunk-size':
        this.#readSize(byte)
        return
      case 'chunk-extension':
        if (byte === cr) this.#state = 'chunk-size-lf'
        else if (!isText(byte) || ++this.#extensionBytes > extensionBytesMax) throw malformedChunk()
        return
      case 'chunk-size-lf':
        if (byte !== lf) throw malformedChunk()
        this.#state = this.#left === 0 ? 'trailers' : 'chunk-data'
        return
      case 'chunk-cr':
        if (byte !== cr) throw malformedChunk()
        this.#state = 'chunk-lf'
        return
      case 'chunk-lf':
        if (byte !== lf) throw malformedChunk()
        this.#state = 'chunk-size'
        this.#sizeDigits = 0
        return
      default:
        throw new Error(`No framing in state ${this.#state}`)
    }
  }

  #readSize(byte: number): void {
    const digit = hexDigit(byte)
    if (digit >= 0) {
      if (++this.#sizeDigits > sizeDigitsMax) throw malformedChunk()
      this.#left = this.#left * 16 + digit
      return
    }
    if (this.#sizeDigits === 0) throw malformedChunk()
    if (byte === cr) this.#state = 'chunk-size-lf'
    else if (byte === semicolon) this.#state = 'chunk-extension'
    else throw malformedChunk()
  }

  /** Trailers are checked and dropped. */
  #readTrailers(bytes: Buffer, at: number): number {
    const piece = this.#joined(bytes, at)
    const isEmpty = piece[0] === cr && piece[1] === lf
    const end = isEmpty ? 0 : piece.indexOf('\r\n\r\n')
    if (end < 0 || end > headBytesMax) {
      this.#hold(piece)
      return bytes.length
    }
    if (!isEmpty) requireTrailers(readHeaders(piece.toString('latin1', 0, end + 2), 0))
    this.#state = 'done'
    return bytes.length - (piece.length - end - (isEmpty ? 2 : 4))
  }
}

/**
 * Whether the bytes begin a status line of HTTP/1.1, as far as they go. Other protocols differ in the first bytes: a banner of SSH or
 * SMTP, a record of TLS, a frame of HTTP/2.
 */
export function mayBeginReply(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, validStart.length)
  return /^HTTP\/1\.[01] [1-9]\d\d[ \r]/.test(text + validStart.slice(text.length))
}

/** Completes a status line of which only a part has arrived. */
const validStart = 'HTTP/1.1 200 '

function noStatusLine(): MalformedReply {
  return new MalformedReply('The reply does not begin with a status line of HTTP/1.1')
}

function malformedChunk(): MalformedReply {
  return new MalformedReply('A chunk of the reply is malformed')
}

const statusLine = /HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n/y
const headerLine = /([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([\t\x20-\x7e\x80-\xff]*)\r\n/y

function readHeaders(text: string, from: number): ReplyHeaders {
  // Without a prototype, because the upstream chooses the names.
  const headers: ReplyHeaders = Object.create(null)
  headerLine.lastIndex = from
  for (let read = from; read < text.length; read = headerLine.lastIndex) {
    const [, name = '', value = ''] = headerLine.exec(text) ?? malformedHeader()
    add(headers, name.toLowerCase(), trimmed(value))
  }
  return headers
}

/** Headers that decide where the body ends are not allowed in trailers. */
function requireTrailers(trailers: ReplyHeaders): void {
  if ('content-length' in trailers || 'transfer-encoding' in trailers) malformedHeader()
}

function malformedHeader(): never {
  throw new MalformedReply('A header of the reply is malformed')
}

/** Removes spaces and tabs around the value: `trim` would remove more. */
function trimmed(value: string): string {
  let start = 0
  let end = value.length
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function add(headers: ReplyHeaders, name: string, value: string): void {
  const before = headers[name]
  if (before === undefined) headers[name] = value
  else if (typeof before === 'string') headers[name] = [before, value]
  else before.push(value)
}

function readLength(length: string | string[]): number {
  const bytes = typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : Number.NaN
  if (Number.isNaN(bytes)) throw new MalformedReply('The length of the reply is not one number')
  return bytes
}

/** Reads `timeout=5` of the header `keep-alive`; infinite when it is absent. */
function readIdleMs(header: string | string[] | undefined): number {
  const found = header === undefined ? undefined : /(?:^|[,\s])timeout=(\d{1,6})/i.exec(String(header))
  return found ? Number(found[1]) * 1000 : Number.POSITIVE_INFINITY
}

function hasOption(options: string, option: string): boolean {
  return options === option || (options.length > option.length && options.split(',').some((each) => each.trim() === option))
}

function isText(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f
}

/** The value of a hexadecimal digit; -1 for any other byte. */
function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
