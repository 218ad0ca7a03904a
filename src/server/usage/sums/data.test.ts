import { describe, expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from '../../../../test/helpers/ledger.ts'
import type { Grain, SumsBy } from '../../../contract/entities/usage-sum.ts'
import type { Core } from '../../base/options/core.ts'
import type { LogFilter } from '../filter.ts'
import { logStatistics } from '../log/stats.ts'
import { listQuotaData, spanMaxDays } from './data.ts'
import { splitByHour } from './hours.ts'
import { rollUpHours } from './roll-up.ts'
import { readSums } from './sums.ts'

const hour = 3600
const day = 86_400
/** A Monday, 00:00 UTC. */
const monday = 1_760_313_600

eachDatabase('sums of charges', (fresh) => {
  it('equal those of the ledger, by every dimension and grain, in every zone, also after purges of the log', async () => {
    const books = await ledgerOf(await fresh())
    const { core, ledger } = books
    const [ada, bob] = [await books.user(1_000_000), await books.user(1_000_000)]
    const channels = [await books.channel(), await books.channel()]
    const models = Array.from({ length: 20 }, (_, index) => `model-${index}`)
    let charged = 0
    for (let index = 0; index < 60; index++) {
      const hold = aHold(index % 3 === 0 ? bob : ada, 0, 5000)
      await ledger.hold(hold)
      const amount = 10 + index * 7
      charged += amount
      const more = { channelId: channels[index % 2] ?? 0, at: monday + index * 5 * hour + 1799, model: models[index % 20] ?? '' }
      await ledger.settle(hold, aCharge(hold, amount, more))
    }
    await core.db.deleteFrom('logs').execute()
    const { rows } = {
      rows: await core.db.selectFrom('ledger').select(['user_id', 'amount']).where('kind', '=', 'charge').execute(),
    }
    const ofLedger = (userId: number) =>
      -rows.filter(({ user_id }) => user_id === userId).reduce((sum, { amount }) => sum + amount, 0)
    expect(ofLedger(ada) + ofLedger(bob)).toBe(charged)

    const filter = { start_timestamp: monday, end_timestamp: monday + 13 * day }
    const foldedAt = (at: number) => rollUpHours({ ...core, now: () => at * 1000 })
    const before = await readAll(core, filter, ada)
    expect(await foldedAt(monday + 6 * day)).toBe(29)
    expect(await readAll(core, filter, ada)).toEqual(before)
    expect(await foldedAt(monday + 14 * day)).toBe(31)
    expect(await foldedAt(monday + 14 * day)).toBe(0)
    expect(await readAll(core, filter, ada)).toEqual(before)

    expect((await logStatistics(core, filter)).quota).toBe(charged)
    expect((await logStatistics(core, {})).quota).toBe(charged)
    expect((await logStatistics(core, { ...filter, userId: ada })).quota).toBe(ofLedger(ada))
    for (const by of ['model', 'user', 'channel', 'group'] as const) {
      for (const [grain, offsetMinutes] of [
        ['hour', 0],
        ['day', 480],
        ['week', -330],
      ] as const) {
        const { keys, points, total } = await readSums(core, { filter, by, grain, offsetMinutes })
        const sum = (list: readonly { quota: number }[]) => list.reduce((all, { quota }) => all + quota, 0)
        expect([total.quota, sum(keys), sum(points), total.count]).toEqual([charged, charged, charged, 60])
        for (const { at } of points)
          expect(
            (at + (grain === 'hour' ? 0 : offsetMinutes * 60)) % (grain === 'week' ? hour : grain === 'day' ? day : hour),
          ).toBe(0)
        if (by === 'model') expect(keys.at(-1)?.key).toBe('*')
        if (by === 'user')
          expect(keys.map(({ key, name }) => [key, name !== ''])).toEqual([
            [String(ada), true],
            [String(bob), true],
          ])
      }
    }
    expect(
      (await readSums(core, { filter: { ...filter, userId: bob }, by: 'model', grain: 'day', offsetMinutes: 0 })).total.quota,
    ).toBe(ofLedger(bob))
    const weeks = await readSums(core, { filter, by: 'group', grain: 'week', offsetMinutes: 0 })
    expect(weeks.points.map(({ at }) => at)).toEqual([monday, monday + 7 * day])

    const data = await listQuotaData(core, { ...filter, userId: ada }, spanMaxDays.own)
    expect(data.reduce((sum, { quota }) => sum + quota, 0)).toBe(ofLedger(ada))
    expect(data[0]).toEqual({
      id: 0,
      user_id: ada,
      username: expect.any(String),
      model_name: 'model-1',
      created_at: monday + 5 * hour,
      token_used: 7,
      count: 1,
      quota: 17,
    })
    expect((await listQuotaData(core, filter, 366))[0]).toMatchObject({
      user_id: 0,
      username: '',
      model_name: 'model-0',
      created_at: monday,
    })
  })

  it('include late charges, after their hour was rolled up', async () => {
    const books = await ledgerOf(await fresh())
    const { core, ledger } = books
    const user = await books.user(1_000_000)
    const charge = async (at: number, model: string) => {
      const hold = aHold(user, 0, 5000)
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, 100, { at, model }))
    }
    const later = { ...core, now: () => (monday + day) * 1000 }
    const read = async () => {
      const filter = { start_timestamp: monday, end_timestamp: monday + day }
      const { points } = await readSums(core, { filter, by: 'model', grain: 'hour', offsetMinutes: 0 })
      return points.map(({ at, key, quota }) => [(at - monday) / hour, key, quota])
    }
    await charge(monday, 'early')
    await charge(monday + 3 * hour, 'last')
    expect(await rollUpHours(later)).toBe(2)
    await charge(monday, 'early')
    await charge(monday + hour, 'late')
    expect(await rollUpHours(later)).toBe(2)
    expect(await read()).toEqual([
      [0, 'early', 200],
      [1, 'late', 100],
      [3, 'last', 100],
    ])
    expect((await logStatistics(core, { model_name: 'late' })).quota).toBe(100)

    // A charge of a clock that was wrong for a while.
    await charge(monday + 400 * day, 'dreamt')
    expect(await rollUpHours({ ...core, now: () => (monday + 401 * day) * 1000 })).toBe(1)
    await charge(monday + 4 * hour, 'awake')
    expect(await rollUpHours(later)).toBe(1)
    expect((await logStatistics(core, { model_name: 'awake' })).quota).toBe(100)
    expect((await logStatistics(core, {})).quota).toBe(600)
  })

  it('refuse a span that is too long', async () => {
    const { core } = await ledgerOf(await fresh())
    const tooLong = { code: 'data_span_too_long' }
    await expect(listQuotaData(core, { start_timestamp: 1, userId: 1 }, 30)).rejects.toMatchObject(tooLong)
    const filter = { start_timestamp: monday, end_timestamp: monday + 32 * day }
    await expect(readSums(core, { filter, by: 'model', grain: 'hour', offsetMinutes: 0 })).rejects.toMatchObject(tooLong)
    expect((await readSums(core, { filter, by: 'model', grain: 'day', offsetMinutes: 0 })).total.count).toBe(0)
  })
})

async function readAll(core: Core, filter: LogFilter, userId: number) {
  const sums = (more: LogFilter, by: SumsBy, grain: Grain) =>
    readSums(core, { filter: { ...filter, ...more }, by, grain, offsetMinutes: 345 })
  return {
    sums: [
      await sums({}, 'user', 'day'),
      await sums({ model_name: 'model-1' }, 'model', 'hour'),
      await sums({}, 'group', 'week'),
    ],
    crossed: [await sums({ model_name: 'model-1' }, 'user', 'day'), await sums({ channel: 1, userId }, 'channel', 'day')],
    data: [await listQuotaData(core, filter, 366), await listQuotaData(core, { ...filter, userId }, 366)],
    statistics: [
      await logStatistics(core, filter),
      await logStatistics(core, { ...filter, model_name: '%1%' }),
      await logStatistics(core, { start_timestamp: filter.start_timestamp ?? 0, channel: 1 }),
    ],
  }
}

describe('a span', () => {
  it('splits into whole hours and the rest at either end', () => {
    expect(splitByHour(0, 0)).toEqual({ whole: { from: 0, to: Number.MAX_SAFE_INTEGER }, edges: [] })
    expect(splitByHour(hour, 3 * hour - 1)).toEqual({ whole: { from: hour, to: 3 * hour - 1 }, edges: [] })
    expect(splitByHour(10, 3 * hour)).toEqual({
      whole: { from: hour, to: 3 * hour - 1 },
      edges: [
        { from: 10, to: hour - 1 },
        { from: 3 * hour, to: 3 * hour },
      ],
    })
    expect(splitByHour(10, 20)).toEqual({ whole: undefined, edges: [{ from: 10, to: 20 }] })
    expect(splitByHour(hour - 5, hour + 5)).toEqual({ whole: undefined, edges: [{ from: hour - 5, to: hour + 5 }] })
    expect(splitByHour(10, 0)).toEqual({
      whole: { from: hour, to: Number.MAX_SAFE_INTEGER },
      edges: [{ from: 10, to: hour - 1 }],
    })
  })
})
