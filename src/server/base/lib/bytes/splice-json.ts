/**
 * Reads and edits the top-level members of a JSON object without parsing it: all other bytes stay unchanged. Upstream prompt caches
 * and tool schemas depend on the exact bytes, and numbers beyond 2^53 would not survive a parse. The text must already be known to be
 * JSON, or the caller must treat `undefined` as "not an object".
 */
export interface Member {
  readonly key: string
  /** From the opening quote of the key. */
  readonly start: number
  readonly valueStart: number
  /** After the last byte of the value. */
  readonly end: number
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const quoteText = '"'

/** The top-level members in order, or undefined when the text is not one complete object. */
export function membersOf(text: Buffer): Member[] | undefined {
  let at = skipSpace(text, text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf ? 3 : 0)
  if (text[at] !== openBrace) return undefined
  const members: Member[] = []

  at = skipSpace(text, at + 1)
  if (text[at] === closeBrace) return isEnd(text, at + 1) ? members : undefined
  for (;;) {
    if (text[at] !== quote) return undefined
    const start = at
    const keyEnd = skipString(text, at)
    if (keyEnd < 0) return undefined
    at = skipSpace(text, keyEnd)
    if (text[at] !== colon) return undefined
    const valueStart = skipSpace(text, at + 1)
    const end = skipValue(text, valueStart)
    if (end < 0) return undefined
    members.push({ key: keyText(text, start, keyEnd), start, valueStart, end })

    at = skipSpace(text, end)
    if (text[at] === closeBrace) return isEnd(text, at + 1) ? members : undefined
    if (text[at] !== comma) return undefined
    at = skipSpace(text, at + 1)
  }
}

/**
 * Replaces, adds or (with undefined) removes top-level members. Values are JSON texts. Every duplicate of a replaced key is replaced,
 * because parsers differ on which of two wins. A member that is new goes to the end.
 */
export function spliceMembers(text: Buffer, changes: Readonly<Record<string, string | undefined>>): Buffer {
  const members = membersOf(text)
  if (!members) throw new TypeError('Only a JSON object has members to splice')
  const changed = new Set<string>()
  const tailStart = members.at(-1)?.end ?? text.indexOf(openBrace) + 1
  const parts: Buffer[] = [text.subarray(0, members[0]?.start ?? tailStart)]
  const headOnly = parts.length

  members.forEach((member, index) => {
    const isChanged = Object.hasOwn(changes, member.key)
    const value = isChanged ? changes[member.key] : undefined
    if (isChanged) changed.add(member.key)
    if (isChanged && value === undefined) return

    if (parts.length > headOnly) parts.push(text.subarray(members[index - 1]?.end, member.start))
    if (value === undefined) parts.push(text.subarray(member.start, member.end))
    else parts.push(text.subarray(member.start, member.valueStart), Buffer.from(value))
  })

  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || changed.has(key)) continue
    parts.push(Buffer.from(`${parts.length > headOnly ? ',' : ''}${JSON.stringify(key)}:${value}`))
  }
  parts.push(text.subarray(tailStart))
  return Buffer.concat(parts)
}

/** The same object with only the last of the members that share a key, which is the one that JSON.parse reads. */
export function withoutRepeatedKeys(text: Buffer): Buffer {
  const members = membersOf(text) ?? []
  const last = new Map(members.map((member) => [member.key, member]))
  const kept = members.filter((member) => last.get(member.key) === member)
  const body = kept.map(({ start, end }) => text.toString('utf8', start, end)).join(',')
  return Buffer.from(`{${body}}`)
}

/** The parsed value of one top-level member; undefined when it is absent. The last of duplicates wins, as in JSON.parse. */
export function memberValue(text: Buffer, members: readonly Member[], key: string): unknown {
  const member = members.findLast((candidate) => candidate.key === key)
  return member && JSON.parse(text.toString('utf8', member.valueStart, member.end))
}

/**
 * The positions of the entries of the list that opens at `start`, in order, without parsing them; undefined when the list is
 * incomplete.
 */
export function entriesOf(text: Buffer, start: number): { readonly start: number; readonly end: number }[] | undefined {
  if (text[start] !== openBracket) return undefined
  const entries: { start: number; end: number }[] = []
  let at = skipSpace(text, start + 1)
  if (text[at] === closeBracket) return entries
  for (;;) {
    const end = skipValue(text, at)
    if (end < 0) return undefined
    entries.push({ start: at, end })
    at = skipSpace(text, end)
    if (text[at] === closeBracket) return entries
    if (text[at] !== comma) return undefined
    at = skipSpace(text, at + 1)
  }
}

function keyText(text: Buffer, start: number, end: number): string {
  const raw = text.toString('utf8', start + 1, end - 1)
  return raw.includes('\\') ? String(JSON.parse(`"${raw}"`)) : raw
}

function isEnd(text: Buffer, at: number): boolean {
  return skipSpace(text, at) === text.length
}

function skipSpace(text: Buffer, from: number): number {
  let at = from
  for (;;) {
    const byte = text[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at++
  }
}

/**
 * The position after the closing quote of the string that opens at `from`, or -1. Long strings are crossed by native search, short
 * ones and those full of escaped quotes byte by byte, so that the time depends on the length alone.
 */
export function skipString(text: Buffer, from: number): number {
  let at = from + 1
  for (;;) {
    for (const near = at + nearBytes; at < near; at += text[at] === backslash ? 2 : 1) if (text[at] === quote) return at + 1
    const close = text.indexOf(quoteText, at, 'latin1')
    if (close < 0) return -1
    let escapes = 0
    while (close - escapes > at && text[close - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return close + 1
    at = close + 1
  }
}

const nearBytes = 64

/** The position after the value that starts at `from`, or -1 when it does not end. */
function skipValue(text: Buffer, from: number): number {
  const first = text[from]
  if (first === quote) return skipString(text, from)
  if (first === openBrace || first === openBracket) return skipNested(text, from)
  let at = from
  while (at < text.length && !isDelimiter(text[at])) at++
  return at > from ? at : -1
}

function skipNested(text: Buffer, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const byte = text[at]
    if (byte === quote) {
      at = skipString(text, at)
      if (at < 0) return -1
      continue
    }
    if (byte === openBrace || byte === openBracket) depth++
    if (byte === closeBrace || byte === closeBracket) {
      depth--
      if (depth === 0) return at + 1
    }
    at++
  }
  return -1
}

function isDelimiter(byte: number | undefined): boolean {
  return (
    byte === comma ||
    byte === closeBrace ||
    byte === closeBracket ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  )
}
