import { knownModelLimits } from '../../../../contract/model-limits.ts'
import { EventTooLarge } from '../../../base/lib/bytes/sse.ts'
import { AppError } from '../../../base/lib/failure.ts'
import { redact } from '../../../base/lib/log/logger.ts'
import { withoutOperatorDetails } from '../../../base/lib/log/operator-details.ts'
import { parseUrl } from '../../../base/lib/net/parse-url.ts'
import { proxyFailureIn } from '../../../base/lib/net/proxy-connect.ts'
import { isShortage, lacksDescriptors } from '../../../base/lib/process/descriptors.ts'
import { type CallerError, ownError } from '../../protocols/error-body.ts'
import { cleanExtra } from '../../protocols/error-extra.ts'
import { type KnownError, recognise } from '../../protocols/known-errors.ts'
import { failureError, refusedRequest, type UpstreamFailureKind } from '../../protocols/upstream-failures.ts'
import { isObject, type JsonObject, type UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { Upstream } from '../../providers/provider.ts'

/** The failure of an attempt on a channel, before or after anything was sent to the caller. */
export class UpstreamFailure extends Error {
  /** Status of the upstream after the channel's mapping; 0 when there was no answer. */
  readonly status: number
  readonly isMapped: boolean
  readonly kind: 'unreachable' | 'timeout' | 'status' | 'bad-reply' | 'too-large' | 'cut' | 'untranslatable' | 'stopped'
  readonly facts: UpstreamErrorFacts
  readonly retryAfter: number
  /** The error for the caller when this server failed, not the upstream. */
  readonly own: AppError | undefined
  /** The upstream's and the caller's name of the model, if known. */
  readonly names: ModelNames | undefined
  /** The upstream's message about a path that it seems to lack. */
  readonly noRoute: string | undefined
  /** The kind of an error for which every vendor has its own message. */
  readonly known: KnownError | undefined
  /** This server is stopping, or had no file descriptor left for a connection. No channel is at fault, and another one fails alike. */
  readonly isOfThisServer: boolean

  constructor(
    kind: UpstreamFailure['kind'],
    more: {
      status?: number
      isMapped?: boolean
      facts?: Partial<UpstreamErrorFacts>
      retryAfter?: number
      own?: AppError
      names?: ModelNames | undefined
      noRoute?: string | undefined
      cause?: unknown
    } = {},
  ) {
    super(`${kind} ${more.status ?? ''} ${more.facts?.message ?? ''}`.trim(), { cause: more.cause })
    this.name = 'UpstreamFailure'
    this.kind = kind
    this.status = more.status ?? 0
    this.isMapped = more.isMapped ?? false
    this.facts = { message: '', type: '', code: '', param: null, status: 0, ...more.facts }
    this.retryAfter = more.retryAfter ?? 0
    this.own = more.own
    this.names = more.names
    this.noRoute = more.noRoute
    const isShort = kind === 'unreachable' && more.cause !== undefined && (isShortage(more.cause) || lacksDescriptors())
    this.isOfThisServer = kind === 'stopped' || isShort
    this.known = kind === 'status' && !this.isMapped ? recognise(this.facts, this.status) : undefined
  }

  /** The channel's base URL leads back to this site. This is no evidence of other faults of the channel. */
  get isLoop(): boolean {
    return this.kind === 'status' && this.status === 508 && !this.isMapped
  }

  /** A mistake of the caller: every channel would refuse it, and this one is not at fault. */
  get isCallersMistake(): boolean {
    if (this.kind === 'untranslatable' || this.isOfLostState) return true
    if (this.known) return isAboutRequest(this.known)
    return this.kind === 'status' && callersMistakes.has(this.status) && !this.isBadChannelKey
  }

  /** Another channel may succeed: transport failures, 401, 402, 403, 404, 408, 409, 425, 429 and every 5xx. */
  get isRetryable(): boolean {
    if (this.isOfThisServer) return false
    if (this.kind !== 'status' || this.status < 400) return true
    if (this.isOfLostState) return false
    if (this.known) return !isAboutRequest(this.known)
    return this.isBadChannelKey || this.status >= 500 || retryable.has(this.status)
  }

  /** Gemini answers 400 for an unknown key. */
  get isBadChannelKey(): boolean {
    if (this.known && isAboutRequest(this.known)) return false
    return (
      this.status === 401 ||
      this.status === 403 ||
      this.facts.type === 'authentication_error' ||
      this.facts.code === 'API_KEY_INVALID' ||
      /API_KEY_INVALID|API key not valid/i.test(this.facts.message)
    )
  }

  /** The upstream no longer stores what an id in the request refers to. */
  get isOfLostState(): boolean {
    if (this.kind !== 'status' || this.status !== 404) return false
    const { code, extra, message } = this.facts
    const details = extra?.members.details
    const isLostThread = isObject(details) && details.error_code === 'thread_not_found'
    return code === 'previous_response_not_found' || isLostThread || lostItem.test(message)
  }

  /** The upstream does not have the endpoint. A message that names the model is about the model instead. */
  get isOfMissingEndpoint(): boolean {
    if (this.noRoute === undefined || this.known || this.isOfLostState) return false
    const model = this.names?.upstream ?? ''
    return !/\bmodels?\b/i.test(this.noRoute) && (model === '' || !this.noRoute.includes(model))
  }

  /** The account of the channel's key has no balance. */
  get isOutOfCredit(): boolean {
    return this.known?.kind === 'quota-exhausted'
  }

  /** A fault of the key or its account: another key of the same channel may succeed. */
  get isFaultOfKey(): boolean {
    return this.kind === 'status' && (this.isBadChannelKey || this.isOutOfCredit || this.status === 402 || this.status === 429)
  }

  /** The same key will be refused again. */
  get isRefusal(): boolean {
    if (this.known?.isPartial) return false
    return this.isFaultOfKey && (this.isOutOfCredit || (this.status !== 403 && this.status !== 429))
  }

  /** A fault of the upstream: it was unreachable, closed the connection, or failed. */
  get isFaultOfUpstream(): boolean {
    if (this.kind === 'untranslatable' || this.isOfThisServer || this.isLoop || this.known) return false
    return this.kind !== 'status' || this.status >= 500 || this.status === 408
  }

  /**
   * The error for the caller when no channel is left. Faults of the channel are never shown as mistakes of the caller, and are told in
   * words of this server. `promptTokens` is the count of the prompt by this server, 0 without one; `sent` the body of the request.
   */
  forCaller({ promptTokens = 0, sent }: { promptTokens?: number; sent?: Buffer | undefined } = {}): CallerError {
    const { own, known, names } = this
    if (own && own.code !== 'upstream_failed') return ownError(own)
    if (this.isOfThisServer) return ownError(new AppError('server_busy', { retryAfter: 1 }))
    if (this.isLoop) return ownError(new AppError('loop_detected'))
    if (this.isMapped && this.kind === 'status') {
      if (this.status < 500 && !ofChannel.has(this.status)) return refusedRequest(this.status, this.#factsForCaller(), sent)
      return failureError(this.#failureKind, { retryAfter: this.retryAfter, status: this.status })
    }
    if (known && isAboutRequest(known)) {
      return { ...refusedRequest(400, this.#factsForCaller(), sent), known: withNumbers(known, { promptTokens, names }) }
    }
    if (this.isCallersMistake) return refusedRequest(this.status === 422 ? 400 : this.status, this.#factsForCaller(), sent)
    if (this.isOfMissingEndpoint && names?.endpoint !== undefined) {
      return ownError(new AppError('dialect_unavailable', { model: names.asked, endpoint: names.endpoint }))
    }
    if (known?.kind === 'model-unknown' && names) return ownError(new AppError('model_not_found', { model: names.asked }))
    return failureError(this.#failureKind, { retryAfter: this.retryAfter })
  }

  get #failureKind(): UpstreamFailureKind {
    if (this.isOutOfCredit) return 'quota-exhausted'
    if (this.status === 429) return 'rate-limited'
    if (this.kind === 'timeout' || timeouts.has(this.status)) return 'timeout'
    if (this.kind === 'unreachable') return this.own ? 'failed' : 'unreachable'
    if (this.kind === 'cut') return 'interrupted'
    if (this.kind === 'too-large') return 'too-large'
    if (this.isBadChannelKey) return 'account-refused'
    if (this.status === 404 || this.status === 503 || this.status === 529) return 'overloaded'
    return this.status >= 400 ? 'failed' : 'no-valid-answer'
  }

  /** The caller's model name replaces the upstream's. */
  #factsForCaller(): UpstreamErrorFacts {
    const { facts, names } = this
    if (!names || names.asked === names.upstream || names.upstream.length < nameLeast) return facts
    const renamed = (text: string) => withAskedName(text, names)
    const extra = facts.extra && cleanExtra(facts.extra, renamed)
    return { ...facts, message: renamed(facts.message), extra }
  }

  /** A short reason for the log row that admins see. */
  get reason(): string {
    return [
      this.kind === 'status' ? `status ${this.status}` : this.kind,
      this.own?.message ?? '',
      this.isLoop ? 'the address of this channel leads back to this site' : '',
      proxyFailureIn(this.cause)?.message ?? codeOf(this.cause),
      this.facts.code || this.facts.type,
      this.facts.message.slice(0, 400),
    ]
      .filter((part) => part !== '')
      .join(': ')
  }
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

/** The names of a model at the upstream and for the caller, which may differ. */
interface ModelNames {
  readonly upstream: string
  readonly asked: string
  /** The endpoint of the call, if upstreams may lack it. */
  readonly endpoint?: string | undefined
}

/** Shorter names are not replaced: they may be ordinary words. */
const nameLeast = 2

/** Replaces the upstream's name of the model by the caller's, as a whole word only. */
function withAskedName(text: string, { upstream, asked }: ModelNames): string {
  return text.split(upstream).reduce((before, behind) => {
    const isWord = !/[\w-]$/.test(before.slice(-1)) && !/^[\w-]/.test(behind)
    return before + (isWord ? asked : upstream) + behind
  })
}

/** The error is about this request: every key and channel would refuse it. */
function isAboutRequest({ kind }: KnownError): boolean {
  return kind === 'context-too-long' || kind === 'content-filtered'
}

/**
 * The lengths in the error of a conversation that is too long. When the upstream reports none, they are the model's known limit and
 * this server's count of the prompt, raised above the limit when it is lower.
 */
function withNumbers(
  known: KnownError,
  { promptTokens, names }: { promptTokens: number; names: ModelNames | undefined },
): KnownError {
  if (known.kind !== 'context-too-long') return known
  const { excess = 0 } = known
  const byExcess = excess > 0 && promptTokens > excess ? promptTokens - excess : undefined
  const limit =
    known.limit ?? byExcess ?? (names && (knownModelLimits(names.upstream) ?? knownModelLimits(names.asked))?.contextTokens)
  if (limit === undefined) return known
  const tokens = Math.max(known.tokens ?? promptTokens, limit + Math.max(1, excess))
  return { ...known, limit, tokens }
}

/** The failure of attempts that are aborted because this server is stopping. No channel is at fault. */
export function serverStopping(): UpstreamFailure {
  return new UpstreamFailure('stopped', { own: new AppError('server_stopping') })
}

/** OpenAI's message for an item or a response. */
const lostItem = /^(Item|Items|Previous response|Response) with id .{1,200} not found/i
const retryable = new Set([401, 402, 403, 404, 408, 409, 425, 429])
/** Statuses about the account of the channel. */
const ofChannel = new Set([401, 402, 403, 408, 429])
const timeouts = new Set([408, 504, 524])
const callersMistakes = new Set([400, 405, 406, 411, 413, 414, 415, 416, 422, 431])

/** The same failure without the channel's secrets. */
export function withCleanFacts(failure: UpstreamFailure, channel: Upstream, names?: ModelNames): UpstreamFailure {
  const { kind, status, isMapped, facts, retryAfter, own, noRoute, cause } = failure
  const clean = (text: string) => (text === '' ? '' : withoutSecrets(text, channel))
  return new UpstreamFailure(kind, {
    status,
    isMapped,
    retryAfter,
    cause,
    names,
    noRoute,
    ...(own ? { own } : {}),
    facts: {
      message: clean(facts.message),
      type: clean(facts.type).slice(0, 100),
      code: clean(facts.code).slice(0, 100),
      param: facts.param && clean(facts.param).slice(0, 200),
      status: facts.status,
      ...(facts.extra ? { extra: cleanExtra(facts.extra, (text) => withoutSecrets(text, channel, extraTextMax)) } : {}),
    },
  })
}

/** Removes the channel's key, host and organisation, and everything that looks like a secret, from an upstream's text. */
export function withoutSecrets(text: string, channel: Upstream, lengthMax = 2000): string {
  const own = [channel.key, ...channel.key.split('|'), channel.organization, ...hostsOf(channel.baseUrl)]
  const secrets = own.filter((secret) => secret.length >= 4)
  return redact(secrets.reduce((safe, secret) => safe.replaceAll(secret, '…'), text)).slice(0, lengthMax)
}

/** The text of an upstream as callers and the owners of tokens may see it. */
export function toldToCallers(text: string, channel: Upstream, lengthMax = 2000): string {
  return withoutOperatorDetails(withoutSecrets(text, channel, lengthMax))
}

/** A rejected output of a model is returned unchanged. */
const extraTextMax = 32_000

function hostsOf(url: string): string[] {
  const parsed = parseUrl(url)
  return parsed ? [parsed.host, parsed.hostname] : []
}

/** Returns the result of `read`, or the failure of an invalid answer. */
export function tryReading<Read>(read: () => Read): Read | UpstreamFailure {
  try {
    return read()
  } catch (cause) {
    return unreadable(cause)
  }
}

/** The failure of an answer for whose bytes a step has thrown; `message` says more to admins. */
export function unreadable(cause: unknown, message = ''): UpstreamFailure {
  if (cause instanceof UpstreamFailure) return cause
  return new UpstreamFailure(cause instanceof EventTooLarge ? 'too-large' : 'bad-reply', { facts: { message }, cause })
}

/** Throws an UpstreamFailure when the body is anything but a JSON object. */
export function parseObject(body: Buffer): JsonObject {
  const value: unknown = JSON.parse(body.toString('utf8', body[0] === 0xef ? 3 : 0))
  if (!isObject(value)) throw badReply('the answer is not a JSON object')
  return value
}

/** The failure of a reply that is an error in itself: in a stream, or with a status of success. */
export function errorInReply(facts: UpstreamErrorFacts): UpstreamFailure {
  const status =
    facts.status || statusOfType.get(facts.type) || (/overloaded/i.test(`${facts.code} ${facts.message}`) ? 503 : 502)
  return new UpstreamFailure('status', { status, facts })
}

/** Errors without a status are faults of the upstream unless their type says otherwise. */
const statusOfType: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['rate_limit_error', 429],
  ['rate_limit_exceeded', 429],
  ['overloaded_error', 503],
])

export function badReply(message: string): UpstreamFailure {
  return new UpstreamFailure('bad-reply', { facts: { message } })
}

/** Response headers by their lower-case names. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Longer waits are capped at thirty days, those of a monthly quota. */
const secondsMax = 30 * 86_400

/**
 * Seconds after which the upstream asks for a retry, at most thirty days; 0 when it names no time. `Retry-After` in seconds or as a
 * date (RFC 9110) and Azure's `retry-after-ms` take precedence; else the latest reset of an exhausted limit: `RateLimit` (the IETF
 * draft in its older and newer forms), `x-ratelimit-…` of OpenAI and compatible hosts, `anthropic-ratelimit-…`. Pure.
 */
export function readRetryAfter(headers: Headers, nowMs: number): number {
  const explicitMs = msIn(textOf(headers['retry-after']), nowMs) || numberIn(textOf(headers['retry-after-ms']))
  const ms = explicitMs || Math.max(0, ...resetsOf(headers).map((reset) => msIn(reset, nowMs)))
  return Math.min(Math.max(Math.ceil(ms / 1000), 0), secondsMax)
}

/** The reset times of exhausted limits, from the headers. */
function resetsOf(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = textOf(value)
    if (name === 'ratelimit') return draftResets(text)
    if (!/^0+(\.0+)?$/.test(text) || !countsDown(name)) return []
    return textOf(headers[name.replace('remaining', 'reset')]) || []
  })
}

/** `x-ratelimit-remaining-requests` and similar headers. */
function countsDown(name: string): boolean {
  const at = name.indexOf('ratelimit')
  return at >= 0 && name.includes('remaining', at)
}

/** `limit=100, remaining=0, reset=50`, or `"minute";r=0;t=50, "day";r=10;t=3000`. */
function draftResets(text: string): string[] {
  const older = /\bremaining=0\b/.test(text) ? /\breset=(\d+)/.exec(text)?.[1] : undefined
  const newer = text.split(',').flatMap((policy) => (/;\s*r=0\b/.test(policy) ? (/;\s*t=(\d+)/.exec(policy)?.[1] ?? []) : []))
  return older === undefined ? newer : [older]
}

/** Seconds, a unix time in seconds or milliseconds, a duration such as `6m0.5s` or `120ms`, or a date. */
function msIn(text: string, nowMs: number): number {
  const number = numberIn(text)
  if (number > 1e11) return number - nowMs
  if (number > 1e9) return number * 1000 - nowMs
  if (text !== '' && !Number.isNaN(Number(text))) return number * 1000
  const [whole, hours, minutes, seconds, ms] = /^(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?$/.exec(text) ?? []
  if (whole) return ((numberIn(hours) * 60 + numberIn(minutes)) * 60 + numberIn(seconds)) * 1000 + numberIn(ms)
  const at = Date.parse(text)
  return Number.isNaN(at) ? 0 : at - nowMs
}

function numberIn(text = ''): number {
  const number = Number(text)
  return Number.isFinite(number) ? number : 0
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? (header[0] ?? '') : (header ?? '')).trim()
}
