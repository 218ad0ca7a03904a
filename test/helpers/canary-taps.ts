import crypto from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { type IncomingMessage, ServerResponse } from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { keep, keepAddress, keepFields, keepHeader, mayHoldSecret, note } from './canaries.ts'

/** Observes secrets and refusals at the edges of the process: requests on both ends, parsed JSON, and encrypted values. */
export function watchEdges(): void {
  watchRequests()
  watchAnswers()
  watchJson()
  watchEncryption()
}

type HeaderList = readonly (string | readonly string[] | Buffer)[]

function watchRequests(): void {
  const keepList = (list: HeaderList) => {
    for (let at = 0; at + 1 < list.length; at += 2) keepHeader(String(list[at]), String(list[at + 1]))
  }
  subscribe('http.server.request.start', (message) => {
    // The value that Node publishes on this channel.
    const { request } = message as { request: IncomingMessage }
    keepList(request.rawHeaders)
    keepAddress(request.url ?? '')
  })
  subscribe('http.client.request.start', (message) => {
    const { request } = message as { request: { path: string; getHeaders(): Record<string, unknown> } }
    for (const [name, value] of Object.entries(request.getHeaders())) keepHeader(name, String(value))
    keepAddress(request.path)
  })
  subscribe('sluice:upstream:request', (message) => {
    const { request } = message as { request: { path: string; headers: Readonly<Record<string, string>> } }
    for (const [name, value] of Object.entries(request.headers)) keepHeader(name, String(value))
    keepAddress(request.path)
  })
  subscribe('undici:request:create', (message) => {
    const { request } = message as { request: { path: string; headers: string | HeaderList } }
    const { headers } = request
    keepList(typeof headers === 'string' ? headers.split('\r\n').flatMap((line) => line.split(/: (.*)/, 2)) : headers)
    keepAddress(request.path)
  })
}

const bytesMax = 256 * 1024

/** Only replies of this product have its request id; other replies are those of simulated providers, which are unrestricted. */
function watchAnswers(): void {
  const pieces = new WeakMap<ServerResponse, string[]>()
  const gather = (response: ServerResponse, piece: unknown) => {
    if (typeof piece !== 'string' && !(piece instanceof Uint8Array)) return
    const before = pieces.get(response) ?? []
    pieces.set(response, before)
    if (piece.length < bytesMax) before.push(Buffer.from(piece).toString())
  }
  const { write, end } = ServerResponse.prototype
  ServerResponse.prototype.write = function (this: ServerResponse, ...given: unknown[]) {
    gather(this, given[0])
    return Reflect.apply(write, this, given)
  }
  ServerResponse.prototype.end = function (this: ServerResponse, ...given: unknown[]) {
    gather(this, given[0])
    const ended = Reflect.apply(end, this, given)
    const head = headOf(this)
    // Calls without a connection are published on no channel.
    for (const [name, value] of Object.entries(this.req.headers)) keepHeader(name, String(value))
    keepAddress(this.req.url ?? '')
    if (/^x-oneapi-request-id:/im.test(head)) {
      const body = pieces.get(this)?.join('') ?? ''
      for (const [, cookie = ''] of head.matchAll(/^set-cookie: (.*)$/gim)) keepHeader('set-cookie', cookie)
      const isRefusal =
        this.statusCode >= 400 || /^\{"success":false/.test(body) || /^(?:event: error|data: \{"error")/m.test(body)
      if (isRefusal) note('refusals', `${head.replace(/^set-cookie:.*$/gim, '')}\n${body}`)
    }
    return ended
  }
}

/** The head as sent, which Node stores in this member. */
function headOf(response: ServerResponse): string {
  return (response as ServerResponse & { _header?: string | null })._header ?? ''
}

function watchJson(): void {
  const { parse } = JSON
  JSON.parse = (text: string, ...more: Parameters<typeof parse> extends [string, ...infer Rest] ? Rest : never) => {
    const value = parse(text, ...more)
    if (typeof text === 'string' && text.length < bytesMax && mayHoldSecret.test(text)) keepFields(value)
    return value
  }
}

/** Encrypted values are secret; longer texts are conversations. */
function watchEncryption(): void {
  const secretMax = 200
  const { createCipheriv } = crypto
  Reflect.set(crypto, 'createCipheriv', (...given: Parameters<typeof createCipheriv>) => {
    const cipher = createCipheriv(...given)
    const { update } = cipher
    Reflect.set(cipher, 'update', (plain: unknown, ...more: unknown[]) => {
      const bytes = Buffer.isBuffer(plain) ? plain : Buffer.from(String(plain))
      if (bytes.length <= secretMax) for (const text of formsOfBytes(bytes)) keep('what is encrypted', text)
      return Reflect.apply(update, cipher, [plain, ...more])
    })
    return cipher
  })
  syncBuiltinESMExports()
}

function formsOfBytes(bytes: Buffer): string[] {
  const text = bytes.toString()
  const isText = Buffer.from(text).equals(bytes)
  if (!isText) return [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('base64url')]
  // Lists and objects are read field by field.
  return /^[[{]/.test(text) ? [] : [text]
}
