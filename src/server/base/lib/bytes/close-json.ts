/**
 * Closes a truncated JSON text, so that it can be parsed: an unfinished value is left out, an unfinished string keeps its beginning.
 * Undefined when nothing was opened. Does not check whether the beginning is well formed.
 */
export function closeJson(text: string): string | undefined {
  const closers: string[] = []
  let isKeyNext = false
  /** The last position where all values are complete, with the brackets that close it. */
  let whole: { end: number; closers: readonly string[] } | undefined
  const note = (end: number) => {
    whole = { end, closers: [...closers] }
  }

  let at = 0
  while (at < text.length) {
    const sign = text[at]
    if (sign === '"') {
      const end = endOfText(text, at)
      if (end.isOpen && !isKeyNext) return closed(`${text.slice(0, end.at)}"`, closers)
      if (end.isOpen) break
      at = end.at
      if (!isKeyNext) note(at)
      continue
    }
    if (sign === '{' || sign === '[') {
      closers.push(sign === '{' ? '}' : ']')
      isKeyNext = sign === '{'
      note(at + 1)
    } else if (sign === '}' || sign === ']') {
      closers.pop()
      isKeyNext = false
      note(at + 1)
    } else if (sign === ',') {
      note(at)
      isKeyNext = closers.at(-1) === '}'
    } else if (sign === ':') {
      isKeyNext = false
    }
    at++
  }
  return whole && closed(text.slice(0, whole.end), whole.closers)
}

function closed(text: string, closers: readonly string[]): string {
  return text + [...closers].reverse().join('')
}

/** The position after the string that begins at `start`; when it is unfinished, after its last complete character. */
function endOfText(text: string, start: number): { at: number; isOpen: boolean } {
  let at = start + 1
  while (at < text.length) {
    const sign = text[at]
    if (sign === '"') return { at: at + 1, isOpen: false }
    const next = sign === '\\' ? at + (text[at + 1] === 'u' ? 6 : 2) : at + 1
    if (next > text.length) break
    at = next
  }
  return { at, isOpen: true }
}
