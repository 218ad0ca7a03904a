import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, mailOptions, startAccounts } from '../../../test/helpers/accounts.ts'
import { eachDatabase, type TestDatabase } from '../../../test/helpers/databases.ts'
import { type SmtpServer, startSmtpServer } from '../../../test/helpers/smtp-server.ts'
import { channelInput } from '../../contract/entities/channel.ts'
import type { Caller } from '../options/core.ts'
import { addChannels, editChannel } from './channels.ts'
import { disableChannel } from './health.ts'
import { openChannel } from './model-index.ts'
import { notifyDisabledChannels } from './notify-disabled.ts'

const caller: Caller = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
const signal = new AbortController().signal
const home = 'ada@example.com'

eachDatabase('notices of disabled channels', (fresh, kind) => {
  let test: TestDatabase
  let node: AccountNode
  let smtp: SmtpServer

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
  const disable = async (id: number) => {
    const [channel] = (await openChannel(node, id)).keys
    if (!channel) throw new Error('It has no key')
    await disableChannel(node, channel, 'status 401: Incorrect API key')
  }
  const enable = (id: number) => editChannel(node, { caller, patch: { id, status: 1 } })
  const tell = (on = node) => notifyDisabledChannels(on, signal)

  it('[T117] reach only the super admins, once, with the channel and the reason, from the first node that sends them', async () => {
    const other = kind === 'postgres' ? await startAccounts(test, { clock: node.clock }) : node
    expect(await tell()).toBe(0)
    const id = await add('east')
    await disable(id)
    const sent = await Promise.all([tell(), tell(other)])
    expect(sent[0] + sent[1]).toBe(1)
    const mail = await smtp.mailTo(home)
    expect(mail.headers.get('subject')).toContain('east')
    expect(mail.text).toContain(`east（#${id}）已被自动禁用：status 401: Incorrect API key`)
    expect(mail.text).toContain('https://site.test/channel')
    expect([await tell(), smtp.mails.length]).toEqual([0, 1])
    if (other !== node) await other.close()
  })

  it('come once in two hours of one channel, however often it goes down, and at once of another', async () => {
    const [east, west] = [await add('east'), await add('west')]
    await disable(east)
    expect(await tell()).toBe(1)
    node.clock.passSeconds(3600)
    await enable(east)
    node.clock.passSeconds(1)
    await disable(east)
    await disable(west)
    expect(await tell()).toBe(1)
    expect((await smtp.mailTo(home, 2)).text).toContain('west')
    node.clock.passSeconds(3598)
    expect(await tell()).toBe(0)
    // It is still down when the two hours are over.
    node.clock.passSeconds(1)
    expect(await tell()).toBe(1)
    expect((await smtp.mailTo(home, 3)).text).toContain('east')
    node.clock.passSeconds(8000)
    expect(await tell()).toBe(0)
  })

  it('are retried when sending failed, and never sent for channels that are enabled again, or old ones', async () => {
    const [east, west] = [await add('east'), await add('west')]
    await node.set({ SMTPServer: '' })
    await disable(east)
    await disable(west)
    expect(await tell()).toBe(0)
    await node.set(mailOptions(smtp))
    expect(await tell()).toBe(0)
    await enable(west)
    node.clock.passSeconds(300)
    expect([await tell(), await tell()]).toEqual([1, 0])
    expect(smtp.mails).toHaveLength(1)
    await disable(west)
    node.clock.passSeconds(24 * 3600)
    expect(await tell()).toBe(0)
  })
})
