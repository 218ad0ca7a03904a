import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newClock } from '../../../test/helpers/clock.ts'
import { freshCore, testCore } from '../../../test/helpers/core.ts'
import { eachDatabase, freshDatabase } from '../../../test/helpers/databases.ts'
import { logType } from '../../contract/entities/log.ts'
import { logRoutes } from '../../contract/routes/logs.ts'
import type { NewRow } from '../db/schema.ts'
import { newRequestId } from '../lib/ids.ts'
import { verifyAudit } from '../options/audit.ts'
import type { Core } from '../options/core.ts'
import type { LogFilter } from './filter.ts'
import { listLogs, listOwnLogs, newestLogs, purgeLogs, recordLog, searchLogs, searchOwnLogs } from './log.ts'
import { logStatistics } from './stats.ts'

const nowSeconds = 1_800_000_000
const clock = newClock(nowSeconds * 1000)
const ada = 1
const bob = 2
const page = { offset: 0, limit: 100 }

eachDatabase('logs', (fresh) => {
  let core: Core

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    core = opened.core
    return opened.close
  })
  beforeEach(async () => {
    await core.db.deleteFrom('logs').execute()
    await core.db.deleteFrom('channels').execute()
  })

  const add = async (values: Partial<NewRow<'logs'>> = {}) => {
    const row = { user_id: ada, username: 'ada', created_at: nowSeconds, type: logType.consume, ...values }
    return (await core.db.insertInto('logs').values(row).returning('id').executeTakeFirstOrThrow()).id
  }
  const ids = async (filter: LogFilter) => (await listLogs(core, { filter, page })).items.map(({ id }) => id)
  const ownIds = async (userId: number, filter: LogFilter) =>
    (await listOwnLogs(core, { userId, filter, page })).items.map(({ id }) => id)

  it('lists newest first in pages, with the number of all', async () => {
    const made = [await add({ created_at: nowSeconds - 9 }), await add(), await add(), await add({ created_at: nowSeconds + 1 })]
    const first = await listLogs(core, { filter: {}, page: { offset: 0, limit: 3 } })
    const second = await listLogs(core, { filter: {}, page: { offset: 3, limit: 3 } })
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made.toReversed())
    expect([first.total, second.total]).toEqual([4, 4])
    expect((await listLogs(core, { filter: {}, page: { offset: 100, limit: 3 } })).items).toEqual([])
  })

  it('filters by each field, exactly', async () => {
    const cases: [LogFilter, Partial<NewRow<'logs'>>, Partial<NewRow<'logs'>>][] = [
      [{ type: logType.manage }, { type: logType.manage }, { type: logType.system }],
      [{ username: 'grace' }, { username: 'grace' }, { username: 'Grace' }],
      [{ token_name: 'a%' }, { token_name: 'a%' }, { token_name: 'ab' }],
      [{ model_name: 'gpt-4o' }, { model_name: 'gpt-4o' }, { model_name: 'gpt-4o-mini' }],
      [{ channel: 7 }, { channel_id: 7 }, { channel_id: 77 }],
      [{ group: 'v_p' }, { group: 'v_p' }, { group: 'vip' }],
      [{ start_timestamp: nowSeconds + 50 }, { created_at: nowSeconds + 50 }, { created_at: nowSeconds + 49 }],
      [{ end_timestamp: nowSeconds - 50 }, { created_at: nowSeconds - 50 }, { created_at: nowSeconds - 49 }],
      [{ request_id: 'imported-1' }, { request_id: 'imported-1' }, { request_id: 'imported-2' }],
      [{ userId: bob }, { user_id: bob }, { user_id: 3 }],
    ]
    for (const [filter, matching, other] of cases) {
      await core.db.deleteFrom('logs').execute()
      const id = await add(matching)
      await add(other)
      expect(await ids(filter), JSON.stringify(filter)).toEqual([id])
    }
  })

  it('takes 0 and empty filters as none', async () => {
    await add()
    const query = logRoutes['GET /api/log/'].query.parse({ type: '0', username: '', model_name: 'undefined', channel: 'abc' })
    expect(await ids(query)).toHaveLength(1)
  })

  it('combines filters', async () => {
    const id = await add({ model_name: 'm', group: 'vip' })
    await add({ model_name: 'm' })
    await add({ group: 'vip' })
    expect(await ids({ model_name: 'm', group: 'vip', username: 'ada' })).toEqual([id])
  })

  it('reads % in a model name as any characters and everything else literally', async () => {
    const names = ['gpt-4o', 'GPT-4o-mini', 'a_b', 'axb', 'back\\slash', 'claude']
    for (const model_name of names) await add({ model_name })
    const found = async (model_name: string) =>
      (await listLogs(core, { filter: { model_name }, page })).items.map((log) => log.model_name).toReversed()
    expect(await found('gpt%')).toEqual(['gpt-4o', 'GPT-4o-mini'])
    expect(await found('%')).toEqual(names)
    expect(await found('a_b')).toEqual(['a_b'])
    expect(await found('a_%')).toEqual(['a_b'])
    expect(await found('_%')).toEqual([])
    expect(await found('back\\%')).toEqual(['back\\slash'])
    expect(await found('%\\')).toEqual([])
    expect(await found("' or 1=1 --%")).toEqual([])
  })

  it('finds a request by its id, whenever it was written', async () => {
    const request_id = newRequestId(nowSeconds * 1000)
    const id = await add({ request_id, created_at: nowSeconds + 3_000 })
    await add({ request_id: newRequestId(nowSeconds * 1000) })
    expect(await ids({ request_id })).toEqual([id])
    expect(await ids({ request_id: `${request_id}x` })).toEqual([])
    expect(await ids({ request_id: '99999999999999999abcdefghijkl' })).toEqual([])
  })

  it('names the channel for admins, and says so when it is gone', async () => {
    const { id } = await core.db
      .insertInto('channels')
      .values({ type: 1, key_sealed: '', name: 'main', created_time: 0 })
      .returning('id')
      .executeTakeFirstOrThrow()
    await add({ channel_id: id })
    await add({ channel_id: id + 1 })
    await add()
    const { items } = await listLogs(core, { filter: {}, page })
    expect(items.map(({ channel, channel_name }) => [channel, channel_name])).toEqual([
      [0, ''],
      [id + 1, ''],
      [id, 'main'],
    ])
  })

  it('shows owners their own rows without channels and what is for admins', async () => {
    const other = { model_ratio: 1, admin_info: { use_channel: ['7'] }, upstream_model_name: 'x' }
    await add({ channel_id: 7, other: JSON.stringify(other), is_stream: 1, content: 'text' })
    await add({ user_id: bob, username: 'ada' })
    const { items, total } = await listOwnLogs(core, {
      userId: ada,
      filter: { username: 'bob', userId: bob, channel: 0 },
      page,
    })
    expect({ items, total }).toEqual({ items: [], total: 0 })

    const own = await listOwnLogs(core, { userId: ada, filter: {}, page })
    expect(own.total).toBe(1)
    expect(own.items).toEqual([
      expect.objectContaining({ user_id: ada, channel: 0, channel_name: '', is_stream: true, content: 'text' }),
    ])
    expect(JSON.parse(own.items[0]?.other ?? '')).toEqual({ model_ratio: 1, upstream_model_name: 'x' })
    expect(logRoutes['GET /api/log/self'].reply.shape.items.safeParse(own.items).success).toBe(true)
    expect((await listLogs(core, { filter: { userId: ada }, page })).items[0]).toMatchObject({
      channel: 7,
      other: JSON.stringify(other),
    })
  })

  it('goes by the user id for owners, not by a name that was another’s before', async () => {
    const renamed = await add({ user_id: ada, username: 'old name' })
    await add({ user_id: bob, username: 'ada' })
    expect(await ownIds(ada, {})).toEqual([renamed])
    expect((await logStatistics(core, { userId: ada })).rpm).toBe(1)
  })

  it('hides what it cannot read of `other`', async () => {
    for (const other of ['', '{', 'null', '[1', '"text']) await add({ other })
    const { items } = await listOwnLogs(core, { userId: ada, filter: {}, page })
    expect(items.map((log) => log.other)).toEqual(['', '', '', '', ''])
  })

  it('does not let owners filter by channel or user', () => {
    const query = logRoutes['GET /api/log/self'].query.parse({ username: 'bob', channel: '7', user_id: '2', userId: '2' })
    for (const key of ['username', 'channel', 'user_id', 'userId']) expect(query).not.toHaveProperty(key)
  })

  it('sums the quota in the filter, and requests and tokens of the last minute', async () => {
    const consume = { quota: 10, prompt_tokens: 100, completion_tokens: 20, model_name: 'm' }
    await add(consume)
    await add({ ...consume, created_at: nowSeconds - 60 })
    await add({ ...consume, created_at: nowSeconds - 61 })
    await add({ ...consume, model_name: 'other' })
    await add({ ...consume, user_id: bob, username: 'bob' })
    await add({ ...consume, type: logType.topUp })
    const of = (filter: LogFilter) => logStatistics(core, filter)

    expect(await of({})).toEqual({ quota: 50, rpm: 4, tpm: 480 })
    expect(await of({ userId: ada })).toEqual({ quota: 40, rpm: 3, tpm: 360 })
    expect(await of({ username: 'bob' })).toEqual({ quota: 10, rpm: 1, tpm: 120 })
    expect(await of({ model_name: 'm', userId: ada })).toEqual({ quota: 30, rpm: 2, tpm: 240 })
    expect(await of({ end_timestamp: nowSeconds - 61 })).toEqual({ quota: 10, rpm: 4, tpm: 480 })
    expect(await of({ start_timestamp: nowSeconds, type: logType.topUp })).toEqual({ quota: 30, rpm: 4, tpm: 480 })
    expect(await of({ model_name: 'nobody' })).toEqual({ quota: 0, rpm: 0, tpm: 0 })
  })

  it('adds sums beyond 32 bits', async () => {
    await add({ quota: 4_000_000_000_000 })
    await add({ quota: 5_000_000_000_000 })
    expect((await logStatistics(core, {})).quota).toBe(9_000_000_000_000)
  })

  it('searches by the beginning of the content, taken literally', async () => {
    await add({ content: '50% off', channel_id: 3 })
    await add({ content: '50 off' })
    await add({ content: 'all of 50% off' })
    await add({ content: '50% off', user_id: bob })
    expect(await searchLogs(core, { keyword: '50%' })).toHaveLength(2)
    expect(await searchOwnLogs(core, { keyword: '50%', userId: ada })).toMatchObject([{ content: '50% off', channel: 0 }])
    expect(await searchOwnLogs(core, { keyword: '', userId: ada })).toHaveLength(3)
  })

  it('records what is no charge in the transaction that it is given', async () => {
    const record = { type: logType.topUp, at: nowSeconds, userId: ada, username: 'ada', content: 'redeemed', quota: 5 } as const
    await core.db.transaction().execute((trx) => recordLog(trx, record))
    const undone = core.db.transaction().execute(async (trx) => {
      await recordLog(trx, record)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const { items } = await listOwnLogs(core, { userId: ada, filter: {}, page })
    expect(items).toMatchObject([{ type: 1, content: 'redeemed', quota: 5, other: '', created_at: nowSeconds }])
  })

  it('purges only consume rows older than the time, and leaves a trace', async () => {
    await add({ created_at: nowSeconds - 10 })
    await add({ created_at: nowSeconds - 10, user_id: bob })
    const kept = [
      await add({ created_at: nowSeconds }),
      await add({ created_at: nowSeconds - 10, type: logType.topUp }),
      await add({ created_at: nowSeconds - 10, type: logType.manage }),
      await add({ created_at: nowSeconds - 10, type: logType.system }),
    ]
    const caller = { id: 9, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
    expect(await purgeLogs(core, { before: nowSeconds, caller })).toBe(2)
    expect((await ids({})).toSorted()).toEqual(kept.toSorted())
    const trace = await core.db.selectFrom('audit').selectAll().execute()
    expect(trace).toMatchObject([{ actor_id: 9, action: 'log.purge', target: `logs before ${nowSeconds}` }])
    expect((await verifyAudit(core)).brokenAt).toBeUndefined()
  })

  it('refuses to purge without a time', async () => {
    await expect(purgeLogs(core, { before: 0 })).rejects.toMatchObject({ code: 'log_time_required' })
  })
})

describe('a long log', () => {
  const count = 100_000
  let core: Core

  beforeAll(async () => {
    const test = await freshDatabase('sqlite')
    const database = await test.open()
    core = await testCore(database, { now: () => clock.nowMs })
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      user_id: index % 50,
      created_at: 0,
      type: index % 20 === 0 ? 1 : 2,
    }))
    await core.db.transaction().execute(async (trx) => {
      for (let start = 0; start < count; start += rows.length) {
        const batch = rows.map((row, index) => ({ ...row, created_at: nowSeconds - count + start + index }))
        await trx.insertInto('logs').values(batch).execute()
      }
    })
    return async () => {
      await database.close()
      await test.drop()
    }
  })

  /** The plan's lines about `logs`, with the sorts. */
  async function planOf(filter: LogFilter): Promise<string> {
    const query = newestLogs(core.db, filter).limit(10).compile()
    const { database } = core
    if (database.dialect !== 'sqlite') throw new Error('Plans are those of SQLite')
    const steps = database.raw.prepare(`explain query plan ${query.sql}`).all(...(query.parameters as number[]))
    return steps.map((step) => String(Object.values(step as object).at(-1))).join('; ')
  }

  it('is read along an index, newest first, without sorting', async () => {
    const plans: [LogFilter, RegExp][] = [
      [{}, /^SCAN logs USING INDEX logs_created_at_id/],
      [{ type: 2, model_name: 'gpt%' }, /^SCAN logs USING INDEX logs_created_at_id/],
      [
        { start_timestamp: 1, end_timestamp: 2 },
        /^SEARCH logs USING INDEX logs_created_at_id \(created_at>\? AND created_at<\?\)/,
      ],
      [{ userId: 3 }, /^SEARCH logs USING INDEX logs_user_id_created_at_id \(user_id=\?\)/],
      [{ userId: 3, start_timestamp: 1 }, /^SEARCH logs USING INDEX logs_user_id_created_at_id \(user_id=\? AND created_at>\?\)/],
      [
        { request_id: newRequestId(nowSeconds * 1000) },
        /^SEARCH logs USING INDEX logs_created_at_id \(created_at>\? AND created_at<\?\)/,
      ],
    ]
    for (const [filter, expected] of plans) {
      const plan = await planOf(filter)
      expect(plan).toMatch(expected)
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })

  it('is counted only some way beyond the page', async () => {
    const totalAt = async (offset: number) => (await listLogs(core, { filter: {}, page: { offset, limit: 10 } })).total
    expect(await totalAt(0)).toBe(10_000)
    expect(await totalAt(50_000)).toBe(60_000)
    expect(await totalAt(99_990)).toBe(count)
    expect((await listOwnLogs(core, { userId: 3, filter: {}, page: { offset: 0, limit: 10 } })).total).toBe(2_000)
  })

  it('is purged whole, in many steps', async () => {
    expect(await purgeLogs(core, { before: nowSeconds - 50_000 })).toBe(47_500)
  })
})
