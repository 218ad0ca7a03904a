/** Long texts in slices, so that no step of the event loop handles a long one whole. */

/** The most bytes or characters of a text that one step handles. */
export const sliceLength = 64 * 1024

/** `index`, or the index before it when it is in the middle of a character of two units. */
export function characterStart(text: string, index: number): number {
  return (text.charCodeAt(index) & 0xfc00) === 0xdc00 && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800 ? index - 1 : index
}

/** The text of bytes that are valid in the encoding, in slices of at most `sliceLength` bytes. */
export function* slicesOf(bytes: Buffer, encoding: 'utf8' | 'latin1'): Generator<string> {
  for (let at = 0; at < bytes.length; ) {
    let end = Math.min(at + sliceLength, bytes.length)
    // Not within a character.
    if (encoding === 'utf8') while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
    yield bytes.toString(encoding, at, end)
    at = end
  }
}

/** The JSON of a value of objects, lists, texts, numbers, booleans and null, in pieces of about `sliceLength` characters. */
export function* jsonSlices(value: unknown): Generator<string> {
  let slice = ''
  for (const token of tokensOf(value)) {
    slice += token
    if (slice.length < sliceLength) continue
    yield slice
    slice = ''
  }
  if (slice !== '') yield slice
}

function* tokensOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield* tokensOfText(value)
  else if (Array.isArray(value)) {
    yield '['
    for (const [index, entry] of value.entries()) {
      if (index > 0) yield ','
      yield* tokensOf(entry)
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).filter(([, member]) => member !== undefined)
    yield '{'
    for (const [index, [name, member]] of members.entries()) {
      yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`
      yield* tokensOf(member)
    }
    yield '}'
  } else yield JSON.stringify(value)
}

function* tokensOfText(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; ) {
    const end = characterStart(text, Math.min(at + sliceLength, text.length))
    yield JSON.stringify(text.slice(at, end)).slice(1, -1)
    at = end
  }
  yield '"'
}
