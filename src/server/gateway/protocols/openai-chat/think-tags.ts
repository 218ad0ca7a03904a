/**
 * Extracts reasoning between tags at the beginning of a text. A tag may be split between two pieces at any character: a possible
 * beginning of a tag is held back until the next piece decides. Only the beginning is reasoning; a tag in the answer is text.
 * Source: protocols notes 3.7, edge cases 160 and 161.
 */
export class ThinkTags {
  #state: 'start' | 'thinking' | 'after' | 'text' = 'start'
  #held = ''

  push(text: string): TextPiece[] {
    this.#held += text
    const pieces: TextPiece[] = []
    for (let more = true; more; ) more = this.#step(pieces)
    return pieces
  }

  /** Returns the text that is held back. */
  flush(): TextPiece[] {
    const text = this.#take(this.#held.length)
    return text === '' ? [] : [{ kind: this.#state === 'thinking' ? 'reasoning' : 'text', text }]
  }

  /** Reads up to the end of one state, and returns whether another state follows. */
  #step(pieces: TextPiece[]): boolean {
    switch (this.#state) {
      case 'start':
        return this.#begin()
      case 'thinking':
        return this.#think(pieces)
      case 'after':
        this.#held = this.#held.trimStart()
        if (this.#held !== '') this.#state = 'text'
        return this.#held !== ''
      case 'text':
        if (this.#held !== '') pieces.push({ kind: 'text', text: this.#take(this.#held.length) })
        return false
    }
  }

  #begin(): boolean {
    const begun = this.#held.trimStart()
    const tag = openTags.find((open) => begun.startsWith(open))
    if (tag) {
      this.#held = begun.slice(tag.length)
      this.#state = 'thinking'
      return true
    }
    if (openTags.some((open) => open.startsWith(begun))) return false
    this.#state = 'text'
    return true
  }

  #think(pieces: TextPiece[]): boolean {
    const found = closeTag.exec(this.#held)
    const end = found ? found.index : this.#held.length - beginningLength(this.#held)
    const text = this.#take(end)
    const reasoning = this.#isFirst ? text.trimStart() : text
    if (reasoning !== '') {
      pieces.push({ kind: 'reasoning', text: reasoning })
      this.#isFirst = false
    }
    if (!found) return false
    this.#take(found[0].length)
    this.#state = 'after'
    return true
  }

  #isFirst = true

  #take(length: number): string {
    const taken = this.#held.slice(0, length)
    this.#held = this.#held.slice(length)
    return taken
  }
}

export interface TextPiece {
  readonly kind: 'text' | 'reasoning'
  readonly text: string
}

/** Most hosts use the first; Gemini's compatible endpoint uses the second. */
const openTags = ['<think>', '<thought>']
const closeTags = ['</think>', '</thought>']
const closeTag = /<\/(?:think|thought)>/

/** The length of the end of a text that may be the start of a closing tag. */
function beginningLength(text: string): number {
  const at = text.lastIndexOf('<')
  if (at < 0) return 0
  const end = text.slice(at)
  return closeTags.some((tag) => tag.startsWith(end)) ? end.length : 0
}
