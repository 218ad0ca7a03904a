import { foldCase, foldCodePoint, foldUnit, noUnits, severalUnits } from './case-folding.ts'

interface Listed {
  readonly word: string
  /** Its length after case folding. */
  readonly length: number
}

/** The state before any unit of a word has been seen. */
export const nothingSeen = 0

/**
 * Finds any number of listed words in one pass over a text (Aho-Corasick). A state is the longest suffix of the text that is a prefix
 * of a word; its steps are in one open hash table, since a list may have 200,000 letters. Reads folded text, unit by unit.
 */
export class WordList {
  /** The longest word, in folded units. */
  readonly longest: number
  /** The number of steps looked up, which is at most twice the length of the text. */
  lookups = 0
  readonly #mask: number
  readonly #from: Int32Array
  readonly #by: Uint16Array
  readonly #to: Int32Array
  readonly #depths: Int32Array
  /** For each state, the longest proper suffix of its text that is a state too (the failure link). */
  readonly #shorter: Int32Array
  readonly #listed: (Listed | undefined)[]
  /** For each unit of unfolded text, whether a word may begin with it. Computed on first use. */
  readonly #begins = new Uint8Array(0x10000)
  /** The folded words of a short list that a text of ASCII letters can contain; undefined for a long list. */
  readonly #plain: readonly string[] | undefined

  constructor(words: readonly string[]) {
    const folded = words.map((word) => ({ word, text: foldCase(word) })).filter(({ text }) => text !== '')
    const letters = folded.reduce((sum, { text }) => sum + text.length, 0)
    this.longest = folded.reduce((most, { text }) => Math.max(most, text.length), 0)
    this.#plain = folded.length <= shortList ? folded.flatMap(({ text }) => (isPlain(text) ? [text] : [])) : undefined

    const size = 2 ** Math.ceil(Math.log2(letters * 2 + 2))
    this.#mask = size - 1
    this.#from = new Int32Array(size)
    this.#by = new Uint16Array(size)
    this.#to = new Int32Array(size)
    this.#depths = new Int32Array(letters + 1)
    this.#shorter = new Int32Array(letters + 1)
    this.#listed = new Array(letters + 1)

    const added: Added = { parents: [nothingSeen], units: [0], byDepth: [] }
    for (const { word, text } of folded) this.#add(word, text, added)
    this.#link(added)
    this.lookups = 0
  }

  get isEmpty(): boolean {
    return this.longest === 0
  }

  /** Whether a text certainly has none of the words: a plain search when list and text are simple, else false. */
  isClear(text: string): boolean {
    if (this.#plain === undefined || !isPlain(text)) return false
    const lower = text.toLowerCase()
    return this.#plain.every((word) => !lower.includes(word))
  }

  /** The state after one more unit. */
  step(state: number, unit: number): number {
    for (let from = state; ; from = this.#shorter[from] ?? nothingSeen) {
      const next = this.#next(from, unit)
      if (next !== 0) return next
      if (from === nothingSeen) return nothingSeen
    }
  }

  /** Whether a word may begin with this unit of a text that is not folded. Most letters of most texts are done with this. */
  mayBegin(unit: number): boolean {
    if (this.#begins[unit] === 0) this.#begins[unit] = this.#mayBegin(unit) ? yes : no
    return this.#begins[unit] === yes
  }

  /** The number of last units that may be the start of an incomplete word. */
  depthOf(state: number): number {
    return this.#depths[state] ?? 0
  }

  /** The longest listed word that ends here. */
  wordAt(state: number): Listed | undefined {
    return this.#listed[state]
  }

  #mayBegin(unit: number): boolean {
    const folded = foldUnit(unit)
    return folded === severalUnits || (folded !== noUnits && this.#next(nothingSeen, folded) !== nothingSeen)
  }

  #add(word: string, text: string, { parents, units, byDepth }: Added): void {
    let state = nothingSeen
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      let next = this.#next(state, unit)
      if (next === 0) {
        next = parents.push(state) - 1
        units.push(unit)
        const ofDepth = byDepth[at] ?? []
        byDepth[at] = ofDepth
        ofDepth.push(next)
        this.#insert(state, unit, next)
      }
      state = next
    }
    this.#listed[state] ??= { word, length: text.length }
  }

  /** Links shorter states first, because longer ones are linked through them. */
  #link({ parents, units, byDepth }: Added): void {
    const hasChild = new Uint8Array(parents.length)
    for (const parent of parents) hasChild[parent] = 1
    for (const [index, states] of byDepth.entries()) {
      for (const state of states) {
        const parent = parents[state] ?? nothingSeen
        const before = this.#shorter[parent] ?? nothingSeen
        const shorter = parent === nothingSeen ? nothingSeen : this.step(before, units[state] ?? 0)
        this.#shorter[state] = shorter
        this.#listed[state] ??= this.#listed[shorter]
        this.#depths[state] = hasChild[state] === 1 ? index + 1 : this.depthOf(shorter)
      }
    }
  }

  /** 0 when there is no such step: no step leads back to where nothing is seen. */
  #next(from: number, unit: number): number {
    this.lookups++
    for (let at = this.#placeOf(from, unit); ; at = (at + 1) & this.#mask) {
      const to = this.#to[at] ?? 0
      if (to === 0 || (this.#from[at] === from && this.#by[at] === unit)) return to
    }
  }

  #insert(from: number, unit: number, to: number): void {
    let at = this.#placeOf(from, unit)
    while (this.#to[at] !== 0) at = (at + 1) & this.#mask
    this.#from[at] = from
    this.#by[at] = unit
    this.#to[at] = to
  }

  #placeOf(from: number, unit: number): number {
    const mixed = Math.imul(from ^ Math.imul(unit, 0x85eb_ca6b), 0x9e37_79b1)
    return (mixed ^ (mixed >>> 15)) & this.#mask
  }
}

const no = 1
const yes = 2
/** Up to this number of words, plain searches are faster than one pass over the characters. */
const shortList = 16

/** Whether lower case is the only folding that a text needs: printable ASCII, tab and line breaks. */
function isPlain(text: string): boolean {
  return !notPlain.test(text)
}

const notPlain = /[^\t\n\r -~]/

/** The states while they are added: the parent and the unit of each, and the states by length. */
interface Added {
  readonly parents: number[]
  readonly units: number[]
  readonly byDepth: number[][]
}

/** The first listed word in any of the texts; no word spans two texts. */
export function findWord(words: WordList, texts: readonly string[]): string | undefined {
  for (const text of texts) {
    if (words.isClear(text)) continue
    let state = nothingSeen
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      if (state === nothingSeen && !words.mayBegin(unit)) continue
      const folded = foldUnit(unit)
      if (folded === noUnits) continue
      if (folded !== severalUnits) {
        state = words.step(state, folded)
        const found = words.wordAt(state)
        if (found) return found.word
        continue
      }
      const point = text.codePointAt(at) ?? unit
      if (point > 0xffff) at++
      const units = foldCodePoint(point)
      for (let index = 0; index < units.length; index++) {
        state = words.step(state, units.charCodeAt(index))
        const found = words.wordAt(state)
        if (found) return found.word
      }
    }
  }
  return undefined
}
