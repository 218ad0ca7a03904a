import { expect, it } from 'vitest'
import { channelNotices } from '../../../../../test/helpers/channel-notices.ts'
import { anyDatabase } from '../../../../../test/helpers/databases.ts'
import { notifyImplausibleUsage } from './notify-implausible-usage.ts'

const signal = new AbortController().signal

anyDatabase('notices of implausible usage', (fresh) => {
  const stage = channelNotices(fresh)
  const { home, add } = stage
  let requests = 0

  const report = (channel_id: number, reason = 'usage_implausible') => {
    const created_at = Math.floor(stage.node.clock.now() / 1000)
    const row = { request_id: `r${requests++}`, user_id: 1, channel_id, model: 'm', amount: 5, reason, created_at }
    return stage.node.db.insertInto('site_costs').values(row).execute()
  }
  const tell = (on = stage.node) => notifyImplausibleUsage(on, signal)

  it('reach only the super admins, once per channel, from the first node that sends them', async () => {
    const other = await stage.otherNode()
    const [east, west, quiet] = [await add('east'), await add('west'), await add('quiet')]
    await report(quiet, 'undelivered')
    expect(await tell()).toBe(0)
    await report(east)
    await report(east)
    const sent = await Promise.all([tell(), tell(other)])
    expect(sent[0] + sent[1]).toBe(1)
    const mail = await stage.smtp.mailTo(home)
    expect(mail.headers.get('subject')).toContain('east')
    expect(mail.text).toContain(`east（#${east}）在 24 小时内有 2 次请求`)
    expect(mail.text).toContain('https://site.test/log?site_cost=usage_implausible')
    await report(east)
    expect(await tell()).toBe(0)
    await report(west)
    expect([await tell(), await tell(other)]).toEqual([1, 0])
    expect(stage.smtp.mails).toHaveLength(2)
    if (other !== stage.node) await other.close()
  })

  it('repeat on another day when there is more, and never cover old reports', async () => {
    const east = await add('east')
    await report(east)
    expect(await tell()).toBe(1)
    stage.node.clock.passSeconds(86_400)
    expect(await tell()).toBe(0)
    await report(east)
    expect([await tell(), await tell()]).toEqual([1, 0])
  })
})
