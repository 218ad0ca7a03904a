import { availableParallelism } from 'node:os'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { fillHashingQueue, goodPassword as good, goodHash, startAccounts } from '../../../../test/helpers/accounts.ts'
import { newClock } from '../../../../test/helpers/clock.ts'
import { cheapStrength } from '../../../../test/helpers/core.ts'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { faultProxy } from '../../../../test/helpers/fault-proxy.ts'
import { role } from '../../../contract/roles.ts'
import { isDatabaseFailure } from '../../base/db/failures.ts'
import { openDatabase } from '../../base/db/open.ts'
import type { Env } from '../../base/env.ts'
import { findByAccessToken, makeAccessToken } from './access-tokens.ts'
import { createRoot } from './create-root.ts'
import { editByAdmin } from './edit-user.ts'
import { type Hashing, Passwords } from './passwords.ts'
import { type Accounts, requirePassword, signIn } from './sign-in.ts'
import { createUser, findUser } from './users.ts'

const day = 86_400

eachDatabase('accounts', (fresh, kind) => {
  const cleanups: (() => Promise<void>)[] = []
  let test: TestDatabase
  let node: Awaited<ReturnType<typeof startNode>>
  let accounts: Accounts

  beforeEach(async () => {
    test = await fresh()
    cleanups.push(() => test.drop())
    node = await startNode()
    accounts = node
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function startNode(clock = newClock(), env: Partial<Env> = {}) {
    const node = await startAccounts(test, { clock, env })
    cleanups.push(() => node.close())
    return node
  }

  async function addUser(username: string, more: { role?: number } = {}) {
    const password_hash = await goodHash
    const user = { username, displayName: '', password_hash, role: more.role ?? role.ordinary, at: node.now() }
    return node.db.transaction().execute((within) => createUser(within, user))
  }

  const enter = (username: string, password = good, address = '203.0.113.9', using = accounts) =>
    signIn(using, { username, password, address, userAgent: 'test' })
  const ledger = () => node.db.selectFrom('ledger').selectAll().execute()
  /** Accounts with the password hashing of a real server. */
  const strong = (): Accounts => ({ ...node, passwords: new Passwords() })
  const place = { address: '203.0.113.9', userAgent: 'test' }
  const setUser = async (id: number, values: { status?: number; role?: number; deleted_at?: number }) => {
    await node.db.updateTable('users').set(values).where('id', '=', id).execute()
    node.bus.publish('user', id)
  }

  it('[T004] reserves a name once, whatever its case and width', async () => {
    await addUser('Ada')
    const tries = ['ada', 'ADA', 'Ａｄａ', ' ada ']
    const outcomes = await Promise.allSettled(tries.map((name) => addUser(name)))
    expect(outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)).toEqual(
      tries.map(() => 'username_taken'),
    )
  })

  it('[T004] makes one user of many parallel attempts at one name', async () => {
    const names = ['grace', 'GRACE', 'Ｇｒａｃｅ', ' grace ']
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => addUser(names[n % names.length] ?? '')))
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(Array(49).fill('username_taken'))
  })

  it('signs in by name in any case and by e-mail address, and starts a session', async () => {
    const id = await addUser('Ada')
    await node.db.updateTable('users').set({ email: 'ada@example.com' }).where('id', '=', id).execute()
    for (const login of ['ada', 'ADA ', 'Ada@Example.com']) {
      const { token, user } = await enter(login)
      expect(user).toMatchObject({ id, username: 'Ada', default_password: false })
      expect((await node.sessions.find(token))?.account.id).toBe(id)
    }
  })

  it('[T014] keeps only a hash of password and session', async () => {
    const id = await addUser('ada')
    const { token } = await enter('ada', good, place.address, strong())
    const { password_hash } = await findUser(node.db, id)
    expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    // The same password has another salt, so another hash.
    expect(await node.passwords.hash(good)).not.toBe(password_hash)
    await expect(enter('ada', password_hash)).rejects.toMatchObject({ code: 'credentials_wrong' })
    const stored = await node.db.selectFrom('sessions').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(token)
  })

  it('[T002] refuses an unknown name, a wrong password and a banned user with the same error', async () => {
    const banned = await addUser('banned')
    await addUser('ada')
    await setUser(banned, { status: 2 })
    for (const [name, password] of [
      ['nobody', good],
      ['ada', 'wrong'],
      ['banned', good],
    ] as const) {
      await expect(enter(name, password)).rejects.toMatchObject({ code: 'credentials_wrong', params: {} })
    }
    await expect(enter(' ', good)).rejects.toMatchObject({ code: 'credentials_required' })
  })

  it('[T026] refuses password login when it is switched off, but not to the super admin', async () => {
    await addUser('ada')
    await addUser('boss', { role: role.root })
    const caller = { id: 1, username: 'boss', role: role.root, group: 'default', address: '' }
    await node.options.save({ key: 'PasswordLoginEnabled', value: 'false', caller })
    await expect(enter('ada')).rejects.toMatchObject({ code: 'password_login_disabled' })
    await expect(enter('boss', 'wrong')).rejects.toMatchObject({ code: 'password_login_disabled' })
    expect((await enter('boss')).user.username).toBe('boss')
  })

  it('[T001] slows down guesses at one account from many addresses, and resets the count after a success', async () => {
    await addUser('ada')
    await addUser('eve')
    const guess = (n: number) => enter('ada', 'wrong', `198.51.100.${n}`)
    for (let n = 0; n < 5; n++) await expect(guess(n)).rejects.toMatchObject({ code: 'credentials_wrong' })
    await expect(guess(6)).rejects.toMatchObject({ code: 'login_throttled', params: { seconds: 1 } })
    await expect(enter('ada', good, '198.51.100.7')).rejects.toMatchObject({ code: 'login_throttled' })
    expect((await enter('eve')).user.username).toBe('eve')

    node.clock.passSeconds(1)
    await expect(guess(8)).rejects.toMatchObject({ code: 'credentials_wrong' })
    await expect(guess(9)).rejects.toMatchObject({ code: 'login_throttled', params: { seconds: 2 } })
    node.clock.passSeconds(2)
    await enter('ada', good, '198.51.100.10')
    await expect(guess(11)).rejects.toMatchObject({ code: 'credentials_wrong' })
  })

  it('[T025] does not count logins as failures that are refused because too many passwords are being hashed', async () => {
    const id = await addUser('ada')
    const disperse = fillHashingQueue(node.passwords)
    const user = await findUser(node.db, id)
    const prove = () => requirePassword(node, { user, password: 'wrong', address: place.address })
    for (let n = 0; n < 10; n++) {
      await expect(enter('ada', 'wrong', `198.51.100.${n}`)).rejects.toMatchObject({ code: 'too_many_requests' })
      await expect(prove()).rejects.toMatchObject({ code: 'too_many_requests' })
    }
    await disperse()
    expect(await node.db.selectFrom('login_failures').selectAll().execute()).toEqual([])
    expect((await enter('ada')).user.id).toBe(id)
  })

  it('[T001] never makes anyone wait longer than 15 minutes, even when the clock is put back', async () => {
    await addUser('ada')
    for (let n = 0; n < 20; n++) {
      await enter('ada', 'wrong', `198.51.100.${n}`).catch(() => {})
      node.clock.passSeconds(900)
    }
    await expect(enter('ada', 'wrong', '198.51.101.1')).rejects.toMatchObject({ code: 'credentials_wrong' })
    await expect(enter('ada', good, '198.51.101.2')).rejects.toMatchObject({ code: 'login_throttled', params: { seconds: 900 } })
    node.clock.passSeconds(-day)
    expect((await enter('ada', good, '198.51.101.3')).user.username).toBe('ada')
  })

  it('throttles parallel guesses like sequential ones', async () => {
    await addUser('ada')
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => enter('ada', 'wrong', `198.51.100.${n}`)))
    const codes = outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.code)
    expect(codes.filter((code) => code === 'credentials_wrong')).toHaveLength(5)
    expect(codes.filter((code) => code === 'login_throttled')).toHaveLength(25)
  })

  it('slows down an address that tries many names, and not its neighbours', async () => {
    await addUser('ada')
    for (let n = 0; n < 20; n++) await enter(`name${n}`, 'wrong', '2001:db8::1').catch(() => {})
    await expect(enter('ada', good, '2001:db8::2')).rejects.toMatchObject({ code: 'login_throttled' })
    expect((await enter('ada', good, '2001:db8:0:1::2')).user.username).toBe('ada')
  })

  it('does not count a successful attempt of an address, and keeps its earlier failures', async () => {
    await addUser('own')
    const guess = (n: number) => enter(`name${n}`, 'wrong', '198.51.100.1').catch(({ code }: { code: string }) => code)
    const succeed = () => enter('own', good, '198.51.100.1')
    for (let n = 0; n < 10; n++) await guess(n)
    // As many successes as failures are allowed without a wait: none of them counts.
    for (let n = 0; n < 20; n++) await succeed()
    for (let n = 10; n < 20; n++) expect(await guess(n)).toBe('credentials_wrong')
    // Logins to an attacker's own account do not reset the address.
    expect(await guess(20)).toBe('login_throttled')
    node.clock.passSeconds(1)
    await succeed()
    expect(await guess(21)).toBe('credentials_wrong')
    expect(await guess(22)).toBe('login_throttled')
  })

  it('does not let strangers lock a user out from an address where the user is signed in', async () => {
    await addUser('ada')
    await enter('ada', good, '192.0.2.1')
    for (let n = 0; n < 6; n++) await enter('ada', 'wrong', `198.51.100.${n}`).catch(() => {})
    await expect(enter('ada', good, '192.0.2.2')).rejects.toMatchObject({ code: 'login_throttled' })
    expect((await enter('ada', good, '192.0.2.1')).user.username).toBe('ada')
  })

  it('fails every waiting login as soon as one of them finds that the database does not answer', async () => {
    if (kind === 'sqlite') return
    const url = new URL(test.env.DATABASE_URL)
    const proxy = await faultProxy({ host: url.hostname, port: Number(url.port) })
    url.port = String(proxy.port)
    const behind = await startAccounts({ ...test, open: () => openDatabase({ ...test.env, DATABASE_URL: url.href }) })
    cleanups.push(() => behind.close())
    const { database } = behind
    if (database.dialect === 'sqlite') throw new Error('Another database was opened')

    proxy.silence()
    const most = Math.max(1, availableParallelism() - 1)
    const crowd = Array.from({ length: most + 50 }, (_, index) => enter(`name${index}`, 'wrong', `198.51.100.${index}`, behind))
    const outcomes = await Promise.allSettled(crowd)
    // A query that is already waiting still waits for its connection.
    expect(database.pool.totalCount - database.pool.idleCount).toBeLessThanOrEqual(most)
    for (const outcome of outcomes) expect(outcome.status === 'rejected' && isDatabaseFailure(outcome.reason)).toBe(true)
    proxy.heal()
    await expect(enter('nobody', 'wrong', place.address, behind)).rejects.toMatchObject({ code: 'credentials_wrong' })
  })

  it('shares the throttle between nodes', async () => {
    await addUser('ada')
    const other = await startNode(node.clock)
    for (let n = 0; n < 5; n++) await enter('ada', 'wrong', `198.51.100.${n}`).catch(() => {})
    await expect(enter('ada', good, place.address, other)).rejects.toMatchObject({ code: 'login_throttled' })
  })

  it('[T033] refuses a login whose password is changed during the check', async () => {
    const id = await addUser('ada')
    const boss = { id: 99, username: 'boss', role: role.root, group: 'default', address: '' }
    class Overtaken extends Passwords {
      override withPermit<Result>(work: (hashing: Hashing) => Promise<Result>): Promise<Result> {
        const verify: Hashing['verify'] = async (password, stored) => {
          const isRight = await node.passwords.verify(password, stored)
          await editByAdmin(node, boss, { id, password: 'another horse 8' })
          return isRight
        }
        return super.withPermit((hashing) => work({ ...hashing, verify }))
      }
    }
    const overtaken = { ...node, passwords: new Overtaken(cheapStrength) }
    await expect(enter('ada', good, place.address, overtaken)).rejects.toMatchObject({ code: 'login_step_lost' })
    expect(await node.sessions.list(id)).toEqual([])
    expect((await enter('ada', 'another horse 8')).user.id).toBe(id)
  })

  it('replaces a hash of lesser strength at login', async () => {
    const id = await addUser('ada')
    const { hash } = await import('@node-rs/argon2')
    const weak = await hash(good, { memoryCost: 8192, timeCost: 1, parallelism: 1 })
    await node.db.updateTable('users').set({ password_hash: weak }).where('id', '=', id).execute()
    await enter('ada', good, place.address, strong())
    expect((await findUser(node.db, id)).password_hash).toContain('m=19456,t=2,p=1')
    await enter('ada', good, place.address, strong())
  })

  it('replaces an imported bcrypt hash at the first login', async () => {
    const id = await addUser('ada')
    const imported = '$2a$10$FArSwKYtIWg4l5SL5kER3eT3J4Ojb9BU6Cc1lv7GmC7baA5gj0ie6'
    await node.db.updateTable('users').set({ password_hash: imported }).where('id', '=', id).execute()
    await expect(enter('ada', 'wrong')).rejects.toMatchObject({ code: 'credentials_wrong' })
    expect((await findUser(node.db, id)).password_hash).toBe(imported)
    await Promise.all([enter('ada'), enter('ada'), enter('ada')])
    expect((await findUser(node.db, id)).password_hash).toMatch(/^\$argon2id\$/)
    await enter('ada')
  })

  it('takes as long for every user as for an imported hash, as soon as one is imported', async () => {
    const id = await addUser('bob')
    const other = { ...(await startNode(node.clock)), passwords: new Passwords() }
    const tryOne = () =>
      expect(enter('nobody', 'wrong', place.address, other)).rejects.toMatchObject({ code: 'credentials_wrong' })
    await tryOne()
    expect(other.passwords.importedCost).toBe(0)
    const password_hash = '$2a$10$FArSwKYtIWg4l5SL5kER3eT3J4Ojb9BU6Cc1lv7GmC7baA5gj0ie6'
    await node.db.updateTable('users').set({ password_hash }).where('id', '=', id).execute()
    await tryOne()
    expect(other.passwords.importedCost).toBe(10)
  })

  it('[T032] ends a session at logout on every node', async () => {
    const id = await addUser('ada')
    const token = await node.sessions.create({ userId: id, ...place })
    const other = await startNode(node.clock)
    expect(await other.sessions.find(token)).toBeDefined()
    await node.sessions.end(token)
    expect(await node.sessions.find(token)).toBeUndefined()
    node.clock.passSeconds(1)
    expect(await other.sessions.find(token)).toBeUndefined()
  })

  it('[T034] applies a ban, a demotion and a deletion at once', async () => {
    const id = await addUser('ada', { role: role.admin })
    const token = await node.sessions.create({ userId: id, ...place })
    const other = await startNode(node.clock)
    for (const { sessions } of [node, other]) expect((await sessions.find(token))?.account.role).toBe(role.admin)
    await setUser(id, { role: role.ordinary })
    expect((await node.sessions.find(token))?.account.role).toBe(role.ordinary)
    node.clock.passSeconds(1)
    expect((await other.sessions.find(token))?.account.role).toBe(role.ordinary)
    await setUser(id, { status: 2 })
    expect(await node.sessions.find(token)).toBeUndefined()
    await setUser(id, { status: 1 })
    expect(await node.sessions.find(token)).toBeDefined()
    await setUser(id, { deleted_at: 1 })
    expect(await node.sessions.find(token)).toBeUndefined()
  })

  it('[T037] ends idle sessions after 7 days, those of admins after 24 hours, and every session after 30 days', async () => {
    const user = await addUser('ada')
    const admin = await addUser('adm', { role: role.admin })
    const start = async (userId: number) => node.sessions.create({ userId, ...place })
    const [idle, idleAdmin, busy] = [await start(user), await start(admin), await start(user)]

    node.clock.passSeconds(day - 1)
    expect(await node.sessions.find(idleAdmin)).toBeDefined()
    node.clock.passSeconds(day)
    expect(await node.sessions.find(idleAdmin)).toBeUndefined()
    for (let days = 2; days < 30; days += 4) {
      expect(await node.sessions.find(busy)).toBeDefined()
      node.clock.passSeconds(4 * day)
    }
    expect(await node.sessions.find(idle)).toBeUndefined()
    expect(await node.sessions.find(busy)).toBeDefined()
    node.clock.passSeconds(1)
    expect(await node.sessions.find(busy)).toBeUndefined()
    node.clock.passSeconds(-20 * day)
    expect(await node.sessions.find(idle)).toBeUndefined()
    expect(await node.sessions.find(busy)).toBeUndefined()
  })

  it('[T037] does not extend or revive a session when the clock is moved', async () => {
    await addUser('ada')
    const { token } = await enter('ada')
    node.clock.passSeconds(-day)
    expect(await accounts.sessions.find(token)).toBeDefined()
    node.clock.passSeconds(2 * day)
    expect(await accounts.sessions.find(token)).toBeDefined()
    for (let n = 0; n < 30; n++) {
      node.clock.passSeconds(day - 1)
      await accounts.sessions.find(token)
    }
    expect(await accounts.sessions.find(token)).toBeUndefined()
    node.clock.passSeconds(-10 * day)
    expect(await accounts.sessions.find(token)).toBeUndefined()
  })

  it('records at most once a minute that a session is in use', async () => {
    const token = await node.sessions.create({ userId: await addUser('ada'), ...place })
    const seenAt = async () => (await node.db.selectFrom('sessions').select('seen_at').executeTakeFirstOrThrow()).seen_at
    const created = await seenAt()
    node.clock.passSeconds(59)
    await node.sessions.find(token)
    expect(await seenAt()).toBe(created)
    node.clock.passSeconds(1)
    await node.sessions.find(token)
    expect(await seenAt()).toBe(created + 60)
  })

  it('purges expired rows', async () => {
    const id = await addUser('ada')
    await node.sessions.create({ userId: id, ...place })
    await enter('ada', 'wrong').catch(() => {})
    node.clock.passSeconds(8 * day)
    const live = await node.sessions.create({ userId: id, ...place })
    await node.sessions.purge()
    expect(await node.db.selectFrom('sessions').selectAll().execute()).toHaveLength(1)
    expect(await node.db.selectFrom('login_failures').selectAll().execute()).toHaveLength(0)
    expect(await node.sessions.find(live)).toBeDefined()
  })

  it('[T028] accepts an access token until it is replaced or its user is banned', async () => {
    const id = await addUser('ada')
    const old = await makeAccessToken(node, { userId: id })
    const token = await makeAccessToken(node, { userId: id })
    expect(await findByAccessToken(node, old)).toBeUndefined()
    expect(await findByAccessToken(node, `Bearer ${token}`)).toMatchObject({ id })
    expect(await findByAccessToken(node, token)).toMatchObject({ id })
    expect(await findByAccessToken(node, '')).toBeUndefined()
    expect((await findUser(node.db, id)).access_token_hash).not.toContain(token)
    await setUser(id, { status: 2 })
    expect(await findByAccessToken(node, token)).toBeUndefined()
  })

  it('[T005] creates exactly one super admin, and grants quota once, when nodes start at the same time', async () => {
    // SQLite has one process; its starts are parallel calls there.
    const nodes = [accounts]
    while (kind === 'postgres' && nodes.length < 4) nodes.push(await startNode(node.clock))
    const starts = Array.from({ length: 20 }, (_, n) => createRoot(nodes[n % nodes.length] ?? accounts))
    const made = (await Promise.all(starts)).filter((result) => result !== undefined)
    expect(made).toEqual([{ userId: expect.any(Number), defaultPassword: true }])
    const at = node.now() / 1000
    expect(await ledger()).toEqual([
      expect.objectContaining({ user_id: made[0]?.userId, amount: 100_000_000, kind: 'grant', created_at: at }),
    ])
    expect(await createRoot(accounts)).toBeUndefined()
    // A node that starts later has nothing in its caches yet.
    expect(await createRoot(await startNode(node.clock))).toBeUndefined()
    expect((await enter('root', '123456')).user).toMatchObject({ role: role.root, default_password: true })
  })

  it('creates no super admin when the grant fails', async () => {
    const booked = { reference: 'grant:1', user_id: 1, token_id: 0, kind: 'grant', amount: 1, created_at: 0 } as const
    await node.db.insertInto('ledger').values(booked).execute()
    await expect(createRoot(accounts)).rejects.toThrow(/unique/i)
    expect(await node.db.selectFrom('users').selectAll().execute()).toEqual([])
  })

  it('takes the password of the super admin from the environment, unless it is too weak', async () => {
    const weak = await startNode(node.clock, { ROOT_PASSWORD: 'password1' })
    await expect(createRoot(weak)).rejects.toThrow('ROOT_PASSWORD')
    const strong = await startNode(node.clock, { ROOT_PASSWORD: good })
    expect(await createRoot(strong)).toMatchObject({ defaultPassword: false })
    expect((await enter('root')).user.default_password).toBe(false)
  })
})
