import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import type { Task } from '../../../contract/entities/task.ts'
import type { Token } from '../../../contract/entities/token.ts'
import type { TopUp } from '../../../contract/entities/top-up.ts'

interface Page<Row> {
  readonly items: readonly Row[]
  readonly total: number
}

/** Common behaviour of lists: sorting, and CSV files of the filtered rows. */
describe.each(['sqlite', 'postgres'] as const)('lists over %s', (kind) => {
  let server: TestServer
  const other = { user_id: 2 }
  beforeAll(async () => {
    server = await startServer(kind)
    const { db } = server.app
    const token = { unlimited_quota: false, remain_quota: 5, expired_time: 2_000_000_000 }
    await server.call('POST /api/token/', { ...token, name: '=b()', remain_quota: 7 })
    await server.call('POST /api/token/', { ...token, name: 'c', unlimited_quota: true, remain_quota: 0 })
    await server.call('POST /api/token/', { ...token, name: 'a', expired_time: -1, group: 'default' })
    const order = { user_id: 1, provider: 'epay', method: 'zfb', currency: 'CNY', amount: 1, created_time: 1_700_000_000 }
    await db
      .insertInto('top_ups')
      .values([
        { ...order, trade_no: 'n1', quota: 20, money_minor: 100, status: 'success', completed_time: 1_700_000_060 },
        { ...order, trade_no: '+n2', quota: 10, money_minor: 100, status: 'pending', completed_time: 0 },
        { ...order, ...other, trade_no: 'n3', quota: 30, money_minor: 300, status: 'pending', completed_time: 0 },
      ])
      .execute()
    const task = { user_id: 1, channel_id: 9, action: 'MUSIC', platform: 'suno', quota: 5, status: 'SUCCESS' }
    const submit_time = 1_700_000_000
    await db
      .insertInto('tasks')
      .values(
        ['t1', 't2', 't3', 't4'].map((task_id, nth) => ({
          ...task,
          ...(nth === 3 ? other : {}),
          ...{ task_id, submit_time, created_at: submit_time, updated_at: submit_time, fail_reason: '@SUM(1)', progress: '100%' },
          properties: '{"input":"la, la"}',
        })),
      )
      .execute()
    const { platform: _platform, ...drawing } = task
    await db
      .insertInto('midjourneys')
      .values({ ...drawing, code: 1, action: 'IMAGINE', mj_id: 'm1', prompt: '-sea', submit_time: submit_time * 1000 })
      .execute()
  })
  afterAll(() => server.stop())

  const file = async (path: string) => {
    const answer = await server.raw(`GET ${path}${path.includes('?') ? '&' : '?'}time_zone=Asia/Shanghai`)
    const name = /filename="(.*)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1]
    return { name, lines: (await answer.text()).trimEnd().split('\r\n') }
  }
  const page = async <Row>(line: string) => (await server.call<Page<Row>>(line)).items

  it('sorts tokens as requested, those without expiry last, with the same order from page to page', async () => {
    const names = async (sort: string, path = '') =>
      (await page<Token>(`GET /api/token/${path}?paged=true&sort=${sort}`)).map(({ name }) => name)
    expect(await names('')).toEqual(['a', 'c', '=b()'])
    expect(await names('id')).toEqual(['=b()', 'c', 'a'])
    expect(await names('-name', 'search')).toEqual(['c', 'a', '=b()'])
    expect(await names('remain_quota')).toEqual(['a', '=b()', 'c'])
    expect(await names('-remain_quota', 'search')).toEqual(['c', '=b()', 'a'])
    expect(await names('expired_time')).toEqual(['c', '=b()', 'a'])
    expect(await names('key_sealed')).toEqual(await names(''))
    const second = await page<Token>('GET /api/token/?paged=true&sort=used_quota&size=1&p=1')
    expect(second.map(({ name }) => name)).toEqual(['c'])
  })

  it('sorts orders and tasks in both directions, and orders by amount', async () => {
    const orders = async (line: string) => (await page<TopUp>(line)).map(({ trade_no }) => trade_no)
    expect(await orders('GET /api/topup/?sort=quota')).toEqual(['+n2', 'n1', 'n3'])
    expect(await orders('GET /api/topup/?sort=-money_minor&page_size=2')).toEqual(['n3', '+n2'])
    expect(await orders('GET /api/topup/?sort=-money_minor&page_size=2&p=2')).toEqual(['n1'])
    expect(await orders('GET /api/user/self/topups?sort=id')).toEqual(['n1', '+n2'])
    expect(await orders('GET /api/user/self/topups?status=success')).toEqual(['n1'])
    const tasks = async (query: string) => (await page<Task>(`GET /api/task/?paged=true&${query}`)).map(({ task_id }) => task_id)
    expect(await tasks('sort=id&page_size=2')).toEqual(['t1', 't2'])
    expect(await tasks('sort=id&before=2')).toEqual(['t3', 't4'])
    expect(await tasks('before=2')).toEqual(['t1'])
    expect(await tasks('sort=-id&page_size=2&p=1')).toEqual(['t2', 't1'])
  })

  it('are exported with their filters, with nothing that a spreadsheet would run', async () => {
    const tokens = await file('/api/token/export.csv?group=')
    expect(tokens).toMatchObject({ name: 'tokens.csv', lines: { length: 4 } })
    expect(tokens.lines[0]).toMatch(/^id,name,status,group,.*created \(Asia\/Shanghai\)/)
    expect(tokens.lines[3]).toMatch(/^1,'=b\(\),1,,0,7,0,\d.*\+08:00,2033-05-18T11:33:20\+08:00,,$/)
    const { key } = await server.call<Token>('GET /api/token/1')
    expect(tokens.lines.join()).not.toContain(key)
    expect((await file(`/api/token/export.csv?token=${key.slice(5, 15)}`)).lines).toHaveLength(2)
    expect((await file('/api/token/export.csv?group=default&status=1')).lines[1]).toMatch(/^3,a,/)

    expect((await file('/api/user/self/topups.csv')).lines).toEqual([
      'trade_no,status,provider,method,quota,money_minor,currency,created (Asia/Shanghai),completed (Asia/Shanghai)',
      "'+n2,pending,epay,zfb,10,100,CNY,2023-11-15T06:13:20+08:00,",
      'n1,success,epay,zfb,20,100,CNY,2023-11-15T06:13:20+08:00,2023-11-15T06:14:20+08:00',
    ])
    const orders = await file('/api/topup/export.csv?status=pending')
    expect([orders.name, orders.lines.map((line) => line.split(',')[1])]).toEqual(['orders.csv', ['trade_no', 'n3', "'+n2"]])

    const own = await file('/api/task/self/export.csv')
    expect(own.lines).toHaveLength(4)
    expect(own.lines[1]).toBe(`t3,2023-11-15T06:13:20+08:00,,suno,MUSIC,SUCCESS,100%,5,"la, la",'@SUM(1)`)
    expect(own.lines[0]).not.toMatch(/channel|user/)
    expect((await file('/api/task/export.csv?task_id=t4')).lines[1]).toMatch(/^t4,.*,4,2,,9$/)
    expect((await file('/api/mj/self/export.csv')).lines[1]).toMatch(/^m1,2023-11-15T06:13:20\+08:00,,IMAGINE,.*,'-sea,/)
    expect((await file('/api/mj/export.csv?action=upscale')).lines).toHaveLength(1)
  })

  it("records every export of other users' rows in the audit log, as the last row of its own file", async () => {
    const { lines } = await file('/api/audit/export.csv?actor=root')
    expect(lines[0]).toBe('id,time (Asia/Shanghai),actor_id,actor_name,address,action,target,before,after')
    const acts = lines.slice(1).map((line) => line.split(',')[5])
    expect(acts).toEqual(['audit.export', 'drawing.export', 'task.export', 'top-up.export'])
    expect(lines[4]).toMatch(/top-ups,,"\{""status"":""pending""\}"$/)
    const oldest = await page<{ action: string }>('GET /api/audit/?sort=id&page_size=1')
    expect(oldest).toMatchObject([{ action: 'top-up.export' }])
  })

  it('channels leave in the order of their list, with nothing of their keys', async () => {
    const channel = { type: 1, models: 'gpt-4.1-mini', groups: ['default'], base_url: 'http://127.0.0.1:9/' }
    await server.call('POST /api/channel/', { ...channel, name: '=low', key: 'sk-one-secret\nsk-two-secret', multi_key: true })
    await server.call('POST /api/channel/', { ...channel, name: 'high', key: 'sk-high-secret', priority: 9, tag: 'b' })
    await server.call('POST /api/channel/', { ...channel, name: 'new', key: 'sk-new-secret', models: 'o3' })
    const channels = await file('/api/channel/export.csv')
    expect([channels.name, channels.lines[0]]).toEqual([
      'channels.csv',
      'id,name,type,status,group,tag,models,priority,weight,used_quota,balance,response_time,test_time (Asia/Shanghai),created_time (Asia/Shanghai),keys_total,keys_enabled',
    ])
    expect(channels.lines.join()).not.toContain('secret')
    const names = ({ lines }: typeof channels) => lines.slice(1).map((line) => line.split(',')[1])
    expect(names(channels)).toEqual(['high', 'new', "'=low"])
    expect(channels.lines[3]).toMatch(/^1,'=low,1,1,default,,gpt-4.1-mini,0,0,0,0,0,,20[^,]*\+08:00,2,2$/)
    expect(names(await file('/api/channel/export.csv?id_sort=true'))).toEqual(['new', 'high', "'=low"])
    expect(names(await file('/api/channel/export.csv?model=GPT-4.1&keyword=h'))).toEqual(['high'])
    const { lines } = await file('/api/audit/export.csv?action=channel.export')
    expect(lines[1]).toMatch(/channels,,"\{""keyword"":""h"",""model"":""GPT-4.1""\}"$/)
  })
})
