/** The entries of an option that holds one per line. */
export function linesOf(text: string): string[] {
  return entriesOf(text, /\r?\n/)
}

/** The entries of a list that is joined by commas. Pasted lists may have line feeds or Chinese commas instead. */
export function commaListOf(text: string): string[] {
  return entriesOf(text, /[,，\r\n]/)
}

function entriesOf(text: string, separator: string | RegExp): string[] {
  return text
    .split(separator)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
