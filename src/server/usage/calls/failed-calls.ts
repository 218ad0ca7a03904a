import { type LogFailure, logType } from '../../../contract/entities/log.ts'
import { inBothLanguages } from '../../../contract/text.ts'
import { isDatabaseFailure } from '../../base/db/failures.ts'
import type { NewRow } from '../../base/db/schema.ts'
import { withDatabaseTimeout } from '../../base/db/with-timeout.ts'
import { redact } from '../../base/lib/log/logger.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import type { Core } from '../../base/options/core.ts'
import { type CallFailure, type CallObserver, type EndedCall, pathOf } from './ended-calls.ts'

/**
 * Log rows of failed calls (type 5). They are written in batches after the answers, apart from the ledger: nothing waits for them,
 * and an outage of the database loses only these rows. Dropped rows are counted.
 */

/** A row whose `other` is still to be written as JSON. */
type FailedCall = Omit<NewRow<'logs'>, 'id' | 'type' | 'other' | 'quota'> & {
  readonly request_id: string
  other: LogFailure
}

/** Greatest number of queued rows: some megabytes. */
export const waitingMax = 2_000
const batchMax = 100
const pauseMs = 250
const retryMinMs = 1_000
const retryMaxMs = 30_000
const otherBytesMax = 8_192
const addressesMax = 1_000
/** Number of addresses with a series of their own in the metrics. */
const addressesShown = 20

type Outcome = 'written' | 'off' | 'sampled' | 'dropped' | 'lost'

export class FailedCalls implements CallObserver {
  readonly onlyFailed = true
  readonly #core: Pick<Core, 'db' | 'logger' | 'metrics' | 'now' | 'options'>
  readonly #unknownKeys = new Map<string, number>()
  #waiting: FailedCall[] = []
  #timer: NodeJS.Timeout | undefined
  #writing: Promise<void> | undefined
  #retryMs = retryMinMs
  #isClosed = false
  #second = 0
  #rowsOfSecond = 0
  readonly #rowsOfUser = new Map<number, number>()

  constructor(core: Pick<Core, 'db' | 'logger' | 'metrics' | 'now' | 'options'>) {
    this.#core = core
    const { readings } = core.metrics
    readings.failedCallsWaiting = () => this.#waiting.length
    readings.unknownKeyCalls = () => this.#mostUnknown()
  }

  /** Counts a failed call, and queues its row unless an option disables it or the queue is full. */
  callEnded(call: EndedCall): void {
    const { failure, status, caller } = call
    if (!failure) return
    this.#core.metrics.failedCalls.inc({ status: status >= 400 && status < 600 ? String(status) : 'other' })
    const refused = this.#refusal(caller.userId)
    if (refused) {
      this.#count(refused)
      return
    }
    this.#waiting.push(rowOf(call, failure, seconds(this.#core.now())))
    this.#schedule(pauseMs)
  }

  /** Counts a call without a known key. */
  noteUnknownKey(address: string): void {
    const known = this.#unknownKeys
    const counted = known.has(address) || known.size < addressesMax ? address : 'others'
    known.set(counted, (known.get(counted) ?? 0) + 1)
  }

  /** Writes the queued rows once, and accepts no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#writing
    while (this.#waiting.length > 0 && (await this.#writeBatch()));
    if (this.#waiting.length > 0) this.#count('lost', this.#waiting.splice(0).length)
  }

  #refusal(userId: number): Outcome | undefined {
    const { ErrorLogMode: mode, ErrorLogRowsPerSecond: rowsMax } = this.#core.options.current
    if (mode === 'off') return 'off'
    if (mode === 'sampled' && !this.#isWithin(userId, rowsMax)) return 'sampled'
    return this.#isClosed || this.#waiting.length >= waitingMax ? 'dropped' : undefined
  }

  /** At most half of the rows of a second may be of one user: a flood of one key must not hide the failures of others. */
  #isWithin(userId: number, rowsMax: number): boolean {
    const second = Math.floor(this.#core.now() / 1000)
    if (second !== this.#second) {
      this.#second = second
      this.#rowsOfSecond = 0
      this.#rowsOfUser.clear()
    }
    const own = this.#rowsOfUser.get(userId) ?? 0
    if (this.#rowsOfSecond >= rowsMax || own >= Math.ceil(rowsMax / 2)) return false
    this.#rowsOfSecond++
    this.#rowsOfUser.set(userId, own + 1)
    return true
  }

  #schedule(afterMs: number): void {
    if (this.#timer || this.#writing || this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#writing = this.#write()
    }, afterMs).unref()
  }

  async #write(): Promise<void> {
    let isWritten = true
    while (isWritten && this.#waiting.length > 0) isWritten = await this.#writeBatch()
    this.#writing = undefined
    this.#retryMs = isWritten ? retryMinMs : Math.min(this.#retryMs * 2, retryMaxMs)
    if (this.#waiting.length > 0) this.#schedule(isWritten ? pauseMs : this.#retryMs)
  }

  /** Returns false when the database is unavailable: the rows stay queued, within the bound of the queue. Never throws. */
  async #writeBatch(): Promise<boolean> {
    const batch = this.#waiting.slice(0, batchMax)
    try {
      await this.#insert(batch)
    } catch (error) {
      if (isDatabaseFailure(error)) return false
      this.#core.logger.error({ error }, 'rows of failed calls were refused')
      // A row that the database refuses does not prevent the others.
      for (const row of batch.splice(0)) {
        const isWritten = await this.#insert([row]).then(
          () => true,
          () => false,
        )
        this.#count(isWritten ? 'written' : 'lost')
        this.#waiting.shift()
      }
      return true
    }
    this.#waiting.splice(0, batch.length)
    this.#count('written', batch.length)
    return true
  }

  async #insert(rows: readonly FailedCall[]): Promise<void> {
    const { db } = this.#core
    const charges = await withDatabaseTimeout(
      db
        .selectFrom('ledger')
        .select(['reference', 'amount'])
        .where(
          'reference',
          'in',
          rows.map(({ request_id }) => `charge:${request_id}`),
        )
        .execute(),
    )
    const charged = new Map(charges.map(({ reference, amount }) => [reference, 0 - amount]))
    const values = rows.map((row) => {
      const units = charged.get(`charge:${row.request_id}`)
      return { ...row, type: logType.error, other: textOf(units === undefined ? row.other : { ...row.other, charged: units }) }
    })
    await withDatabaseTimeout(db.insertInto('logs').values(values).execute())
  }

  #count(outcome: Outcome, rows = 1): void {
    this.#core.metrics.failedCallRows.inc({ outcome }, rows)
  }

  /** The addresses with the most calls without a known key, and the calls of all others together. */
  #mostUnknown(): ReadonlyMap<string, number> {
    const sorted = [...this.#unknownKeys].sort(([, one], [, other]) => other - one)
    const shown = new Map(sorted.slice(0, addressesShown))
    const rest = sorted.slice(addressesShown).reduce((sum, [, count]) => sum + count, 0)
    return rest > 0 ? shown.set('others', rest + (shown.get('others') ?? 0)) : shown
  }
}

function rowOf(call: EndedCall, failure: CallFailure, at: number): FailedCall {
  const { caller, status, durationMs, firstByteMs } = call
  const code = plain(failure.code, 100)
  const failed = call.attempts.filter(({ reason }) => reason !== '')
  const attempts = failed.slice(-attemptsMax).map(({ channel, choice, candidates, status, reason, ms }) => {
    return { channel: channel.id, key: channel.keyId, status, reason: plain(reason, reasonMax), ms, choice, candidates }
  })
  return {
    user_id: caller.userId,
    created_at: at,
    content: contentOf(failure),
    username: caller.username,
    token_id: caller.tokenId,
    token_name: caller.tokenName,
    model_name: plain(call.model, 200),
    use_time: Math.round(durationMs / 1000),
    is_stream: call.stream ? 1 : 0,
    channel_id: failed.at(-1)?.channel.id ?? 0,
    group: call.group,
    request_id: call.id,
    error_status: status,
    error_code: code,
    other: {
      status,
      code,
      dialect: call.dialect,
      format: call.format,
      path: plain(pathOf(call.url), 200),
      use_time_ms: durationMs,
      ...(firstByteMs === undefined ? {} : { frt: firstByteMs }),
      bytes_in: call.bytesIn,
      bytes_out: call.bytesOut,
      ...(failure.inStream ? { in_stream: true as const } : {}),
      address: call.address,
      user_agent: plain(call.userAgent, 200),
      ...(failure.stoppedBy ? { limit: failure.stoppedBy.limit } : {}),
      admin_info: {
        ...(failure.stoppedBy?.budget === undefined ? {} : { budget: failure.stoppedBy.budget }),
        use_channel: attempts.map(({ channel }) => String(channel)),
        ...(attempts.length > 0 ? { attempts } : {}),
        candidates: call.candidates,
      },
    },
  }
}

const attemptsMax = 20
const reasonMax = 500
const messageMax = 1_000

function contentOf({ message: { zh, en } }: CallFailure): string {
  return inBothLanguages({ zh: plain(zh, messageMax), en: plain(en, messageMax) })
}

/** The text within a length, without secrets, and without characters that PostgreSQL does not accept. */
function plain(text: string, lengthMax: number): string {
  return redact(text).slice(0, lengthMax).toWellFormed().replaceAll('\0', '')
}

/**
 * `other` as JSON, within its bound: of many attempts the last are kept, and the candidates of each are dropped before attempts
 * are.
 */
function textOf(other: LogFailure): string {
  const text = JSON.stringify(other)
  const { admin_info: admin } = other
  if (Buffer.byteLength(text) <= otherBytesMax || !admin?.attempts) return text
  if (admin.attempts.some(({ candidates }) => candidates)) {
    const attempts = admin.attempts.map((attempt) => ({ ...attempt, candidates: undefined }))
    return textOf({ ...other, admin_info: { ...admin, attempts } })
  }
  const attempts = admin.attempts.slice(Math.ceil(admin.attempts.length / 2))
  return textOf({ ...other, admin_info: { ...admin, ...(attempts.length > 0 ? { attempts } : { attempts: undefined }) } })
}
