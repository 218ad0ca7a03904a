import type { Logger } from '../lib/log/logger.ts'

const reconnectMs = { first: 100, most: 3000 }

/**
 * A client of the configured Redis that is not connected yet. It never queues commands: while Redis is down they fail immediately, and
 * it keeps trying to connect. The package is loaded only when Redis is configured.
 */
export async function newRedisClient({ url, commandsMax }: { url: string; commandsMax: number }) {
  const { createClient } = await import('@redis/client')
  return createClient({
    url,
    RESP: 2,
    disableOfflineQueue: true,
    commandsQueueMaxLength: commandsMax,
    pingInterval: 2000,
    socket: {
      connectTimeout: 3000,
      socketTimeout: 5000,
      reconnectStrategy: (retries) =>
        Math.min(reconnectMs.first * 2 ** Math.min(retries, 10), reconnectMs.most) * (0.5 + Math.random() / 2),
    },
  })
}

export type RedisClient = Awaited<ReturnType<typeof newRedisClient>>

/** Why Redis cannot be used. */
interface RedisFailure {
  /** What it does, and what to do about it; without secrets. Begins in the middle of a sentence whose subject is Redis. */
  readonly reason: string
  /** `REDIS_URL` or the settings of Redis have to be changed: it does not end by itself. */
  readonly isOfSettings: boolean
}

/** The reason of an error of a client. */
export function redisFailure(error: unknown): RedisFailure {
  // The client's own time limit has no message.
  const message = error instanceof Error ? error.message || error.constructor.name : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const said = `${code} ${message}`
  for (const [shape, reason, isOfSettings] of failures) if (shape.test(said)) return { reason: reason(code), isOfSettings }
  // Redis repeats the arguments of a command that it does not know, and those of AUTH are secret.
  return { reason: `reports: ${message.split(/,? with args/)[0]?.slice(0, 200)}`, isOfSettings: false }
}

const settings = true
const outage = false

/** By the code and the message of an error. */
const failures: readonly (readonly [RegExp, (code: string) => string, boolean])[] = [
  [
    /WRONGPASS/,
    () => 'refuses the user or the password in REDIS_URL (WRONGPASS): correct them, with special characters as %XX',
    settings,
  ],
  [/NOAUTH/, () => 'requires a password (NOAUTH): write it into REDIS_URL, as redis://:password@host:6379', settings],
  [/without any password configured/, () => 'has no password, but REDIS_URL names one: leave it out', settings],
  [
    /NOPERM/,
    () =>
      'does not let the user in REDIS_URL do its work (NOPERM): allow keys and channels that begin with sluice:, and all commands',
    settings,
  ],
  [/DB index is out of range/, () => 'has no database of the number in REDIS_URL: leave it out', settings],
  [/WRONG_VERSION_NUMBER|PACKET_LENGTH/, () => 'does not speak TLS: let REDIS_URL begin with redis://', settings],
  [
    /CERT|ERR_TLS|ERR_SSL/,
    (code) => `has a certificate that is not trusted (${code}): name the file of its authority in NODE_EXTRA_CA_CERTS`,
    settings,
  ],
  [/ENOTFOUND|EAI_/, (code) => `is at a name that cannot be resolved (${code}): check the host in REDIS_URL`, outage],
  [
    /ECONNREFUSED/,
    () => 'does not listen at the address in REDIS_URL (ECONNREFUSED): start it, or correct host and port',
    outage,
  ],
  [/max number of clients/, () => 'accepts no more clients: raise its maxclients', outage],
  [
    /Connection timeout|Socket timeout|TimeoutError|in time/,
    () => 'does not answer in time: check its load and firewalls, and with rediss:// whether it speaks TLS',
    outage,
  ],
  [/Socket closed/, () => 'closes the connection: with redis:// check whether it requires TLS (rediss://)', outage],
]

/** Logs why Redis cannot be used: once for each outage, and once more if settings turn out to be the reason. */
export class OutageLog {
  readonly #logger: Logger
  readonly #consequence: string
  readonly #told = new Set<boolean>()

  constructor(logger: Logger, consequence: string) {
    this.#logger = logger
    this.#consequence = consequence
  }

  failed(error: unknown): void {
    const { reason, isOfSettings } = redisFailure(error)
    if (this.#told.has(true) || this.#told.has(isOfSettings)) return
    this.#told.add(isOfSettings)
    this.#logger.warn(`REDIS IS UNREACHABLE: it ${reason}. ${this.#consequence}`)
  }

  ended(text: string): void {
    if (this.#told.size > 0) this.#logger.info(text)
    this.#told.clear()
  }
}
