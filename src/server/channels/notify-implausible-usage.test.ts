import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, mailOptions, startAccounts } from '../../../test/helpers/accounts.ts'
import { eachDatabase, type TestDatabase } from '../../../test/helpers/databases.ts'
import { type SmtpServer, startSmtpServer } from '../../../test/helpers/smtp-server.ts'
import { channelInput } from '../../contract/entities/channel.ts'
import type { Caller } from '../options/core.ts'
import { addChannels } from './channels.ts'
import { notifyImplausibleUsage } from './notify-implausible-usage.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const signal = new AbortController().signal
const home = 'ada@example.com'

eachDatabase('notices of implausible usage', (fresh, kind) => {
  let test: TestDatabase
  let node: AccountNode
  let smtp: SmtpServer
  let requests = 0

  beforeEach(async () => {
    test = await fresh()
    smtp = await startSmtpServer()
    node = await startAccounts(test)
    await node.set(mailOptions(smtp))
    const ada = await addUser(node, 'ada', { email: home })
    await node.db.updateTable('users').set({ role: 100 }).where('id', '=', ada.id).execute()
    await addUser(node, 'eve', { email: 'eve@example.com' })
  })
  afterEach(async () => {
    await node.close()
    await smtp.stop()
    await test.drop()
  })

  const add = async (name: string) => {
    const input = channelInput.parse({ type: 1, name, key: 'secret-key-123', models: 'm' })
    const [id = 0] = await addChannels(node, { caller, input })
    return id
  }
  const report = (channel_id: number, reason = 'usage_implausible') => {
    const created_at = Math.floor(node.clock.now() / 1000)
    const row = { request_id: `r${requests++}`, user_id: 1, channel_id, model: 'm', amount: 5, reason, created_at }
    return node.db.insertInto('site_costs').values(row).execute()
  }
  const tell = (on = node) => notifyImplausibleUsage(on, signal)

  it('reach only the super admins, once per channel, from the first node that sends them', async () => {
    const other = kind === 'postgres' ? await startAccounts(test, { clock: node.clock }) : node
    const [east, west, quiet] = [await add('east'), await add('west'), await add('quiet')]
    await report(quiet, 'undelivered')
    expect(await tell()).toBe(0)
    await report(east)
    await report(east)
    const sent = await Promise.all([tell(), tell(other)])
    expect(sent[0] + sent[1]).toBe(1)
    const mail = await smtp.mailTo(home)
    expect(mail.headers.get('subject')).toContain('east')
    expect(mail.text).toContain(`east（#${east}）在 24 小时内有 2 次请求`)
    expect(mail.text).toContain('https://site.test/log?site_cost=usage_implausible')
    await report(east)
    expect(await tell()).toBe(0)
    await report(west)
    expect([await tell(), await tell(other)]).toEqual([1, 0])
    expect(smtp.mails).toHaveLength(2)
    if (other !== node) await other.close()
  })

  it('repeat on another day when there is more, and never cover old reports', async () => {
    const east = await add('east')
    await report(east)
    expect(await tell()).toBe(1)
    node.clock.passSeconds(86_400)
    expect(await tell()).toBe(0)
    await report(east)
    expect([await tell(), await tell()]).toEqual([1, 0])
  })
})
