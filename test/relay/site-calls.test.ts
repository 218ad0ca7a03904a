import { expect, it } from 'vitest'
import type { SiteCostSum } from '../../src/contract/entities/site-cost.ts'
import { callForSite, type SiteCall } from '../../src/server/gateway/relay/models/site-call.ts'
import type { TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addChannel, books, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { chat, model, stage } from './stage.ts'

const asked: SiteCall = {
  group: 'default',
  model,
  format: 'openai.chat',
  body: chat({ max_tokens: 16 }),
  allowance: { reason: 'status_probe', unitsPerDay: 1_000_000 },
}
const make = (server: TestServer, more: Partial<SiteCall> = {}) =>
  callForSite(server.app, { ...asked, ...more }, new AbortController().signal)

eachDatabase('calls of the site', (_fresh, kind) => {
  it('are answered by the channels that callers get, charge no user, and are booked as site costs', async () => {
    const upstream = await upstreamOfTest()
    const broken = await upstreamOfTest()
    broken.program('*', { status: 503 })
    const { server, channelId } = await stage(kind, upstream.url)
    const { app } = server
    await setOptions(server, { RetryTimes: 1 })
    await addChannel(server, { url: broken.url, models: model, priority: 10 })
    const before = await books(server)

    const answers = [await make(server), await make(server, { channelId })]
    expect(answers).toMatchObject([{ outcome: 'answered' }, { outcome: 'answered' }])
    const [first] = answers
    expect(first?.outcome === 'answered' && JSON.parse(first.body.toString())).toMatchObject({ object: 'chat.completion' })
    expect([broken.journal.length, upstream.journal.length]).toEqual([1, 2])
    const units = answers.reduce((sum, answer) => sum + (answer.outcome === 'unaffordable' ? 0 : answer.units), 0)
    expect(units).toBeGreaterThan(0)

    const day = { count: 2, quota: units }
    expect(await server.call<SiteCostSum[]>('GET /api/system/site_cost')).toMatchObject([
      { reason: 'status_probe', channel_id: channelId, last_24_hours: day, all: day },
    ])
    expect(await app.db.selectFrom('site_cost_days').select(['reason', 'amount']).execute()).toEqual([
      { reason: 'status_probe', amount: units },
    ])
    const after = await books(server)
    expect([after.users, after.ledger, after.logs, after.holds]).toEqual([before.users, before.ledger, before.logs, before.holds])
  })

  it('report how they failed, and are then free', async () => {
    const upstream = await upstreamOfTest()
    const { server } = await stage(kind, upstream.url)
    upstream.program('*', { status: 503 })
    expect(await make(server)).toMatchObject({ outcome: 'failed', isFault: true, units: 0 })
    upstream.program('*', { status: 400 })
    expect(await make(server)).toMatchObject({ outcome: 'failed', isFault: false, units: 0 })
    expect(await make(server, { group: 'vip' })).toMatchObject({ outcome: 'failed', code: 'no_channel', isFault: true })
    expect(await server.app.db.selectFrom('site_costs').selectAll().execute()).toEqual([])
    expect(await server.app.db.selectFrom('site_cost_days').select('amount').execute()).toEqual([{ amount: 0 }])
  })

  it('never exceed their daily allowance, however many run at once', async () => {
    const upstream = await upstreamOfTest()
    const { server } = await stage(kind, upstream.url)
    const one = await make(server)
    const cost = one.outcome === 'answered' ? one.units : 0
    const allowance = { reason: 'status_probe', unitsPerDay: cost * 4 } as const
    const answers = await Promise.all(Array.from({ length: 12 }, () => make(server, { allowance })))
    expect(answers.some(({ outcome }) => outcome === 'unaffordable')).toBe(true)
    const [row] = await server.app.db.selectFrom('site_cost_days').select('amount').execute()
    expect(row?.amount).toBe(cost * upstream.journal.length)
    expect(row?.amount).toBeLessThanOrEqual(allowance.unitsPerDay)
    expect(await make(server, { allowance: { ...allowance, unitsPerDay: 0 } })).toEqual({
      outcome: 'unaffordable',
    })
  })
})
