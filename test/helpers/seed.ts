import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import type { TestServer } from './app.ts'

/** Adds a channel through the API of the console. */
export async function addChannel(
  server: TestServer,
  channel: { url: string; models: string; type?: number; key?: string } & Record<string, unknown>,
): Promise<number> {
  const { url, type = 1, key = 'upstream-key-0123456789', ...rest } = channel
  const [id] = await server.call<number[]>('POST /api/channel/', { name: 'test', type, key, base_url: url, ...rest })
  if (!id) throw new Error('No channel was added')
  return id
}

/** Creates a token through the API of the console and returns it with its key including the prefix `sk-`. */
export async function addToken(server: TestServer, token: Record<string, unknown> = {}): Promise<{ id: number; key: string }> {
  const made = await server.call<{ id: number; key: string }>('POST /api/token/', {
    name: 'test',
    unlimited_quota: true,
    ...token,
  })
  return { id: made.id, key: `sk-${made.key}` }
}

/** Sets options of the site through the API of the console. A text is sent as it is, any other value as JSON. */
export async function setOptions(server: Pick<TestServer, 'call'>, options: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [key, value] of Object.entries(options))
    await server.call('PUT /api/option/', { key, value: typeof value === 'string' ? value : JSON.stringify(value) })
}

/** A token of another user, who has a million units. */
export async function tokenOfSecondUser(server: TestServer): Promise<{ id: number; key: string }> {
  const { bus, db, ledger } = server.app
  const names = { username: 'second', username_key: 'second', display_name: '', password_hash: '', aff_code: 'second' }
  const row = { ...names, created_time: 0 }
  const { id } = await db.insertInto('users').values(row).returning('id').executeTakeFirstOrThrow()
  const grant = { userId: id, kind: 'grant' as const, amount: 1_000_000, reference: `grant:${id}`, at: 1 }
  await db.transaction().execute((within) => ledger.credit(within, grant))
  const token = await addToken(server)
  await db.updateTable('tokens').set({ user_id: id }).where('id', '=', token.id).execute()
  bus.publish('token', token.id)
  return token
}

/** All amounts of one server; where tests share it, amounts of tokens are those of this test's tokens. */
export async function books(server: TestServer) {
  const all = await allBooks(server)
  const { ownTokens } = server
  if (!ownTokens) return all
  const isOwn = ({ token_id }: { token_id: number | null }) => token_id !== null && ownTokens.has(token_id)
  return {
    ...all,
    tokens: all.tokens.filter(({ id }) => ownTokens.has(id)),
    ledger: all.ledger.filter(isOwn),
    logs: all.logs.filter(isOwn),
    holds: all.holds.filter(isOwn),
  }
}

async function allBooks(server: TestServer) {
  const { db } = server.app
  const users = await db.selectFrom('users').select(['id', 'quota', 'held', 'used_quota', 'request_count']).execute()
  const tokens = await db.selectFrom('tokens').select(['id', 'remain_quota', 'held', 'used_quota', 'unlimited_quota']).execute()
  const ledger = await db.selectFrom('ledger').selectAll().orderBy('id').execute()
  const logs = await db.selectFrom('logs').selectAll().where('type', '=', 2).orderBy('id').execute()
  const channels = await db.selectFrom('channels').select(['id', 'used_quota', 'status']).execute()
  const holds = await db.selectFrom('holds').selectAll().execute()
  return { users, tokens, ledger, logs, channels, holds }
}

/** Releases the holds of a dead process, as if the minute of its lease had passed. */
export async function expireLeases({ app }: TestServer): Promise<void> {
  await app.db.updateTable('holds').set({ lease_until: 1 }).where('node', '!=', app.node).execute()
}

/** Throws when the books do not agree: balances with the ledger, charges with the log rows and as recomputed, nothing held. */
export async function requireBalancedBooks(server: TestServer): Promise<void> {
  const { users, tokens, ledger, logs, holds } = await allBooks(server)
  const charges = ledger.filter((row) => row.kind === 'charge')
  const problems: string[] = []
  for (const user of users) {
    const own = ledger.filter((row) => row.user_id === user.id)
    const sum = own.reduce((total, row) => total + row.amount, 0)
    if (sum !== user.quota) problems.push(`user ${user.id} has ${user.quota} but a ledger of ${sum}`)
    if (user.held !== 0) problems.push(`user ${user.id} still holds ${user.held}`)
    const spent = own.filter((row) => row.kind === 'charge').reduce((total, row) => total - row.amount, 0)
    if (spent !== user.used_quota) problems.push(`user ${user.id} used ${user.used_quota} but was charged ${spent}`)
  }
  for (const token of tokens) {
    if (token.held !== 0) problems.push(`token ${token.id} still holds ${token.held}`)
    const spent = charges.filter((row) => row.token_id === token.id).reduce((total, row) => total - row.amount, 0)
    if (spent !== token.used_quota) problems.push(`token ${token.id} used ${token.used_quota} but was charged ${spent}`)
  }
  const logged = new Map(logs.map((row) => [`charge:${row.request_id}`, row.quota]))
  for (const charge of charges)
    if (logged.get(charge.reference) !== -charge.amount) problems.push(`${charge.reference} has no log row of its amount`)
  if (logs.length !== charges.length) problems.push(`${logs.length} log rows for ${charges.length} charges`)
  if (holds.length > 0) problems.push(`${holds.length} holds are left`)
  for (const difference of (await verifyCharges(server.app.db)).differences)
    problems.push(`verify finds a difference: ${JSON.stringify(difference)}`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
}
