import { type Extra, parseLine, type Reply, type Sent } from '../../contract/route.ts'
import type { AllRoutes, Line } from '../../contract/routes/index.ts'
import { addressOf } from './address.ts'
import { currentLanguage, defineTexts, textOf } from './i18n.ts'
import { payerHeaders } from './payer.ts'
import { reauthenticate } from './reauthenticate.ts'
import { currentUser, expireSession } from './session.ts'

/** A refusal or a failed transport, with a message for the user. `status` 0 means no response. */
export class ApiError extends Error {
  readonly code: string
  readonly status: number

  constructor(message: string, { code, status }: { code: string; status: number }) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = status
  }
}

interface Control {
  readonly signal?: AbortSignal
}

type Given<L extends Line> = Sent<AllRoutes[L]> & Control
/** Required parts of a line must be passed; optional ones may be left out. */
export type CallInput<L extends Line> = Record<never, never> extends Sent<AllRoutes[L]> ? [input?: Given<L>] : [input: Given<L>]

export type CallReply<L extends Line> = Reply<AllRoutes[L]>
type CallAnswer<L extends Line> = { data: CallReply<L>; message: string } & Extra<AllRoutes[L]>

/** Calls a route by its own line: `await call('DELETE /api/token/:id', { params: { id } })`. Throws `ApiError`. */
export async function call<L extends Line>(line: L, ...[input]: CallInput<L>): Promise<CallReply<L>> {
  const answer = await send(line, partsOf(input))
  // The contract declares what this line answers and the server checks its replies against it.
  return answer.data as CallReply<L>
}

/** Like `call`, with the message and the fields beside `data`. */
export async function callWhole<L extends Line>(line: L, ...[input]: CallInput<L>): Promise<CallAnswer<L>> {
  // The contract declares the fields beside `data`, too.
  return (await send(line, partsOf(input))) as unknown as CallAnswer<L>
}

interface Envelope {
  success: boolean
  message?: string
  code?: string
  data?: unknown
}

interface Parts extends Control {
  params?: Record<string, unknown>
  query?: Record<string, unknown>
  body?: unknown
}

/** Each line types its own parts, but all are sent in the same way. */
function partsOf(input: unknown): Parts {
  return (input ?? {}) as Parts
}

async function send(line: Line, parts: Parts, isSecond = false): Promise<Envelope> {
  const response = await reach(line, parts)
  const envelope = await readEnvelope(response)
  if (response.status === 401) expireSession()
  if (response.ok && envelope?.success) return envelope
  if (envelope?.code === 'fresh_login_required' && !isSecond && (await reauthenticate())) return send(line, parts, true)
  throw new ApiError(messageOf(response, envelope), { code: envelope?.code ?? 'unknown', status: response.status })
}

async function reach(line: Line, { params, query, body, signal }: Parts): Promise<Response> {
  const { method, path } = parseLine(line)
  try {
    return await fetch(addressOf(path, params, query), {
      method,
      headers: {
        ...callerHeaders(),
        ...payerHeaders(line),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store',
      signal: signal ?? null,
    })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw new ApiError(textOf(texts, 'unreachable'), { code: 'unreachable', status: 0 })
  }
}

/** Headers of every console call: the user's id, as the server compares it with the session, and the language. */
export function callerHeaders(): Record<string, string> {
  return { 'New-Api-User': String(currentUser()?.id ?? -1), 'Accept-Language': currentLanguage(), Accept: 'application/json' }
}

async function readEnvelope(response: Response): Promise<Envelope | undefined> {
  try {
    const value: unknown = await response.json()
    // Anything other than an object is not from our server, so only the status is used.
    return typeof value === 'object' && value !== null ? (value as Envelope) : undefined
  } catch {
    return undefined
  }
}

function messageOf(response: Response, envelope: Envelope | undefined): string {
  if (response.status === 401) return envelope?.message || textOf(texts, 'expired')
  if (response.status === 429) return textOf(texts, 'tooMany')
  if (response.status === 500) return textOf(texts, 'internal')
  if (response.status === 405) return textOf(texts, 'demo')
  if (response.ok && envelope) return envelope.message || textOf(texts, 'refused')
  return textOf(texts, 'other', { text: envelope?.message || `${response.status} ${response.statusText}`.trim() })
}

const texts = defineTexts({
  unreachable: ['无法连接至服务器', 'Unable to reach the server'],
  expired: ['未登录或登录已过期，请重新登录', 'Not logged in or login has expired, please log in again'],
  tooMany: ['请求次数过多，请稍后再试', 'Too many requests, try again later'],
  internal: ['服务器内部错误，请联系管理员', 'Internal server error, contact the admin'],
  demo: ['本站仅用于演示，无服务端', 'This site is demo only, no server'],
  refused: ['操作失败', 'The operation failed'],
  other: ['错误：{text}', 'Error: {text}'],
})
