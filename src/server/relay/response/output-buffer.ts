/**
 * What a reply has said so far, for a count when its upstream gives none. Of a reply that goes on and on only the beginning is kept, and
 * how much more there was: thousands of streams must not hold their texts in memory.
 */
export class OutputBuffer {
  #kept = ''
  /** Characters beyond what is kept. */
  unkept = 0

  get kept(): string {
    return this.#kept
  }

  push(text: string): void {
    const room = keptMax - this.#kept.length
    this.#kept += room >= text.length ? text : text.slice(0, Math.max(0, room))
    this.unkept += Math.max(0, text.length - room)
  }
}

/** Some sixteen thousand tokens, which is more than most replies have: of a longer one the rest counts as its beginning does. */
const keptMax = 64 * 1024

/** Tokens of all that was said, when `tokens` is the count of what was kept. */
export function withUnkept(tokens: number, { kept, unkept = 0 }: { readonly kept: string; readonly unkept?: number }): number {
  return unkept > 0 && kept.length > 0 ? Math.ceil(tokens * (1 + unkept / kept.length)) : tokens
}
