import { EventEmitter } from 'node:events'
import pg from 'pg'
import { type PostgresHost, type PostgresSession, readPostgresAddress } from '../lib/net/postgres-address.ts'
import { withActiveTimeout } from '../lib/time/active-time.ts'
import { isDatabaseFailure } from './failures.ts'

/** A class of clients, as the pool constructs them. */
type ClientClass = new (config: pg.ClientConfig) => pg.Client

/** Settings of a client apart from its address. `connectionTimeoutMillis` is for each of several hosts, but five seconds at most. */
type ClientSettings = Omit<pg.ClientConfig, 'connectionString'> & { readonly connectionTimeoutMillis: number }

/** A client for an address of one or more hosts, which connects to one that `target_session_attrs` accepts. Not connected yet. */
export function newPostgresClient(address: string, settings: ClientSettings): pg.Client {
  const { Client, config } = clientsOf(address, settings)
  return new Client(config)
}

/**
 * How clients of an address are made. `waitMs` is the longest time that one takes to connect. A single host that may be anything is the
 * business of the library alone.
 */
export function clientsOf(
  address: string,
  settings: ClientSettings,
  Client: ClientClass = pg.Client,
): { readonly Client: ClientClass; readonly config: pg.ClientConfig; readonly waitMs: number } {
  const { hosts, session } = readPostgresAddress(address)
  const { connectionTimeoutMillis: givenMs } = settings
  const [first] = hosts
  if (hosts.length === 1 && session === 'any')
    return { Client, config: { ...settings, connectionString: first?.url }, waitMs: givenMs }
  const limitMs = Math.min(givenMs, hostMaxMs)
  const choice = { address, session, hosts, limitMs, Client }
  class ChoosingClient extends HostsClient {
    constructor(config: pg.ClientConfig) {
      super(choice, config)
    }
  }
  // It has every member of a client that this program and the pool use.
  return { Client: ChoosingClient as unknown as ClientClass, config: settings, waitMs: Math.max(givenMs, limitMs * hosts.length) }
}

/** A long read waits for longer than that for a free connection; a host that is silent must not take all of it. */
const hostMaxMs = 5000

/** What each host is at present, or why it cannot be used. */
export async function describeHosts(
  hosts: readonly PostgresHost[],
): Promise<readonly { readonly isUsable: boolean; readonly found: string }[]> {
  return Promise.all(
    hosts.map(async ({ name, url }) => {
      const client = new pg.Client({
        connectionString: url,
        connectionTimeoutMillis: describedWithinMs,
        query_timeout: describedWithinMs,
      })
      client.on('error', () => {})
      try {
        await client.connect()
        const found = (await isInRecovery(client)) ? 'a standby' : (await isReadOnly(client)) ? 'read-only' : 'read-write'
        return { isUsable: true, found: `${name} is ${found}` }
      } catch (error) {
        return { isUsable: false, found: `${name} cannot be used: ${reasonOf(error)}` }
      } finally {
        void client.end().catch(() => {})
      }
    }),
  )
}

const describedWithinMs = 3000

interface Choice {
  readonly address: string
  readonly session: PostgresSession
  readonly hosts: readonly PostgresHost[]
  readonly limitMs: number
  readonly Client: ClientClass
}

/** The host that the last connection to an address took, and the connections to it. */
interface Taken {
  readonly host: string
  readonly clients: Set<HostsClient>
}

const taken = new Map<string, Taken>()

/**
 * A client that connects to the first of several hosts that can be reached and is what the address asks for. It begins with the host that
 * the last connection took, so that one which is away delays a single connection. The pool treats it as it does the native client, which
 * has no `connection` and ends by itself.
 */
class HostsClient extends EventEmitter {
  readonly #choice: Choice
  readonly #config: pg.ClientConfig
  #client: pg.Client | undefined
  #isEnding = false

  constructor(choice: Choice, config: pg.ClientConfig) {
    super()
    this.#choice = choice
    this.#config = config
  }

  connect(callback?: (error?: unknown) => void): Promise<void> | undefined {
    const connecting = this.#connect()
    if (!callback) return connecting
    connecting.then(() => callback(), callback)
    return undefined
  }

  /** The overloads of the library's `query` all begin with the text or the configuration. */
  query(...asked: unknown[]): unknown {
    if (!this.#client) throw new Error('The client is not queryable: it is not connected')
    return Reflect.apply(this.#client.query, this.#client, asked)
  }

  end(callback?: (error?: unknown) => void): Promise<void> | undefined {
    this.#isEnding = true
    const ended = this.#client?.end() ?? Promise.resolve()
    if (!callback) return ended
    ended.then(() => callback(), callback)
    return undefined
  }

  isConnected(): boolean {
    return this.#client !== undefined
  }

  get processID(): number | undefined {
    return (this.#client as (pg.Client & { readonly processID: number }) | undefined)?.processID
  }

  /** Read by the pool, as of any client. */
  get _queryable(): boolean {
    return (this.#client as (pg.Client & { readonly _queryable: boolean }) | undefined)?._queryable ?? false
  }

  get _ending(): boolean {
    return this.#isEnding
  }

  async #connect(): Promise<void> {
    const { hosts, limitMs, session, Client, address } = this.#choice
    const refusals: string[] = []
    const latest = taken.get(address)?.host
    const inOrder = hosts.toSorted((one, other) => Number(other.name === latest) - Number(one.name === latest))
    for (const wanted of session === 'prefer-standby' ? (['standby', 'any'] as const) : [session]) {
      for (const host of inOrder) {
        const client = new Client({ ...this.#config, connectionString: host.url, connectionTimeoutMillis: limitMs })
        client.on('error', () => {})
        try {
          await withActiveTimeout(limitMs, reach(client, wanted), () => {
            throw new Error('timeout expired')
          })
          if (this.#isEnding) throw new Error('Connection terminated')
          return this.#take(client, host)
        } catch (error) {
          void client.end().catch(() => {})
          if (this.#isEnding || !isDatabaseFailure(error)) throw error
          refusals.push(`${host.name}: ${reasonOf(error)}`)
        }
      }
    }
    throw failure('08001', `No host of the database can be used: ${refusals.join('; ')}`)
  }

  #take(client: pg.Client, { name }: PostgresHost): void {
    this.#client = client
    for (const event of ['notification', 'notice', 'end'] as const)
      client.on(event, (...given: unknown[]) => this.emit(event, ...given))
    client.on('error', (error) => this.#fail(error))

    const { address, session } = this.#choice
    const before = taken.get(address)
    const clients = before?.host === name ? before.clients : new Set<HostsClient>()
    taken.set(address, { host: name, clients: clients.add(this) })
    client.once('end', () => clients.delete(this))
    // Only one host can be written to: the other has died, perhaps in silence, or is a standby now.
    if (before && before.host !== name && (session === 'read-write' || session === 'primary'))
      for (const stale of before.clients) stale.#leave()
  }

  #leave(): void {
    this.#isEnding = true
    this.#fail(new Error('Connection terminated: another host of the database is used now'))
    void this.#client?.end().catch(() => {})
  }

  #fail(error: Error): void {
    if (this.listenerCount('error') > 0) this.emit('error', error)
  }
}

async function reach(client: pg.Client, wanted: PostgresSession): Promise<void> {
  await client.connect()
  if (!(await accepts[wanted](client))) throw failure('08004', `is not ${wanted}`)
}

const accepts: Readonly<Record<PostgresSession, (client: pg.Client) => Promise<boolean>>> = {
  any: async () => true,
  'read-write': async (client) => !(await isReadOnly(client)),
  'read-only': isReadOnly,
  primary: async (client) => !(await isInRecovery(client)),
  standby: isInRecovery,
  'prefer-standby': async () => true,
}

async function isReadOnly(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
  return rows[0]?.transaction_read_only === 'on'
}

async function isInRecovery(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ standby: boolean }>('select pg_is_in_recovery() as standby')
  return rows[0]?.standby === true
}

/** An error with a code of PostgreSQL's class for connections. */
function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

/** Where a name has several addresses, the error for all of them has a code and no message. */
function reasonOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException
  return message || (code ?? '')
}
