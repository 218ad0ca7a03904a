import { createHash } from 'node:crypto'
import { newRedisClient, OutageLog, type RedisClient } from '../../base/bus/redis-client.ts'
import type { Logger } from '../../base/lib/log/logger.ts'
import { activeMs, withActiveTimeout } from '../../base/lib/time/active-time.ts'
import {
  addValues,
  checkValues,
  endScript,
  endValues,
  readVerdict,
  renewScript,
  takeScript,
  takeValues,
} from './redis-scripts.ts'
import type { LimitedRequest, RequestOutcome, Rule, Verdict } from './rule.ts'
import type { SharedWindows } from './shared-windows.ts'

interface RedisWindowsParts {
  readonly url: string
  /** Keeps installations apart that share one Redis. */
  readonly prefix: string
  readonly logger: Logger
  readonly timing?: RedisTiming
}

export type RedisTiming = Partial<typeof defaultTiming>

/** More unanswered commands than this mean that Redis does not keep up. */
const commandsMax = 20_000
const defaultTiming = {
  /** The longest time that a request waits for Redis. */
  waitMs: 500,
  /** After a timeout of Redis, the pause before one request tries it again. */
  pauseMs: 1000,
  /** Running requests of a node that died count for this long. */
  runsForMs: 60_000,
  renewEveryMs: 20_000,
}
const renewedAtOnce = 500

/**
 * Counts the requests of all nodes in Redis. Every result is `undefined` while Redis is unavailable or slow: then each node counts on
 * its own. Never throws, and never waits longer than `waitMs`.
 */
export class RedisWindows implements SharedWindows {
  readonly #client: RedisClient
  readonly #prefix: string
  readonly #outage: OutageLog
  readonly #timing: typeof defaultTiming
  /** Running requests of this node, with the Redis keys that list them. */
  readonly #running = new Map<string, readonly string[]>()
  readonly #renewing: NodeJS.Timeout
  #isAway = false
  #pausedUntil = 0
  #isProbing = false

  static async open(parts: RedisWindowsParts): Promise<RedisWindows> {
    return new RedisWindows(await newRedisClient({ url: parts.url, commandsMax }), parts)
  }

  private constructor(client: RedisClient, { prefix, logger, timing }: RedisWindowsParts) {
    this.#client = client
    this.#prefix = prefix
    this.#outage = new OutageLog(logger, 'Request limits are counted by each node on its own until it is back')
    this.#timing = { ...defaultTiming, ...timing }
    this.#renewing = setInterval(() => this.#renew(), this.#timing.renewEveryMs).unref()
    client.on('error', (error: unknown) => this.#away(error))
    client.on('ready', () => {
      this.#isAway = false
      this.#renew()
    })
    client.connect().catch(() => {})
  }

  /**
   * Counts a request under all rules, or under none. Undefined at once while Redis is unavailable, and after a short while when it
   * is slow.
   */
  acquire(rules: readonly Rule[], need: LimitedRequest): Promise<Verdict | undefined> | undefined {
    const open = rules.filter(({ concurrency }) => concurrency > 0).map((rule) => this.#openKey(rule))
    // Only admitted requests: a renewal that names a refused one would make Redis count it as running.
    const admit = () => {
      if (open.length > 0) this.#running.set(need.id, open)
    }
    if (!this.#mayAsk()) {
      admit()
      return undefined
    }

    return this.#judge(rules, takeValues(rules, need, this.#timing.runsForMs)).then((verdict) => {
      if (!verdict?.refusal) admit()
      return verdict
    })
  }

  /** Checks without counting: the first refusal by count, regardless of tokens. Undefined as for `acquire`. */
  peek(rules: readonly Rule[]): Promise<Verdict | undefined> | undefined {
    if (!this.#mayAsk()) return undefined
    return this.#judge(rules, checkValues(rules))
  }

  async #judge(rules: readonly Rule[], values: readonly (string | number)[]): Promise<Verdict | undefined> {
    const numbers = await this.#ask(take, this.#keysOf(rules), values)
    return numbers && readVerdict(rules, numbers)
  }

  /** Corrects the counts of an admitted request. `pieces` is undefined when the reply of Redis did not arrive in time. */
  release(rules: readonly Rule[], pieces: readonly number[] | undefined, need: LimitedRequest, ended: RequestOutcome): void {
    this.#running.delete(need.id)
    if (!this.#client.isReady) return
    this.#run(end, this.#keysOf(rules), endValues(rules, { need, pieces, outcome: ended })).catch(() => {})
  }

  /** Counts further tokens of an admitted request from now on. */
  add(rule: Rule, tokens: number): void {
    if (!this.#client.isReady) return
    this.#run(end, this.#keysOf([rule]), addValues(rule, tokens)).catch(() => {})
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing)
    this.#client.destroy()
  }

  #mayAsk(): boolean {
    if (!this.#client.isReady) return false
    if (!this.#isAway) return true
    if (this.#isProbing || activeMs() < this.#pausedUntil) return false
    this.#isProbing = true
    return true
  }

  async #ask(script: Script, keys: string[], values: readonly (string | number)[]): Promise<number[] | undefined> {
    try {
      const numbers = await withActiveTimeout(this.#timing.waitMs, this.#run(script, keys, values), () => undefined)
      if (numbers) this.#back()
      else this.#away(new Error('Redis did not answer in time'))
      return numbers
    } catch (error) {
      this.#away(error)
      return undefined
    } finally {
      this.#isProbing = false
    }
  }

  async #run({ text, hash }: Script, keys: string[], values: readonly (string | number)[]): Promise<number[]> {
    const options = { keys, arguments: values.map(String) }
    const reply = await this.#client.evalSha(hash, options).catch((error: unknown) => {
      if (error instanceof Error && error.message.startsWith('NOSCRIPT')) return this.#client.eval(text, options)
      throw error
    })
    // The scripts return lists of integers, or nothing that is read.
    return reply as unknown as number[]
  }

  /** Renews the entries of the requests that run here, so that they stay counted, also after Redis has lost its data. */
  #renew(): void {
    const pairs = [...this.#running].flatMap(([id, keys]) => keys.map((key) => ({ id, key })))
    for (let from = 0; from < pairs.length && this.#client.isReady; from += renewedAtOnce) {
      const some = pairs.slice(from, from + renewedAtOnce)
      const keys = some.map(({ key }) => key)
      this.#run(renew, keys, [this.#timing.runsForMs, ...some.map(({ id }) => id)]).catch(() => {})
    }
  }

  #away(error: unknown): void {
    this.#isAway = true
    this.#pausedUntil = activeMs() + this.#timing.pauseMs
    this.#outage.failed(error)
  }

  #back(): void {
    this.#isAway = false
    this.#outage.ended('Redis is back: request limits are counted over all nodes again')
  }

  #keysOf(rules: readonly Rule[]): string[] {
    return rules.flatMap((rule) => [`${this.#prefix}:limit:${rule.key}`, this.#openKey(rule)])
  }

  #openKey({ key }: Rule): string {
    return `${this.#prefix}:running:${key}`
  }
}

interface Script {
  readonly text: string
  readonly hash: string
}

const [take, end, renew] = [takeScript, endScript, renewScript].map(hashed) as [Script, Script, Script]

function hashed(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') }
}
