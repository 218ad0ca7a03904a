import { expect, it } from 'vitest'
import { mailOptions } from '../../../../../test/helpers/accounts.ts'
import { channelNotices } from '../../../../../test/helpers/channel-notices.ts'
import { anyDatabase } from '../../../../../test/helpers/databases.ts'
import { editChannel } from '../edit/channels.ts'
import { openChannel } from '../index/model-index.ts'
import { disableChannel } from './auto-disable.ts'
import { notifyDisabledChannels } from './notify-disabled.ts'

const signal = new AbortController().signal

anyDatabase('notices of disabled channels', (fresh) => {
  const stage = channelNotices(fresh)
  const { home, add, caller } = stage

  const disable = async (id: number) => {
    const [channel] = (await openChannel(stage.node, id)).keys
    if (!channel) throw new Error('It has no key')
    await disableChannel(stage.node, channel, 'status 401: Incorrect API key')
  }
  const enable = (id: number) => editChannel(stage.node, { caller, patch: { id, status: 1 } })
  const tell = (on = stage.node) => notifyDisabledChannels(on, signal)

  it('[T117] reach only the super admins, once, with the channel and the reason, from the first node that sends them', async () => {
    const other = await stage.otherNode()
    expect(await tell()).toBe(0)
    const id = await add('east')
    await disable(id)
    const sent = await Promise.all([tell(), tell(other)])
    expect(sent[0] + sent[1]).toBe(1)
    const mail = await stage.smtp.mailTo(home)
    expect(mail.headers.get('subject')).toContain('east')
    expect(mail.text).toContain(`east（#${id}）已被自动禁用：status 401: Incorrect API key`)
    expect(mail.text).toContain('https://site.test/channel')
    expect([await tell(), stage.smtp.mails.length]).toEqual([0, 1])
    if (other !== stage.node) await other.close()
  })

  it('are sent once in two hours per channel, no matter how often it fails, and immediately for another channel', async () => {
    const [east, west] = [await add('east'), await add('west')]
    await disable(east)
    expect(await tell()).toBe(1)
    stage.node.clock.passSeconds(3600)
    await enable(east)
    stage.node.clock.passSeconds(1)
    await disable(east)
    await disable(west)
    expect(await tell()).toBe(1)
    expect((await stage.smtp.mailTo(home, 2)).text).toContain('west')
    stage.node.clock.passSeconds(3598)
    expect(await tell()).toBe(0)
    // The channel is still failing when the two hours are over.
    stage.node.clock.passSeconds(1)
    expect(await tell()).toBe(1)
    expect((await stage.smtp.mailTo(home, 3)).text).toContain('east')
    stage.node.clock.passSeconds(8000)
    expect(await tell()).toBe(0)
  })

  it('are retried when sending failed, and never sent for channels that are enabled again, or old ones', async () => {
    const [east, west] = [await add('east'), await add('west')]
    await stage.node.set({ SMTPServer: '' })
    await disable(east)
    await disable(west)
    expect(await tell()).toBe(0)
    await stage.node.set(mailOptions(stage.smtp))
    expect(await tell()).toBe(0)
    await enable(west)
    stage.node.clock.passSeconds(300)
    expect([await tell(), await tell()]).toEqual([1, 0])
    expect(stage.smtp.mails).toHaveLength(1)
    await disable(west)
    stage.node.clock.passSeconds(24 * 3600)
    expect(await tell()).toBe(0)
  })
})
