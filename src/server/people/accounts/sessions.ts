import { LRUCache } from 'lru-cache'
import type { OwnSession } from '../../../contract/entities/user.ts'
import { isAdmin } from '../../../contract/roles.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { upTo } from '../../base/lib/collections/cache-size.ts'
import { fail } from '../../base/lib/failure.ts'
import { newSecret } from '../../base/lib/secrets/ids.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Core } from '../../base/options/core.ts'
import { deleteSteps, purgeLoginSteps } from './login-steps.ts'
import { purgeLoginFailures } from './login-throttle.ts'
import { purgeMailedCodes } from './mailed-codes.ts'
import { type Account, accountColumns, accountKind, isActive } from './users.ts'

const day = 24 * 60 * 60
export const sessionLifetimeSeconds = 30 * day
const idleMaxSeconds = { ordinary: 7 * day, admin: day }
const seenEverySeconds = 60
/** The time for which another node may use its cached copy; this node sees changes immediately. */
const cacheMs = 1000

interface Session {
  readonly id: number
  readonly account: Account
  readonly createdAt: number
  /** Time of the last authentication. */
  readonly authenticatedAt: number
  seenAt: number
}

interface NewSession {
  readonly userId: number
  readonly address: string
  readonly userAgent: string
}

/**
 * Browser sessions. The cookie holds 256 random bits and nothing else; the database keeps their hash. The user and role of a
 * session are read from the user's row, so that a ban, a demotion or a deletion applies from the next call on.
 */
export class Sessions {
  readonly #core: Core
  readonly #cache = new LRUCache<string, { session: Session; readAt: number }>(upTo(10_000))
  readonly #forget: () => void
  #changes = 0

  constructor(core: Core) {
    this.#core = core
    this.#forget = core.bus.on('user', () => this.#dropCache())
  }

  /** Starts a session for a user who has just authenticated. Returns the token for the cookie. */
  async create({ userId, address, userAgent }: NewSession, within: Queries = this.#core.db): Promise<string> {
    const token = newSecret()
    const now = seconds(this.#core.now())
    await within
      .insertInto('sessions')
      .values({
        token_hash: sha256(token),
        user_id: userId,
        created_at: now,
        seen_at: now,
        authenticated_at: now,
        address,
        user_agent: userAgent.slice(0, 300),
      })
      .execute()
    return token
  }

  /** The live session of an active user, or undefined. */
  async find(token: string): Promise<Session | undefined> {
    const hash = sha256(token)
    const readAt = this.#core.now()
    const session = this.#remembered(hash, readAt) ?? (await this.#read(hash, readAt))
    if (!session) return undefined

    const now = seconds(readAt)
    if (isExpired({ ...session, role: session.account.role }, now)) {
      await this.#endById(session.id)
      return undefined
    }
    if (now - session.seenAt >= seenEverySeconds) await this.#touch(session, now)
    return session
  }

  async end(token: string): Promise<void> {
    await change(this.#core, undefined, async (within, report) => {
      const ended = within.deleteFrom('sessions').where('token_hash', '=', sha256(token)).returning('user_id')
      for (const { user_id: id } of await ended.execute()) report({ topic: 'user', id })
    })
  }

  /** Signs a user out everywhere, but for the session of `exceptToken`. */
  async endAll(userId: number, exceptToken = ''): Promise<void> {
    await change(this.#core, undefined, async (within, report) => {
      await deleteSessions(within, userId, exceptToken)
      report({ topic: 'user', id: userId })
    })
  }

  /** Records that the user has just authenticated again. */
  async prove(token: string): Promise<void> {
    await change(this.#core, undefined, async (within, report) => {
      const proved = within
        .updateTable('sessions')
        .set({ authenticated_at: seconds(this.#core.now()) })
        .where('token_hash', '=', sha256(token))
        .returning('user_id')
      for (const { user_id: id } of await proved.execute()) report({ topic: 'user', id })
    })
  }

  /** The live sessions of a user, the most recently used first. */
  async list(userId: number, ownToken = ''): Promise<OwnSession[]> {
    const rows = await this.#core.db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['sessions.id', 'token_hash', 'created_at', 'seen_at', 'address', 'user_agent', 'role'])
      .where('user_id', '=', userId)
      .orderBy('seen_at', 'desc')
      .orderBy('sessions.id', 'desc')
      .execute()
    const now = seconds(this.#core.now())
    const ownHash = sha256(ownToken)
    return rows
      .filter((row) => !isExpired({ role: row.role, createdAt: row.created_at, seenAt: row.seen_at }, now))
      .map(({ token_hash, role: _role, ...shown }) => ({ ...shown, current: token_hash === ownHash }))
  }

  /** Ends one session of a user. Throws `not_found`, also for a session of another user. */
  async endOne(userId: number, id: number): Promise<void> {
    await change(this.#core, undefined, async (within, report) => {
      const own = within.deleteFrom('sessions').where('id', '=', id).where('user_id', '=', userId)
      if (!(await own.returning('id').executeTakeFirst())) fail('not_found')
      report({ topic: 'user', id: userId })
    })
  }

  /** Whether this user has a live session from this address: an address that the user is known to use. */
  async isKnownPlace({ userId, address }: { userId: number; address: string }): Promise<boolean> {
    const found = await this.#core.db
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', userId)
      .where('address', '=', address)
      .executeTakeFirst()
    return found !== undefined
  }

  /** Deletes expired sessions. */
  async purge(): Promise<void> {
    const now = seconds(this.#core.now())
    await this.#core.db
      .deleteFrom('sessions')
      .where((row) =>
        row.or([row('created_at', '<', now - sessionLifetimeSeconds), row('seen_at', '<', now - idleMaxSeconds.ordinary)]),
      )
      .execute()
    await purgeLoginFailures(this.#core)
    await purgeMailedCodes(this.#core)
    await purgeLoginSteps(this.#core)
  }

  close(): void {
    this.#forget()
    this.#cache.clear()
  }

  #remembered(hash: string, nowMs: number): Session | undefined {
    const entry = this.#cache.get(hash)
    const age = nowMs - (entry?.readAt ?? 0)
    return age >= 0 && age < cacheMs ? entry?.session : undefined
  }

  async #read(hash: string, readAt: number): Promise<Session | undefined> {
    const changes = this.#changes
    const row = await this.#core.db
      .selectFrom('sessions')
      .innerJoin('users', 'users.id', 'sessions.user_id')
      .select(['sessions.id as session_id', 'created_at', 'seen_at', 'authenticated_at', ...accountColumns])
      .where('token_hash', '=', hash)
      .where('kind', '=', accountKind.person)
      .where('deleted_at', 'is', null)
      .executeTakeFirst()
    if (!row || !isActive(row)) return undefined

    const { session_id, created_at, seen_at, authenticated_at, ...account } = row
    const times = { createdAt: created_at, seenAt: seen_at, authenticatedAt: authenticated_at }
    const session: Session = { id: session_id, account, ...times }
    // The row may have changed while it was read: then it is used once and not cached.
    if (changes === this.#changes) this.#cache.set(hash, { session, readAt })
    return session
  }

  /** A temporarily read-only database does not end sessions. */
  async #touch(session: Session, now: number): Promise<void> {
    session.seenAt = now
    await this.#core.db
      .updateTable('sessions')
      .set({ seen_at: now })
      .where('id', '=', session.id)
      .execute()
      .catch((error: unknown) => this.#core.logger.warn({ error }, 'could not note that a session is in use'))
  }

  async #endById(id: number): Promise<void> {
    await this.#core.db.deleteFrom('sessions').where('id', '=', id).execute()
    this.#dropCache()
  }

  #dropCache(): void {
    this.#changes++
    this.#cache.clear()
  }
}

/** Also deletes pending login steps. Call it in the change that ends the sessions, and report topic `user` there. */
export async function deleteSessions(within: Within, userId: number, exceptToken = ''): Promise<void> {
  await within.deleteFrom('sessions').where('user_id', '=', userId).where('token_hash', '!=', sha256(exceptToken)).execute()
  await deleteSteps(within, userId)
}

function isExpired({ role, createdAt, seenAt }: { role: number; createdAt: number; seenAt: number }, now: number): boolean {
  const idleMax = isAdmin(role) ? idleMaxSeconds.admin : idleMaxSeconds.ordinary
  return now - seenAt >= idleMax || now - createdAt >= sessionLifetimeSeconds
}
