import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { anyDatabase } from '../../../../test/helpers/databases.ts'
import type { AuditRow, Release, Storage, SystemInfo, SystemJob } from '../../../contract/entities/system.ts'
import { isNewer } from '../../people/notify/latest-release.ts'

type Page<Item> = { items: Item[]; total: number; page: number; page_size: number }

anyDatabase('the installation', (_fresh, kind) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(kind)
  })
  afterAll(() => server.stop())

  it('lists every administrative action with the values before and after, newest first, and searches them', async () => {
    await server.call('PUT /api/option/', { key: 'RetryTimes', value: '2' })
    await server.call('PUT /api/option/', { key: 'SMTPToken', value: 'canary-secret' })
    const all = await server.call<Page<AuditRow>>('GET /api/audit/?page_size=2')
    expect(all).toMatchObject({ page: 1, page_size: 2 })
    expect(all.items[1]).toMatchObject({
      actor_name: 'root',
      action: 'option.save',
      target: 'option:RetryTimes',
      before: '0',
      after: '2',
    })
    expect(JSON.stringify(all)).not.toContain('canary')

    const found = (query: string) => server.call<Page<AuditRow>>(`GET /api/audit/?${query}`).then(({ total }) => total)
    expect(await found('target=option:retry')).toBe(1)
    expect(await found('actor=root&action=OPTION')).toBe(2)
    expect(await found('actor=1')).toBe(2)
    expect(await found('action=option%25')).toBe(0)
    expect(await found('end_timestamp=1')).toBe(0)
    expect(await server.call('POST /api/audit/verify')).toMatchObject({ rows: all.total, broken_at: null })
  })

  it('lists its jobs, and starts one on demand', async () => {
    const jobs = await server.call<SystemJob[]>('GET /api/job/')
    const reconcile = () =>
      server.call<SystemJob[]>('GET /api/job/').then((all) => all.find(({ name }) => name === 'reconcile-ledger'))
    expect(jobs.every(({ label }) => /[\u4e00-\u9fff]/.test(label.zh) && label.en !== '')).toBe(true)
    expect(await reconcile()).toMatchObject({ outcome: 'never', on_demand: true, every_seconds: 300 })

    await server.call('POST /api/job/reconcile-ledger/run')
    const { items } = await server.call<{ items: object[] }>('GET /api/audit/?action=job.start')
    expect(items).toMatchObject([{ actor_name: 'root', target: 'job:reconcile-ledger' }])
    await expect.poll(reconcile).toMatchObject({ outcome: 'ok', detail: '0 differ', node: server.app.node })
    for (const name of ['expire-holds', 'no-such-job', '__proto__'])
      expect(await (await server.raw(`POST /api/job/${name}/run`)).json(), name).toMatchObject({
        success: false,
        code: 'not_found',
      })
  })

  it('sums site costs, in their own call and with the comparison of balances', async () => {
    const { db, now } = server.app
    const row = { user_id: 1, channel_id: 0, model: 'm', amount: 30, created_at: Math.floor(now() / 1000) - 9 }
    await db
      .insertInto('site_costs')
      .values([
        { ...row, request_id: 'a', reason: 'undelivered' },
        { ...row, request_id: 'b', reason: 'undelivered', amount: 5 },
      ])
      .execute()

    const sum = { count: 2, quota: 35 }
    const expected = { reason: 'undelivered', channel_id: 0, channel_name: '' }
    expect(await server.call('GET /api/system/site_cost')).toEqual([
      { ...expected, last_24_hours: sum, last_30_days: sum, all: sum },
    ])
    await server.call('POST /api/job/reconcile-ledger/run')
    const detail = async () =>
      (await server.call<SystemJob[]>('GET /api/job/')).find(({ name }) => name === 'reconcile-ledger')?.detail
    await expect.poll(detail).toBe('0 differ; site costs of 24 hours: 35')
  })

  it('shows its version, its database and its nodes', async () => {
    const { db } = server.app
    const gone = { name: 'gone', version: '0', started_at: 1, seen_at: 1, memory_mb: 9 }
    await db.insertInto('nodes').values(gone).execute()
    const info = await server.call<SystemInfo>('GET /api/system/')
    expect(info).toMatchObject({ version: server.app.version, database: kind, redis: false, update_feed: false })
    expect(info.nodes).toMatchObject([
      { name: server.app.node, alive: true, here: true },
      { ...gone, alive: false, here: false },
    ])
    const { tables, bytes, ...storage } = await server.call<Storage>('GET /api/system/storage')
    expect(storage).toEqual({ database: kind, unused_bytes: expect.any(Number) })
    expect(tables.length).toBe(8)
    expect(tables.reduce((sum, table) => sum + table.bytes, 0)).toBeLessThanOrEqual(bytes)
    expect(await server.call('GET /api/system/first_run')).toEqual({ has_channel: false, has_token: false, has_call: false })
    expect(await (await server.raw('GET /api/status/test')).json()).toMatchObject({ success: true, message: '服务运行正常' })
  })

  it('resets the model ratios with a message that consoles can show', async () => {
    await server.call('PUT /api/option/', { key: 'ModelRatio', value: '{"gpt-4o":9}' })
    const answer = await (await server.raw('POST /api/option/rest_model_ratio', undefined, { 'accept-language': 'en' })).json()
    expect(answer).toMatchObject({ success: true, message: 'Model ratios reset' })
    expect(server.app.options.current.ModelRatio['gpt-4o']).not.toBe(9)
  })
})

describe('the update check', () => {
  let feed: Server
  let answer: { status: number; body: string }
  let server: TestServer
  beforeAll(async () => {
    feed = createServer((_request, response) => response.writeHead(answer.status).end(answer.body))
    await new Promise<void>((resolve) => feed.listen(0, '127.0.0.1', resolve))
    server = await startServer('sqlite')
  })
  afterAll(async () => {
    await server.stop()
    await new Promise((resolve) => feed.close(resolve))
  })
  const check = async () => (await server.raw('GET /api/system/update')).json() as Promise<{ code?: string; data?: Release }>

  it('makes no request until a feed is set', async () => {
    expect(await check()).toMatchObject({ success: false, code: 'update_feed_missing' })
  })

  it('compares the tag with the version, and passes on only text and https links', async () => {
    const { port } = feed.address() as AddressInfo
    await server.call('PUT /api/option/', { key: 'ReleaseFeedUrl', value: `http://127.0.0.1:${port}/releases/latest` })
    answer = {
      status: 200,
      body: JSON.stringify({ tag_name: 'v99.1', body: '<script>x</script>', html_url: 'javascript:alert(1)', assets: [1] }),
    }
    expect((await check()).data).toMatchObject({
      latest: '99.1',
      is_newer: true,
      title: 'v99.1',
      notes: '<script>x</script>',
      url: '',
    })
    answer = { status: 200, body: JSON.stringify({ tag_name: server.app.version, html_url: 'https://code.example/r/1' }) }
    expect((await check()).data).toMatchObject({ is_newer: false, url: 'https://code.example/r/1' })
    for (const bad of [
      { status: 500, body: '' },
      { status: 200, body: 'no json' },
      { status: 200, body: '{}' },
    ]) {
      answer = bad
      expect(await check()).toMatchObject({ success: false, code: 'update_check_failed' })
    }
  })

  it.each([
    ['v0.5', '0.4.8.9.6', true],
    ['0.4.8.9.6', '0.4.8.9.6', false],
    ['0.4.8.10', '0.4.8.9.6', true],
    ['v0.4.8', '0.4.8.9.6', false],
    ['nightly', '0.4', false],
    ['v1.0.0', '1.0.0-rc.1', true],
    ['1.0.0-rc.1', '1.0.0', false],
    ['1.0.0-rc.2', '1.0.0-rc.1', true],
    ['1.0.0-rc.10', '1.0.0-rc.9', true],
    ['1.0.0-rc.1', '1.0.0-rc.1', false],
    ['1.0.0-rc.1.1', '1.0.0-rc.1', true],
    ['1.0.0-rc', '1.0.0-beta.9', true],
    ['1.0.0+build.5', '1.0.0', false],
    ['1.0.1-rc.1', '1.0.0', true],
  ])('%s after %s: %s', (version, than, newer) => expect(isNewer(version, than)).toBe(newer))
})
