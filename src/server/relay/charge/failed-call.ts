import { clientClosedStatus, type LogFailure } from '../../../contract/entities/log.ts'
import type { Text } from '../../../contract/text.ts'
import { seconds } from '../../lib/clock.ts'
import { redact } from '../../lib/logger.ts'
import { type CallerError, statusFor } from '../../protocols/error-body.ts'
import type { RelayCaller } from '../../tokens/authenticate.ts'
import type { FailedCall } from '../../usage/failed-calls.ts'
import type { ClientExchange } from '../http/client-exchange.ts'
import type { RelayParts } from '../relay-parts.ts'

/** Notes a call that has ended without its answer, for the log; one without a known key is only counted. To be called when it is over. */
export function noteFailedCall(
  app: Pick<RelayParts, 'failedCalls' | 'now' | 'steady'>,
  call: ClientExchange,
  format: string,
): void {
  const { failure, caller } = call
  if (!failure) return
  const { error } = failure
  if (!caller) {
    if (error?.status === 401) app.failedCalls.noteUnknownKey(call.client.address)
    return
  }
  const status = error ? statusFor(call.dialect, error) : clientClosedStatus
  app.failedCalls.note({ status, userId: caller.userId }, () => rowOf(app, call, { caller, format, status, error }))
}

interface Failed {
  readonly caller: RelayCaller
  readonly format: string
  readonly status: number
  readonly error: CallerError | undefined
}

function rowOf(
  app: Pick<RelayParts, 'now' | 'steady'>,
  call: ClientExchange,
  { caller, format, status, error }: Failed,
): FailedCall {
  const { request, asked, attempts, firstByteMs, startedMs } = call
  const at = seconds(app.now())
  const elapsedMs = Math.max(0, app.steady() - startedMs)
  const last = attempts.at(-1)
  const kept = attempts.slice(-attemptsMax)
  const code = error ? (error.code ?? error.type) : 'client_closed'
  const inStream = call.isCommitted && (firstByteMs > 0 || !error)
  const other: LogFailure = {
    status,
    code: plain(code, 100),
    dialect: call.dialect,
    format,
    path: plain(pathOf(request.url), 200),
    use_time_ms: elapsedMs,
    ...(firstByteMs > 0 ? { frt: Math.max(0, firstByteMs - startedMs) } : {}),
    bytes_in: Number(request.headers['content-length'] ?? 0) || 0,
    bytes_out: call.bytesOut,
    ...(inStream ? { in_stream: true as const } : {}),
    address: call.client.address,
    user_agent: plain(request.headers['user-agent'] ?? '', 200),
    admin_info: {
      use_channel: kept.map(({ channel }) => String(channel)),
      ...(kept.length > 0 ? { attempts: kept.map((attempt) => ({ ...attempt, reason: plain(attempt.reason, reasonMax) })) } : {}),
    },
  }
  return {
    user_id: caller.userId,
    created_at: at,
    content: contentOf(error?.message ?? clientClosed),
    username: caller.username,
    token_id: caller.tokenId,
    token_name: caller.tokenName,
    model_name: typeof asked?.model === 'string' ? plain(asked.model, 200) : '',
    use_time: Math.round(elapsedMs / 1000),
    is_stream: asked?.stream === true ? 1 : 0,
    channel_id: last?.channel ?? 0,
    group: call.group,
    request_id: call.id,
    error_status: status,
    error_code: plain(code, 100),
    other,
  }
}

const attemptsMax = 20
const reasonMax = 500
const messageMax = 1_000

const clientClosed: Text = {
  zh: '调用方在回答完成前断开了连接',
  en: 'The caller closed the connection before the answer was complete',
}

/** In both languages like other rows of the log, once where they are the same. */
function contentOf({ zh, en }: Text): string {
  const english = plain(en, messageMax)
  return zh === en ? english : `${plain(zh, messageMax)} / ${english}`
}

/** The address without its query, which may hold a key. */
function pathOf(url = ''): string {
  return url.split('?', 1)[0] ?? ''
}

/** Within a length, without secrets, and without what PostgreSQL takes for no text. */
function plain(text: string, lengthMax: number): string {
  return redact(text).slice(0, lengthMax).toWellFormed().replaceAll('\0', '')
}
