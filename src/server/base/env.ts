import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { withoutTrailing } from '../../contract/trailing.ts'
import { type PostgresSession, readPostgresAddress } from './lib/net/postgres-address.ts'

const addressText = (protocols: RegExp, form: string) =>
  z
    .string()
    .regex(protocols, `must be empty or begin with ${form}`)
    .refine(
      (text) => text === '' || (URL.canParse(text) && !text.includes('#')),
      'is no address: write special characters of user and password as %XX, such as %40 for @',
    )
/** Without a protocol it is http. */
const proxy = z
  .string()
  .default('')
  .transform((text) => (text === '' || text.includes('://') ? text : `http://${text}`))
  .pipe(addressText(/^$|^(?:https?|socks5h?):\/\//, 'http://, https:// or socks5://'))
  .refine(
    (text) => /^[^/]*\/?$/.test(text.replace(/^\w+:\/\//, '')) && !/[?#]/.test(text),
    'has more than a host, a port, and perhaps user and password before them',
  )

/** An address of PostgreSQL. `refused`: what its hosts must not be. */
const postgresAddress = (refused: readonly PostgresSession[] = []) =>
  z
    .string()
    .superRefine((text, { addIssue }) => {
      if (text === '') return
      try {
        const { session } = readPostgresAddress(text)
        if (refused.includes(session))
          addIssue(`target_session_attrs=${session}: the database must accept writes; use read-write`)
      } catch (error) {
        addIssue((error as Error).message)
      }
    })
    .default('')

/** The few settings that are needed before the database opens. This object is the list: start-up, tests and docs read it. */
const setting = <S extends z.ZodType>(schema: S, doc: string) => schema.meta({ description: doc })
const flag = z.stringbool().default(false)

export const envSchema = z.object({
  PORT: setting(z.coerce.number().int().min(0).max(65_535).default(3000), 'Port to listen on. 0 takes a free one.'),
  HOST: setting(z.string().min(1).default('127.0.0.1'), 'Address to listen on. Use 0.0.0.0 to be reachable from other machines.'),
  BASE_PATH: setting(
    z
      .string()
      .regex(/^$|^(?:\/[\w~-][\w.~-]*)+\/?$/, 'must be empty or a path such as /sluice')
      .transform((path) => withoutTrailing(path, '/'))
      .default(''),
    'Path below which everything is served, such as /sluice, behind a proxy that passes it on. Empty: the host name is for this server alone.',
  ),
  DATA_DIR: setting(z.string().min(1).default('./data'), 'Folder of the embedded database and of the generated master key.'),
  DATABASE_URL: setting(
    postgresAddress(['read-only', 'standby', 'prefer-standby']),
    'Empty: embedded SQLite in DATA_DIR. postgres://user:password@host/database: PostgreSQL, needed for several nodes. Several hosts with commas between them, and ?target_session_attrs=read-write, where a standby may take over.',
  ),
  DATABASE_DIRECT_URL: setting(
    postgresAddress(),
    'Where DATABASE_URL leads through a pooler such as PgBouncer: the address of the database itself, for notifications between nodes, long reads, backups and index builds.',
  ),
  REDIS_URL: setting(
    addressText(/^$|^rediss?:\/\//, 'redis://')
      .refine((text) => /^\/?\d*$/.test(URL.parse(text)?.pathname ?? ''), 'names a database by its number, such as /0')
      .default(''),
    'Optional Redis for faster news between nodes and shared rate limits. It is never a record of anything.',
  ),
  MASTER_KEY: setting(
    z.string().default(''),
    '32 bytes in base64 that encrypt the secrets at rest. Empty: MASTER_KEY_FILE, or a key generated as master.key in DATA_DIR.',
  ),
  MASTER_KEY_PREVIOUS: setting(
    z.string().default(''),
    'The master key before MASTER_KEY, to change from one to the other: the data keys are wrapped anew at start. Leave it out afterwards.',
  ),
  MASTER_KEY_FILE: setting(z.string().default(''), 'File that holds the master key. It must not be readable by group or others.'),
  ROOT_PASSWORD: setting(
    z.string().default(''),
    'Password of the root account that the first start creates. Empty: 123456, to be changed at once.',
  ),
  TRUSTED_PROXIES: setting(
    z.string().default(''),
    'Comma-separated addresses or CIDR blocks of reverse proxies whose X-Forwarded-For is believed. Empty: none.',
  ),
  BLOCK_PRIVATE_UPSTREAMS: setting(
    flag,
    'true: channels may not point at private addresses. For hosting where admins are not trusted with the inner network.',
  ),
  HTTPS_PROXY: setting(
    proxy,
    'Proxy for outgoing connections to https addresses: http://, https:// or socks5://host:port, perhaps with user:password@. Channels with a proxy of their own use that. Lower case is read, too. Empty: direct.',
  ),
  HTTP_PROXY: setting(proxy, 'The same for http addresses. The proxy must allow CONNECT to their ports.'),
  NO_PROXY: setting(
    z.string().default(''),
    'What is reached without these proxies: names with their subdomains, addresses and CIDR blocks, each perhaps with a port, with commas between them; or *. This machine always is.',
  ),
  WORKERS: setting(
    z
      .union([z.literal('auto'), z.coerce.number().int().min(1).max(256)])
      .default(1)
      .transform((given) => (given === 'auto' ? availableParallelism() : given)),
    'Number of processes that share the port, or auto: one for each core. With more than 1, a supervisor starts them and replaces those that end.',
  ),
  DRAIN_DELAY: setting(
    z.coerce.number().min(0).max(600).default(5),
    'Seconds from SIGTERM until the port is closed. Meanwhile /readyz says 503 and calls are answered as before, so that a load balancer notices first: a little more than two of its health checks.',
  ),
  DRAIN_LIMIT: setting(
    z.coerce.number().min(0).max(86_400).default(30),
    'Seconds for running calls to end after that. Then they are cut: callers get an error, and are charged for the output so far.',
  ),
  DRAIN_RESUMABLE: setting(
    z.coerce.number().min(0).max(86_400).default(60),
    'Seconds after DRAIN_LIMIT for streams that can be resumed: their callers are disconnected and continue on another node, while this one reads them to their end.',
  ),
  NODE_ENV: setting(
    z.string().default('production'),
    'development: a debugger may be attached. With any other value it is refused, because it reads every secret.',
  ),
  LOG_LEVEL: setting(
    z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
    'How much is logged.',
  ),
  ACCESS_LOG: setting(
    z.string().default(''),
    'One line of JSON for each relay call of a known key: stdout, or the path of a file to append to. Empty: none.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    z
      .string()
      .regex(/^$|^https?:\/\//, 'must be empty or begin with http:// or https://')
      .default(''),
    'Address of an OpenTelemetry collector, such as http://localhost:4318: traces and metrics are sent to it. Empty: none. The SDK reads its other OTEL_ variables, too.',
  ),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting(z.string().default(''), 'Only http/protobuf, the default, is spoken.'),
  OTEL_EXPORTER_OTLP_HEADERS: setting(
    z.string().default(''),
    'Headers for the collector, such as its key: name=value pairs with commas between them.',
  ),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: setting(z.string().default(''), 'The same for traces alone, before the former.'),
  OTEL_EXPORTER_OTLP_METRICS_HEADERS: setting(z.string().default(''), 'The same for metrics alone, before the former.'),
  OTEL_TRACES_EXPORTER: setting(z.string().default('otlp'), 'none: no traces are sent.'),
  OTEL_METRICS_EXPORTER: setting(z.string().default('otlp'), 'none: no metrics are sent.'),
  OTEL_METRIC_EXPORT_INTERVAL: setting(
    z.coerce.number().int().min(100).default(60_000),
    'Milliseconds from one sending of metrics to the next.',
  ),
  OTEL_METRIC_EXPORT_TIMEOUT: setting(z.coerce.number().int().min(1).default(30_000), 'Milliseconds that one sending may take.'),
  OTEL_SDK_DISABLED: setting(flag, 'true: nothing is sent, whatever the other variables say.'),
})

/** Settings that must not stay in the environment of the process after they were read. */
const secretSettings = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'MASTER_KEY',
  'MASTER_KEY_PREVIOUS',
  'ROOT_PASSWORD',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
] as const satisfies readonly (keyof Env)[]

/** Settings that many systems have in lower case. */
const lowerCased = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const satisfies readonly (keyof Env)[]

/** The variables of the environment from which `secretSettings` are read. */
export const secretVariables: readonly string[] = [...secretSettings, 'https_proxy', 'http_proxy']

export type Env = z.output<typeof envSchema>

/** Reads the environment. Throws one error that names every bad setting. Empty strings count as absent. */
export function readEnv(source: Readonly<Record<string, string | undefined>>): Env {
  const lower = Object.fromEntries(lowerCased.map((name) => [name, source[name.toLowerCase()]]))
  const given = Object.fromEntries(
    Object.keys(envSchema.shape).flatMap((name) => {
      const value = source[name] || lower[name]
      return value ? [[name, value]] : []
    }),
  )
  const parsed = envSchema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new Error(parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; '))
}

/** The address at which this machine itself reaches the server of these settings, without a trailing slash. */
export function localUrl({ HOST, PORT, BASE_PATH }: Pick<Env, 'HOST' | 'PORT' | 'BASE_PATH'>): string {
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}${BASE_PATH}`
}
