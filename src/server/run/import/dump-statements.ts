/**
 * Splits a dump of MySQL or MariaDB into parts, of which one is in memory: the words of a statement outside of parentheses, each group in
 * parentheses (the columns of a table, or one row), and its end. A statement of any length is read, and comments are left out.
 */
export interface Part {
  readonly kind: 'words' | 'group' | 'end'
  readonly text: string
  /** The line of the dump in which it begins. */
  readonly line: number
}

/** Called with the first words of each statement. Of an unwanted one no text is kept, and no part is returned. */
type IsWanted = (words: string, line: number) => boolean

/** The longest row. A value of 64 MB fits, even when every character is escaped. */
const charactersMax = 2 ** 27 + 2 ** 20
/** The longest beginning of a statement up to its first parenthesis; a longer one is no table and no row. */
const wordsMax = 1 << 16
/** The characters after the current position that must be known: for the beginning of a comment, and a delimiter. */
const lookahead = 16

export async function* partsOf(pieces: AsyncIterable<string>, isWanted: IsWanted): AsyncGenerator<Part> {
  const scanner = new Scanner(isWanted)
  for await (const piece of pieces) yield* scanner.read(piece)
  yield* scanner.read('\n'.repeat(lookahead))
  yield* scanner.finish()
}

type Within = 'statement' | 'quotes' | 'line comment' | 'comment' | 'delimiter'

const code = (char: string) => char.charCodeAt(0)
const [newline, backslash, backtick] = [code('\n'), code('\\'), code('`')]
const [open, close, hash, dash, slash, star] = [code('('), code(')'), code('#'), code('-'), code('/'), code('*')]
const quotes: ReadonlySet<number> = new Set([code("'"), code('"'), backtick])
/** Characters with which quotes or a comment may begin. */
const entering: ReadonlySet<number> = new Set([...quotes, hash, dash, slash])

class Scanner {
  readonly #isWanted: IsWanted
  #text = ''
  #at = 0
  /** The beginning of the text that was not kept yet. */
  #begin = 0
  #kept = ''
  #line = 1
  #within: Within = 'statement'
  /** Where the quotes, the comment or the group began. */
  #withinLine = 1
  #partLine = 1
  #quote = 0
  #depth = 0
  #delimiter = ';'
  /** Undefined until the first words of the statement are known. */
  #wanted: boolean | undefined
  /** Nothing but space was read of the statement. */
  #isBlank = true

  constructor(isWanted: IsWanted) {
    this.#isWanted = isWanted
  }

  *read(piece: string): Generator<Part> {
    this.#text = this.#text.slice(this.#at) + piece
    this.#at = 0
    this.#begin = 0
    const end = this.#text.length - lookahead
    while (this.#at < end) {
      if (this.#within === 'statement') yield* this.#readStatement(end)
      else if (this.#within === 'quotes') this.#readQuotes(end)
      else if (this.#within === 'delimiter') this.#readDelimiter(end)
      else this.#readComment(end)
    }
    this.#keep()
  }

  *finish(): Generator<Part> {
    if (this.#within === 'quotes') throw new Error(`${cutOff}: the text that begins in line ${this.#withinLine} is never closed`)
    if (this.#within === 'comment')
      throw new Error(`${cutOff}: the comment that begins in line ${this.#withinLine} is never closed`)
    yield* this.#endStatement()
  }

  *#readStatement(end: number): Generator<Part> {
    const text = this.#text
    for (; this.#at < end; this.#at++) {
      const char = text.charCodeAt(this.#at)
      if (char === newline) this.#line++
      else if (char > 32) {
        if (this.#isBlank && this.#beginsDelimiter()) return
        if (char === this.#delimiter.charCodeAt(0) && text.startsWith(this.#delimiter, this.#at)) {
          yield* this.#endStatement()
          this.#at += this.#delimiter.length - 1
          this.#begin = this.#at + 1
          continue
        }
        if (entering.has(char) && this.#enters(char)) return
        if (this.#isBlank) [this.#isBlank, this.#partLine] = [false, this.#line]
        if (char === open && this.#depth++ === 0) yield* this.#beginGroup()
        else if (char === close && this.#depth > 0 && --this.#depth === 0) yield* this.#part('group', this.#at + 1)
      }
    }
  }

  /** Whether quotes or a comment begin here. */
  #enters(char: number): boolean {
    const next = this.#text.charCodeAt(this.#at + 1)
    const isLine = char === hash || (char === dash && next === dash && this.#text.charCodeAt(this.#at + 2) <= 32)
    const isComment = char === slash && next === star
    if (isLine || isComment) {
      this.#keep()
      this.#within = isLine ? 'line comment' : 'comment'
      this.#at += isLine ? 1 : 2
      this.#begin = this.#at
    } else if (quotes.has(char)) {
      this.#within = 'quotes'
      this.#quote = char
      this.#at++
    } else return false
    if (!isLine && !isComment && this.#isBlank) [this.#isBlank, this.#partLine] = [false, this.#line]
    this.#withinLine = this.#line
    return true
  }

  #readQuotes(end: number): void {
    const text = this.#text
    const isEscaping = this.#quote !== backtick
    const quote = this.#quote
    let at = this.#at
    for (; at < end; at++) {
      const char = text.charCodeAt(at)
      if (char === newline) this.#line++
      else if (char === backslash && isEscaping) {
        at++
        if (text.charCodeAt(at) === newline) this.#line++
      } else if (char === quote) {
        at++
        this.#within = 'statement'
        break
      }
    }
    this.#at = at
  }

  #readComment(end: number): void {
    const isLine = this.#within === 'line comment'
    const found = this.#text.indexOf(isLine ? '\n' : '*/', this.#at)
    const stop = found < 0 || found >= end ? end : found + (isLine ? 0 : 2)
    for (let at = this.#text.indexOf('\n', this.#at); at >= 0 && at < stop; at = this.#text.indexOf('\n', at + 1)) this.#line++
    this.#at = stop
    this.#begin = stop
    if (found >= 0 && found < end) this.#within = 'statement'
  }

  /** `DELIMITER ;;` is a line for the client, which dumps write around triggers and routines. */
  #beginsDelimiter(): boolean {
    if (this.#depth > 0 || !/^delimiter\s/i.test(this.#text.slice(this.#at, this.#at + lookahead))) return false
    this.#within = 'delimiter'
    this.#at += 'delimiter'.length
    this.#kept = ''
    this.#begin = this.#at
    return true
  }

  #readDelimiter(end: number): void {
    const found = this.#text.indexOf('\n', this.#at)
    this.#at = found < 0 || found >= end ? end : found
    this.#wanted = true
    this.#keep()
    if (found < 0 || found >= end) return
    const delimiter = this.#kept.trim()
    if (delimiter !== '' && delimiter.length < lookahead) this.#delimiter = delimiter
    this.#within = 'statement'
    this.#startStatement()
  }

  *#beginGroup(): Generator<Part> {
    this.#keep()
    this.#wanted ??= this.#isWanted(this.#kept, this.#partLine)
    yield* this.#part('words', this.#at)
    this.#withinLine = this.#line
  }

  *#endStatement(): Generator<Part> {
    if (this.#depth > 0 && this.#wanted)
      throw new Error(`${cutOff}: the parenthesis that opens in line ${this.#withinLine} is never closed`)
    this.#keep()
    this.#wanted ??= !this.#isBlank && this.#isWanted(this.#kept, this.#partLine)
    yield* this.#part('words', this.#at)
    if (this.#wanted) yield { kind: 'end', text: '', line: this.#line }
    this.#startStatement()
  }

  /** The text up to a position, unless the statement is unwanted. */
  *#part(kind: Part['kind'], end: number): Generator<Part> {
    this.#keep(end)
    const part = { kind, text: this.#kept, line: this.#partLine }
    this.#kept = ''
    this.#partLine = this.#line
    if (this.#wanted) yield part
  }

  #startStatement(): void {
    this.#kept = ''
    this.#wanted = undefined
    this.#isBlank = true
    this.#depth = 0
  }

  #keep(end = this.#at): void {
    if (this.#wanted === undefined && this.#kept.length + end - this.#begin > wordsMax) {
      this.#wanted = false
      this.#kept = ''
    }
    if (this.#wanted !== false) this.#kept += this.#text.slice(this.#begin, end)
    this.#begin = end
    if (this.#kept.length > charactersMax)
      throw new Error(`The row that begins in line ${this.#partLine} is longer than ${charactersMax >> 20} million characters`)
  }
}

const cutOff = 'The dump is damaged or cut off'
