import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, goodPassword, mailOptions, startAccounts } from '../../../../test/helpers/accounts.ts'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { outcome, tally } from '../../../../test/helpers/ledger.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import { type SmtpServer, startSmtpServer } from '../../../../test/helpers/smtp-server.ts'
import { findByAccessToken, makeAccessToken } from './access-tokens.ts'
import { mailOwnCode } from './bind-email.ts'
import { changeSelf } from './change-self.ts'
import { editByAdmin } from './edit-user.ts'
import { storeStep } from './login-steps.ts'
import { mailResetLink, resetPassword } from './reset-password.ts'
import { resetRoot } from './reset-root.ts'

const home = 'ada@example.com'
const next = 'new horse 12'

eachDatabase('a new password', (fresh, kind) => {
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
    await node.set(mailOptions(smtp))
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  type User = Awaited<ReturnType<typeof addUser>>
  const mailedToken = async (count = 1) => /token=([\w-]+)/.exec((await smtp.mailTo(home, count)).text)?.[1] ?? ''
  const askLink = () => mailResetLink(node, { email: home, turnstile: undefined, address: '192.0.2.1', language: 'en' })
  const rowsOf = async ({ id }: User) => ({
    sessions: (await node.db.selectFrom('sessions').select('id').where('user_id', '=', id).execute()).length,
    codes: (await node.db.selectFrom('mailed_codes').select('key').where('user_id', '=', id).execute()).length,
    steps: (await node.db.selectFrom('login_steps').select('key').where('user_id', '=', id).execute()).length,
  })
  const userRow = ({ id }: User) => node.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  const ways: [name: string, role: number, change: (user: User) => Promise<unknown>, sessionsLeft: number][] = [
    [
      'by its owner',
      1,
      ({ caller, token }) => changeSelf(node, caller, { password: next, current_password: goodPassword }, token),
      1,
    ],
    [
      'by an admin',
      1,
      async ({ id }) => editByAdmin(node, (await addUser(node, 'boss', { role: 10 })).caller, { id, password: next }),
      0,
    ],
    ['by a mailed link', 1, async () => resetPassword(node, { email: home, token: await mailedToken(2), language: 'en' }), 0],
    ['by the operator of the machine', 100, () => resetRoot(node, { password: next, resetsFactors: false }), 0],
  ]
  it.each(ways)(
    '[T033] set %s ends the access token, other sessions, begun logins, mailed codes and links',
    async (_name, role, change, left) => {
      const ada = await addUser(node, 'ada', { email: home, role })
      const bob = await addUser(node, 'bob')
      const tokens = [await makeAccessToken(node, { userId: ada.id }), await makeAccessToken(node, { userId: bob.id })]
      await node.sessions.create({ userId: ada.id, address: '192.0.2.9', userAgent: 'elsewhere' })
      await storeStep(node, { kind: 'second', token: 'x', boundTo: 'x', userId: ada.id, detail: {}, minutes: 5 })
      await mailOwnCode(node, ada.caller, { email: 'next@example.com', language: 'en', purpose: 'bind' })
      await askLink()
      node.clock.passSeconds(60)
      await askLink()
      expect(await rowsOf(ada)).toEqual({ sessions: 2, codes: 2, steps: 1 })

      await change(ada)
      expect(await rowsOf(ada)).toEqual({ sessions: left, codes: 0, steps: 0 })
      expect((await userRow(ada)).access_token_hash).toBeNull()
      const found = await Promise.all(tokens.map((token) => findByAccessToken(node, `Bearer ${token}`)))
      expect(found.map((account) => account?.id)).toEqual([undefined, bob.id])
      expect(await rowsOf(bob)).toEqual({ sessions: 1, codes: 0, steps: 0 })
    },
  )

  it('[T015] a mailed link sets one password: 40 further uses, in turn and at once on two nodes, change no row', async () => {
    const ada = await addUser(node, 'ada', { email: home })
    const other = kind === 'postgres' ? await startAccounts(test, { clock: node.clock }) : node
    if (other !== node) cleanups.push(() => other.close())
    await askLink()
    const token = await mailedToken()
    const use = (on: AccountNode) =>
      outcome(() => retryWhileBusy(async () => void (await resetPassword(on, { email: home, token, language: 'en' }))))
    expect(await use(node)).toBe('ok')
    const [before, access] = [await userRow(ada), await makeAccessToken(node, { userId: ada.id })]
    const session = await node.sessions.create({ userId: ada.id, address: '192.0.2.1', userAgent: 'test' })

    const inTurn = []
    for (let count = 0; count < 20; count++) inTurn.push(await use(count % 2 ? other : node))
    const atOnce = await Promise.all(Array.from({ length: 20 }, (_, count) => use(count % 2 ? other : node)))
    expect(tally([...inTurn, ...atOnce])).toEqual({ reset_link_invalid: 40 })

    expect((await userRow(ada)).password_hash).toBe(before.password_hash)
    expect(await rowsOf(ada)).toEqual({ sessions: 1, codes: 0, steps: 0 })
    expect(await node.sessions.find(session)).toBeDefined()
    expect((await findByAccessToken(node, access))?.id).toBe(ada.id)
    const logged = await node.db.selectFrom('logs').select(['type', 'content']).where('user_id', '=', ada.id).execute()
    expect(logged).toEqual([{ type: 4, content: expect.stringContaining('by mail') }])
  })
})
