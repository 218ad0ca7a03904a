/** The values of a row, and the columns of a table, as the text of a dump has them. */
export type DumpValue = string | number | bigint | Uint8Array | null

/** What a statement is about: a table that is made, or rows that are added to one. */
export interface Beginning {
  readonly kind: 'create' | 'insert'
  readonly table: string
}

export interface DumpColumn {
  readonly name: string
  readonly isInteger: boolean
}

const name = '(`(?:[^`]|``)*`|"(?:[^"]|"")*"|[^\\s`"(.,;]+)'
const create = new RegExp(`^\\s*create\\s+table\\s+(?:if\\s+not\\s+exists\\s+)?(?:${name}\\s*\\.\\s*)?${name}\\s*$`, 'i')
const insert = new RegExp(
  `^\\s*(?:insert|replace)\\s+(?:(?:low_priority|delayed|high_priority|ignore)\\s+)*(?:into\\s+)?(?:${name}\\s*\\.\\s*)?${name}\\s*(?:\\bvalues?\\s*)?$`,
  'i',
)

/** Reads the words of a statement up to its first parenthesis. Undefined for statements that neither make a table nor add rows. */
export function readBeginning(words: string): Beginning | undefined {
  for (const [kind, form] of [
    ['create', create],
    ['insert', insert],
  ] as const) {
    const table = form.exec(words)?.[2]
    if (table !== undefined) return { kind, table: unquoted(table) }
  }
  return undefined
}

/** Words with which a definition in `create table (…)` begins that is not a column. */
const otherDefinitions = /^(primary|key|index|unique|fulltext|spatial|constraint|foreign|check|period|exclude|like)\b/i

/** The columns of a table from its definition in parentheses. */
export function readColumns(group: string): DumpColumn[] {
  return listOf(group).flatMap((definition) => {
    if (otherDefinitions.test(definition)) return []
    const found = new RegExp(`^${name}`).exec(definition)
    if (found?.[1] === undefined) return []
    return [{ name: unquoted(found[1]), isInteger: /^\s*(tiny|small|medium|big)?int/i.test(definition.slice(found[0].length)) }]
  })
}

/** The names in `insert into t (…)`. */
export function readNames(group: string): string[] {
  return listOf(group).map(unquoted)
}

/** The elements of a list in parentheses, split at the commas outside of quotes and inner parentheses. */
function listOf(group: string): string[] {
  const elements: string[] = []
  let [begin, depth, quote] = [1, 0, '']
  for (let at = 1; at < group.length; at++) {
    const char = group[at] ?? ''
    if (quote !== '') {
      if (char === '\\' && quote !== '`') at++
      else if (char === quote) quote = ''
    } else if (char === "'" || char === '"' || char === '`') quote = char
    else if (char === '(') depth++
    else if (depth > 0 && char === ')') depth--
    else if (depth === 0 && (char === ',' || char === ')')) {
      elements.push(group.slice(begin, at).trim())
      begin = at + 1
    }
  }
  return elements
}

function unquoted(text: string): string {
  const [quote = ''] = text
  return quote === '`' || quote === '"' ? text.slice(1, -1).replaceAll(quote + quote, quote) : text
}

/** The values of one row `(…)`. Throws at anything that is not a value. */
export function readValues(group: string): DumpValue[] {
  const values: DumpValue[] = []
  const literal = /\s*(?:(?:_\w+\s*)?(['"])|(?:0x|x')([0-9a-f]*)'?|([^\s,()'"]+))/iy
  const separator = /\s*([,)])/y
  for (let at = 1; ; ) {
    literal.lastIndex = at
    const found = literal.exec(group)
    if (!found) throw unreadable(group, at)
    const [, quote, hex, bare] = found
    at = literal.lastIndex
    if (quote !== undefined) {
      const end = endOfText(group, at, quote)
      values.push(unescaped(group.slice(at, end), quote))
      at = end + 1
    } else values.push(hex === undefined ? bareValue(bare ?? '') : Buffer.from(hex, 'hex'))
    separator.lastIndex = at
    const [, next] = separator.exec(group) ?? []
    if (next === undefined) throw unreadable(group, at)
    at = separator.lastIndex
    if (next === ')') return values
  }
}

function unreadable(group: string, at: number): Error {
  return new Error(`this is not a value: ${group.slice(at, at + 80).trim()}`)
}

const backslash = '\\'.charCodeAt(0)

/** The position of the closing quote. */
function endOfText(group: string, from: number, quote: string): number {
  const closing = quote.charCodeAt(0)
  for (let at = from; at < group.length; at++) {
    const char = group.charCodeAt(at)
    if (char === backslash) at++
    else if (char === closing) {
      if (group.charCodeAt(at + 1) !== closing) return at
      at++
    }
  }
  throw unreadable(group, from)
}

const escapes: ReadonlyMap<number, number> = new Map(
  Object.entries({ n: '\n', r: '\r', t: '\t', b: '\b', '0': '\0', Z: '\u001a' }).map(([from, to]) => [
    from.charCodeAt(0),
    to.charCodeAt(0),
  ]),
)

/** Without recursion and without an object for each escape: one value may have millions. */
function unescaped(text: string, quote: string): string {
  if (!text.includes('\\') && !text.includes(quote)) return text
  const closing = quote.charCodeAt(0)
  const units = new Uint16Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    const next = char === backslash || char === closing ? text.charCodeAt(++at) : char
    units[length++] = char === backslash ? (escapes.get(next) ?? next) : next
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le')
}

function bareValue(text: string): DumpValue {
  if (/^(null|default)$/i.test(text)) return null
  if (/^(true|false)$/i.test(text)) return Number(/^true$/i.test(text))
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text)
  return text
}
