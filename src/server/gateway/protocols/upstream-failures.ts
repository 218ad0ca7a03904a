import type { ErrorCode } from '../../../contract/errors.ts'
import type { Text } from '../../../contract/text.ts'
import { AppError } from '../../base/lib/failure.ts'
import { withoutOperatorDetails } from '../../base/lib/log/operator-details.ts'
import { type CallerError, isLasting, ownError } from './error-body.ts'
import { cleanExtra } from './error-extra.ts'
import type { ErrorExtra, UpstreamErrorFacts } from './wire-format.ts'

/**
 * What a caller is told when an upstream failed: one row for each kind of failure. Its error has the status, the sentence in both languages,
 * the type, and whether a client must not repeat the request (`contract/errors.ts`); `error-body.ts` derives the status, type, code
 * and headers of each dialect, for whole replies and for events of streams alike. The sentences contain the words that clients look
 * for before they repeat a request (docs/reference/retry-words.md). None has a word of the upstream, whose account and addresses are
 * the operator's: admins find those in the log.
 */
export const upstreamFailures = {
  interrupted: {
    error: 'upstream_failed',
    reason: {
      zh: '连接中断，回答不完整，请重试请求',
      en: 'connection reset, the stream was interrupted, please retry your request',
    },
  },
  'no-valid-answer': {
    error: 'upstream_failed',
    reason: { zh: '没有给出有效的回答，请重试请求', en: 'it sent no valid answer, please retry your request' },
  },
  'too-large': { error: 'upstream_answer_too_large' },
  failed: { error: 'upstream_failed', reason: { zh: '服务器错误，请重试请求', en: 'server error, please retry your request' } },
  overloaded: { error: 'upstream_unavailable' },
  'rate-limited': { error: 'upstream_saturated' },
  timeout: { error: 'upstream_timeout' },
  unreachable: { error: 'upstream_unreachable' },
  'account-refused': { error: 'upstream_account_refused' },
  'quota-exhausted': { error: 'upstream_quota_exhausted' },
} as const satisfies Readonly<Record<string, { readonly error: ErrorCode; readonly reason?: Text }>>

export type UpstreamFailureKind = keyof typeof upstreamFailures

/** What callers of an open connection are told. */
export function upstreamError(kind: UpstreamFailureKind): AppError {
  const row = upstreamFailures[kind]
  return new AppError(row.error, 'reason' in row ? { reason: row.reason } : {})
}

/** The error of a kind. `status` replaces that of the kind, for channels that map statuses; `retryAfter` is in seconds. */
export function failureError(kind: UpstreamFailureKind, more: { retryAfter?: number; status?: number } = {}): CallerError {
  const error = ownError(upstreamError(kind), { retryAfter: more.retryAfter ?? 0 })
  return more.status === undefined ? error : { ...error, status: more.status }
}

/**
 * An error of the upstream that is about the caller's own request: its words are passed on without the details of the operator, its
 * type and code if they are words of an interface. `sent` is the body of the request.
 */
export function refusedRequest(status: number, facts: UpstreamErrorFacts, sent: Buffer | undefined): CallerError {
  const safe = (text: string) => withoutOperatorDetails(text, sent)
  const message = safe(facts.message)
  return {
    status,
    message:
      message === ''
        ? { zh: `上游以状态码 ${status} 拒绝了请求`, en: `The upstream refused the request with status ${status}` }
        : { zh: message, en: message },
    type: wordIn(facts.type) ?? 'invalid_request_error',
    code: wordIn(facts.code) ?? null,
    param: facts.param && safe(facts.param),
    retryAfter: 0,
    final: isLasting(status),
    extra: facts.extra && safeExtra(facts.extra, safe),
  }
}

/** The rejected output of a model is the caller's, and stays as it is. */
function safeExtra(extra: ErrorExtra, safe: (text: string) => string): ErrorExtra {
  const { failed_generation: output } = extra.members
  const { dialect, members } = cleanExtra(extra, safe)
  return { dialect, members: output === undefined ? members : { ...members, failed_generation: output } }
}

/** A type or a code, such as `invalid_request_error` or `1301`; undefined for anything else. */
function wordIn(text: string): string | undefined {
  return /^\w[\w.-]{0,80}$/.test(text) && withoutOperatorDetails(text) === text ? text : undefined
}
