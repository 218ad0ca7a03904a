export interface RequestOptions {
  /** For observers of requests; the connection decides where it goes. */
  readonly origin?: string
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: Buffer | string | StreamedBody | null
}

/** A body that is sent piece by piece as it becomes available, no faster than the upstream reads it. It cannot be sent again. */
export interface StreamedBody {
  /** An error that it throws closes the connection, before the upstream has a whole request, and is the error of the request. */
  readonly pieces: AsyncIterable<Buffer>
  /** In bytes; undefined when it is not known before: then it is sent in chunks. */
  readonly length: number | undefined
}

export function isStreamed(body: RequestOptions['body']): body is StreamedBody {
  return typeof body === 'object' && body !== null && 'pieces' in body
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/
const target = /^\/[\x21-\x7e\x80-\xff]*$/

/** These headers control the framing of the message and the use of the connection, which is decided only here. */
const ownHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

interface Fields {
  readonly host: string | undefined
  /** Each with its line break. */
  readonly lines: string
}

/** Cache for frozen header objects that many requests share: they are checked and written once. */
const fieldsOf = new WeakMap<object, Fields>()

/**
 * The head of a request to an origin as Latin-1 text. Throws a `TypeError` for a path, a name or a value that could not be sent as it is: a line break
 * in a header would begin another request. Without `bodyBytes` the body is sent in chunks.
 */
export function writeRequestHead(origin: URL, { path, method, headers }: RequestOptions, bodyBytes: number | undefined): string {
  if (!target.test(path)) throw new TypeError('The path of the request has characters that must be escaped')
  const { host = origin.host, lines } = readFields(headers ?? none)
  const length = method === 'GET' ? '' : bodyBytes === undefined ? chunked : `content-length: ${bodyBytes}\r\n`
  return `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n${lines}${length}\r\n`
}

const chunked = 'transfer-encoding: chunked\r\n'
const none = Object.freeze({})

function readFields(headers: Readonly<Record<string, string | undefined>>): Fields {
  const known = fieldsOf.get(headers)
  if (known) return known
  let lines = ''
  let host: string | undefined
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined) continue
    if (!token.test(name)) throw new TypeError('A header of the request has an invalid name')
    if (!fieldValue.test(value)) throw new TypeError(`The header ${name} of the request has an invalid value`)
    const lower = name.toLowerCase()
    if (lower === 'host') host = value
    else if (ownHeaders.has(lower)) throw new TypeError(`The header ${name} of the request cannot be set`)
    else lines += `${name}: ${value}\r\n`
  }
  const fields = { host, lines }
  if (Object.isFrozen(headers)) fieldsOf.set(headers, fields)
  return fields
}
