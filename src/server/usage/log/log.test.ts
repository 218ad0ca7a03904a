import { sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newClock } from '../../../../test/helpers/clock.ts'
import { freshCore, testCore } from '../../../../test/helpers/core.ts'
import { eachDatabase, freshDatabase } from '../../../../test/helpers/databases.ts'
import { whileLocked } from '../../../../test/helpers/while-locked.ts'
import { logType } from '../../../contract/entities/log.ts'
import { logRoutes } from '../../../contract/routes/logs.ts'
import { queriesOver } from '../../base/db/queries-over.ts'
import type { NewRow, Tables } from '../../base/db/schema.ts'
import { newRequestId } from '../../base/lib/secrets/ids.ts'
import { verifyAudit } from '../../base/options/audit.ts'
import type { Core } from '../../base/options/core.ts'
import { type LogFilter, resolveFilter } from '../filter.ts'
import { hourSeconds } from '../sums/hours.ts'
import { rollUpHours } from '../sums/roll-up.ts'
import { type Export, exportLogs } from './export.ts'
import { logHistogram } from './histogram.ts'
import { type LogQuery, listLogs, listOwnLogs, recordLog, searchLogs, searchOwnLogs } from './log.ts'
import { purgeLogs, readPurge, requestPurge, runPurges, stopPurge } from './purge.ts'
import { logsInOrder, type Order } from './rows.ts'
import { logStatistics } from './stats.ts'

const nowSeconds = 1_800_000_000
const clock = newClock(nowSeconds * 1000)
const ada = 1
const bob = 2
const grace = 4
const page = { offset: 0, limit: 100 }

eachDatabase('logs', (fresh, kind) => {
  let core: Core

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    core = opened.core
    for (const [id, username] of [
      [ada, 'ada'],
      [bob, 'bob'],
      [grace, 'grace'],
    ] as const) {
      const row = {
        id,
        username,
        username_key: username,
        display_name: '',
        password_hash: '',
        aff_code: username,
        access_token_hash: username,
      }
      await core.db
        .insertInto('users')
        .values({ ...row, created_time: 0, deleted_at: null })
        .execute()
    }
    return opened.close
  })
  beforeEach(async () => {
    for (const table of ['logs', 'quota_data', 'usage_hours', 'token_hours', 'channels', 'log_purges'] as const)
      await core.db.deleteFrom(table).execute()
  })

  /** A row, and the hour buckets of its charge. */
  const add = async (values: Partial<NewRow<'logs'>> = {}) => {
    const row = { user_id: ada, username: 'ada', created_at: nowSeconds, type: logType.consume as number, ...values }
    if (row.type === logType.consume) await rollUp(core, row)
    return (await core.db.insertInto('logs').values(row).returning('id').executeTakeFirstOrThrow()).id
  }
  const ids = async (filter: LogFilter) => (await listLogs(core, { filter, page })).items.map(({ id }) => id)

  it('lists newest first in pages, with the total number', async () => {
    const made = [await add({ created_at: nowSeconds - 9 }), await add(), await add(), await add({ created_at: nowSeconds + 1 })]
    const first = await listLogs(core, { filter: {}, page: { offset: 0, limit: 3 } })
    const second = await listLogs(core, { filter: {}, page: { offset: 3, limit: 3 } })
    expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(made.toReversed())
    expect([first.total, second.total]).toEqual([4, 4])
    expect((await listLogs(core, { filter: {}, page: { offset: 100, limit: 3 } })).items).toEqual([])
  })

  it('does not count the rows again when a page ends before it is full', async () => {
    for (let row = 0; row < 3; row++) await add()
    const listed = async (limit: number, offset = 0) => {
      let statements = 0
      const db = queriesOver<Tables>(kind, async (query) => {
        statements++
        return (await core.db.executeQuery(query)).rows
      })
      const { items, total } = await listLogs({ ...core, db }, { filter: { userId: ada }, page: { offset, limit } })
      return { items: items.length, total, statements }
    }
    expect(await listed(100)).toEqual({ items: 3, total: 3, statements: 1 })
    expect(await listed(3)).toEqual({ items: 3, total: 3, statements: 2 })
    expect(await listed(2, 2)).toEqual({ items: 1, total: 3, statements: 2 })
    expect(await listed(2, 4)).toEqual({ items: 0, total: 3, statements: 2 })
  })

  it('filters by each field, exactly', async () => {
    const cases: [LogFilter, Partial<NewRow<'logs'>>, Partial<NewRow<'logs'>>][] = [
      [{ type: logType.manage }, { type: logType.manage }, { type: logType.system }],
      [{ username: 'grace' }, { user_id: grace, username: 'as she was called' }, { user_id: 3, username: 'grace' }],
      [{ token_name: 'a%' }, { token_name: 'a%' }, { token_name: 'ab' }],
      [{ model_name: 'gpt-4o' }, { model_name: 'gpt-4o' }, { model_name: 'gpt-4o-mini' }],
      [{ channel: 7 }, { channel_id: 7 }, { channel_id: 77 }],
      [{ group: 'v_p' }, { group: 'v_p' }, { group: 'vip' }],
      [{ start_timestamp: nowSeconds + 50 }, { created_at: nowSeconds + 50 }, { created_at: nowSeconds + 49 }],
      [{ end_timestamp: nowSeconds - 50 }, { created_at: nowSeconds - 50 }, { created_at: nowSeconds - 49 }],
      [{ request_id: 'imported-1' }, { id: -5, request_id: 'imported-1' }, { id: -4, request_id: 'imported-2' }],
      [{ userId: bob }, { user_id: bob }, { user_id: 3 }],
    ]
    for (const [filter, matching, other] of cases) {
      for (const table of ['logs', 'quota_data'] as const) await core.db.deleteFrom(table).execute()
      const id = await add(matching)
      await add(other)
      expect(await ids(filter), JSON.stringify(filter)).toEqual([id])
    }
  })

  it('reads no row for a request id of another form, unless rows were imported', async () => {
    await add({ request_id: 'of-nobody' })
    expect(await ids({ request_id: 'of-nobody' })).toEqual([])
    expect(await resolveFilter(core.db, { request_id: 'of-nobody' })).toBeUndefined()
  })

  it('ignores filters that are 0 or empty', async () => {
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

  it('treats % in a model name as a wildcard and everything else literally', async () => {
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

  it('finds a request by its id, regardless of its time', async () => {
    const request_id = newRequestId(nowSeconds * 1000)
    const id = await add({ request_id, created_at: nowSeconds + 3_000 })
    await add({ request_id: newRequestId(nowSeconds * 1000) })
    expect(await ids({ request_id })).toEqual([id])
    expect(await ids({ request_id: `${request_id}x` })).toEqual([])
    expect(await ids({ request_id: '99999999999999999abcdefghijkl' })).toEqual([])
  })

  it('names the channel for admins, and marks a deleted one', async () => {
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

  it('shows owners their own rows without channels and members for admins', async () => {
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

  it('uses the user id for owners, not a name that belonged to another user before', async () => {
    await add({ user_id: ada, username: 'old name', content: 'hers' })
    await add({ user_id: bob, username: 'ada' })
    expect((await listOwnLogs(core, { userId: ada, filter: {}, page })).items.map(({ content }) => content)).toEqual(['hers'])
    expect((await logStatistics(core, { userId: ada })).rpm).toBe(1)
  })

  it('hides unreadable values of `other`', async () => {
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
    expect(await of({ start_timestamp: nowSeconds - 60, end_timestamp: nowSeconds - 60 })).toEqual({
      quota: 10,
      rpm: 4,
      tpm: 480,
    })
    expect(await of({ model_name: 'nobody' })).toEqual({ quota: 0, rpm: 0, tpm: 0 })
  })

  it('takes the rate from the last five seconds when they have too many requests to read a minute of them', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => ({
      user_id: ada,
      created_at: nowSeconds - 1 - (index % 5),
      type: logType.consume,
      prompt_tokens: 2,
      completion_tokens: 1,
    }))
    for (let count = 0; count < 9; count++) await core.db.insertInto('logs').values(rows).execute()
    const older = { prompt_tokens: 100, created_at: nowSeconds - 30 }
    for (const created_at of [nowSeconds, nowSeconds - 30]) await add({ ...older, created_at })
    expect(await logStatistics(core, {})).toMatchObject({ rpm: 9002, tpm: 27_200 })

    await core.db.insertInto('logs').values(rows).execute()
    expect(await logStatistics(core, {})).toMatchObject({ rpm: 120_000, tpm: 360_000 })
    expect(await logStatistics(core, { userId: bob })).toMatchObject({ rpm: 0, tpm: 0 })
  })

  it('computes sums beyond 32 bits', async () => {
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

  it('writes rows without a charge in the given transaction', async () => {
    const record = { type: logType.topUp, at: nowSeconds, userId: ada, username: 'ada', content: 'redeemed', quota: 5 } as const
    await core.db.transaction().execute((trx) => recordLog(trx, record))
    const undone = core.db.transaction().execute(async (trx) => {
      await recordLog(trx, record)
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    const { items } = await listOwnLogs(core, { userId: ada, filter: {}, page })
    expect(items).toMatchObject([{ type: 1, content: 'redeemed', quota: 0, amount: 5, other: '', created_at: nowSeconds }])
  })

  it('purges only consume rows older than the time, and records the purge', async () => {
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

  it('[T162] purges in the background with progress, one at a time, continues after a restart, and can be stopped', async () => {
    const before = nowSeconds
    for (let day = 1; day <= 3; day++) await add({ created_at: nowSeconds - day * 86_400 })
    await rollUp(core, { user_id: ada, created_at: nowSeconds, type: 2, quota: 7 })
    const sums = await core.db.selectFrom('quota_data').selectAll().orderBy('created_at').execute()

    const asked = await requestPurge(core, { before })
    expect(asked).toMatchObject({ before, removed: 0, progress: 0, finished_at: 0 })
    await expect(requestPurge(core, { before })).rejects.toMatchObject({ code: 'log_purge_running' })

    const ending = new AbortController()
    expect(await runPurges(core, ending.signal, () => ending.abort())).toBe(1)
    expect(await readPurge(core.db)).toMatchObject({ removed: 1, finished_at: 0, progress: expect.closeTo(1 / 3, 1) })
    expect(await runPurges(core)).toBe(2)
    expect(await readPurge(core.db)).toMatchObject({ removed: 3, progress: 1, finished_at: nowSeconds })
    expect(await core.db.selectFrom('quota_data').selectAll().orderBy('created_at').execute()).toEqual(sums)

    await add({ created_at: nowSeconds - 5 })
    await requestPurge(core, { before })
    await stopPurge(core, { id: 9, username: 'root', role: 100, group: 'default', address: '127.0.0.1' })
    expect(await runPurges(core)).toBe(0)
    expect(await ids({})).toHaveLength(1)
  })

  it.runIf(kind === 'postgres')('[T162] begins one purge when two are asked for at the same time', async () => {
    const ask = () => requestPurge(core, { before: nowSeconds })
    const asked = await whileLocked(core.db, { lock: [sql`lock table log_purges in share mode`], works: [ask, ask] })
    expect(asked.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect(asked).toContainEqual({ status: 'rejected', reason: expect.objectContaining({ code: 'log_purge_running' }) })
  })

  it('keeps rows for as long as the option specifies', async () => {
    await add({ created_at: nowSeconds - 10 * 86_400 - 1 })
    const young = await add({ created_at: nowSeconds - 10 * 86_400 + 1 })
    expect(await runPurges(core)).toBe(0)
    const options = { ...core.options, current: { ...core.options.current, LogRetentionDays: 10 } }
    // Also while the clock of the machine is set a year ahead.
    expect(await runPurges({ ...core, options, now: () => core.now() + 365 * 86_400_000 })).toBe(1)
    expect(await ids({})).toEqual([young])
  })

  it('can be read oldest first: page by page, by cursor, and by way of hour buckets', async () => {
    for (let index = 0; index < 7; index++) await add({ created_at: nowSeconds + Math.floor(index / 3), content: String(index) })
    const oldest = async (asked: Partial<LogQuery>) => {
      const { items, next } = await listLogs(core, { filter: {}, page: { offset: 0, limit: 2 }, order: 'oldest', ...asked })
      return [items.map(({ content }) => content), next] as const
    }
    expect((await oldest({ page: { offset: 4, limit: 2 } }))[0]).toEqual(['4', '5'])
    const seen: string[] = []
    for (let before = ''; ; ) {
      const [contents, next] = await oldest({ before })
      seen.push(...contents)
      before = next
      if (before === '') break
    }
    expect(seen).toEqual(['0', '1', '2', '3', '4', '5', '6'])

    for (let hour = 0; hour < 4; hour++)
      await add({ created_at: nowSeconds - hour * 9 * hourSeconds, model_name: 'rare', token_name: 'k', content: `r${hour}` })
    expect((await oldest({ filter: { model_name: 'rare' } }))[0]).toEqual(['r3', 'r2'])
    const [, next] = await oldest({ filter: { model_name: 'rare' }, page: { offset: 0, limit: 3 } })
    expect((await oldest({ filter: { model_name: 'rare' }, before: next }))[0]).toEqual(['r0'])
    expect((await oldest({ filter: { model_name: 'rare', start_timestamp: nowSeconds - 18 * hourSeconds } }))[0]).toEqual([
      'r2',
      'r1',
    ])
    // Hours whose rows were purged are skipped.
    await rollUp(core, { user_id: ada, created_at: nowSeconds - 99 * hourSeconds, type: 2, model_name: 'rare' })
    expect((await oldest({ filter: { model_name: 'rare' } }))[0]).toEqual(['r3', 'r2'])
    for (const isRolledUp of [false, true]) {
      if (isRolledUp) await rollUpHours(core)
      expect((await oldest({ filter: { token_name: 'k' }, page: { offset: 1, limit: 2 } }))[0]).toEqual(['r2', 'r1'])
    }
  })

  it('continues at the end of the previous page, at any depth, while rows are written', async () => {
    for (let index = 0; index < 7; index++) await add({ created_at: nowSeconds - Math.floor(index / 3), content: String(index) })
    const seen: string[] = []
    for (let before = ''; ; ) {
      const listed = await listOwnLogs(core, { userId: ada, filter: {}, page: { offset: 0, limit: 2 }, before })
      seen.push(...listed.items.map(({ content }) => content))
      before = listed.next
      if (before === '') break
      await add({ created_at: nowSeconds + 5, content: 'new' })
    }
    expect(seen).toEqual(['2', '1', '0', '5', '4', '3', '6'])
  })

  it('finds rare rows by way of hour buckets, page by page', async () => {
    for (let hour = 0; hour < 30; hour++) {
      const created_at = nowSeconds - hour * hourSeconds
      await add({ created_at, model_name: 'often' })
      if (hour % 7 === 0)
        await add({ created_at: created_at - 1, model_name: 'rare', channel_id: 3, group: 'vip', content: String(hour) })
    }
    // The sums of an hour whose rows were purged.
    await rollUp(core, { user_id: bob, created_at: nowSeconds - 5 * hourSeconds, type: 2, model_name: 'rare' })
    const found = async (filter: LogFilter, offset = 0) => {
      const { items, total } = await listLogs(core, { filter, page: { offset, limit: 2 } })
      return [items.map(({ content }) => content), total]
    }
    expect(await found({ model_name: 'rare' })).toEqual([['0', '7'], 6])
    expect(await found({ model_name: 'rare', userId: ada }, 2)).toEqual([['14', '21'], 5])
    expect(await found({ channel: 3 }, 4)).toEqual([['28'], 5])
    expect(await found({ group: 'vip', end_timestamp: nowSeconds - 7 * hourSeconds - 1 })).toEqual([['7', '14'], 4])
    expect(await found({ model_name: 'rare', start_timestamp: nowSeconds - 7 * hourSeconds })).toEqual([['0'], 2])
    expect(await found({ model_name: 'never' })).toEqual([[], 0])
  })

  it('finds the requests of a token and their cost, before and after its hours are rolled up', async () => {
    const hours = (count: number) => nowSeconds - count * hourSeconds
    for (let hour = 0; hour < 30; hour++) {
      await add({ created_at: hours(hour), token_name: 'often', quota: 1 })
      if (hour % 7 > 0) continue
      await add({ created_at: hours(hour), token_name: 'rare', model_name: `m${hour % 2}`, content: String(hour), quota: 10 })
      await add({ created_at: hours(hour), token_name: 'rare', user_id: bob, content: `bob ${hour}`, quota: 1000 })
    }
    const read = async (filter: LogFilter, offset = 0) => {
      const { items, total } = await listLogs(core, { filter: { token_name: 'rare', ...filter }, page: { offset, limit: 2 } })
      const { quota } = await logStatistics(core, { token_name: 'rare', ...filter })
      return [items.map(({ content }) => content), total, quota]
    }
    const exported = async (filter: LogFilter) => {
      let lines = 0
      for await (const piece of exportLogs(core, { filter, format: 'jsonl', timeZone: '' })) lines += piece.split('\n').length - 1
      return lines
    }
    const check = async () => {
      expect(await read({ userId: ada })).toEqual([['0', '7'], 5, 50])
      expect(await read({ userId: ada }, 4)).toEqual([['28'], 5, 50])
      expect(await read({})).toEqual([['bob 0', '0'], 10, 5050])
      expect(await read({ userId: ada, model_name: 'm1' })).toEqual([['7', '21'], 2, 20])
      expect(await read({ userId: ada, start_timestamp: hours(21), end_timestamp: hours(7) })).toEqual([['7', '14'], 3, 30])
      expect(await read({ userId: ada, start_timestamp: hours(20), end_timestamp: hours(7) - 1 })).toEqual([['14'], 1, 10])
      expect(await read({ token_name: 'never' })).toEqual([[], 0, 0])
      expect(await exported({ token_name: 'rare' })).toBe(10)
    }
    await check()
    const at = (time: number) => ({ ...core, now: () => time * 1000 })
    expect(await rollUpHours(at(hours(10)))).toBe(18)
    await check()
    expect(await rollUpHours(at(hours(-2)))).toBe(12)
    await check()
  })

  it('searches for a token in parts, from either end, while its hours are not rolled up', async () => {
    for (let hour = 0; hour < 40; hour++) await add({ created_at: nowSeconds - hour * hourSeconds, token_name: 'often' })
    const times = [1, 20, 39].map((hour) => nowSeconds - hour * hourSeconds - 5)
    for (const created_at of times) await add({ created_at, token_name: 'rare' })
    for (const order of ['newest', 'oldest'] as const) {
      const found: number[] = []
      const reached: number[] = []
      for (let before: string | undefined = ''; before !== undefined; ) {
        // Each call reads one piece.
        const asked = { filter: { token_name: 'rare' }, page: { offset: 0, limit: 10 }, order, before, searchMs: 0 }
        const { items, next, searched_to } = await listLogs(core, asked)
        found.push(...items.map(({ created_at }) => created_at))
        if (searched_to > 0) reached.push(searched_to)
        before = next === '' ? undefined : next
      }
      const sign = order === 'newest' ? -1 : 1
      const inOrder = (all: readonly number[]) => all.toSorted((one, other) => sign * (one - other))
      expect(found).toEqual(inOrder(times))
      expect(reached.length).toBeGreaterThan(10)
      expect(reached).toEqual(inOrder(reached))
    }
    const second = { filter: { token_name: 'rare' }, page: { offset: 2, limit: 1 } }
    expect((await listLogs(core, second)).items).toMatchObject([{ created_at: times[2] }])
    const part = await listLogs(core, { ...second, searchMs: 0 })
    expect(part).toMatchObject({ items: [], searched_to: expect.any(Number) })
  })

  it('keeps the usage of a token in an hour whose rows were purged before a late charge', async () => {
    const at = nowSeconds - 5 * hourSeconds
    const consumed = async (token_name: string) => (await logStatistics(core, { token_name })).quota
    for (let count = 0; count < 3; count++) await add({ created_at: at, token_name: 'early', quota: 10 })
    expect(await rollUpHours(core)).toBe(1)
    expect(await purgeLogs(core, { before: nowSeconds })).toBe(3)
    expect(await consumed('early')).toBe(30)

    await add({ created_at: at, token_name: 'early', quota: 7 })
    await add({ created_at: at, token_name: 'late', quota: 100 })
    expect(await rollUpHours(core)).toBe(1)
    expect(await consumed('early')).toBeGreaterThanOrEqual(30)
    expect(await consumed('late')).toBe(100)
    expect(await listLogs(core, { filter: { token_name: 'early' }, page })).toMatchObject({ items: [{ quota: 7 }] })
  })

  it('[T063] shows owners no number that reveals how many rows others have', async () => {
    await add()
    for (let index = 0; index < 20; index++) await add({ user_id: bob })
    await add()
    const { items, next } = await listOwnLogs(core, { userId: ada, filter: {}, page: { offset: 0, limit: 2 } })
    expect(items.map(({ id }) => id)).toEqual([nowSeconds * 1000, nowSeconds * 1000 + 1])
    expect(next).toBe(`${nowSeconds}-2`)
  })

  it('[T063] exports matching rows, in the given zone, with nothing that a spreadsheet would execute', async () => {
    await add({
      created_at: nowSeconds - 2 * 86_400,
      content: '=1+1',
      channel_id: 7,
      other: '{"admin_info":{"use_channel":["7"]}}',
    })
    await add({ content: 'a "b", c', model_name: '@SUM(1)', quota: 500_000 })
    await add({ user_id: bob, quota: 1, other: '{"quota_per_unit":1000000000}' })
    const lines = async (more: Partial<Export>) => {
      const pieces: string[] = []
      for await (const piece of exportLogs(core, { filter: {}, format: 'csv', timeZone: 'Asia/Shanghai', ...more }))
        pieces.push(piece)
      return pieces.join('').trimEnd().split(/\r?\n/)
    }
    const [head, newest, oldest, ...rest] = await lines({ ownerId: ada })
    expect(rest).toEqual([])
    expect(head).toMatch(/^\uFEFFtime \(Asia\/Shanghai\),type,request_id,token,/)
    expect(head).not.toMatch(/channel|username/)
    expect(newest).toMatch(/^2027-01-15T16:00:00\+08:00,Usage,,,,'@SUM\(1\),.*,500000,-500000,1\.000000,"a ""b"", c",,$/)
    expect(oldest).toMatch(/^2027-01-13T16:00:00\+08:00,.*,'=1\+1,,$/)

    expect(await lines({ filter: { username: 'bob' } })).toEqual([
      expect.any(String),
      expect.stringContaining(',1,-1,0.000000001,'),
    ])
    expect(await lines({ filter: { model_name: '@SUM(1)' }, timeZone: 'nowhere' })).toEqual([
      expect.stringContaining('time (UTC)'),
      expect.stringMatching(/^2027-01-15T08:00:00Z/),
    ])
    const own = (await lines({ ownerId: ada, format: 'jsonl' })).map((line) => JSON.parse(line))
    expect(own.map(({ content }) => content)).toEqual(['a "b", c', '=1+1'])
    expect(own[1]).not.toHaveProperty('channel')
    expect(own[1].other).toEqual({})
    expect(JSON.parse((await lines({ format: 'jsonl' }))[2] ?? '')).toMatchObject({ channel: 7, other: { admin_info: {} } })
  })

  it('exports the columns that are chosen, in the order of the file, and never one for admins to an owner', async () => {
    await add({ model_name: 'm', content: 'text', channel_id: 7 })
    const file = async (more: Partial<Export>) => {
      const pieces: string[] = []
      const columns = ['content', 'channel', 'model', 'nonsense']
      for await (const piece of exportLogs(core, { filter: {}, format: 'csv', timeZone: '', columns, ...more }))
        pieces.push(piece)
      return pieces.join('').slice(1).trimEnd().split('\r\n')
    }
    expect(await file({})).toEqual(['time (UTC),model,channel,content', '2027-01-15T08:00:00Z,m,7,text'])
    expect(await file({ ownerId: ada })).toEqual(['time (UTC),model,content', '2027-01-15T08:00:00Z,m,text'])
  })

  describe('a histogram', () => {
    const histogram = (filter: LogFilter, more: Partial<Parameters<typeof logHistogram>[1]> = {}) =>
      logHistogram(core, { filter, offsetMinutes: 0, ...more })
    const counts = async (filter: LogFilter) => (await histogram(filter)).points
    const failed = { type: logType.error, error_status: 503, error_code: 'upstream_failed' }
    const hours = (count: number) => nowSeconds - count * hourSeconds

    it('counts answered and failed calls of a filter in round buckets of its time, and other rows not at all', async () => {
      for (const created_at of [nowSeconds - 1, nowSeconds - 899, nowSeconds - 901]) await add({ created_at, model_name: 'a' })
      await add({ created_at: nowSeconds - 901, model_name: 'b', user_id: bob, channel_id: 3 })
      await add({ ...failed, created_at: nowSeconds - 10, model_name: 'a' })
      await add({ type: logType.topUp })
      const span = { start_timestamp: hours(20) }
      const [older, newer] = [nowSeconds - 1800, nowSeconds - 900]
      expect(await histogram(span)).toEqual({
        ...{ step_seconds: 900, from: hours(20), to: nowSeconds, counted_from: 0 },
        points: [
          { at: older, answered: 2, failed: 0 },
          { at: newer, answered: 2, failed: 1 },
        ],
      })
      expect(await counts({ ...span, channel: 3 })).toEqual([{ at: older, answered: 1, failed: 0 }])
      expect(await counts({ ...span, username: 'bob' })).toEqual([{ at: older, answered: 1, failed: 0 }])
      expect(await counts({ ...span, status: 503 })).toEqual([{ at: newer, answered: 0, failed: 1 }])
      expect(await counts({ ...span, type: logType.consume, model_name: 'a' })).toEqual([
        { at: older, answered: 1, failed: 0 },
        { at: newer, answered: 2, failed: 0 },
      ])
      for (const filter of [{ type: logType.topUp }, { model_name: '%none%' }, { start_timestamp: nowSeconds + 1 }])
        expect(await counts(filter)).toEqual([])
      // Of a minute by the second.
      const minute = { start_timestamp: nowSeconds - 60, end_timestamp: nowSeconds - 5 }
      expect(await histogram(minute)).toMatchObject({
        step_seconds: 1,
        points: [{ at: nowSeconds - 10, answered: 0, failed: 1 }],
      })
    })

    it('begins its buckets at round times of the caller: days at midnight, weeks on Mondays', async () => {
      await add({ created_at: hours(90 * 24) })
      await add({ created_at: hours(1) })
      const midnightInShanghai = Date.parse('2027-01-15T00:00:00+08:00') / 1000
      expect(await histogram({}, { offsetMinutes: 480 })).toMatchObject({
        step_seconds: 86_400,
        points: [{ answered: 1 }, { at: midnightInShanghai, answered: 1 }],
      })
      const monday = Date.parse('2027-01-11T00:00:00Z') / 1000
      expect(await histogram({ start_timestamp: hours(365 * 24) })).toMatchObject({
        step_seconds: 7 * 86_400,
        points: [{ answered: 1 }, { at: monday, answered: 1 }],
      })
    })

    it('is the same before and after the hours are rolled up, for every filter', async () => {
      for (let hour = 0; hour < 200; hour += 5) {
        const user_id = hour % 2 ? ada : bob
        await add({ created_at: hours(hour) - 7, user_id, model_name: `m${hour % 3}`, token_name: `t${hour % 4}`, channel_id: 1 })
        await add({ ...failed, created_at: hours(hour) - 9, user_id, model_name: 'm1', token_name: 't1', channel_id: 1 })
      }
      const filters: LogFilter[] = [
        ...[{}, { model_name: 'm1' }, { channel: 1 }, { userId: bob }, { userId: ada, model_name: 'm1' }],
        ...[{ token_name: 't1' }, { token_name: 't1', model_name: 'm1' }, { type: logType.error }, { type: logType.consume }],
      ].map((filter) => ({ start_timestamp: hours(250), ...filter }))
      const all = () => Promise.all(filters.map(counts))
      const before = await all()
      const sums = before.map((points) =>
        points.reduce((sum, point) => [(sum[0] ?? 0) + point.answered, (sum[1] ?? 0) + point.failed], [0, 0]),
      )
      expect(sums).toEqual([
        [40, 40],
        [13, 40],
        [40, 40],
        [20, 20],
        [6, 20],
        [10, 40],
        [3, 40],
        [0, 40],
        [40, 0],
      ])
      await rollUpHours({ ...core, now: () => hours(100) * 1000 })
      expect(await all()).toEqual(before)
      await rollUpHours({ ...core, now: () => hours(-2) * 1000 })
      expect(await all()).toEqual(before)
    })

    it('has coarser buckets, or an end, where the rows are too many to be counted in time', async () => {
      for (let hour = 0; hour < 20; hour++) await add({ created_at: hours(hour) - 7, model_name: 'm', token_name: 't' })
      const asked = { start_timestamp: hours(21) }
      expect((await histogram(asked)).step_seconds).toBe(900)
      const coarse = await histogram(asked, { searchMs: -1 })
      expect(coarse.step_seconds).toBe(hourSeconds)
      expect(coarse.points).toHaveLength(20)
      // The sums of hours do not tell of a model of a token.
      const part = await histogram({ ...asked, token_name: 't', model_name: 'm' }, { searchMs: -1 })
      expect(part.counted_from).toBe(hours(1) + 1)
      expect(part.points).toEqual([{ at: hours(1), answered: 1, failed: 0 }])
    })
  })

  it('reads the rows of an export only as they are consumed', async () => {
    const rows = Array.from({ length: 1200 }, (_, index) => ({
      user_id: ada,
      created_at: nowSeconds - (index % 3),
      type: 2,
      content: `${index}`,
    }))
    await core.db.insertInto('logs').values(rows).execute()
    const pieces = exportLogs(core, { filter: {}, format: 'jsonl', timeZone: '', ownerId: ada })
    const first = await pieces.next()
    expect(String(first.value).trimEnd().split('\n')).toHaveLength(500)
    await core.db.deleteFrom('logs').execute()
    expect(await pieces.next()).toEqual({ done: true, value: undefined })
  })
})

/** Updates the hour bucket as the commit of a charge does. */
async function rollUp(core: Core, row: NewRow<'logs'>): Promise<void> {
  const { quota = 0, prompt_tokens = 0, completion_tokens = 0 } = row
  const token_used = prompt_tokens + completion_tokens
  await core.db
    .insertInto('quota_data')
    .values({
      created_at: row.created_at - (row.created_at % hourSeconds),
      user_id: row.user_id,
      username: row.username ?? '',
      model_name: row.model_name ?? '',
      channel_id: row.channel_id ?? 0,
      group: row.group ?? '',
      token_used,
      count: 1,
      quota,
    })
    .onConflict((conflict) =>
      conflict.columns(['created_at', 'user_id', 'model_name', 'channel_id', 'group']).doUpdateSet((eb) => ({
        token_used: eb('quota_data.token_used', '+', token_used),
        count: eb('quota_data.count', '+', 1),
        quota: eb('quota_data.quota', '+', quota),
      })),
    )
    .execute()
}

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

  /** The steps of the query plan. */
  async function planOf(filter: LogFilter, order: Order): Promise<string> {
    const query = logsInOrder(core.db, filter, order).limit(10).compile()
    const { database } = core
    if (database.dialect !== 'sqlite') throw new Error('Plans are those of SQLite')
    const steps = database.raw.prepare(`explain query plan ${query.sql}`).all(...(query.parameters as number[]))
    return steps.map((step) => String(Object.values(step as object).at(-1))).join('; ')
  }

  it('is read along an index from either end, without sorting', async () => {
    const plans: [LogFilter, RegExp][] = [
      [{}, /^SCAN logs USING INDEX logs_created_at_id/],
      [{ type: 2, model_name: 'gpt%' }, /^SCAN logs USING INDEX logs_created_at_id/],
      [
        { start_timestamp: 1, end_timestamp: 2 },
        /^SEARCH logs USING INDEX logs_created_at_id \(created_at>\? AND created_at<\?\)/,
      ],
      [{ userId: 3 }, /^SEARCH logs USING INDEX logs_user_id_created_at_id_token_name \(user_id=\?\)/],
      [
        { userId: 3, start_timestamp: 1 },
        /^SEARCH logs USING INDEX logs_user_id_created_at_id_token_name \(user_id=\? AND created_at>\?\)/,
      ],
      [{ type: 1 }, /^SEARCH logs USING INDEX logs_other_types \(type=\?\)/],
      [
        { request_id: newRequestId(nowSeconds * 1000) },
        /^SEARCH logs USING INDEX logs_created_at_id \(created_at>\? AND created_at<\?\)/,
      ],
    ]
    for (const [filter, expected] of plans) {
      for (const order of ['newest', 'oldest'] as const) {
        const plan = await planOf((await resolveFilter(core.db, filter)) ?? {}, order)
        expect(plan).toMatch(expected)
        expect(plan).not.toContain('TEMP B-TREE')
      }
    }
  })

  it('is counted only up to a bound beyond the page', async () => {
    const totalAt = async (offset: number) => (await listLogs(core, { filter: {}, page: { offset, limit: 10 } })).total
    expect(await totalAt(0)).toBe(10_000)
    expect(await totalAt(50_000)).toBe(60_000)
    expect(await totalAt(99_990)).toBe(count)
    expect((await listOwnLogs(core, { userId: 3, filter: {}, page: { offset: 0, limit: 10 } })).total).toBe(2_000)
  })

  it('is purged completely, in many batches', async () => {
    expect(await purgeLogs(core, { before: nowSeconds - 50_000 })).toBe(47_500)
  })
})
