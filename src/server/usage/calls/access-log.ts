import { appendFile } from 'node:fs/promises'
import { writeOut } from '../../base/lib/log/log-output.ts'
import { escapeSeparators, type Logger, redact } from '../../base/lib/log/logger.ts'
import { addCounter, type Metrics } from '../../base/lib/process/metrics.ts'
import { type CallObserver, type EndedAttempt, type EndedCall, pathOf } from './ended-calls.ts'

/**
 * One line of JSON for each call with a known key, on standard output or at the end of a file. Lines are written in batches after
 * the answers. Lines that a disk or a reader does not accept in time are dropped and counted: no call waits for them, and memory is
 * bounded.
 */

/** The most bytes of lines that are queued or being written. */
const waitingBytesMax = 4 * 1024 * 1024
const batchBytes = 64 * 1024
const pauseMs = 250
/** The longest text that a caller may put into a line. */
const textMax = 200

interface Lines {
  text: string
  count: number
}

export class AccessLog implements CallObserver {
  readonly #logger: Pick<Logger, 'error'>
  readonly #path: string
  #waiting: Lines = { text: '', count: 0 }
  #writing: Promise<void> | undefined
  #writingBytes = 0
  #timer: NodeJS.Timeout | undefined
  #dropped = 0
  #hasFailed = false

  /** `path` is that of a file, which is opened for each batch, so that it may be renamed or removed at any time; or `stdout`. */
  constructor(
    { logger, metrics }: { readonly logger: Pick<Logger, 'error'>; readonly metrics: Pick<Metrics, 'registry'> },
    path: string,
  ) {
    this.#logger = logger
    this.#path = path
    addCounter(
      metrics,
      { name: 'sluice_access_log_dropped_total', help: 'Lines of the access log that nobody took in time', labelNames: [] },
      () => [[{}, this.#dropped]],
    )
  }

  callEnded(call: EndedCall): void {
    if (this.#waiting.text.length + this.#writingBytes >= waitingBytesMax) {
      this.#dropped++
      return
    }
    this.#waiting.text += `${escapeSeparators(redact(JSON.stringify(lineOf(call))))}\n`
    this.#waiting.count++
    if (this.#waiting.text.length >= batchBytes) this.#write()
    else this.#timer ??= setTimeout(() => this.#write(), pauseMs).unref()
  }

  /** Writes the queued lines once. */
  async close(): Promise<void> {
    await this.#writing
    this.#write()
    await this.#writing
  }

  #write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#writing || this.#waiting.count === 0) return
    const batch = this.#waiting
    this.#waiting = { text: '', count: 0 }
    if (this.#path === 'stdout') {
      writeOut(batch.text, () => (this.#dropped += batch.count))
      return
    }
    this.#writingBytes = batch.text.length
    this.#writing = this.#append(batch).finally(() => {
      this.#writing = undefined
      this.#writingBytes = 0
      if (this.#waiting.count > 0) this.#timer ??= setTimeout(() => this.#write(), pauseMs).unref()
    })
  }

  async #append(batch: Lines): Promise<void> {
    try {
      await appendFile(this.#path, batch.text, { mode: 0o600 })
      this.#hasFailed = false
    } catch (error) {
      this.#dropped += batch.count
      if (!this.#hasFailed) this.#logger.error({ error, path: this.#path }, 'the access log cannot be written')
      this.#hasFailed = true
    }
  }
}

/** The line of a call. Fields have the names of the log row where it has them; times in milliseconds, cost in quota units. */
function lineOf(call: EndedCall): Record<string, unknown> {
  const { caller, failure } = call
  return {
    time: new Date(call.startedMs).toISOString(),
    request_id: call.id,
    ...(call.trace?.id ? { trace_id: call.trace.id } : {}),
    status: call.status,
    ...(failure ? { code: short(failure.code) } : {}),
    method: call.method,
    path: short(pathOf(call.url)),
    dialect: call.dialect,
    format: call.format,
    kind: call.kind,
    model: short(call.model),
    stream: call.stream,
    user_id: caller.userId,
    username: caller.username,
    token_id: caller.tokenId,
    token_name: caller.tokenName,
    group: call.group,
    address: call.address,
    user_agent: short(call.userAgent),
    duration_ms: call.durationMs,
    first_byte_ms: call.firstByteMs ?? null,
    queue_ms: call.queueMs,
    hold_ms: call.holdMs,
    commit_ms: call.commitMs,
    tokens_in: call.tokensIn,
    tokens_out: call.tokensOut,
    quota: call.quota,
    bytes_in: call.bytesIn,
    bytes_out: call.bytesOut,
    attempts: call.attempts.map(attemptOf),
  }
}

function attemptOf({ channel, upstreamModel, status, reason, ms, firstByteMs }: EndedAttempt): Record<string, unknown> {
  return {
    channel: channel.id,
    key: channel.keyId,
    model: upstreamModel,
    status,
    ...(reason === '' ? {} : { reason: short(reason) }),
    ms,
    first_byte_ms: firstByteMs ?? null,
  }
}

function short(text: string): string {
  return text.slice(0, textMax).toWellFormed()
}
