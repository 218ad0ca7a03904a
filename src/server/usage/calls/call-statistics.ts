import { inBothLanguages, type Text } from '../../../contract/text.ts'
import { isDatabaseFailure } from '../../base/db/failures.ts'
import { withDatabaseTimeout } from '../../base/db/with-timeout.ts'
import { redact } from '../../base/lib/log/logger.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import {
  type AddedSums,
  type CallError,
  type CallSide,
  type CallSums,
  fiveMinutes,
  noSums,
  offerKey,
  writeCallSums,
} from './call-sums.ts'
import type { CallFailure, CallKind, CallObserver, EndedAttempt, EndedCall } from './ended-calls.ts'

/**
 * Counts calls and attempts in memory, and adds them to the rows of `call-sums.ts` every few seconds, after the answers. Bounded:
 * keys beyond the bound are counted for the site alone, and an outage of the database loses only the statistics of that time.
 */

const flushMs = 5_000
const keysMax = 2_000
const codesMax = 50
const waitingMax = 20_000
const atOnce = 50
const messageMax = 500

/** Calls that ask for an answer of a model. */
const counted: ReadonlySet<CallKind> = new Set(['relay', 'background', 'socket', 'task'])

interface Counted {
  readonly sums: CallSums
  errors: Map<string, CountedError> | undefined
}

type CountedError = Omit<CallError, 'message'> & { message: Text }

type Parts = Pick<Core, 'db' | 'logger' | 'now'>

export class CallStatistics implements CallObserver {
  readonly #parts: Parts
  /** Counts of the 5 minutes that began at `#at`. */
  #counts = noCounts()
  #at = 0
  #waiting: AddedSums[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #isClosed = false

  constructor(parts: Parts) {
    this.#parts = parts
  }

  callEnded(call: EndedCall): void {
    if (!counted.has(call.kind) || this.#isClosed) return
    this.#turn()
    const { attempts, caller, failure, model } = call
    const last = attempts.at(-1)
    const outcome = outcomeOf(call, last)
    const site = this.#of('site', '')
    if (site) {
      countTimes(site.sums, call, outcome)
      countCall(site.sums, call, outcome)
      if (failure) this.#countError(site, failure.code, failure.message)
    }
    this.#countFor('user', caller.userId, call, outcome)
    this.#countFor('token', caller.tokenId, call, outcome)
    if (call.group !== '' && (last || failure?.code === 'no_channel')) this.#countFor('offer', offerOf(call), call, outcome)
    if (!last) return
    // Only models for which a channel was tried: callers can invent names.
    const ofModel = model === '' ? undefined : this.#of('model', model.slice(0, 200))
    if (ofModel) {
      countTimes(ofModel.sums, call, outcome)
      countCall(ofModel.sums, call, outcome)
    }
    if (outcome !== 'answered') return
    const channel = this.#of('channel', last.channel.id)
    const key = this.#of('key', last.channel.keyId)
    if (channel) countUse(channel.sums, call)
    if (key) countUse(key.sums, call)
  }

  /** A probe of a model in a group was answered, or failed by a fault of the site or its upstreams. */
  probeEnded(group: string, model: string, isAnswered: boolean): void {
    if (this.#isClosed) return
    this.#turn()
    const entry = this.#of('probe', offerOf({ group, model }))
    if (!entry) return
    entry.sums.count++
    if (isAnswered) entry.sums.answered++
    else entry.sums.failed++
  }

  attemptEnded(attempt: EndedAttempt): void {
    if (this.#isClosed) return
    this.#turn()
    this.#countAttempt(this.#of('channel', attempt.channel.id), attempt)
    this.#countAttempt(this.#of('key', attempt.channel.keyId), attempt)
  }

  /** Writes the counts so far. While the database is unavailable, they stay queued. */
  async flush(): Promise<void> {
    await this.#writing
    this.#collect()
    this.#writing = this.#write()
    await this.#writing
  }

  /** Writes the counts once, and counts no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.flush()
  }

  #countFor(side: CallSide, key: number | string, call: EndedCall, outcome: Outcome): void {
    const entry = this.#of(side, key)
    if (entry) countCall(entry.sums, call, outcome)
  }

  #countAttempt(entry: Counted | undefined, { reason, isFault, ms, firstByteMs, status }: EndedAttempt): void {
    if (!entry) return
    const { sums } = entry
    sums.count++
    if (isFault) {
      sums.failed++
      const told = withoutStatus(reason, status)
      this.#countError(entry, status === 0 ? 'no_answer' : String(status), { zh: told, en: told })
    } else if (reason === '') {
      sums.answered++
      sums.durations.add(ms)
      if (firstByteMs !== undefined) sums.first_bytes.add(firstByteMs)
    }
  }

  #countError(entry: Counted, code: string, message: Text): void {
    entry.errors ??= new Map()
    const last_at = seconds(this.#parts.now())
    const known = entry.errors.get(code)
    if (known) {
      known.count++
      known.message = message
      known.last_at = last_at
    } else entry.errors.set(entry.errors.size < codesMax ? code : 'other', { code, count: 1, message, last_at })
  }

  #of(side: CallSide, key: number | string): Counted | undefined {
    const ofSide = this.#counts[side]
    const known = ofSide.get(key)
    if (known || ofSide.size >= keysMax) return known
    const made: Counted = { sums: noSums(), errors: undefined }
    ofSide.set(key, made)
    return made
  }

  /** Begins the next 5 minutes when they start, and schedules the write of the counts. */
  #turn(): void {
    const now = seconds(this.#parts.now())
    const at = now - (now % fiveMinutes)
    if (at !== this.#at) {
      this.#collect()
      this.#at = at
    }
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.flush().catch((error) => this.#parts.logger.error({ error }, 'statistics of calls were not written'))
    }, flushMs).unref()
  }

  #collect(): void {
    for (const [side, entries] of Object.entries(this.#counts)) {
      for (const [key, { sums, errors }] of entries) {
        // The keys of `#counts` are sides.
        this.#waiting.push({ side: side as CallSide, key: plain(String(key)), at: this.#at, sums, errors: errorsOf(errors) })
      }
    }
    this.#counts = noCounts()
    const lost = this.#waiting.splice(0, this.#waiting.length - waitingMax)
    if (lost.length > 0) this.#parts.logger.warn({ rows: lost.length }, 'statistics of calls were lost')
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, atOnce)
      try {
        await withDatabaseTimeout(this.#parts.db.transaction().execute((within) => writeCallSums(within, batch)))
      } catch (error) {
        if (isDatabaseFailure(error)) return
        this.#parts.logger.error({ error }, 'statistics of calls were refused')
      }
      this.#waiting.splice(0, batch.length)
    }
  }
}

function offerOf({ group, model }: Pick<EndedCall, 'group' | 'model'>): string {
  return offerKey(group, model.slice(0, 200))
}

type Counts = Record<CallSide, Map<number | string, Counted>>

function noCounts(): Counts {
  return {
    site: new Map(),
    model: new Map(),
    offer: new Map(),
    probe: new Map(),
    user: new Map(),
    token: new Map(),
    channel: new Map(),
    key: new Map(),
  }
}

type Outcome = 'answered' | 'failed' | 'other'

/** Only faults of the site, its channels or their upstreams count as failed. */
function outcomeOf({ failure, status }: EndedCall, last: EndedAttempt | undefined): Outcome {
  if (!failure) return 'answered'
  if (isLeft(failure)) return 'other'
  return status >= 500 || last?.isFault === true ? 'failed' : 'other'
}

function isLeft({ code }: CallFailure): boolean {
  return code === 'client_closed'
}

function countCall(sums: CallSums, call: EndedCall, outcome: Outcome): void {
  sums.count++
  countUse(sums, call)
  if (outcome === 'failed') sums.failed++
  else if (outcome === 'answered') sums.answered++
}

function countTimes(sums: CallSums, call: EndedCall, outcome: Outcome): void {
  // A session lasts as long as its caller wants.
  if (outcome !== 'answered' || call.kind === 'socket') return
  sums.durations.add(call.durationMs)
  if (call.firstByteMs !== undefined) sums.first_bytes.add(call.firstByteMs)
}

function countUse(sums: CallSums, { tokensIn, tokensOut, quota, durationMs, firstByteMs, kind }: EndedCall): void {
  sums.tokens_in += tokensIn
  sums.tokens_out += tokensOut
  sums.quota += quota
  if (tokensOut > 0 && kind !== 'socket') sums.output_ms += durationMs - (firstByteMs ?? 0)
}

function errorsOf(errors: Map<string, CountedError> | undefined): readonly CallError[] {
  if (!errors) return []
  return [...errors].map(([code, error]) => {
    const message = inBothLanguages({ zh: plain(error.message.zh), en: plain(error.message.en) })
    return { ...error, code: plain(code).slice(0, 100), message }
  })
}

/** Removes the status from the beginning of the reason, because it is the code of the error here. */
function withoutStatus(reason: string, status: number): string {
  const beginning = `status ${status}: `
  return reason.startsWith(beginning) ? reason.slice(beginning.length) : reason
}

/** The text without secrets, and without characters that PostgreSQL does not accept. */
function plain(text: string): string {
  return redact(text).slice(0, messageMax).toWellFormed().replaceAll('\0', '')
}
