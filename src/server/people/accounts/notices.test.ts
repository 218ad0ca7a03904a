import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, mailOptions, startAccounts } from '../../../../test/helpers/accounts.ts'
import { testCertificate as cert, testKey as key } from '../../../../test/helpers/certificate.ts'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { outcome } from '../../../../test/helpers/ledger.ts'
import { type SmtpServer, startSmtpServer } from '../../../../test/helpers/smtp-server.ts'
import { whileLocked } from '../../../../test/helpers/while-locked.ts'
import { type SettingInput, settingInput } from '../../../contract/entities/user-setting.ts'
import { publicInternet, UpstreamAgents } from '../../base/lib/net/http-client.ts'
import { credit } from '../../money/ledger/credit.ts'
import type { Ledger } from '../../money/ledger/ledger.ts'
import { openLedger } from '../../money/ledger/open-ledger.ts'
import { sign } from '../notify/webhook.ts'
import { mailOwnCode } from './bind-email.ts'
import { warnLowQuota } from './low-quota.ts'
import { testNotice } from './notices.ts'
import { saveSetting } from './save-setting.ts'
import { findUser, presentUser } from './users.ts'

type Node = AccountNode & { readonly ledger: Ledger }

const signal = new AbortController().signal
const home = 'ada@example.com'

eachDatabase('notices', (fresh, kind) => {
  const cleanups: (() => Promise<unknown>)[] = []
  let test: TestDatabase
  let node: Node
  let smtp: SmtpServer
  let ada: Awaited<ReturnType<typeof addUser>>

  beforeEach(async () => {
    test = await fresh()
    cleanups.push(() => test.drop())
    smtp = await startSmtpServer()
    cleanups.push(() => smtp.stop())
    node = await startNode()
    await node.set(mailOptions(smtp))
    ada = await addUser(node, 'ada', { email: home })
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function startNode(clock?: AccountNode['clock']): Promise<Node> {
    const accounts = await startAccounts(test, clock ? { clock } : {})
    cleanups.push(() => accounts.close())
    const ledger = await openLedger(accounts)
    cleanups.push(() => ledger.close())
    // Every name resolves to loopback, which counts as public here.
    const untrusted = {
      ...publicInternet(),
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
      certificates: cert,
      allows: () => true,
      allowsPort: () => true,
    }
    const upstream = new UpstreamAgents({ untrusted })
    cleanups.push(() => upstream.close())
    return { ...accounts, ledger, upstream }
  }

  /** The receiver of a webhook, and the requests that it received. */
  async function receiver() {
    const calls: { body: string; signature: unknown }[] = []
    const server = https.createServer({ cert, key }, (request, response) => {
      let body = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      request.on('end', () => {
        calls.push({ body, signature: request.headers['x-webhook-signature'] })
        response.end()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => new Promise((resolve) => server.close(resolve)))
    // A server that listens on a port has an address of this type.
    return { calls, url: `https://mail.test:${(server.address() as AddressInfo).port}/hook` }
  }

  const save = (input: Partial<SettingInput>, language: 'zh' | 'en' = 'en') =>
    outcome(() => saveSetting(node, ada.caller, { input: settingInput.parse(input), language }))
  const settingOf = async () => JSON.parse(presentUser(await findUser(node.db, ada.id)).setting)
  const give = async (amount: number, userId = ada.id) => {
    const reference = `adjust:${Math.random()}`
    await node.db.transaction().execute((within) => credit(within, { userId, kind: 'adjust', amount, reference, at: 0 }))
    node.bus.publish('user', userId)
  }
  const spend = async (amount: number, on = node, userId = ada.id) => {
    const hold = { requestId: `r${Math.random()}`, userId, tokenId: 0, amount }
    await on.ledger.hold(hold)
    const rollup = { username: 'ada', model: 'm', group: 'default', tokens: 1 }
    await on.ledger.settle(hold, { amount, at: 0, channelId: 0, log: null, rollup })
  }
  const warn = (on = node) => warnLowQuota(on, signal)

  it('are set one by one, and the secret is never returned, nor stored in clear', async () => {
    expect(await save({ quota_warning_threshold: 7, accept_unset_model_ratio_model: true })).toBe('ok')
    expect(await save({ notify_type: 'webhook', webhook_url: 'https://user.test/hook', webhook_secret: 'canary' }, 'zh')).toBe(
      'ok',
    )
    expect(await save({ quota_warning_threshold: 9, webhook_secret: '' })).toBe('ok')
    expect(await settingOf()).toEqual({
      quota_warning_threshold: 9,
      accept_unset_model_ratio_model: true,
      notify_type: 'webhook',
      webhook_url: 'https://user.test/hook',
      webhook_secret_set: true,
      language: 'en',
    })
    expect((await findUser(node.db, ada.id)).setting).not.toContain('canary')
    expect(await save({ webhook_secret: null })).toBe('ok')
    expect(await settingOf()).not.toHaveProperty('webhook_secret_set')
  })

  it.runIf(kind === 'postgres')('keep what each of two sets who save at the same time', async () => {
    const works = [() => save({ quota_warning_threshold: 7 }), () => save({ accept_unset_model_ratio_model: true })]
    await whileLocked(node.db, { lock: [sql`select id from users where id = ${ada.id} for update`], works })
    expect(await settingOf()).toMatchObject({ quota_warning_threshold: 7, accept_unset_model_ratio_model: true })
  })

  it.each(['http://user.test/', 'https://u:p@user.test/', 'https://user.test:25/', 'ftp://user.test', 'user.test', ''])(
    '[T087] refuse the webhook %j',
    async (url) => {
      expect(await save({ notify_type: 'webhook', webhook_url: url })).toBe('webhook_url_invalid')
      if (url !== '') expect(await save({ webhook_url: url })).toBe('webhook_url_invalid')
      expect((await findUser(node.db, ada.id)).setting).toBe('')
    },
  )

  it('refuse a threshold that is not a positive number of units', () => {
    for (const threshold of [0, -1, 1.5, 'x', 2 ** 53, null, true, [5], '', ' ', '5e3', '0x10']) {
      expect(settingInput.safeParse({ quota_warning_threshold: threshold }).success, String(threshold)).toBe(false)
    }
    expect(settingInput.parse({ quota_warning_threshold: '500000' }).quota_warning_threshold).toBe(500_000)
  })

  it('go to another address only when a code has verified it', async () => {
    const desk = 'desk@example.com'
    expect(await save({ notification_email: desk })).toBe('notification_email_unverified')
    expect(await save({ notification_email: desk, notification_code: '000000' })).toBe('code_wrong')
    expect(await save({ notification_email: 'a@x.test;b@y.test', notification_code: '1' })).toBe('email_invalid')
    expect(await save({ notification_email: ' ADA@example.com ' })).toBe('ok')
    expect((await settingOf()).notification_email).toBe('')

    await mailOwnCode(node, ada.caller, { email: desk, language: 'en', purpose: 'notify' })
    const notification_code = /\b\d{6}\b/.exec((await smtp.mailTo(desk)).text)?.[0] ?? ''
    expect(await save({ notification_email: desk, notification_code })).toBe('ok')
    expect(await save({ notification_email: desk, quota_warning_threshold: 5 })).toBe('ok')
    await testNotice(node, ada.caller, 'en')
    expect((await smtp.mailTo(desk, 2)).text).toContain('the settings work')
    expect(await save({ notification_email: '' })).toBe('ok')
    expect(await save({ notification_email: desk, notification_code })).toBe('code_wrong')
  })

  it('can be tested by mail and by webhook, with the reason when they cannot be sent', async () => {
    const eve = await addUser(node, 'eve')
    expect(await outcome(() => testNotice(node, eve.caller, 'en'))).toBe('notice_no_address')
    await testNotice(node, ada.caller, 'zh')
    expect((await smtp.mailTo(home)).headers.get('subject')).toContain('测试通知')

    const { calls, url } = await receiver()
    await save({ notify_type: 'webhook', webhook_url: url, webhook_secret: 'canary' })
    await testNotice(node, ada.caller, 'zh')
    expect(JSON.parse(calls[0]?.body ?? '')).toMatchObject({ type: 'test', title: 'A test message of Sluice' })
    expect(calls[0]?.signature).toBe(sign('canary', calls[0]?.body ?? ''))
  })

  it('[T204] warn of a low quota after a charge, once in two hours, whichever nodes charge', async () => {
    const other = kind === 'postgres' ? await startNode(node.clock) : node
    await give(600_000)
    await spend(50_000)
    expect(await warn()).toBe(0)
    await spend(51_000)
    await spend(1000, other)
    const sent = await Promise.all([warn(), warn(other)])
    expect(sent[0] + sent[1]).toBe(1)
    const mail = await smtp.mailTo(home)
    expect(mail.text).toMatch(/has \$0\.99 left, less than \$1\.00|剩余额度为 \$0\.99，低于 \$1\.00/)
    expect(mail.text).toContain('https://site.test/topup')

    node.clock.passSeconds(7199)
    await spend(1000)
    expect(await warn()).toBe(0)
    node.clock.passSeconds(1)
    expect(await warn()).toBe(0)
    await spend(1000, other)
    expect(await warn(other)).toBe(1)
    expect(smtp.mails).toHaveLength(2)
  })

  it('warn below the threshold of the user, by webhook with the numbers', async () => {
    const { calls, url } = await receiver()
    await save({ notify_type: 'webhook', webhook_url: url, quota_warning_threshold: 100 })
    await give(300)
    await spend(200)
    expect(await warn()).toBe(0)
    await spend(1)
    expect(await warn()).toBe(1)
    expect(JSON.parse(calls[0]?.body ?? '')).toMatchObject({ type: 'quota_exceed', values: [99, 100] })
  })

  it('skip banned and unreachable users, and continue after a failure', async () => {
    const silent = await addUser(node, 'silent')
    const banned = await addUser(node, 'banned', { email: 'banned@example.com' })
    const broken = await addUser(node, 'broken', { email: 'broken@example.com' })
    for (const { id } of [silent, banned, broken]) {
      await give(10, id)
      await spend(1, node, id)
    }
    await give(10)
    await spend(1)
    await node.db.updateTable('users').set({ status: 2 }).where('id', '=', banned.id).execute()
    const setting = '{"notify_type":"webhook","webhook_url":"http://not-https.test"}'
    await node.db.updateTable('users').set({ setting }).where('id', '=', broken.id).execute()
    expect(await warn()).toBe(1)
    expect(smtp.mails.map(({ recipients }) => recipients)).toEqual([[home]])
    expect(await node.db.selectFrom('user_notices').select('user_id').where('user_id', '=', silent.id).execute()).toEqual([])
  })

  it('warn again every five minutes for two hours when the warning could not be sent, then with the next charge', async () => {
    const other = kind === 'postgres' ? await startNode(node.clock) : node
    await node.set({ SMTPPort: '1' })
    await other.options.refresh()
    await give(10)
    await spend(1)
    expect(await warn()).toBe(0)
    node.clock.passSeconds(299)
    expect(await warn()).toBe(0)
    await node.set(mailOptions(smtp))
    await other.options.refresh()
    expect(await warn()).toBe(0)
    node.clock.passSeconds(1)
    const sent = await Promise.all([warn(), warn(other)])
    expect(sent[0] + sent[1]).toBe(1)
    expect(smtp.mails).toHaveLength(1)

    // The two hours begin when the notice is sent.
    node.clock.passSeconds(7199)
    await spend(1)
    expect(await warn()).toBe(0)
    await node.set({ SMTPPort: '1' })
    node.clock.passSeconds(1)
    await spend(1)
    expect(await warn()).toBe(0)
    await node.set(mailOptions(smtp))
    node.clock.passSeconds(7200)
    expect(await warn()).toBe(0)
    await spend(1)
    expect(await warn()).toBe(1)
    expect(smtp.mails).toHaveLength(2)
  })
})
