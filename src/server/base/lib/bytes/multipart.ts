/**
 * Parses a `multipart/form-data` body without copying it, and edits single fields in the raw bytes (RFC 7578). Strict on purpose:
 * forms that another parser might read differently are refused, so that the upstream parses the same form that was checked here.
 */
/** What the header lines of a part say. */
export interface PartHead {
  readonly name: string
  /** Set for a file; undefined for a text field. */
  readonly filename: string | undefined
  readonly mediaType: string
}

interface FormPart extends PartHead {
  /** A view of the form's own bytes. */
  readonly body: Buffer
  /** Offset of its delimiter; the part ends at the next delimiter. */
  readonly start: number
  readonly end: number
}

export interface Form {
  readonly boundary: string
  readonly parts: readonly FormPart[]
  /** The offset of the closing delimiter. */
  readonly closeStart: number
}

/** The boundary that a content type names, or undefined when it is invalid by RFC 2046. */
export function readBoundary(parameter: string | null): string | undefined {
  return parameter !== null && boundaryText.test(parameter) ? parameter : undefined
}

const boundaryText = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/
const crlf = '\r\n'
/** Limit of the header lines of one part. */
export const headBytesMax = 8192

/** The parts of a form, in order; `malformed`, or `too-many` when there are more than `partsMax`. */
export function readMultipart(bytes: Buffer, boundary: string, partsMax: number): Form | 'malformed' | 'too-many' {
  const delimiter = Buffer.from(`--${boundary}`)
  const between = Buffer.from(`${crlf}--${boundary}`)
  const parts: FormPart[] = []
  let start = 0
  while (isAt(bytes, start, crlf)) start += 2
  if (bytes.indexOf(delimiter, start) !== start) return 'malformed'

  for (;;) {
    const headStart = start + delimiter.length
    if (isAt(bytes, headStart, '--')) {
      const rest = bytes.length - headStart - 2
      const isLast = rest === 0 || (rest === 2 && isAt(bytes, headStart + 2, crlf))
      return isLast ? { boundary, parts, closeStart: start } : 'malformed'
    }
    if (parts.length === partsMax) return 'too-many'
    if (!isAt(bytes, headStart, crlf)) return 'malformed'
    const headEnd = bytes.subarray(headStart, headStart + headBytesMax).indexOf(`${crlf}${crlf}`)
    if (headEnd < 0) return 'malformed'
    const bodyStart = headStart + headEnd + 4
    const bodyEnd = bytes.indexOf(between, bodyStart)
    const head = readPartHead(bytes.toString('utf8', headStart + 2, headStart + headEnd))
    if (bodyEnd < 0 || head === undefined) return 'malformed'
    const end = bodyEnd + 2
    parts.push({ ...head, body: bytes.subarray(bodyStart, bodyEnd), start, end })
    start = end
  }
}

/**
 * The form with these fields set or (undefined) removed, all other bytes unchanged. Of a repeated field the first is set and the
 * others are removed; a new one is appended. Throws a `RangeError` when a value holds the boundary.
 */
export function spliceForm(bytes: Buffer, form: Form, changes: Readonly<Record<string, string | undefined>>): Buffer {
  const pieces: Buffer[] = []
  const changed = new Set<string>()
  for (const { name, start, end } of form.parts) {
    const value = Object.hasOwn(changes, name) && !changed.has(name) ? changes[name] : undefined
    if (!Object.hasOwn(changes, name)) pieces.push(bytes.subarray(start, end))
    else if (value !== undefined) pieces.push(textPart(form.boundary, name, value))
    changed.add(name)
  }
  for (const [name, value] of Object.entries(changes))
    if (value !== undefined && !changed.has(name)) pieces.push(textPart(form.boundary, name, value))
  return Buffer.concat([...pieces, bytes.subarray(form.closeStart)])
}

function textPart(boundary: string, name: string, value: string): Buffer {
  if (value.includes(`--${boundary}`)) throw new RangeError('The value of a field holds the boundary of its form')
  const quoted = name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
  return Buffer.from(`--${boundary}${crlf}Content-Disposition: form-data; name="${quoted}"${crlf}${crlf}${value}${crlf}`)
}

function isAt(bytes: Buffer, at: number, two: '\r\n' | '--'): boolean {
  return bytes[at] === two.charCodeAt(0) && bytes[at + 1] === two.charCodeAt(1)
}

/** The header lines of a part. Undefined when they are malformed or ambiguous. */
export function readPartHead(text: string): PartHead | undefined {
  const headers = new Map<string, string>()
  for (const line of text.split(crlf)) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/.exec(line) ?? []
    if (name === '' || headers.has(name.toLowerCase())) return undefined
    headers.set(name.toLowerCase(), value.trim())
  }
  const parameters = readDisposition(headers.get('content-disposition') ?? '')
  const name = parameters?.get('name')
  const encoding = headers.get('content-transfer-encoding') ?? 'binary'
  if (name === undefined || !/^(7bit|8bit|binary)$/i.test(encoding)) return undefined
  const filename = parameters?.get('filename') ?? decoded(parameters?.get('filename*'))
  return { name, filename, mediaType: (headers.get('content-type') ?? 'text/plain').toLowerCase() }
}

function readDisposition(value: string): ReadonlyMap<string, string> | undefined {
  const [, list] = /^form-data((?:[ \t]*;.*)?)$/i.exec(value) ?? []
  if (list === undefined) return undefined
  const parameters = new Map<string, string>()
  const parameter = /[ \t]*;[ \t]*([a-z]+\*?)=(?:"([^"\r\n]*)"|([^\s";]+))/iy
  while (parameter.lastIndex < list.length) {
    const from = parameter.lastIndex
    const [, name = '', quoted, plain] = parameter.exec(list) ?? []
    if (name === '') return ['', ';'].includes(list.slice(from).trim()) ? parameters : undefined
    if (parameters.has(name.toLowerCase())) return undefined
    parameters.set(name.toLowerCase(), quoted === undefined ? (plain ?? '') : unescaped(quoted))
  }
  return parameters
}

/** Decodes names as browsers escape them, by the HTML standard to which RFC 7578 refers. */
function unescaped(text: string): string {
  return text.replace(/%0D/gi, '\r').replace(/%0A/gi, '\n').replaceAll('%22', '"')
}

/** Decodes an extended value of RFC 8187, such as `UTF-8''na%C3%AFve.wav`. */
function decoded(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  try {
    return decodeURIComponent(text.replace(/^utf-8'[^']*'/i, ''))
  } catch {
    return text
  }
}
