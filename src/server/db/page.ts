/** Cuts a page out of a query's result: rows and the number of all rows. Pages count from 0. */
export interface PageOf {
  readonly offset: number
  readonly limit: number
}

export function zeroBased(page: number, size: number): PageOf {
  return { offset: page * size, limit: size }
}

export function oneBased(page: number, size: number): PageOf {
  return { offset: (Math.max(1, page) - 1) * size, limit: size }
}

/** A LIKE pattern that finds `text` literally. Use with `escape '\'`. */
export function containing(text: string): string {
  return `%${literally(text)}%`
}

/** A LIKE pattern that finds what begins with `text`. Use with `escape '\'`. */
export function startingWith(text: string): string {
  return `${literally(text)}%`
}

function literally(text: string): string {
  return text.replace(/[\\%_]/g, (sign) => `\\${sign}`)
}
