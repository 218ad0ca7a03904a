import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Delivery, DeliveryAnswer, Destination } from '../../src/contract/entities/destination.ts'
import { publicInternet } from '../../src/server/base/lib/net/http-client.ts'
import { queueFailedCalls } from '../../src/server/people/notify/queue-failed-calls.ts'
import { recordEvent, recordEventOf } from '../../src/server/usage/log/record-event.ts'
import { watchDestinations } from '../../src/server/watch/jobs/watch-destinations.ts'
import { type AlertStage, startAlertStage } from './stage.ts'

const secret = 'canary-secret-0123456789'

describe.each(['sqlite', 'postgres'] as const)('deliveries over %s', (kind) => {
  let stage: AlertStage
  beforeEach(async () => {
    stage = await startAlertStage(kind)
  })
  afterEach(() => stage.stop())

  const deliveries = async () => (await stage.server.call<{ items: Delivery[] }>('GET /api/alert/delivery/')).items
  const list = () => stage.server.call<Destination[]>('GET /api/alert/destination/')
  const test = (id: number) => stage.server.call<DeliveryAnswer>(`POST /api/alert/destination/${id}/test`)
  const addWebhook = (events: readonly string[] = ['order.paid']) =>
    stage.add('webhook', { url: `${stage.receiver.url}/hook`, secret }, { events })
  const paid = (order_id = 1) => recordEvent(stage.server.app, stage.server.app.db, 'order.paid', { order_id })

  it('sign an event over time and body, with the same id in each try, until the webhook accepts it', async () => {
    await addWebhook()
    stage.receiver.answers = [{ status: 500, body: 'broken' }, { status: 200 }]
    await paid()
    expect(await stage.send()).toEqual({ sent: 0, failed: 1 })
    expect(await deliveries()).toMatchObject([{ state: 'pending', attempts: 1, status: 500, answer: 'broken' }])
    expect(await stage.send()).toEqual({ sent: 0, failed: 0 })
    stage.clock.passSeconds(10)
    expect(await stage.send()).toEqual({ sent: 1, failed: 0 })
    expect(await stage.send()).toEqual({ sent: 0, failed: 0 })

    const [first, second] = stage.receiver.calls
    expect(first?.headers['x-sluice-message-id']).toBe(second?.headers['x-sluice-message-id'])
    expect(first?.body).toBe(second?.body)
    const { id, type, created_at, data } = JSON.parse(second?.body ?? '')
    expect({ type, created_at, data }).toEqual({
      type: 'order.paid',
      created_at: Math.floor(stage.clock.nowMs / 1000) - 10,
      data: { order_id: 1 },
    })
    expect(second?.headers['x-sluice-message-id']).toBe(id)
    const at = Math.floor(stage.clock.nowMs / 1000)
    const expected = createHmac('sha256', secret).update(`${at}.${second?.body}`).digest('hex')
    expect(second?.headers['x-sluice-signature']).toBe(`t=${at},v1=${expected}`)
    expect(await deliveries()).toMatchObject([{ state: 'sent', attempts: 2, status: 200, message_id: id }])
  })

  it('[T255] are signed with a new secret from the next try on, under the same id, and never twice alike', async () => {
    const young = 'canary-secret-of-next-week'
    const id = await addWebhook()
    stage.receiver.answers = [{ status: 500 }, { status: 500 }, { status: 200 }]
    await paid()
    await stage.send()
    await stage.pass(10)
    await stage.send()
    await stage.server.call(`PUT /api/alert/destination/${id}`, { settings: { secret: young } })
    await stage.pass(60)
    expect(await stage.send()).toEqual({ sent: 1, failed: 0 })

    const tries = stage.receiver.calls.map(({ headers, body }) => {
      const [, at = '', signature = ''] = /^t=(\d+),v1=([\da-f]{64})$/.exec(String(headers['x-sluice-signature'])) ?? []
      const signedBy = [secret, young].filter(
        (each) => createHmac('sha256', each).update(`${at}.${body}`).digest('hex') === signature,
      )
      return { id: headers['x-sluice-message-id'], at: Number(at), signedBy, body }
    })
    const [first] = tries
    expect(tries.map(({ signedBy }) => signedBy)).toEqual([[secret], [secret], [young]])
    // A receiver recognises a repetition by the id, and an old one by the time that is signed with it.
    expect(tries.map(({ at }) => at - (first?.at ?? 0))).toEqual([0, 10, 70])
    expect(new Set(tries.map((one) => `${one.id} ${one.body}`)).size).toBe(1)
  })

  it('of an organisation get what concerns it alone, and are its own: neither the site nor another sees or changes them', async () => {
    const found = async (name: string) => (await stage.server.call<{ id: number }>('POST /api/organisation/', { name })).id
    const [acme, other] = [await found('Acme'), await found('Other')]
    const webhook = { name: 'hook', url: `${stage.receiver.url}/acme`, secret, events: ['order.paid'] }
    const mine = await stage.server.call<Destination>(`POST /api/organisation/${acme}/webhooks`, webhook)
    expect(mine).toMatchObject({
      kind: 'webhook',
      events: ['order.paid'],
      settings: { url: webhook.url, secret: '' },
      has: ['secret'],
    })
    const { app } = stage.server
    for (const account of [other, acme, 1])
      await recordEventOf(app, app.db, { account, type: 'order.paid', data: { user_id: account } })
    await recordEventOf(app, app.db, { account: acme, type: 'budget.reached', data: {} })
    await paid()
    expect(await stage.send()).toEqual({ sent: 1, failed: 0 })
    expect(JSON.parse(stage.receiver.calls[0]?.body ?? '')).toMatchObject({ type: 'order.paid', data: { user_id: acme } })
    expect(await stage.server.call(`POST /api/organisation/${acme}/webhooks/${mine.id}/test`)).toMatchObject({ delivered: true })

    expect([await list(), await deliveries()]).toEqual([[], []])
    const { id: delivery } = await app.db.selectFrom('deliveries').select('id').limit(1).executeTakeFirstOrThrow()
    expect(await stage.server.call(`GET /api/organisation/${other}/webhooks`)).toEqual([])
    for (const [line, body] of [
      [`PUT /api/alert/destination/${mine.id}`, { name: 'taken' }],
      [`DELETE /api/alert/destination/${mine.id}`, undefined],
      [`POST /api/alert/destination/${mine.id}/test`, undefined],
      [`POST /api/alert/delivery/${delivery}/send`, undefined],
      [`PUT /api/organisation/${other}/webhooks/${mine.id}`, { name: 'taken' }],
      [`DELETE /api/organisation/${other}/webhooks/${mine.id}`, undefined],
      [`POST /api/organisation/${other}/webhooks/${mine.id}/test`, undefined],
    ] as const)
      expect(await (await stage.server.raw(line, body)).json(), line).toMatchObject({ code: 'not_found' })
    const refused = await stage.server.raw(`POST /api/organisation/${acme}/webhooks`, { ...webhook, events: ['call.failed'] })
    expect(await refused.json()).toMatchObject({ code: 'field_invalid' })
    const off = await stage.server.call(`PUT /api/organisation/${acme}/webhooks/${mine.id}`, { enabled: false, secret: '' })
    expect(off).toMatchObject({ status: 2, has: ['secret'] })
    const audit = await stage.server.call<{ items: { action: string }[] }>(`GET /api/organisation/${acme}/audit`)
    expect(audit.items.map(({ action }) => action).slice(0, 2)).toEqual([
      'organisation.webhook-update',
      'organisation.webhook-create',
    ])
    for (let more = 1; more < 10; more++) await stage.server.call(`POST /api/organisation/${acme}/webhooks`, webhook)
    expect(await (await stage.server.raw(`POST /api/organisation/${acme}/webhooks`, webhook)).json()).toMatchObject({
      code: 'destinations_too_many',
    })
    await stage.server.call(`DELETE /api/organisation/${acme}/webhooks/${mine.id}`)
  })

  it('are sent only to enabled webhooks that subscribe to the event', async () => {
    await addWebhook(['channel.disabled'])
    const off = await addWebhook()
    await stage.server.call(`PUT /api/alert/destination/${off}`, { enabled: false })
    await stage.add('slack', { url: `${stage.receiver.url}/slack` }, { events: ['order.paid'] })
    await paid()
    expect(await deliveries()).toEqual([])
  })

  it('fail after eight tries, and are sent again on request under the same id', async () => {
    await addWebhook()
    stage.receiver.answers = [{ status: 503 }]
    await paid()
    for (const pause of [10, 60, 300, 1800, 7200, 21_600, 43_200, 43_200]) {
      await stage.send()
      await stage.pass(pause)
    }
    expect(stage.receiver.calls).toHaveLength(8)
    const [row] = await deliveries()
    expect(row).toMatchObject({ state: 'failed', attempts: 8, next_at: 0 })
    await stage.server.call('PUT /api/alert/destination/1', { enabled: true })

    stage.receiver.answers = [{ status: 204 }]
    await stage.server.call(`POST /api/alert/delivery/${row?.id}/send`)
    expect(await stage.send()).toEqual({ sent: 1, failed: 0 })
    expect(new Set(stage.receiver.calls.map(({ headers }) => headers['x-sluice-message-id'])).size).toBe(1)
    expect(await deliveries()).toMatchObject([{ state: 'sent', attempts: 1 }])
  })

  it('wait as long as the peer requests', async () => {
    await addWebhook()
    stage.receiver.answers = [{ status: 429, headers: { 'retry-after': '120' } }, { status: 200 }]
    await paid()
    await stage.send()
    stage.clock.passSeconds(119)
    expect(await stage.send()).toEqual({ sent: 0, failed: 0 })
    stage.clock.passSeconds(1)
    expect(await stage.send()).toEqual({ sent: 1, failed: 0 })
  })

  it('are sent by one process of several', async () => {
    await addWebhook()
    for (let order = 0; order < 60; order++) await paid(order)
    // SQLite is used by one process only, which may still get two calls at once.
    const other = kind === 'postgres' ? await stage.otherServer() : stage.server
    const sent = await Promise.all([stage.send(), stage.send(other)])
    expect(sent[0].sent + sent[1].sent).toBe(60)
    expect(new Set(stage.receiver.calls.map(({ body }) => body)).size).toBe(60)
    expect(stage.receiver.calls).toHaveLength(60)
  })

  it('that a dead process had claimed are sent by another at the end of its lease', async () => {
    await addWebhook()
    await paid()
    const lease_until = Math.floor(stage.clock.nowMs / 1000) + 90
    await stage.server.app.db.updateTable('deliveries').set({ lease_until, attempts: 1 }).execute()
    expect(await stage.send()).toEqual({ sent: 0, failed: 0 })
    stage.clock.passSeconds(91)
    expect(await stage.send()).toEqual({ sent: 1, failed: 0 })
  })

  it('disable a webhook that has failed for three days, and notify the super admins', async () => {
    const { app } = stage.server
    await app.db.updateTable('users').set({ email: 'root@example.com' }).where('id', '=', 1).execute()
    const id = await addWebhook()
    stage.receiver.answers = [{ status: 410, body: 'gone' }]
    await paid()
    await stage.send()
    await stage.pass(3 * 86_400)
    await paid(2)
    await stage.send()
    expect(await list()).toMatchObject([{ id, status: 3, last_error: '410 gone' }])
    const calls = stage.receiver.calls.length
    await stage.pass(43_200)
    await stage.send()
    expect(stage.receiver.calls).toHaveLength(calls)

    const run = () => watchDestinations.run(app, new AbortController().signal, () => {})
    expect(await run()).toBe('1 notified, 0 deliveries deleted')
    expect(await run()).toBe('0 notified, 0 deliveries deleted')
    const mail = await stage.smtp.mailTo('root@example.com')
    expect(mail.text).toContain('410 gone')

    stage.receiver.answers = [{ status: 200 }]
    await stage.server.call(`PUT /api/alert/destination/${id}`, { enabled: true })
    expect((await stage.send()).sent).toBeGreaterThan(0)
    expect(await list()).toMatchObject([{ status: 1, failing_since: 0, last_error: '' }])
  })

  it('use the format of each kind of destination', async () => {
    const { receiver, clock } = stage
    const at = Math.floor(clock.nowMs / 1000)
    const lines = '测试消息\n如果您收到此消息，说明通知设置有效。'

    const slack = await stage.add('slack', { url: `${receiver.url}/services/T/B/canary` }, { language: 'en' })
    receiver.answers = [{ status: 200, body: 'ok' }]
    expect(await test(slack)).toEqual({ delivered: true, status: 200, answer: 'ok' })
    expect(JSON.parse(receiver.calls[0]?.body ?? '')).toEqual({ text: 'Test message\nIf you can read this, the settings work.' })

    const telegram = await stage.add('telegram', { token: '12:canary', chat: '-100', api: receiver.url })
    receiver.answers = [{ status: 200, body: '{"ok":true}' }]
    expect(await test(telegram)).toMatchObject({ delivered: true })
    expect(receiver.calls[1]?.path).toBe('/bot12:canary/sendMessage')
    expect(JSON.parse(receiver.calls[1]?.body ?? '')).toMatchObject({ chat_id: '-100', text: lines })

    const feishu = await stage.add('feishu', { url: `${receiver.url}/open-apis/bot/v2/hook/canary`, secret })
    receiver.answers = [{ status: 200, body: '{"code":0,"msg":"success"}' }]
    expect(await test(feishu)).toMatchObject({ delivered: true })
    const sign = createHmac('sha256', `${at}\n${secret}`).update('').digest('base64')
    expect(JSON.parse(receiver.calls[2]?.body ?? '')).toEqual({
      timestamp: String(at),
      sign,
      msg_type: 'text',
      content: { text: lines },
    })

    const dingtalk = await stage.add('dingtalk', { url: `${receiver.url}/robot/send?access_token=canary`, secret })
    receiver.answers = [{ status: 200, body: '{"errcode":0,"errmsg":"ok"}' }]
    expect(await test(dingtalk)).toMatchObject({ delivered: true })
    const address = new URL(receiver.calls[3]?.path ?? '', receiver.url)
    expect(Object.fromEntries(address.searchParams)).toEqual({
      access_token: 'canary',
      timestamp: String(clock.nowMs),
      sign: createHmac('sha256', secret).update(`${clock.nowMs}\n${secret}`).digest('base64'),
    })

    const mail = await stage.add('mail', { to: 'ops@example.com' })
    expect(await test(mail)).toMatchObject({ delivered: true, status: 250 })
    const received = await stage.smtp.mailTo('ops@example.com')
    expect(received.headers.get('subject')).toContain('测试消息')
  })

  it('count a refusal with status 200 as a failure', async () => {
    const kinds = [
      ['telegram', { token: '1:x', chat: '1', api: stage.receiver.url }, '{"ok":false,"description":"chat not found"}'],
      ['feishu', { url: `${stage.receiver.url}/hook` }, '{"code":19021,"msg":"sign match fail"}'],
      ['dingtalk', { url: `${stage.receiver.url}/hook` }, '{"errcode":310000,"errmsg":"keywords not in content"}'],
    ] as const
    for (const [name, settings, body] of kinds) {
      stage.receiver.answers = [{ status: 200, body }]
      expect(await test(await stage.add(name, settings))).toEqual({ delivered: false, status: 200, answer: body })
    }
    expect(await deliveries()).toMatchObject(kinds.map(() => ({ state: 'failed' })))
  })

  it('show no secret: not in lists, answers, the audit log or the database', async () => {
    const id = await addWebhook()
    const bot = await stage.add('slack', { url: `${stage.receiver.url}/services/canary-path` })
    stage.receiver.answers = [{ status: 400, body: `bad ${secret}` }]
    expect(await test(id)).toMatchObject({ delivered: false, status: 400, answer: 'bad …' })
    stage.receiver.answers = [{ status: 404, body: 'nothing at /services/canary-path' }]
    expect(await test(bot)).toMatchObject({ answer: 'nothing at …' })

    const [slack, webhook] = await list()
    expect(webhook).toMatchObject({ has: ['secret'], settings: { url: `${stage.receiver.url}/hook`, secret: '' } })
    expect(slack).toMatchObject({ has: ['url'], settings: { url: '' }, target: new URL(stage.receiver.url).host })
    const kept = await Promise.all(
      (['destinations', 'audit'] as const).map((table) => stage.server.app.db.selectFrom(table).selectAll().execute()),
    )
    const shown = JSON.stringify([await list(), await deliveries(), kept[1], kept[0]])
    expect(shown).not.toContain('canary-secret')
    expect(shown).not.toContain('canary-path')
    // An empty secret stays unchanged.
    await stage.server.call(`PUT /api/alert/destination/${id}`, { name: 'renamed', settings: { secret: '' } })
    expect((await list())[0]).toMatchObject({ name: 'renamed', has: ['secret'] })
  })

  it('notify a webhook of a bounded number of failed calls, and of none before it subscribed', async () => {
    const { app } = stage.server
    const created_at = Math.floor(stage.clock.nowMs / 1000)
    const fail = (request_id: string) =>
      app.db
        .insertInto('logs')
        .values({
          user_id: 1,
          created_at,
          type: 5,
          username: 'root',
          request_id,
          error_status: 502,
          error_code: 'upstream_failed',
        })
        .execute()
    await fail('before')
    const id = await addWebhook([])
    await fail('still before')
    await stage.server.call(`PUT /api/alert/destination/${id}`, { events: ['call.failed'] })
    for (let call = 0; call < 25; call++) await fail(`call-${call}`)
    stage.clock.passSeconds(3)
    const queued = await Promise.all([queueFailedCalls(app), queueFailedCalls(app)])
    expect(queued[0] + queued[1]).toBe(10)
    await stage.send()
    const told = stage.receiver.calls
      .map(({ body }) => JSON.parse(body).data)
      .sort((a, b) => a.request_id.localeCompare(b.request_id))
    expect(told[0]).toMatchObject({ request_id: 'call-0', status: 502, code: 'upstream_failed', username: 'root' })
    expect(told.map(({ omitted = 0 }) => omitted).reduce((sum, count) => sum + count, 0)).toBe(15)
    expect(await queueFailedCalls(app)).toBe(0)
  })

  it('are queued when an admin enables or disables channels, in the transaction of the change', async () => {
    await addWebhook(['channel.disabled', 'channel.enabled'])
    const channel = { mode: 'single', channel: { type: 1, name: 'east', key: 'sk-x', models: 'm', group: 'default' } }
    await stage.server.call('POST /api/channel/', channel)
    const { id } = await stage.server.app.db.selectFrom('channels').select('id').executeTakeFirstOrThrow()
    await stage.server.call('POST /api/channel/batch/status', { ids: [id], status: 2 })
    await stage.server.call('POST /api/channel/batch/status', { ids: [id], status: 2 })
    await stage.server.call('PUT /api/channel/', { id, status: 1 })
    await stage.send()
    const told = stage.receiver.calls.map(({ body }) => JSON.parse(body)).map(({ type, data }) => ({ type, data }))
    const data = { channel_id: id, name: 'east', tag: '', by: 'root', automatic: false, reason: '' }
    expect(told.sort((one, other) => one.type.localeCompare(other.type))).toEqual([
      { type: 'channel.disabled', data },
      { type: 'channel.enabled', data },
    ])
  })

  it('are never sent to a private address', async () => {
    Object.assign(stage.server.app.upstream, { untrusted: publicInternet() })
    const { port } = new URL(stage.receiver.url)
    for (const url of [`https://127.0.0.1:${port}/`, stage.receiver.url, 'https://169.254.169.254/', 'https://[::1]:443/']) {
      const id = await stage.add('webhook', { url })
      expect(await test(id)).toMatchObject({ delivered: false, status: 0 })
    }
    expect(stage.receiver.calls).toEqual([])
  })

  it('are refused with invalid settings, which the error names', async () => {
    const refusal = async (input: object) =>
      (await stage.server.raw('POST /api/alert/destination/', { name: 'x', ...input })).json()
    expect(await refusal({ kind: 'webhook', settings: { url: 'http://hooks.example/' } })).toMatchObject({
      code: 'destination_setting_invalid',
    })
    expect(await refusal({ kind: 'webhook', settings: { url: 'https://a:b@hooks.example/' } })).toMatchObject({ success: false })
    expect(await refusal({ kind: 'webhook', settings: { url: 'https://hooks.example/', secret: 'short' } })).toMatchObject({
      success: false,
    })
    expect(await refusal({ kind: 'mail', settings: { to: 'a@b.c, d@e.f' } })).toMatchObject({ success: false })
    expect(await refusal({ kind: 'telegram', settings: { token: '1:x' } })).toMatchObject({ success: false })
    expect(await list()).toEqual([])
    const row = { kind: 'mail', name: 'x', language: 'zh', events: '[]', created_at: 1 }
    await stage.server.app.db.insertInto('destinations').values(Array(99).fill(row)).execute()
    const valid = { kind: 'mail', settings: { to: 'a@b.example' } }
    const answers = await Promise.all(Array.from({ length: 6 }, () => refusal(valid)))
    expect(answers.filter(({ code }) => code === 'destinations_too_many')).toHaveLength(5)
  })
})
