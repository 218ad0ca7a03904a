/** What tabs tell each other. */
export interface TabMessage {
  /** Who says it. */
  readonly tab: string
  /** All answers that are being written there. */
  readonly writing: readonly string[]
  /** What is kept is another now. */
  readonly changed?: true
  /** A tab that has just come wants to know what the others write. */
  readonly asks?: true
}

/** Tabs that write say so again and again; who has not been heard of for so long is gone. */
export const beatMs = 2000
const goneAfterMs = 5 * beatMs

/** The answers that other tabs are writing. */
export class OtherWriters {
  readonly #tabs = new Map<string, { readonly writing: readonly string[]; readonly heardAtMs: number }>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  hear({ tab, writing }: TabMessage): void {
    if (writing.length === 0) this.#tabs.delete(tab)
    else this.#tabs.set(tab, { writing, heardAtMs: this.#now() })
  }

  isWriting(answerId: string): boolean {
    const since = this.#now() - goneAfterMs
    return [...this.#tabs.values()].some(({ writing, heardAtMs }) => heardAtMs > since && writing.includes(answerId))
  }
}
