/** Messages between tabs. */
export interface TabMessage {
  /** The sender. */
  readonly tab: string
  /** All answers that are being written there. */
  readonly writing: readonly string[]
  /** The storage has changed. */
  readonly changed?: true
  /** A new tab asks for the running answers of the others. */
  readonly asks?: true
}

/** Writing tabs send heartbeats; after this time without one a tab counts as closed. */
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
