import { availableParallelism } from 'node:os'
import type { OptionKey } from '../../src/contract/options/index.ts'
import { UpstreamAgents } from '../../src/server/base/lib/net/http-client.ts'
import type { Caller, Core } from '../../src/server/base/options/core.ts'
import { type EndpointSettings, ProviderClient } from '../../src/server/people/accounts/external-identity/endpoints.ts'
import { OidcKeys } from '../../src/server/people/accounts/external-identity/oidc-keys.ts'
import { HumanCheck } from '../../src/server/people/accounts/human-check.ts'
import type { Hashing, Passwords } from '../../src/server/people/accounts/passwords.ts'
import { Sessions } from '../../src/server/people/accounts/sessions.ts'
import type { Accounts } from '../../src/server/people/accounts/sign-in.ts'
import { createUser } from '../../src/server/people/accounts/users.ts'
import { Mailer } from '../../src/server/people/notify/mailer.ts'
import { testCertificate } from './certificate.ts'
import { newClock, type TestClock } from './clock.ts'
import { cheapPasswords, testCore } from './core.ts'
import type { TestDatabase } from './databases.ts'
import type { SmtpServer } from './smtp-server.ts'

export const goodPassword = 'correct horse 7'

export const goodHash = cheapPasswords().hash(goodPassword)

export interface AccountNode extends Accounts {
  readonly clock: TestClock
  readonly upstream: UpstreamAgents
  /** Sets options without their checks, and does not notify other nodes. */
  set(values: Partial<Record<OptionKey, string>>): Promise<void>
  close(): Promise<void>
}

/** Starts load that occupies every hashing permit and the queue; returns a function that stops it. */
export function fillHashingQueue(passwords: Passwords): () => Promise<void> {
  let isOver = false
  const hashOn = async ({ hash }: Hashing) => {
    while (!isOver) await hash(goodPassword)
  }
  const all = Array.from({ length: availableParallelism() + 60 }, () => passwords.withPermit(hashOn).catch(() => {}))
  return async () => {
    isOver = true
    await Promise.all(all)
  }
}

/** The parts that accounts consist of, over a core; `close` ends them except the core. */
export function accountParts(core: Core, humanVerifier?: string, peerSettings?: EndpointSettings) {
  const upstream = new UpstreamAgents()
  const sessions = new Sessions(core)
  // Created for each node, because they remember the cost of imported hashes, which then applies to each verification.
  const passwords = cheapPasswords()
  const mailer = new Mailer(core, { certificates: testCertificate })
  const close = async () => {
    sessions.close()
    await mailer.close(0)
    await upstream.close()
  }
  const providers = new ProviderClient(core, upstream, peerSettings)
  const identity = { providers, oidcKeys: new OidcKeys(core, providers) }
  return { passwords, sessions, identity, upstream, mailer, human: new HumanCheck(core, upstream, humanVerifier), close }
}

/** One node over a database, with accounts only. Several over one PostgreSQL are several nodes, which share the clock of the test. */
export async function startAccounts(
  test: TestDatabase,
  { clock = newClock(), env = {}, humanVerifier }: { clock?: TestClock; env?: Partial<Core['env']>; humanVerifier?: string } = {},
): Promise<AccountNode> {
  const database = await test.open()
  const core = await testCore(database, { now: () => clock.now(), env })
  const { close, ...parts } = accountParts(core, humanVerifier)

  return {
    ...core,
    ...parts,
    clock,
    async set(values) {
      for (const [key, value] of Object.entries(values)) {
        const row = { key, value }
        await core.db
          .insertInto('options')
          .values(row)
          .onConflict((conflict) => conflict.column('key').doUpdateSet(row))
          .execute()
      }
      await core.options.refresh()
    },
    async close() {
      await close()
      core.options.close()
      await database.close()
    },
  }
}

/** The options that send mail through a server of the test. */
export function mailOptions(smtp: SmtpServer): Partial<Record<OptionKey, string>> {
  return {
    SMTPServer: '127.0.0.1',
    SMTPPort: String(smtp.port),
    SMTPAccount: 'robot@site.test',
    ServerAddress: 'https://site.test',
  }
}

/** Adds a user with `goodPassword`, and starts a session. */
export async function addUser(
  node: AccountNode,
  username: string,
  more: { role?: number; email?: string } = {},
): Promise<{ id: number; token: string; caller: Caller }> {
  const { role = 1, email = '' } = more
  const user = { username, displayName: '', password_hash: await goodHash, role, at: node.now(), more: { email } }
  const id = await node.db.transaction().execute((within) => createUser(within, user))
  const token = await node.sessions.create({ userId: id, address: '192.0.2.1', userAgent: 'test' })
  return { id, token, caller: { id, username, role, group: 'default', address: '192.0.2.1' } }
}
