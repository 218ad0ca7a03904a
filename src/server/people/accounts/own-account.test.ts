import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, goodPassword, mailOptions, startAccounts } from '../../../../test/helpers/accounts.ts'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { outcome, tally } from '../../../../test/helpers/ledger.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import { type SmtpServer, startSmtpServer } from '../../../../test/helpers/smtp-server.ts'
import { whileLocked } from '../../../../test/helpers/while-locked.ts'
import { verifyAudit } from '../../base/options/audit.ts'
import type { Caller } from '../../base/options/core.ts'
import { dropAccessToken, findByAccessToken, makeAccessToken } from './access-tokens.ts'
import { bindEmail, mailOwnCode } from './bind-email.ts'
import { changeSelf } from './change-self.ts'
import { reauthenticate } from './reauthenticate.ts'
import { deleteAccount } from './remove-user.ts'
import { mailResetLink, resetPassword } from './reset-password.ts'
import { signIn } from './sign-in.ts'
import { findUser } from './users.ts'

const home = 'ada@example.com'
const place = { address: '192.0.2.1', userAgent: 'test' }

eachDatabase('the own account', (fresh, kind) => {
  const cleanups: (() => Promise<void>)[] = []
  let test: TestDatabase
  let node: AccountNode
  let smtp: SmtpServer
  let ada: Awaited<ReturnType<typeof addUser>>

  beforeEach(async () => {
    test = await fresh()
    cleanups.push(() => test.drop())
    smtp = await startSmtpServer()
    cleanups.push(() => smtp.stop())
    node = await startAccounts(test)
    cleanups.push(() => node.close())
    await node.set(mailOptions(smtp))
    ada = await addUser(node, 'ada', { email: home })
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function otherNode(): Promise<AccountNode> {
    if (kind === 'sqlite') return node
    const other = await startAccounts(test, { clock: node.clock })
    cleanups.push(() => other.close())
    return other
  }

  const askReset = (email = home) =>
    outcome(() => mailResetLink(node, { email, turnstile: undefined, address: '192.0.2.1', language: 'en' }))
  const linkIn = (text: string) => new URL(/https:\/\/\S+/.exec(text)?.[0] ?? '')
  const mailedToken = async (count = 1) =>
    linkIn((await smtp.mailTo(home, count)).text).searchParams.get('token') ?? expect.unreachable()
  const reset = (token: string, email = home, on = node) =>
    outcome(() => retryWhileBusy(async () => void (await resetPassword(on, { email, token, language: 'en' }))))
  const enter = (username: string, password: string) =>
    outcome(async () => void (await signIn(node, { username, password, ...place })))
  const codeFor = async (caller: Caller, email: string, count = 1, purpose: 'bind' | 'notify' = 'bind') => {
    await mailOwnCode(node, caller, { email, language: 'en', purpose })
    return /\b\d{6}\b/.exec((await smtp.mailTo(email, count)).text)?.[0] ?? ''
  }
  const bind = (code: string, email: string, { caller, token }: { caller: Caller; token: string | undefined } = ada, on = node) =>
    outcome(() => bindEmail(on, caller, { email, code, language: 'en', sessionToken: token }))

  it('[T033] sets a new password by a mailed link, which revokes sessions, access token and other codes', async () => {
    const access = await makeAccessToken(node, { userId: ada.id })
    expect(await askReset('ADA@example.com')).toBe('ok')
    const link = linkIn((await smtp.mailTo(home)).text)
    expect(link.origin + link.pathname).toBe('https://site.test/user/reset')
    expect([...link.searchParams.keys()]).toEqual(['email', 'token'])
    const stored = JSON.stringify(await node.db.selectFrom('mailed_codes').selectAll().execute())
    expect(stored).not.toContain(link.searchParams.get('token'))

    const token = link.searchParams.get('token') ?? ''
    const password = await resetPassword(node, { email: home, token, language: 'en' })
    expect(password).toMatch(/^\w{16}$/)
    expect(await node.sessions.find(ada.token)).toBeUndefined()
    expect(await findByAccessToken(node, access)).toBeUndefined()
    expect(await enter('ada', goodPassword)).toBe('credentials_wrong')
    const { user } = await signIn(node, { username: 'ada', password, ...place })
    expect(user.default_password).toBe(true)
    expect((await smtp.mailTo(home, 2)).headers.get('subject')).toContain('was reset')
    expect(await reset(token)).toBe('reset_link_invalid')
    const log = await node.db.selectFrom('logs').select(['type', 'content']).where('user_id', '=', ada.id).execute()
    expect(log).toEqual([{ type: 4, content: expect.stringContaining('by mail') }])
  })

  it('[T078] site names and mail addresses cannot inject text into mails and their links', async () => {
    await node.set({ SystemName: 'A&B <i>"#/../' })
    const odd = "o'neil+a&b=c@example.com"
    await addUser(node, 'odd', { email: odd })
    expect(await askReset(odd)).toBe('ok')
    const { headers, text, recipients } = await smtp.mailTo(odd)
    expect(recipients).toEqual([odd])
    expect([headers.get('bcc'), headers.get('cc')]).toEqual([undefined, undefined])
    const link = linkIn(text)
    expect([link.pathname, link.hash, [...link.searchParams.keys()]]).toEqual(['/user/reset', '', ['email', 'token']])
    expect(link.searchParams.get('email')).toBe(odd)
    expect(text.slice(text.indexOf('<!doctype'))).toContain('A&amp;B &lt;i&gt;')
  })

  it('[T015] resets the password once for a thousand parallel uses of a link on two nodes', async () => {
    await askReset()
    const token = await mailedToken()
    const other = await otherNode()
    const uses = Array.from({ length: 1000 }, (_, n) => reset(token, home, n % 2 ? node : other))
    const { ok, reset_link_invalid = 0, too_many_requests = 0 } = tally(await Promise.all(uses))
    expect([ok, reset_link_invalid + too_many_requests]).toEqual([1, 999])
  })

  it('[T015] accepts only the newest link, for fifteen minutes, for its address and its user', async () => {
    await askReset()
    const first = await mailedToken()
    node.clock.passSeconds(30)
    await askReset()
    const second = await mailedToken(2)
    expect(await reset(first)).toBe('reset_link_invalid')
    expect(await reset(second, 'other@example.com')).toBe('reset_link_invalid')
    node.clock.passSeconds(15 * 60)
    expect(await reset(second)).toBe('reset_link_invalid')
    node.clock.passSeconds(-1)

    await node.db.updateTable('users').set({ email: '' }).where('id', '=', ada.id).execute()
    expect(await reset(second)).toBe('reset_link_invalid')
    await addUser(node, 'eve', { email: home })
    expect(await reset(second)).toBe('reset_link_invalid')
  })

  it('invalidates a link after five wrong tokens', async () => {
    await askReset()
    const token = await mailedToken()
    for (let n = 0; n < 5; n++) expect(await reset(`wrong${n}`)).toBe('reset_link_invalid')
    expect(await reset(token)).toBe('reset_link_invalid')
  })

  it('[T017] answers the same whether or not an address has an account, and mails only to active ones', async () => {
    const banned = await addUser(node, 'banned', { email: 'banned@example.com' })
    await node.db.updateTable('users').set({ status: 2 }).where('id', '=', banned.id).execute()
    for (const email of [home, 'nobody@example.com', 'banned@example.com']) {
      expect([await askReset(email), await askReset(email)]).toEqual(['ok', 'code_too_soon'])
      expect(await reset('guess', email)).toBe('reset_link_invalid')
    }
    await smtp.mailTo(home)
    expect(smtp.mails).toHaveLength(1)
    expect(await askReset('nonsense')).toBe('email_invalid')
    await node.set({ ServerAddress: '' })
    expect(await askReset('more@example.com')).toBe('mail_unconfigured')
  })

  it('binds an address that was verified by a code, once, and notifies the previous one', async () => {
    const next = 'next@example.com'
    const code = await codeFor(ada.caller, next)
    const other = await otherNode()
    const uses = Array.from({ length: 100 }, (_, n) => bind(code, next, ada, n % 2 ? node : other))
    expect(tally(await Promise.all(uses))).toEqual({ ok: 1, code_wrong: 99 })
    expect((await findUser(node.db, ada.id)).email).toBe(next)
    expect((await smtp.mailTo(home)).text).toContain('has a new e-mail address')
    expect(await enter(next, goodPassword)).toBe('ok')
    expect(await enter(home, goodPassword)).toBe('credentials_wrong')
  })

  it('[T010] binds no address with a code of another user, purpose or address', async () => {
    const eve = await addUser(node, 'eve')
    const code = await codeFor(ada.caller, 'next@example.com')
    expect(await bind(code, 'next@example.com', eve)).toBe('code_wrong')
    expect(await bind(code, 'more@example.com')).toBe('code_wrong')
    const told = await codeFor(ada.caller, 'told@example.com', 1, 'notify')
    expect(await bind(told, 'told@example.com')).toBe('code_wrong')
    expect(await bind(code, 'next@example.com')).toBe('ok')
  })

  it('sends no code for an address of another account, and binds an address to one of two users', async () => {
    await mailOwnCode(node, (await addUser(node, 'eve')).caller, { email: home, language: 'zh', purpose: 'bind' })
    expect((await smtp.mailTo(home)).text).toContain('它已属于一个账户')

    const bob = await addUser(node, 'bob')
    const mine = await codeFor(ada.caller, 'both@example.com')
    node.clock.passSeconds(30)
    const second = await codeFor(bob.caller, 'both@example.com', 2)
    const outcomes = await Promise.all([bind(mine, 'both@example.com'), bind(second, 'both@example.com', bob)])
    expect(outcomes.sort()).toEqual(['email_taken', 'ok'])
  })

  it('[T033] allows irreversible changes only within ten minutes of an authentication', async () => {
    const code = await codeFor(ada.caller, 'next@example.com')
    expect(await bind(code, 'next@example.com', { ...ada, token: undefined })).toBe('fresh_login_required')
    node.clock.passSeconds(601)
    expect(await bind(code, 'next@example.com')).toBe('fresh_login_required')
    expect(await outcome(() => deleteAccount(node, ada.caller, ada.token))).toBe('fresh_login_required')
    expect(await outcome(() => changeSelf(node, ada.caller, { username: 'lovelace' }, ada.token))).toBe('fresh_login_required')

    const prove = (password: string, sessionToken: string | undefined = ada.token) =>
      outcome(() => reauthenticate(node, ada.caller, { password, sessionToken }))
    expect(await prove('wrong')).toBe('password_wrong')
    expect(await outcome(() => reauthenticate(node, ada.caller, { password: goodPassword, sessionToken: undefined }))).toBe(
      'fresh_login_required',
    )
    expect(await prove(goodPassword)).toBe('ok')
    expect(await outcome(() => changeSelf(node, ada.caller, { username: 'lovelace' }, ada.token))).toBe('ok')
    expect(await outcome(() => deleteAccount(node, ada.caller, ada.token))).toBe('ok')
  })

  it('throttles guesses of the password in a session that was left open', async () => {
    const prove = () => outcome(() => reauthenticate(node, ada.caller, { password: 'wrong', sessionToken: ada.token }))
    const outcomes = await Promise.all(Array.from({ length: 30 }, prove))
    expect(tally(outcomes)).toEqual({ password_wrong: 5, login_throttled: 25 })
  })

  it('[T029] is deleted by its owner: no session, no token, no login, no second owner of name and address', async () => {
    const access = await makeAccessToken(node, { userId: ada.id })
    await askReset()
    const token = await mailedToken()
    await deleteAccount(node, ada.caller, ada.token)
    expect(await node.sessions.find(ada.token)).toBeUndefined()
    expect(await findByAccessToken(node, access)).toBeUndefined()
    expect([await enter('ada', goodPassword), await enter(home, goodPassword)]).toEqual([
      'credentials_wrong',
      'credentials_wrong',
    ])
    expect(await reset(token)).toBe('reset_link_invalid')
    expect(await outcome(async () => void (await addUser(node, 'ADA')))).toBe('username_taken')
    expect(await outcome(async () => void (await addUser(node, 'eve', { email: home })))).toBe('email_taken')
    const audit = await node.db.selectFrom('audit').select(['actor_id', 'action', 'target']).execute()
    expect(audit).toEqual([{ actor_id: ada.id, action: 'user.delete-self', target: `user:${ada.id}` }])
    expect((await verifyAudit(node)).brokenAt).toBeUndefined()

    const root = await addUser(node, 'boss', { role: 100 })
    expect(await outcome(() => deleteAccount(node, root.caller, root.token))).toBe('root_protected')
  })

  it.runIf(kind === 'postgres')('writes only the names that it changes, while an admin changes another', async () => {
    await whileLocked(node.db, {
      lock: [sql`select id from users where id = ${ada.id} for update`],
      works: [() => changeSelf(node, ada.caller, { display_name: 'Countess' }, ada.token)],
      meanwhile: (within) =>
        within.updateTable('users').set({ username: 'lovelace', username_key: 'lovelace' }).where('id', '=', ada.id).execute(),
    })
    expect(await findUser(node.db, ada.id)).toMatchObject({ username: 'lovelace', display_name: 'Countess' })
    await changeSelf(node, ada.caller, {}, ada.token)
  })

  it('lists its sessions, and ends one or all of them', async () => {
    node.clock.passSeconds(60)
    const phone = await node.sessions.create({ userId: ada.id, address: '192.0.2.7', userAgent: 'phone' })
    const eve = await addUser(node, 'eve')
    const shown = await node.sessions.list(ada.id, ada.token)
    expect(shown).toMatchObject([
      { address: '192.0.2.7', user_agent: 'phone', current: false },
      { address: '192.0.2.1', user_agent: 'test', current: true },
    ])
    expect(JSON.stringify(shown)).not.toMatch(/hash/)

    const [first] = shown
    expect(await outcome(() => node.sessions.endOne(eve.id, first?.id ?? 0))).toBe('not_found')
    await node.sessions.endOne(ada.id, first?.id ?? 0)
    expect(await node.sessions.find(phone)).toBeUndefined()
    expect(await node.sessions.list(ada.id, ada.token)).toHaveLength(1)
    await node.sessions.endAll(ada.id)
    expect(await node.sessions.find(ada.token)).toBeUndefined()
    expect(await node.sessions.find(eve.token)).toBeDefined()

    const old = await node.sessions.create({ userId: ada.id, ...place })
    node.clock.passSeconds(8 * 86_400)
    expect(await node.sessions.list(ada.id, old)).toEqual([])
  })

  it('can revoke its access token', async () => {
    const access = await makeAccessToken(node, { userId: ada.id })
    await dropAccessToken(node, ada.id)
    expect(await findByAccessToken(node, access)).toBeUndefined()
  })

  it('[T033] ends other sessions and codes with a new password, at once on every node', async () => {
    const elsewhere = await node.sessions.create({ userId: ada.id, ...place })
    const code = await codeFor(ada.caller, 'next@example.com')
    const change = { password: 'new horse 12', current_password: goodPassword }
    const other = await otherNode()
    const outcomes = await Promise.all(
      Array.from({ length: 4 }, (_, n) => outcome(() => changeSelf(n % 2 ? node : other, ada.caller, change, ada.token))),
    )
    expect(tally(outcomes)).toEqual({ ok: 1, password_wrong: 3 })
    expect(await node.sessions.find(elsewhere)).toBeUndefined()
    expect(await node.sessions.find(ada.token)).toBeDefined()
    expect(await bind(code, 'next@example.com')).toBe('code_wrong')
  })
})
