import { foldCodePoint, foldUnit, noUnits, severalUnits } from './case-folding.ts'
import { nothingSeen, type WordList } from './word-list.ts'

/** The text that may be passed on now, and the last listed word found in the pushed text. */
interface Checked {
  readonly pass: string
  readonly found: string | undefined
}

export interface CompletionRule {
  readonly words: WordList
  /** True: a word ends the text, and nothing from its start on is passed. False: it is masked. */
  readonly stops: boolean
  /** The number of last pieces that are held back, so that the text right before a word is not passed either. */
  readonly piecesKept: number
}

export const mask = '**###**'

/**
 * Removes the listed words from a text that arrives in pieces, split anywhere. Only a possible beginning of a word is held back,
 * until it is decided. Each text of a reply needs its own check.
 */
export class CompletionCheck {
  readonly #rule: CompletionRule
  /** A ring of the positions in the text of the last compared units, as long as the longest word. */
  readonly #origins: Float64Array
  #state = nothingSeen
  #units = 0
  /** Text that is not passed on yet, and its begin and end in the complete text. */
  #kept = ''
  #begin = 0
  #end = 0
  /** Places in the kept text that are to be masked, in order. */
  #masked: { readonly from: number; readonly to: number }[] = []
  /** The first surrogate of a character whose second one has not arrived. */
  #half = ''
  #pieces: string[] = []
  #stoppedBy: string | undefined

  constructor(rule: CompletionRule) {
    this.#rule = rule
    this.#origins = new Float64Array(2 ** Math.ceil(Math.log2(rule.words.longest + 1)))
  }

  /** Whether some text is held back until a later chunk, or the end. */
  get isHolding(): boolean {
    return this.#stoppedBy === undefined && (this.#kept !== '' || this.#half !== '' || this.#pieces.length > 0)
  }

  /** Adds the next piece. After a word has stopped the text, nothing more is passed. */
  push(piece: string): Checked {
    if (this.#stoppedBy !== undefined) return { pass: '', found: this.#stoppedBy }
    const found = this.#read(this.#half + piece)
    if (this.#stoppedBy !== undefined) {
      this.#pieces = []
      return { pass: this.#rule.piecesKept > 0 ? '' : this.#release(this.#end), found }
    }
    return { pass: this.#queue(this.#release(this.#decided())), found }
  }

  /** The text is complete: returns the rest. */
  flush(): Checked {
    if (this.#stoppedBy !== undefined) return { pass: '', found: this.#stoppedBy }
    this.#kept += this.#half
    this.#end += this.#half.length
    this.#half = ''
    this.#state = nothingSeen
    const pass = this.#pieces.join('') + this.#release(this.#end)
    this.#pieces = []
    return { pass, found: undefined }
  }

  #read(text: string): string | undefined {
    const isCut = isFirstHalf(text.charCodeAt(text.length - 1))
    this.#half = isCut ? text.slice(-1) : ''
    const whole = isCut ? text.slice(0, -1) : text
    const begin = this.#end
    this.#kept += whole
    this.#end += whole.length
    let found: string | undefined

    for (let at = 0; at < whole.length && this.#stoppedBy === undefined; at++) {
      const unit = whole.charCodeAt(at)
      const folded = foldUnit(unit)
      const from = begin + at
      if (folded === noUnits) continue
      if (folded !== severalUnits) {
        found = this.#compare(folded, from, from + 1) ?? found
        continue
      }
      const point = whole.codePointAt(at) ?? unit
      if (point > 0xffff) at++
      const units = foldCodePoint(point)
      for (let index = 0; index < units.length; index++)
        found = this.#compare(units.charCodeAt(index), from, begin + at + 1) ?? found
    }
    return found
  }

  /** Compares a folded unit; `from` and `to` are the range of the text that it comes from. */
  #compare(unit: number, from: number, to: number): string | undefined {
    const { words, stops } = this.#rule
    if (this.#stoppedBy !== undefined) return undefined
    this.#origins[this.#units++ & (this.#origins.length - 1)] = from
    this.#state = words.step(this.#state, unit)
    const listed = words.wordAt(this.#state)
    if (!listed) return undefined
    if (stops) this.#stop(listed.word, this.#originOf(listed.length))
    else this.#mask(this.#originOf(listed.length), to)
    return listed.word
  }

  /** The start of the text that produced the last `units` units. */
  #originOf(units: number): number {
    return this.#origins[(this.#units - units) & (this.#origins.length - 1)] ?? 0
  }

  #stop(word: string, from: number): void {
    this.#stoppedBy = word
    this.#kept = this.#kept.slice(0, Math.max(0, from - this.#begin))
    this.#end = this.#begin + this.#kept.length
  }

  /** Words that overlap are masked as one. */
  #mask(from: number, to: number): void {
    let first = from
    for (let last = this.#masked.at(-1); last && last.to > first; last = this.#masked.at(-1)) {
      first = Math.min(first, last.from)
      this.#masked.pop()
    }
    this.#masked.push({ from: first, to })
  }

  /** The position before which no further listed word can begin. */
  #decided(): number {
    const depth = this.#rule.words.depthOf(this.#state)
    return depth === 0 ? this.#end : this.#originOf(depth)
  }

  #release(decided: number): string {
    let to = decided
    let from = this.#begin
    let out = ''
    let gone = 0
    for (const masked of this.#masked) {
      if (masked.to > to) {
        to = Math.min(to, masked.from)
        break
      }
      out += this.#kept.slice(from - this.#begin, masked.from - this.#begin) + mask
      from = masked.to
      gone++
    }
    out += this.#kept.slice(from - this.#begin, to - this.#begin)
    this.#masked = this.#masked.slice(gone)
    this.#kept = this.#kept.slice(to - this.#begin)
    this.#begin = to
    return out
  }

  #queue(pass: string): string {
    if (this.#rule.piecesKept === 0) return pass
    this.#pieces.push(pass)
    return this.#pieces.splice(0, Math.max(0, this.#pieces.length - this.#rule.piecesKept)).join('')
  }
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}
