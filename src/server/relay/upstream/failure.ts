import { knownModelLimits } from '../../../contract/model-limits.ts'
import { reportFailure } from '../../channels/health.ts'
import type { RunningChannel } from '../../channels/model-index.ts'
import type { CallerLog } from '../../lib/caller-log.ts'
import { AppError } from '../../lib/failure.ts'
import { background, redact } from '../../lib/logger.ts'
import { parseUrl } from '../../lib/parse-url.ts'
import type { Core } from '../../options/core.ts'
import { type CallerError, ownError, passedError } from '../../protocols/error-body.ts'
import { cleanExtra } from '../../protocols/error-extra.ts'
import { type KnownError, recognise } from '../../protocols/known-errors.ts'
import { isObject, type JsonObject, type UpstreamErrorFacts } from '../../protocols/wire-format.ts'
import type { Upstream } from '../../providers/provider.ts'
import type { ClientExchange } from '../http/client-exchange.ts'

/** The failure of an attempt on a channel, before or after anything was sent to the caller. */
export class UpstreamFailure extends Error {
  /** Status of the upstream after the channel's mapping; 0 when there was no answer. */
  readonly status: number
  readonly isMapped: boolean
  readonly kind: 'unreachable' | 'timeout' | 'status' | 'bad-reply' | 'cut' | 'untranslatable' | 'stopped'
  readonly facts: UpstreamErrorFacts
  readonly retryAfter: number
  /** What the caller is told instead, when it is not the upstream that failed. */
  readonly own: AppError | undefined
  /** The model as the upstream names it and as the caller does, where they were known. */
  readonly names: ModelNames | undefined
  /** What the upstream said of a path that it seems not to have. */
  readonly noRoute: string | undefined
  /** What the error is, where every vendor has it in words of its own. */
  readonly known: KnownError | undefined

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
    this.known = kind === 'status' && !this.isMapped ? recognise(this.facts, this.status) : undefined
  }

  /** The channel leads back to this site: its address is wrong, and nothing else of it can be judged. */
  get isLoop(): boolean {
    return this.kind === 'status' && this.status === 508 && !this.isMapped
  }

  /** The caller's own mistake: no other channel would answer it differently, and the channel is not to blame. */
  get isCallersMistake(): boolean {
    if (this.kind === 'untranslatable' || this.isOfLostState) return true
    if (this.known) return isAboutRequest(this.known)
    return this.kind === 'status' && callersMistakes.has(this.status) && !this.isBadChannelKey
  }

  /** Another channel may do better: transport failures, 401, 402, 403, 404, 408, 409, 425, 429 and every 5xx. */
  get isRetryable(): boolean {
    if (this.kind === 'stopped') return false
    if (this.kind !== 'status' || this.status < 400) return true
    if (this.isOfLostState) return false
    if (this.known) return !isAboutRequest(this.known)
    return this.isBadChannelKey || this.status >= 500 || retryable.has(this.status)
  }

  /** Gemini says 400 for a key that it does not know. */
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

  /** The upstream keeps nothing under an id that the caller has named, where it once did. */
  get isOfLostState(): boolean {
    if (this.kind !== 'status' || this.status !== 404) return false
    const { code, extra, message } = this.facts
    const details = extra?.members.details
    const isLostThread = isObject(details) && details.error_code === 'thread_not_found'
    return code === 'previous_response_not_found' || isLostThread || lostItem.test(message)
  }

  /** The upstream does not have the endpoint that was asked. What names the model is about that. */
  get isOfMissingEndpoint(): boolean {
    if (this.noRoute === undefined || this.known || this.isOfLostState) return false
    const model = this.names?.upstream ?? ''
    return !/\bmodels?\b/i.test(this.noRoute) && (model === '' || !this.noRoute.includes(model))
  }

  /** The account behind the channel's key has nothing left. */
  get isOutOfCredit(): boolean {
    return this.known?.kind === 'quota-exhausted'
  }

  /** The key, or the account behind it: another key of the same channel may do better. */
  get isFaultOfKey(): boolean {
    return this.kind === 'status' && (this.isBadChannelKey || this.isOutOfCredit || this.status === 402 || this.status === 429)
  }

  /** The same key will not be taken the next time either. */
  get isRefusal(): boolean {
    return this.isFaultOfKey && (this.isOutOfCredit || (this.status !== 403 && this.status !== 429))
  }

  /** The upstream itself: it could not be reached, broke off, or failed. */
  get isFaultOfUpstream(): boolean {
    if (this.kind === 'untranslatable' || this.kind === 'stopped' || this.isLoop || this.known) return false
    return this.kind !== 'status' || this.status >= 500 || this.status === 408
  }

  /**
   * What the caller is told when no channel is left. The channel's own troubles never look like the caller's. `promptTokens` is what
   * the prompt was counted as here, 0 where it was not.
   */
  forCaller(promptTokens = 0): CallerError {
    if (this.own) return ownError(this.own)
    if (this.isLoop) return ownError(new AppError('loop_detected'))
    const facts = this.#factsForCaller()
    if (this.isMapped && this.kind === 'status') return passedError(this.status, facts)
    if (this.known && isAboutRequest(this.known)) {
      return { ...passedError(400, facts), known: withNumbers(this.known, { promptTokens, names: this.names }) }
    }
    if (this.isCallersMistake) return passedError(this.status === 422 ? 400 : this.status, facts)
    if (this.isOutOfCredit) return ownError(new AppError('upstream_quota_exhausted'))
    if (this.isOfMissingEndpoint && this.names?.endpoint !== undefined) {
      return ownError(new AppError('dialect_unavailable', { model: this.names.asked, endpoint: this.names.endpoint }))
    }
    if (this.known?.kind === 'model-unknown' && this.names) {
      return ownError(new AppError('model_not_found', { model: this.names.asked }))
    }
    if (this.status === 429) return ownError(new AppError('upstream_saturated'), { retryAfter: this.retryAfter })
    if (this.kind === 'timeout' || this.status === 504 || this.status === 524 || this.status === 408)
      return ownError(new AppError('upstream_timeout'))
    if (this.kind === 'unreachable') return ownError(new AppError('upstream_unreachable'))
    if (this.isBadChannelKey || this.status === 402 || this.status === 404 || this.status === 503 || this.status === 529) {
      return ownError(new AppError('upstream_unavailable'), { retryAfter: this.retryAfter })
    }
    const reason =
      facts.message || (this.status > 0 ? `status ${this.status}` : { zh: '没有给出有效的回答', en: 'it sent no valid answer' })
    return { ...ownError(new AppError('upstream_failed', { reason })), extra: facts.extra }
  }

  /** The model of the channel stays hidden behind the name that the caller has used. */
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
      this.cause instanceof Error && 'code' in this.cause ? String(this.cause.code) : '',
      this.facts.code || this.facts.type,
      this.facts.message.slice(0, 200),
    ]
      .filter((part) => part !== '')
      .join(': ')
  }
}

/** A model has one name at the upstream, and maybe another one for callers. */
interface ModelNames {
  readonly upstream: string
  readonly asked: string
  /** The endpoint of the call, where an upstream may lack that. */
  readonly endpoint?: string | undefined
}

/** A shorter name may be any word. */
const nameLeast = 2

/** Puts the caller's name in place of the upstream's, where that stands as a word of its own. */
function withAskedName(text: string, { upstream, asked }: ModelNames): string {
  return text.split(upstream).reduce((before, behind) => {
    const isWord = !/[\w-]$/.test(before.slice(-1)) && !/^[\w-]/.test(behind)
    return before + (isWord ? asked : upstream) + behind
  })
}

/** It is about this request, which no other key or channel would answer differently. */
function isAboutRequest({ kind }: KnownError): boolean {
  return kind === 'context-too-long' || kind === 'content-filtered'
}

/**
 * The numbers of a conversation that is too long. Where the upstream does not say them, they are what is known here of the model and of the
 * prompt; of a prompt that was counted as less than the limit it is only known that it has more.
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

/** As OpenAI says it of an item or of a response. */
const lostItem = /^(Item|Items|Previous response|Response) with id .{1,200} not found/i
const retryable = new Set([401, 402, 403, 404, 408, 409, 425, 429])
const callersMistakes = new Set([400, 405, 406, 411, 413, 414, 415, 416, 422, 431])

/** The same failure with nothing in it of the channel's secrets. */
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

/** What a model wrote in vain comes back whole. */
const extraTextMax = 32_000

function hostsOf(url: string): string[] {
  const parsed = parseUrl(url)
  return parsed ? [parsed.host, parsed.hostname] : []
}

/** What `read` answers, or the failure that a broken answer is. */
export function tryReading<Read>(read: () => Read): Read | UpstreamFailure {
  try {
    return read()
  } catch (cause) {
    return cause instanceof UpstreamFailure ? cause : new UpstreamFailure('bad-reply', { cause })
  }
}

/** Throws an UpstreamFailure when the body is anything but a JSON object. */
export function parseObject(body: Buffer): JsonObject {
  const value: unknown = JSON.parse(body.toString('utf8', body[0] === 0xef ? 3 : 0))
  if (!isObject(value)) throw badReply('the answer is not a JSON object')
  return value
}

export function badReply(message: string): UpstreamFailure {
  return new UpstreamFailure('bad-reply', { facts: { message } })
}

/** Reports a failure that is not the caller's to the channel's health. */
export function noteFailure(
  app: Core & { readonly callerLog: CallerLog },
  call: ClientExchange,
  channel: RunningChannel,
  failure: UpstreamFailure,
): void {
  app.metrics.upstreamAttempts.inc({ outcome: failure.kind })
  if (failure.isCallersMistake || failure.kind === 'stopped') return
  app.callerLog.of(call.client).warn({ request: call.id, channel: channel.id, reason: failure.reason }, 'a channel failed')
  // What an upstream says of a wrong address says nothing of the key.
  if (failure.isLoop) return
  const { message, code, type } = failure.facts
  background(app.logger, 'report a failed channel', reportFailure(app, channel, { status: failure.status, code, type, message }))
}

/** Response headers by their lower-case names. */
type Headers = Readonly<Record<string, string | string[] | undefined>>

/** Longer waits are capped at one hour. */
const secondsMax = 3600

/**
 * Seconds until the upstream wants to be asked again, at most an hour; 0 when it does not say. `Retry-After` in seconds or as a date
 * (RFC 9110) and Azure's `retry-after-ms` come first; else the latest reset of a limit that is used up: `RateLimit` (the IETF draft in its
 * older and newer forms), `x-ratelimit-…` of OpenAI and those who follow it, `anthropic-ratelimit-…`. Pure.
 */
export function readRetryAfter(headers: Headers, nowMs: number): number {
  const explicitMs = msIn(textOf(headers['retry-after']), nowMs) || numberIn(textOf(headers['retry-after-ms']))
  const ms = explicitMs || Math.max(0, ...resetsOf(headers).map((reset) => msIn(reset, nowMs)))
  return Math.min(Math.max(Math.ceil(ms / 1000), 0), secondsMax)
}

/** When the limits that are used up start anew, as the headers say it. */
function resetsOf(headers: Headers): string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const text = textOf(value)
    if (name === 'ratelimit') return draftResets(text)
    if (!/^0+(\.0+)?$/.test(text) || !countsDown(name)) return []
    return textOf(headers[name.replace('remaining', 'reset')]) || []
  })
}

/** `x-ratelimit-remaining-requests` and its like. */
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

/** Seconds, a moment as unix seconds or milliseconds, a duration as `6m0.5s` or `120ms`, or a date. */
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
