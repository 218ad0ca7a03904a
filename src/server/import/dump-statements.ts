/** The statements of a MySQL dump, read piece by piece: no more than one statement is in memory. */
export async function* statementsOf(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let statement = ''
  /** The quote or comment around the current position; '' outside of both. */
  let within = ''
  let rest = ''
  for await (const piece of pieces) {
    const text = rest + piece
    // The last characters may be the beginning of a comment, or an escape.
    const end = text.length - 2
    let begin = 0
    let at = 0
    for (; at < end; at++) {
      const char = text[at] ?? ''
      if (within === '') {
        if (char === ';') {
          yield statement + text.slice(begin, at)
          statement = ''
          begin = at + 1
        } else if (char === "'" || char === '"' || char === '`') within = char
        else if (char === '#' || (char === '-' && text[at + 1] === '-')) {
          statement += text.slice(begin, at)
          within = '\n'
        } else if (char === '/' && text[at + 1] === '*') {
          statement += text.slice(begin, at)
          within = '*/'
          at++
        }
      } else if (within === '\n') {
        if (char === '\n') [within, begin] = ['', at]
      } else if (within === '*/') {
        if (char === '*' && text[at + 1] === '/') {
          at++
          ;[within, begin] = ['', at + 1]
        }
      } else if (char === '\\' && within !== '`') at++
      else if (char === within) within = ''
    }
    if (within !== '\n' && within !== '*/') statement += text.slice(begin, at)
    rest = text.slice(at)
  }
  const last = (statement + (within === '\n' || within === '*/' ? '' : rest)).replace(/;\s*$/, '')
  if (last.trim() !== '') yield last
}

export type DumpValue = string | number | bigint | Uint8Array | null

export interface Insert {
  readonly table: string
  /** Undefined if the statement lists no columns: then each row has values for all columns. */
  readonly columns: readonly string[] | undefined
  readonly rows: Iterable<DumpValue[]>
}

/** Undefined for any other statement. */
export function readInsert(statement: string): Insert | undefined {
  const head = /^\s*(?:insert(?:\s+ignore)?|replace)\s+into\s+`?([^`\s(]+)`?\s*(?:\(([^)]*)\)\s*)?values?/i.exec(statement)
  if (head?.[1] === undefined) return undefined
  const columns = head[2]?.split(',').map((name) => name.trim().replaceAll('`', ''))
  return { table: head[1], columns, rows: rowsOf(statement, head[0].length) }
}

/** Rows `(…),(…)` from a position on. Throws if the text is not a list of values. */
function* rowsOf(text: string, from: number): Generator<DumpValue[]> {
  const token =
    /\s*(?:(\()|(\))|(,)|(?:_binary\s*|_utf8mb4\s*)?'([^'\\]*(?:(?:\\[\s\S]|'')[^'\\]*)*)'|0x([0-9a-f]*)|([^\s,()']+))/iy
  token.lastIndex = from
  let row: DumpValue[] | undefined
  while (token.lastIndex < text.length) {
    const at = token.lastIndex
    const found = token.exec(text)
    if (!found) {
      if (text.slice(at).trim() === '') return
      throw new Error(`The dump cannot be read here: ${text.slice(at, at + 80)}`)
    }
    const [, open, close, comma, quoted, hex, bare] = found
    if (open) row = []
    else if (close && row) {
      yield row
      row = undefined
    } else if (row && quoted !== undefined) row.push(unescaped(quoted))
    else if (row && hex !== undefined) row.push(Buffer.from(hex, 'hex'))
    else if (row && bare !== undefined) row.push(bareValue(bare))
    else if (!comma) throw new Error(`The dump cannot be read here: ${text.slice(at, at + 80)}`)
  }
  if (row) throw new Error(`The dump cannot be read at its end: ${text.slice(-80)}`)
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', '0': '\0', Z: '\u001a' }

function unescaped(text: string): string {
  return text.includes('\\') || text.includes("''")
    ? text.replace(/\\([\s\S])|''/g, (_all, char: string | undefined) => (char === undefined ? "'" : (escapes[char] ?? char)))
    : text
}

function bareValue(text: string): DumpValue {
  if (/^null$/i.test(text)) return null
  if (/^(true|false)$/i.test(text)) return Number(/^true$/i.test(text))
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
  return text
}
