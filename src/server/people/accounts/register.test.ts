import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AccountNode, addUser, goodPassword, mailOptions, startAccounts } from '../../../../test/helpers/accounts.ts'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { outcome, tally } from '../../../../test/helpers/ledger.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import { type SmtpServer, startSmtpServer } from '../../../../test/helpers/smtp-server.ts'
import { reconcile } from '../../money/ledger/reconcile.ts'
import { bindEmail, mailOwnCode } from './bind-email.ts'
import { canonicalEmail } from './email-address.ts'
import { mailRegistrationCode, type Registration, register } from './register.ts'
import { resetPassword } from './reset-password.ts'
import { findByLogin, presentUser } from './users.ts'

const ada = 'ada@example.com'
const caller = (id: number) => ({ id, username: `user${id}`, role: 1, group: 'default', address: '192.0.2.1' })

eachDatabase('registration', (fresh, kind) => {
  const cleanups: (() => Promise<void>)[] = []
  let test: TestDatabase
  let node: AccountNode
  let smtp: SmtpServer

  beforeEach(async () => {
    test = await fresh()
    cleanups.push(() => test.drop())
    smtp = await startSmtpServer()
    cleanups.push(() => smtp.stop())
    node = await startAccounts(test)
    cleanups.push(() => node.close())
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  /** A second node where the database allows more than one. */
  async function otherNode(): Promise<AccountNode> {
    if (kind === 'sqlite') return node
    const other = await startAccounts(test, { clock: node.clock })
    cleanups.push(() => other.close())
    return other
  }

  const form = (username: string, more: Partial<Registration> = {}): Registration => ({
    username,
    password: goodPassword,
    email: '',
    verification_code: '',
    aff_code: '',
    turnstile: undefined,
    address: '192.0.2.1',
    language: 'en',
    ...more,
  })
  const join = (username: string, more: Partial<Registration> = {}, on = node) =>
    outcome(() => retryWhileBusy(async () => void (await register(on, form(username, more)))))
  const verified = () => node.set({ EmailVerificationEnabled: 'true', ...mailOptions(smtp) })
  const sendCode = (email: string, on = node) =>
    outcome(() => retryWhileBusy(() => mailRegistrationCode(on, { email, language: 'en' })))
  const codeIn = (text: string) => /\b\d{6}\b/.exec(text)?.[0] ?? ''
  const newestCode = async (email: string, count = 1) => codeIn((await smtp.mailTo(email, count)).text)
  const userNamed = async (name: string) => (await findByLogin(node.db, name)) ?? expect.unreachable()
  const logsOf = (id: number) =>
    node.db.selectFrom('logs').select(['type', 'content', 'quota']).where('user_id', '=', id).execute()

  it('creates an ordinary user who can log in, with the name as typed', async () => {
    expect(await join(' Ada ', { password2: goodPassword })).toBe('ok')
    const user = presentUser(await userNamed('ada'))
    expect(user).toMatchObject({
      username: 'Ada',
      display_name: 'Ada',
      role: 1,
      status: 1,
      group: 'default',
      email: '',
      quota: 0,
    })
    expect(user.setting).toBe('{"language":"en"}')
    expect(await logsOf(user.id)).toEqual([])
  })

  it.each([
    [{ RegisterEnabled: 'false' }, {}, 'registration_closed'],
    [{ PasswordRegisterEnabled: 'false' }, {}, 'registration_closed'],
    [{}, { username: '' }, 'username_length'],
    [{}, { username: 'a@b' }, 'username_characters'],
    [{}, { password: 'short' }, 'password_length'],
    [{}, { password: 'password123' }, 'password_weak'],
    [{}, { password2: 'something else' }, 'passwords_differ'],
    [{ EmailVerificationEnabled: 'true' }, {}, 'email_required'],
    [{ EmailVerificationEnabled: 'true' }, { email: 'x', verification_code: '1' }, 'email_invalid'],
    [{ EmailVerificationEnabled: 'true' }, { email: ada, verification_code: '000000' }, 'code_wrong'],
  ] as const)('with %j refuses %j as %s', async (options, fields, code) => {
    await node.set(options)
    expect(await join('ada', fields)).toBe(code)
    expect(await node.db.selectFrom('users').select('id').execute()).toEqual([])
  })

  it('[T004] registers a name once for many parallel attempts, and grants the bonus once', async () => {
    await node.set({ QuotaForNewUser: '700' })
    const other = await otherNode()
    const names = ['ada', 'ADA', 'Ａｄａ', ' ada ', 'Ada', 'aDa']
    const outcomes = await Promise.all(names.map((name, n) => join(name, {}, n % 2 ? node : other)))
    expect(tally(outcomes)).toEqual({ ok: 1, username_taken: names.length - 1 })
    expect(await node.db.selectFrom('ledger').select('amount').execute()).toEqual([{ amount: 700 }])
  })

  it('grants the bonuses of the options to the new user and the inviter, each with a log row', async () => {
    await node.set({ QuotaForNewUser: '500000', QuotaForInvitee: '1000', QuotaForInviter: '2000' })
    await join('host')
    const { id: hostId, aff_code } = await userNamed('host')
    for (const name of ['one', 'two']) expect(await join(name, { aff_code })).toBe('ok')

    const host = await userNamed('host')
    expect(host).toMatchObject({ quota: 500_000, aff_count: 2, aff_quota: 4000, aff_history_quota: 4000 })
    const guest = await userNamed('one')
    expect(guest).toMatchObject({ quota: 501_000, inviter_id: hostId, aff_quota: 0 })
    expect(await logsOf(guest.id)).toEqual([
      { type: 4, quota: 500_000, content: expect.stringContaining('$1.00') },
      { type: 4, quota: 1000, content: expect.stringContaining('invite code') },
    ])
    expect((await logsOf(hostId)).map(({ quota }) => quota)).toEqual([500_000, 2000, 2000])
    expect(await reconcile(node)).toEqual([])
  })

  it('grants no inviter bonus for an unknown invite code, or one of a user who may no longer invite', async () => {
    await node.set({ QuotaForInvitee: '1000', QuotaForInviter: '2000' })
    await join('host')
    const { id, aff_code } = await userNamed('host')
    await node.db.updateTable('users').set({ status: 2 }).where('id', '=', id).execute()
    expect(await join('one', { aff_code })).toBe('ok')
    expect(await join('two', { aff_code: 'nobody' })).toBe('ok')
    expect(await userNamed('one')).toMatchObject({ quota: 0, inviter_id: 0 })
    expect(await userNamed('host')).toMatchObject({ aff_count: 0, aff_quota: 0 })
  })

  it('counts every invited user when many register at once', async () => {
    await node.set({ QuotaForInvitee: '10', QuotaForInviter: '3' })
    await join('host')
    const { aff_code } = await userNamed('host')
    const other = await otherNode()
    await Promise.all(Array.from({ length: 20 }, (_, n) => join(`guest${n}`, { aff_code }, n % 2 ? node : other)))
    expect(await userNamed('host')).toMatchObject({ aff_count: 20, aff_quota: 60, aff_history_quota: 60 })
    expect(await reconcile(node)).toEqual([])
  })

  describe('with a proved address', () => {
    beforeEach(verified)

    it('stores the address that the mailed code verifies, in its canonical form', async () => {
      expect(await sendCode(' Ada@EXAMPLE.com ')).toBe('ok')
      const mail = await smtp.mailTo(ada)
      expect(mail.headers.get('subject')).toContain('verification code')
      expect(await join('ada', { email: 'ADA@example.com', verification_code: ` ${codeIn(mail.text)} ` })).toBe('ok')
      expect(await userNamed(ada)).toMatchObject({ username: 'ada', email: ada })
      expect(JSON.stringify(await node.db.selectFrom('mailed_codes').selectAll().execute())).toBe('[]')
    })

    it('stores no code in clear text', async () => {
      await sendCode(ada)
      const code = await newestCode(ada)
      expect(JSON.stringify(await node.db.selectFrom('mailed_codes').selectAll().execute())).not.toContain(code)
    })

    it('[T009] creates one user for 1,000 parallel uses of a code on two nodes', async () => {
      await sendCode(ada)
      const code = await newestCode(ada)
      const other = await otherNode()
      const uses = Array.from({ length: 1000 }, (_, n) =>
        join(`user${n}`, { email: ada, verification_code: code }, n % 2 ? node : other),
      )
      const { ok, code_wrong = 0, too_many_requests = 0 } = tally(await Promise.all(uses))
      expect([ok, code_wrong + too_many_requests]).toEqual([1, 999])
      expect(await node.db.selectFrom('users').select('email').execute()).toEqual([{ email: ada }])
    })

    it('[T009] accepts a code for three minutes, on any node, and not a second longer', async () => {
      await sendCode(ada)
      const verification_code = await newestCode(ada)
      node.clock.passSeconds(180)
      expect(await join('ada', { email: ada, verification_code })).toBe('code_wrong')
      node.clock.passSeconds(-1)
      expect(await join('ada', { email: ada, verification_code }, await otherNode())).toBe('ok')
    })

    it('[T010] accepts a code only for its purpose, its address and its user', async () => {
      await sendCode(ada)
      const verification_code = await newestCode(ada)
      expect(await join('eve', { email: 'eve@example.com', verification_code })).toBe('code_wrong')
      const bob = await addUser(node, 'bob', { email: ada })
      for (const on of [node, await otherNode()]) {
        const asReset = outcome(
          async () => void (await resetPassword(on, { email: ada, token: verification_code, language: 'en' })),
        )
        expect(await asReset).toBe('reset_link_invalid')
        const binding = { email: ada, code: verification_code, language: 'en', sessionToken: bob.token } as const
        expect(await outcome(() => bindEmail(on, bob.caller, binding))).toBe('code_wrong')
      }

      node.clock.passSeconds(30)
      await mailOwnCode(node, caller(7), { email: 'bob@example.com', language: 'en', purpose: 'bind' })
      const ofBinding = await newestCode('bob@example.com')
      expect(await join('bob2', { email: 'bob@example.com', verification_code: ofBinding })).toBe('code_wrong')
    })

    it('[T008] invalidates a code after five wrong guesses, also when a thousand arrive at once', async () => {
      await sendCode(ada)
      const right = await newestCode(ada)
      const guesses = Array.from({ length: 1000 }, (_, n) => String(n).padStart(6, '9')).filter((code) => code !== right)
      const outcomes = await Promise.all(guesses.map((code) => join('ada', { email: ada, verification_code: code })))
      expect(tally(outcomes)).toEqual({ code_wrong: guesses.length })
      expect(await join('ada', { email: ada, verification_code: right })).toBe('code_wrong')
    })

    it('keeps a code valid when another field is wrong, any number of times', async () => {
      await node.set({ EmailVerificationEnabled: 'false' })
      await join('taken')
      await verified()
      await sendCode(ada)
      const verification_code = await newestCode(ada)
      for (let n = 0; n < 8; n++) expect(await join('Taken', { email: ada, verification_code })).toBe('username_taken')
      expect(await join('ada', { email: ada, verification_code })).toBe('ok')
      expect(await join('again', { email: ada, verification_code })).toBe('code_wrong')
    })

    it('[T211] mails again after 30 seconds, ten times an hour, and only the newest code is valid', async () => {
      expect(await sendCode(ada)).toBe('ok')
      const first = await newestCode(ada)
      const refusal = await mailRegistrationCode(node, { email: ada, language: 'en' }).catch((error) => error)
      expect(refusal).toMatchObject({ code: 'code_too_soon', params: { seconds: 30 } })
      expect(await sendCode(ada, await otherNode())).toBe('code_too_soon')
      expect(await sendCode('other@example.com')).toBe('ok')

      for (let n = 2; n <= 10; n++) {
        node.clock.passSeconds(30)
        expect(await sendCode(ada)).toBe('ok')
      }
      const last = await newestCode(ada, 10)
      if (first !== last) expect(await join('ada', { email: ada, verification_code: first })).toBe('code_wrong')
      node.clock.passSeconds(30)
      expect(await sendCode(ada)).toBe('code_too_soon')
      expect(await join('ada', { email: ada, verification_code: last })).toBe('ok')
      node.clock.passSeconds(3600)
      expect(await sendCode(ada)).toBe('ok')
      expect(smtp.mails.filter(({ recipients }) => recipients.includes(ada))).toHaveLength(11)
    })

    it('[T211] mails once of many parallel requests', async () => {
      const other = await otherNode()
      const outcomes = await Promise.all(Array.from({ length: 200 }, (_, n) => sendCode(ada, n % 2 ? node : other)))
      expect(tally(outcomes)).toEqual({ ok: 1, code_too_soon: 199 })
      expect(smtp.mails).toHaveLength(1)
    })

    it('[T017] answers the same for an address that has an account, and notifies only its owner', async () => {
      await sendCode(ada)
      await join('ada', { email: ada, verification_code: await newestCode(ada) })
      node.clock.passSeconds(30)
      expect(await sendCode(ada)).toBe('ok')
      const mail = await smtp.mailTo(ada, 2)
      expect(mail.text).toContain('belongs to one already')
      expect(codeIn(mail.text)).toBe('')
      expect(await sendCode(ada)).toBe('code_too_soon')
      expect(await join('eve', { email: ada, verification_code: '000000' })).toBe('code_wrong')

      await node.db.updateTable('users').set({ deleted_at: 1 }).execute()
      node.clock.passSeconds(30)
      expect(await sendCode(ada)).toBe('ok')
      expect(codeIn((await smtp.mailTo(ada, 3)).text)).toBe('')
    })

    it('[T026] refuses to mail codes while registration is closed, needs no code, or mail is not configured', async () => {
      await node.set({ SMTPServer: '' })
      expect(await sendCode(ada)).toBe('mail_unconfigured')
      await node.set({ EmailVerificationEnabled: 'false' })
      expect(await sendCode(ada)).toBe('email_code_unneeded')
      await node.set({ RegisterEnabled: 'false' })
      expect(await sendCode(ada)).toBe('registration_closed')
      expect(smtp.mails).toEqual([])
    })

    it('[T012] accepts only addresses of listed domains, and no aliases, if the options require it', async () => {
      await node.set({ EmailDomainRestrictionEnabled: 'true', EmailDomainWhitelist: 'gmail.com,bücher.example' })
      const refused = ['u@evil.com', 'u@sub.gmail.com', 'u@gmail.com.evil.com', 'u@gmaiI.com', 'u@gmаil.com', 'u@notgmail.com']
      for (const email of refused) expect([email, await sendCode(email)]).toEqual([email, 'email_domain_refused'])
      expect(await sendCode('u@GMAIL.com.')).toBe('email_invalid')
      expect(await sendCode('U@GMAIL.com')).toBe('ok')
      expect(await sendCode('u@BÜCHER.example')).toBe('ok')
      await node.set({ EmailAliasRestrictionEnabled: 'true' })
      for (const email of ['u+x@gmail.com', 'a.b@gmail.com']) expect(await sendCode(email)).toBe('email_alias_refused')
    })
  })
})

describe('e-mail addresses', () => {
  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' a+b.c@x-1.example.org ', 'a+b.c@x-1.example.org'],
    ['u@bücher.example', 'u@xn--bcher-kva.example'],
    ['u@bücher.example'.normalize('NFD'), 'u@xn--bcher-kva.example'],
  ])('%j are stored as %s', (given, kept) => {
    expect(canonicalEmail(given)).toBe(kept)
  })

  it.each([
    '', 'x', '@x.test', 'x@', 'x@y', 'x@y.', 'x@y.1', 'x@127.0.0.1', 'x@[127.0.0.1]', 'u@evil.com@gmail.com', 'a@x.test;b@y.test',
    'a@x.test,b@y.test', '"x@evil.test" y@ok.test', 'Ada <a@x.test>', 'a@x.test\r\nBcc: b@y.test', 'a%0d%0aBcc:b@y.test', 'a@x.test%0d%0aBcc:b@y.test', 'a b@x.test', '.a@x.test', 'a..b@x.test',
    'a@x.test/', 'a@x%2etest', 'a@x.test#', 'a@x:25.test', 'a@-x.test', 'ä@x.test', `${'a'.repeat(65)}@x.test`, `a@${'x.'.repeat(60)}test`, `${'a'.repeat(10_000)}@x.test`, 'a@x.test\u0000',
  ])('[T011] %j are refused', (given) => {
    expect(canonicalEmail(given)).toBeUndefined()
  }) // biome-ignore format: one list
})
