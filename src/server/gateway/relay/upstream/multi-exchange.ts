import type { Usage } from '../../../../contract/usage.ts'
import { activeMs } from '../../../base/lib/time/active-time.ts'
import type { Deadline, Deadlines } from '../../../base/lib/time/timer-wheel.ts'
import { readErrorInReply } from '../../protocols/openai-chat/errors.ts'
import type { JsonObject } from '../../protocols/wire-format.ts'
import { errorInReply, parseObject, tryReading, UpstreamFailure, unreadable } from './failure.ts'
import { HttpExchange, type Receiver, type Running, type Target } from './http-exchange.ts'

/** Several calls that make one answer: the calls, the URLs that poll their tasks, and the function that combines their replies. */
export interface MultiTarget {
  /** At least one. */
  readonly calls: readonly Target[]
  /** Some of the replies are enough for an answer. */
  readonly takesSome: boolean
  /** Reads the id of the task from a reply that only announces one. */
  pendingTask(reply: JsonObject): string | undefined
  taskTarget(call: Target, taskId: string): Target
  /** Combines the replies, in the order of the calls, into the answer. Throws an UpstreamFailure. */
  finish(replies: readonly JsonObject[]): Promise<Delivered>
}

export interface Delivered {
  readonly contentType: string
  readonly body: Buffer
  /** For usage that the format of the body cannot carry, or counts in another way. */
  readonly usage: Usage | undefined
}

/**
 * Several calls to an upstream that behave like one: a limited number runs at once, each is polled until its task is done, and the replies
 * are delivered as one answer. The deadlines of the channel apply to each call, the one for headers to a task, and the one for the whole
 * exchange to all calls together.
 */
export class MultiExchange implements Running {
  readonly #target: MultiTarget
  readonly #receiver: Receiver
  readonly #deadlines: Deadlines
  readonly #total: Deadline
  readonly #open = new Set<HttpExchange>()
  #stop: (failure: UpstreamFailure) => void = () => {}
  /** The running pauses between polls, each with the function that ends it. */
  readonly #pauses = new Map<Deadline, () => void>()
  #wasSent = false
  #isOver = false
  #bytes = 0
  #usage: Usage | undefined

  constructor(deadlines: Deadlines, target: MultiTarget, receiver: Receiver) {
    this.#deadlines = deadlines
    this.#target = target
    this.#receiver = receiver
    const totalMs = target.calls[0]?.limits.totalMs ?? 0
    this.#total = deadlines.after(totalMs, () => this.#stop(new UpstreamFailure('timeout')))
  }

  get wasSent(): boolean {
    return this.#wasSent || [...this.#open].some(({ wasSent }) => wasSent)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  get usage(): Usage | undefined {
    return this.#usage
  }

  start(): void {
    const stopped = new Promise<UpstreamFailure>((resolve) => {
      this.#stop = resolve
    })
    void Promise.race([this.#answer(), stopped]).then((outcome) => this.#deliver(outcome))
  }

  abort(): void {
    this.#close()
  }

  /** The answer is delivered as one chunk. */
  pause(): void {}
  resume(): void {}

  async #answer(): Promise<Delivered | UpstreamFailure> {
    try {
      const outcomes = await this.#callAll()
      const replies = outcomes.flatMap((outcome) => (outcome instanceof UpstreamFailure ? [] : [outcome]))
      const failure = outcomes.find((outcome) => outcome instanceof UpstreamFailure)
      if (failure && (replies.length === 0 || !this.#target.takesSome)) return failure
      return await this.#target.finish(replies)
    } catch (cause) {
      return unreadable(cause)
    }
  }

  /** Unless some of the replies are enough, the first failure ends the exchange. */
  async #callAll(): Promise<(JsonObject | UpstreamFailure)[]> {
    const { calls, takesSome } = this.#target
    const outcomes: (JsonObject | UpstreamFailure)[] = []
    let next = 0
    let hasFailed = false
    const work = async () => {
      while (next < calls.length && !this.#isOver && (takesSome || !hasFailed)) {
        const at = next++
        const call = calls[at]
        if (!call) return
        const outcome = await this.#follow(call)
        outcomes[at] = outcome
        hasFailed ||= outcome instanceof UpstreamFailure
      }
    }
    await Promise.all(Array.from({ length: Math.min(callsAtOnce, calls.length) }, work))
    return outcomes.filter((outcome) => outcome !== undefined)
  }

  /** Runs one call, and polls its task until that is done. A poll that fails does not end the task. */
  async #follow(call: Target): Promise<JsonObject | UpstreamFailure> {
    const endsMs = activeMs() + call.limits.headersMs
    const first = await this.#ask(call)
    const taskId = first instanceof UpstreamFailure ? undefined : this.#target.pendingTask(first)
    if (taskId === undefined) return first

    const task = this.#target.taskTarget(call, taskId)
    for (let asked = 0, failed = 0; !this.#isOver; asked++) {
      if (activeMs() > endsMs) break
      await this.#wait(pausesMs[Math.min(asked, pausesMs.length - 1)] ?? 0)
      const reply = await this.#ask(task)
      failed = reply instanceof UpstreamFailure ? failed + 1 : 0
      const isFinal =
        reply instanceof UpstreamFailure ? !reply.isRetryable || failed >= failuresMax : !this.#target.pendingTask(reply)
      if (isFinal) return reply
    }
    return new UpstreamFailure('timeout', { facts: { message: 'its task was not done in time' } })
  }

  #ask(target: Target): Promise<JsonObject | UpstreamFailure> {
    if (this.#isOver) return Promise.resolve(new UpstreamFailure('cut'))
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      const exchange: HttpExchange = new HttpExchange(this.#deadlines, target, {
        begin() {},
        data: (chunk) => {
          this.#bytes += chunk.length
          if (this.#bytes > bytesMax) throw new UpstreamFailure('too-large')
          chunks.push(chunk)
        },
        end: () => over(tryReading(() => readReply(Buffer.concat(chunks)))),
        fail: (failure) => over(failure),
      })
      const over = (outcome: JsonObject | UpstreamFailure) => {
        this.#wasSent ||= exchange.wasSent
        this.#open.delete(exchange)
        resolve(outcome)
      }
      this.#open.add(exchange)
      exchange.start()
    })
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const pause = this.#deadlines.after(ms, () => {
        this.#pauses.delete(pause)
        resolve()
      })
      this.#pauses.set(pause, resolve)
    })
  }

  #deliver(outcome: Delivered | UpstreamFailure): void {
    if (this.#isOver) return
    this.#close()
    if (outcome instanceof UpstreamFailure) {
      this.#receiver.fail(outcome)
      return
    }
    this.#usage = outcome.usage
    try {
      this.#receiver.begin({ 'content-type': outcome.contentType })
      this.#receiver.data(outcome.body)
    } catch (cause) {
      this.#receiver.fail(unreadable(cause))
      return
    }
    this.#receiver.end()
  }

  #close(): void {
    this.#isOver = true
    this.#wasSent = this.wasSent
    this.#deadlines.cancel(this.#total)
    for (const exchange of this.#open) exchange.abort()
    this.#open.clear()
    for (const [pause, end] of this.#pauses) {
      this.#deadlines.cancel(pause)
      end()
    }
    this.#pauses.clear()
  }
}

/** Parses a reply. Throws an UpstreamFailure for an error under a 2xx status. */
function readReply(body: Buffer): JsonObject {
  const reply = parseObject(body)
  const error = readErrorInReply(reply)
  if (error) throw errorInReply(error)
  return reply
}

const callsAtOnce = 5
/** Limit for all replies together. */
const bytesMax = 64 * 1024 * 1024
const failuresMax = 3
/** Pause between two polls of a task. */
const pausesMs = [500, 1000, 2000, 3000, 5000]
