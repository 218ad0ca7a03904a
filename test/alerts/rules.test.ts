import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Alert, AlertPreview, AlertRule } from '../../src/contract/entities/alert.ts'
import { noteBackup } from '../../src/server/base/db/last-backup.ts'
import { recordAction } from '../../src/server/base/options/audit.ts'
import { noSums, writeCallSums } from '../../src/server/usage/calls/call-sums.ts'
import { checkCertificates } from '../../src/server/watch/jobs/check-certificates.ts'
import { noteNode } from '../../src/server/watch/jobs/note-node.ts'
import { reconcileLedger } from '../../src/server/watch/jobs/reconcile-ledger.ts'
import type { Job } from '../../src/server/watch/jobs/runner.ts'
import { jobNamed } from '../../src/server/watch/jobs/table.ts'
import type { TestServer } from '../helpers/app.ts'
import { type AlertStage, startAlertStage } from './stage.ts'

const daySeconds = 86_400

describe.each(['sqlite', 'postgres'] as const)('alerts over %s', (kind) => {
  let stage: AlertStage
  let destination: number
  beforeEach(async () => {
    stage = await startAlertStage(kind)
    destination = await stage.add('webhook', { url: `${stage.receiver.url}/hook` })
  })
  afterEach(() => stage.stop())

  const at = () => Math.floor(stage.clock.nowMs / 1000)
  const save = (rule: string, more: object = {}) =>
    stage.server.call(`PUT /api/alert/rule/${rule}`, {
      ...{ enabled: true, params: {}, scope: [], destinations: [destination], repeat_seconds: 14_400, notify_recovery: true },
      ...more,
    })
  const firing = async (rule: string) =>
    (await stage.server.call<AlertRule[]>('GET /api/alert/rule/')).find((one) => one.rule === rule)?.firing ?? []
  const preview = (rule: string, params: object = {}) =>
    stage.server.call<AlertPreview>(`POST /api/alert/rule/${rule}/preview`, { params, scope: [] })
  const run = (job: Job, on: TestServer = stage.server) => job.run(on.app, new AbortController().signal, () => {})
  /** The types of the messages since the last call. */
  const heard = async () => {
    const before = stage.receiver.calls.length
    await stage.send()
    return stage.receiver.calls.slice(before).map(({ body }) => JSON.parse(body))
  }
  const addChannel = async (name: string, more: object = {}) => {
    const channel = { type: 1, name, key: 'sk-x', models: 'm', group: 'default', ...more }
    await stage.server.call('POST /api/channel/', { mode: 'single', channel })
    return (await stage.server.app.db.selectFrom('channels').select('id').where('name', '=', name).executeTakeFirstOrThrow()).id
  }
  const setStatus = (id: number, status: number) =>
    stage.server.app.db.updateTable('channels').set({ status }).where('id', '=', id).execute()

  it('fire once, repeat, and recover, with all subjects of one rule in one message', async () => {
    const ids = [await addChannel('east'), await addChannel('west')]
    await save('channel-disabled')
    await stage.evaluate()
    expect(await heard()).toEqual([])
    for (const id of ids) await setStatus(id, 3)
    await stage.evaluate()
    const [fired, ...more] = await heard()
    expect(more).toEqual([])
    expect(fired).toMatchObject({ type: 'alert.fired', data: { rule: 'channel-disabled', more: 0 } })
    expect(fired.data.alerts.map(({ subject }: Alert) => subject)).toEqual(ids.map((id) => `channel:${id}`))
    await stage.evaluate()
    expect(await heard()).toEqual([])
    expect(await firing('channel-disabled')).toHaveLength(2)

    await stage.pass(14_400)
    await stage.evaluate()
    expect((await heard()).map(({ type }) => type)).toEqual(['alert.repeated'])
    for (const id of ids) await setStatus(id, 1)
    await stage.evaluate()
    expect((await heard()).map(({ type }) => type)).toEqual(['alert.recovered'])
    expect(await firing('channel-disabled')).toEqual([])
    const history = await stage.server.call<{ items: Alert[]; total: number }>('GET /api/alert/history/?rule=channel-disabled')
    expect(history.total).toBe(2)
    expect(history.items[0]).toMatchObject({ resolved_at: at(), messages: 2 })
  })

  it('are silent while silenced, and are sent when the silence ends', async () => {
    const id = await addChannel('east')
    await save('channel-disabled')
    await setStatus(id, 3)
    await stage.server.call('POST /api/alert/silence/', {
      rule: 'channel-disabled',
      subject: `channel:${id}`,
      until: at() + 3600,
      comment: 'known',
    })
    await stage.evaluate()
    expect(await heard()).toEqual([])
    expect(await firing('channel-disabled')).toMatchObject([{ subject: `channel:${id}`, notified_at: 0 }])
    await stage.pass(3600)
    await stage.evaluate()
    expect((await heard()).map(({ type }) => type)).toEqual(['alert.fired'])
    expect(await stage.server.call('GET /api/alert/silence/')).toEqual([])

    await setStatus(id, 1)
    await stage.server.call('POST /api/alert/silence/', { until: at() + 3600 })
    const [all] = await stage.server.call<{ id: number }[]>('GET /api/alert/silence/')
    await stage.evaluate()
    expect(await heard()).toEqual([])
    await stage.server.call(`DELETE /api/alert/silence/${all?.id}`)
    expect(await stage.server.call('GET /api/alert/silence/')).toEqual([])
  })

  it('are sent once by several nodes that evaluate at once', async () => {
    const id = await addChannel('east')
    await save('channel-disabled')
    await setStatus(id, 3)
    // SQLite is used by one process only, which may still get two calls at once.
    const other = kind === 'postgres' ? await stage.otherServer() : stage.server
    const both = () => Promise.all([stage.evaluate(), stage.evaluate(other), stage.evaluate(), stage.evaluate(other)])
    await both()
    expect((await heard()).map(({ type }) => type)).toEqual(['alert.fired'])
    await setStatus(id, 1)
    await both()
    expect((await heard()).map(({ type }) => type)).toEqual(['alert.recovered'])
  })

  it('apply only to their scope, and end when their rule is disabled', async () => {
    const [east, west] = [await addChannel('east'), await addChannel('west')]
    await save('channel-disabled', { scope: [String(west)] })
    await setStatus(east, 3)
    await setStatus(west, 3)
    await stage.evaluate()
    expect((await firing('channel-disabled')).map(({ subject }) => subject)).toEqual([`channel:${west}`])
    await save('channel-disabled', { enabled: false })
    expect(await firing('channel-disabled')).toEqual([])
    await stage.evaluate()
    expect(await firing('channel-disabled')).toEqual([])
  })

  it('tell of an old backup, but not before the first one', async () => {
    const { db } = stage.server.app
    await save('backup-age')
    await stage.evaluate()
    await stage.pass(100 * daySeconds)
    await stage.evaluate()
    expect(await firing('backup-age')).toEqual([])
    const made = () => noteBackup(db, { made_at: at(), duration_ms: 1, bytes: 1, rows: 1 })
    await made()
    await stage.pass(26 * 3600)
    await stage.evaluate()
    expect(await heard()).toEqual([])
    await stage.pass(3600)
    await stage.evaluate()
    expect(await firing('backup-age')).toMatchObject([{ subject: 'site', value: 27, threshold: 26 }])
    expect(await heard()).toMatchObject([{ type: 'alert.fired', data: { rule: 'backup-age', unit: 'hours' } }])
    await made()
    await stage.evaluate()
    expect((await heard()).map(({ type }) => type)).toEqual(['alert.recovered'])
  })

  it('detect an open breaker, which previews include while the rule is disabled', async () => {
    const id = await addChannel('east')
    const { channels, traffic } = stage.server.app
    await channels.refresh()
    const channel = channels.current.byId.get(id)
    const failure = { retryAfter: 0, isFaultOfKey: false, isFaultOfUpstream: true, isRefusal: true }
    if (channel) traffic.begin(channel, { model: 'm', requestId: 'r', inputTokens: 1 } as never).failed(failure)
    await run(noteNode)
    expect(await preview('breaker-open')).toMatchObject({ count: 1, firings: [{ subject: `channel:${id}`, value: 1 }] })
    await save('breaker-open')
    await stage.evaluate()
    expect(await firing('breaker-open')).toMatchObject([{ name: `east (#${id})`, value: 1 }])
    stage.clock.passSeconds(120)
    await run(noteNode)
    if (channel) traffic.begin(channel, { model: 'm', requestId: 'r', inputTokens: 1 } as never).answered(5)
    stage.clock.passSeconds(61)
    await run(noteNode)
    await stage.evaluate()
    expect(await firing('breaker-open')).toEqual([])
  })

  it('detect low balances of channels and users, failed jobs, ledger differences and certificates', async () => {
    const { app } = stage.server
    const { db } = app
    const id = await addChannel('east', { base_url: stage.receiver.url })
    await app.channels.refresh()
    await db.updateTable('channels').set({ balance: 5, balance_updated_time: at() }).where('id', '=', id).execute()
    const bucket = {
      created_at: at() - (at() % 3600),
      user_id: 1,
      username: 'root',
      model_name: 'm',
      channel_id: id,
      group: 'default',
    }
    await db
      .insertInto('quota_data')
      .values({ ...bucket, token_used: 1, count: 1, quota: 1 })
      .execute()
    await db.updateTable('users').set({ quota: 7 }).where('id', '=', 1).execute()
    await db
      .insertInto('job_runs')
      .values({ name: 'roll-up', holder: 'x', started_at: at(), finished_at: at(), outcome: 'failed', detail: '' })
      .execute()
    await run(reconcileLedger)
    await run(checkCertificates)
    await run(noteNode)
    for (const rule of [
      'channel-balance',
      'user-balance',
      'job-failed',
      'ledger-difference',
      'certificate',
      'disk-space',
      'memory',
      'queue',
    ])
      await save(rule)
    await stage.evaluate()
    expect(await firing('channel-balance')).toMatchObject([{ subject: `channel:${id}`, value: 5, threshold: 10 }])
    expect(await firing('user-balance')).toMatchObject([{ subject: 'user:1', name: 'root' }])
    expect(await firing('job-failed')).toMatchObject([{ subject: 'job:roll-up' }])
    expect(await firing('ledger-difference')).toMatchObject([{ subject: 'site', value: 1 }])
    expect(await firing('certificate')).toEqual([])
    const measured = await db.selectFrom('alert_measures').select(['rule', 'last']).execute()
    expect(new Set(measured.map(({ rule }) => rule))).toEqual(
      new Set(['channel-balance', 'job-failed', 'ledger-difference', 'certificate', 'disk-space', 'memory', 'queue']),
    )
    expect(measured.find(({ rule }) => rule === 'certificate')?.last).toBeGreaterThan(365)
    expect((await heard()).map(({ data }) => data.rule).sort()).toEqual([
      'channel-balance',
      'job-failed',
      'ledger-difference',
      'user-balance',
    ])
    expect(await preview('user-balance')).toMatchObject({ count: 1 })
    expect(await preview('channel-balance', { threshold: 4 })).toMatchObject({ count: 0 })
  })

  it('announce a budget once for each share and window, and fire while it is beyond a share', async () => {
    const { app } = stage.server
    await app.db.updateTable('users').set({ email: 'root@example.com' }).where('id', '=', 1).execute()
    await stage.add('webhook', { url: `${stage.receiver.url}/events` }, { events: ['budget.reached'] })
    const input = { scope: 'model', subject: 'm', period: 'day', amount: 1_000_000, is_hard: false, shares: [80, 50] }
    const { id } = await stage.server.call<{ id: number }>('POST /api/budget/', input)
    const row = await app.db.selectFrom('budgets').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    const spend = async (charged: number) => {
      const { start } = app.budgets.windowOf(row)
      await app.db
        .insertInto('budget_sums')
        .values({ budget_id: id, start, charged })
        .onConflict((conflict) => conflict.columns(['budget_id', 'start']).doUpdateSet({ charged }))
        .execute()
    }
    const shares = async () => (await heard()).flatMap(({ type, data }) => (type === 'budget.reached' ? [data.share] : []))
    await save('budget-share')

    await spend(400_000)
    expect(await run(jobNamed('notify-budgets'))).toBe('0 announced')
    await spend(600_000)
    expect(await run(jobNamed('notify-budgets'))).toBe('1 announced')
    expect(await run(jobNamed('notify-budgets'))).toBe('0 announced')
    expect(await shares()).toEqual([50])
    const mail = await stage.smtp.mailTo('root@example.com')
    expect(mail.text).toContain('50%')
    expect(mail.text).toContain('$1.20')
    await stage.evaluate()
    expect(await firing('budget-share')).toEqual([])

    await spend(950_000)
    expect(await run(jobNamed('notify-budgets'))).toBe('1 announced')
    await stage.evaluate()
    expect(await firing('budget-share')).toMatchObject([{ subject: `budget:${id}`, name: 'Model m, a day', value: 95 }])
    expect(await shares()).toEqual([80])
    expect(await preview('budget-share')).toMatchObject({ count: 1 })

    // The next day has a new window.
    await stage.pass(daySeconds)
    expect(await run(jobNamed('notify-budgets'))).toBe('0 announced')
    await stage.evaluate()
    expect(await firing('budget-share')).toEqual([])
    await spend(800_000)
    expect(await run(jobNamed('notify-budgets'))).toBe('1 announced')
    await stage.server.call(`POST /api/budget/${id}/reset`)
    expect(await run(jobNamed('notify-budgets'))).toBe('0 announced')
    await spend(1_700_000)
    expect(await run(jobNamed('notify-budgets'))).toBe('1 announced')
    expect(await shares()).toEqual([80, 80])

    await stage.pass(71 * daySeconds)
    expect(await run(jobNamed('purge-budgets'))).toBe('removed 2 rows')
  })

  it('have a preview by the audit log of the last seven days', async () => {
    const id = await addChannel('east')
    const { app } = stage.server
    const disable = () => recordAction(app, { caller: undefined, action: 'channel.auto-disable', target: `channel:${id}` })
    await disable()
    await stage.pass(8 * daySeconds)
    for (let times = 0; times < 3; times++) {
      await disable()
      stage.clock.passSeconds(60)
    }
    expect(await preview('channel-disabled')).toMatchObject({ count: 3, firings: [{ name: `east (#${id})` }, {}, {}] })
  })

  it('detect an hour that costs three times its median, but not with less than a week of data', async () => {
    const { db } = stage.server.app
    const perUsd = 500_000
    const hour = at() - (at() % 3600)
    const spend = (created_at: number, usd: number) =>
      db
        .insertInto('quota_data')
        .values({
          created_at,
          user_id: 1,
          username: 'root',
          model_name: 'm',
          channel_id: 1,
          group: 'default',
          token_used: 1,
          count: 1,
          quota: usd * perUsd,
        })
        .execute()
    await save('spend-spike')
    for (let day = 1; day <= 6; day++) await spend(hour - day * daySeconds, 2)
    await spend(hour, 9)
    await stage.evaluate()
    expect(await firing('spend-spike')).toEqual([])
    for (let day = 7; day <= 20; day++) await spend(hour - day * daySeconds, 2)
    await stage.evaluate()
    expect(await firing('spend-spike')).toMatchObject([{ subject: 'site', value: 4.5, threshold: 3 }])
    expect(await preview('spend-spike')).toMatchObject({ count: 1, firings: [{ from: hour, value: 4.5 }] })
    expect(await preview('spend-spike', { threshold: 5 })).toMatchObject({ count: 0 })
    expect(await preview('spend-spike', { least: 10 })).toMatchObject({ count: 0 })
  })

  it('detect low success and slow calls in the statistics, unless there are too few calls', async () => {
    const { app } = stage.server
    const id = await addChannel('east')
    const add = async (side: 'site' | 'model' | 'channel', key: string, of: { answered: number; failed: number; ms: number }) => {
      const sums = noSums()
      Object.assign(sums, { count: of.answered + of.failed, answered: of.answered, failed: of.failed })
      for (let call = 0; call < of.answered; call++) sums.durations.add(of.ms)
      const added = { side, key, at: at() - (at() % 300), sums, errors: [] }
      await app.db.transaction().execute((within) => writeCallSums(within, [added]))
    }
    await add('channel', String(id), { answered: 60, failed: 40, ms: 1000 })
    await add('model', 'slow', { answered: 30, failed: 0, ms: 90_000 })
    await add('model', 'rare', { answered: 1, failed: 9, ms: 90_000 })
    await add('site', '', { answered: 99, failed: 1, ms: 2000 })
    for (const rule of ['channel-success', 'channel-p95', 'model-success', 'model-p95', 'site-success', 'site-p95'])
      await save(rule)
    await stage.evaluate()
    expect(await firing('channel-success')).toMatchObject([{ subject: `channel:${id}`, name: `east (#${id})`, value: 60 }])
    const [slow, ...more] = await firing('model-p95')
    expect([slow?.subject, more]).toEqual(['model:slow', []])
    expect(slow?.value).toBeGreaterThan(80)
    for (const rule of ['channel-p95', 'model-success', 'site-success', 'site-p95']) expect(await firing(rule), rule).toEqual([])
    expect(await preview('site-success', { threshold: 99.5 })).toMatchObject({
      count: 1,
      firings: [{ subject: 'site', value: 99 }],
    })
    stage.clock.passSeconds(1800)
    await stage.evaluate()
    expect(await firing('channel-success')).toEqual([])
    const sent = (await heard()).map(({ type, data }) => `${type} ${data.rule}`)
    expect(sent.sort()).toEqual([
      'alert.fired channel-success',
      'alert.fired model-p95',
      'alert.recovered channel-success',
      'alert.recovered model-p95',
    ])
  })

  it('can be tested: every destination of a rule answers', async () => {
    const mail = await stage.add('mail', { to: 'ops@example.com' })
    await save('memory', { enabled: false, destinations: [destination, mail, 4711] })
    stage.receiver.answers = [{ status: 503, body: 'later' }]
    const told = await stage.server.call<{ destination_id: number }[]>('POST /api/alert/rule/memory/test')
    expect(told.toSorted((one, other) => one.destination_id - other.destination_id)).toEqual([
      { destination_id: destination, delivered: false, status: 503, answer: 'later' },
      { destination_id: mail, delivered: true, status: 250, answer: '' },
    ])
    expect((await stage.smtp.mailTo('ops@example.com')).headers.get('subject')).toContain('[测试告警] 内存不足')
  })
})
