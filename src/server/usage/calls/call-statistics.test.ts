import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { endedCall } from '../../../../test/helpers/ended-call.ts'
import { ledgerOf } from '../../../../test/helpers/ledger.ts'
import { isTorture } from '../../../../test/helpers/torture.ts'
import { CallStatistics } from './call-statistics.ts'
import {
  piecesOf,
  readCallSums,
  readErrors,
  readPoints,
  readSumsByKey,
  removeOldCallSums,
  successShare,
  tokensPerSecond,
  topKeys,
} from './call-sums.ts'
import type { EndedAttempt, EndedCall } from './ended-calls.ts'

const hour = 3600
/** 00:00 UTC. */
const midnight = 1_760_313_600

function attempt(more: Partial<EndedAttempt> = {}): EndedAttempt {
  return {
    channel: { id: 1, keyId: 1, name: 'one', type: 1 },
    choice: 'only',
    model: 'gpt-4o-mini',
    upstreamModel: 'gpt-4o-mini',
    status: 200,
    reason: '',
    isFault: false,
    startedMs: 0,
    ms: 10,
    firstByteMs: undefined,
    ...more,
  }
}

const failure = {
  code: 'upstream_failed',
  message: { zh: '失败', en: 'It failed with sk-abcdefghijklmnopqrstuvwxyz123456' },
  inStream: false,
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other)
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
}

eachDatabase('statistics of calls', (fresh, kind) => {
  const count = isTorture ? 100_000 : 3000
  it(`agree with exact sums over ${count} calls of several nodes, and percentiles within 10 %`, async () => {
    const { core } = await ledgerOf(await fresh())
    let at = midnight
    const nodes = [0, 1].map(() => new CallStatistics({ ...core, now: () => at * 1000 }))
    const calls: { at: number; call: EndedCall }[] = []
    const random = randomNumbers()
    for (let index = 0; index < count; index++) {
      at = midnight + Math.floor((index / count) * 30 * hour)
      const isFailed = random() < 0.1
      const isLeft = !isFailed && random() < 0.05
      const channel = { id: 1 + (index % 3), keyId: 10 + (index % 3), name: 'channel', type: 1 }
      const ended = attempt({
        channel,
        ms: random() * 900,
        ...(isFailed ? { status: 502, reason: 'bad gateway', isFault: true } : {}),
      })
      const call = endedCall({
        caller: { userId: 1 + (index % 7), username: 'user', tokenId: 1 + (index % 11), tokenName: 'token' },
        model: `model-${index % 5}`,
        attempts: [ended],
        durationMs: Math.exp(random() * 10),
        firstByteMs: index % 2 === 0 ? undefined : 1 + random() * 50,
        tokensIn: index % 13,
        tokensOut: index % 17,
        quota: index % 1000,
        ...(isFailed ? { status: 502, failure } : {}),
        ...(isLeft ? { status: 499, failure: { ...failure, code: 'client_closed' } } : {}),
      })
      const node = nodes[index % 2]
      node?.attemptEnded(ended)
      node?.callEnded(call)
      calls.push({ at, call })
      if (index % (count / 10) === 0) await Promise.all(nodes.map((one) => one.flush()))
    }
    await Promise.all(nodes.map((one) => one.close()))

    for (const [from, to] of [
      [midnight, midnight + 30 * hour],
      [midnight + 600, midnight + 29 * hour + 900],
      [midnight + 23 * hour + 300, midnight + 25 * hour + 300],
    ] as const) {
      const within = calls.filter((one) => one.at >= from && one.at < to).map(({ call }) => call)
      const site = await readCallSums(core.db, { side: 'site', from, to })
      const answered = within.filter((call) => !call.failure)
      const failed = within.filter((call) => call.status === 502)
      expect(site).toMatchObject({
        count: within.length,
        answered: answered.length,
        failed: failed.length,
        tokens_in: sum(within, 'tokensIn'),
        tokens_out: sum(within, 'tokensOut'),
        quota: sum(within, 'quota'),
      })
      expect(successShare(site)).toBe(answered.length / (answered.length + failed.length))
      for (const share of [0.5, 0.95]) {
        const exact = quantile(
          answered.map(({ durationMs }) => durationMs),
          share,
        )
        expect(Math.abs((site.durations.percentile(share) ?? 0) / exact - 1)).toBeLessThan(0.1)
        const firstBytes = answered.flatMap(({ firstByteMs }) => firstByteMs ?? [])
        expect(Math.abs((site.first_bytes.percentile(share) ?? 0) / quantile(firstBytes, share) - 1)).toBeLessThan(0.1)
      }
      const outputMs = within.reduce(
        (all, { durationMs, firstByteMs = 0, tokensOut }) => all + (tokensOut > 0 ? durationMs - firstByteMs : 0),
        0,
      )
      expect((tokensPerSecond(site) ?? 0) / ((sum(within, 'tokensOut') * 1000) / outputMs)).toBeCloseTo(1, 3)

      const models = await readSumsByKey(core.db, { side: 'model', from, to })
      expect([...models.keys()].sort()).toEqual(['model-0', 'model-1', 'model-2', 'model-3', 'model-4'])
      for (const [model, { count, quota }] of models) {
        const own = within.filter((call) => call.model === model)
        expect([model, count, quota]).toEqual([model, own.length, sum(own, 'quota')])
      }
      const channel = await readCallSums(core.db, { side: 'channel', keys: ['2'], from, to })
      const own = within.filter(({ attempts }) => attempts[0]?.channel.id === 2)
      expect([channel.count, channel.failed]).toEqual([own.length, own.filter(({ status }) => status === 502).length])

      const [top] = await topKeys(core.db, { side: 'user', from, to, by: 'quota', limit: 1 })
      const ofUser = (id: number) =>
        sum(
          within.filter(({ caller }) => caller.userId === id),
          'quota',
        )
      const dearest = [1, 2, 3, 4, 5, 6, 7].reduce((best, id) => (ofUser(id) > ofUser(best) ? id : best))
      expect([top?.key, top?.quota]).toEqual([String(dearest), ofUser(dearest)])

      const errors = await readErrors(core.db, { side: 'site', from, to })
      expect(errors.find(({ code }) => code === 'upstream_failed')?.count).toBe(failed.length)
    }
    const points = await readPoints(core.db, { side: 'site', seconds: hour, from: midnight, to: midnight + 30 * hour })
    expect(points).toHaveLength(30)
    expect(points.reduce((all, { sums }) => all + sums.count, 0)).toBe(count)
  }, 300_000)

  it('distinguish faults of a channel from those of a caller, and keep the last message without secrets', async () => {
    const { core } = await ledgerOf(await fresh())
    const statistics = new CallStatistics({ ...core, now: () => midnight * 1000 })
    const wrong = attempt({ status: 400, reason: 'max_tokens is too large' })
    const broken = attempt({
      status: 503,
      reason: 'status 503: overloaded, key sk-abcdefghijklmnopqrstuvwxyz123456',
      isFault: true,
    })
    for (const one of [wrong, broken, attempt({ status: 0, reason: 'connect refused', isFault: true }), attempt()])
      statistics.attemptEnded(one)
    statistics.callEnded(endedCall({ status: 400, failure: { ...failure, code: 'invalid_request' }, attempts: [wrong] }))
    statistics.callEnded(endedCall({ status: 429, failure: { ...failure, code: 'rate_limited' }, attempts: [] }))
    statistics.callEnded(endedCall({ status: 429, failure, attempts: [broken] }))
    statistics.callEnded(endedCall({ kind: 'models' }))
    statistics.callEnded(endedCall({ model: 'made-up', status: 404, failure: { ...failure, code: 'model_not_found' } }))
    await statistics.close()

    const of = { from: midnight, to: midnight + 300 }
    expect(await readCallSums(core.db, { side: 'site', ...of })).toMatchObject({ count: 4, answered: 0, failed: 1 })
    expect(await readCallSums(core.db, { side: 'key', keys: ['1'], ...of })).toMatchObject({ count: 4, answered: 1, failed: 2 })
    expect([...(await readSumsByKey(core.db, { side: 'model', ...of })).keys()]).toEqual(['gpt-4o-mini'])
    const errors = await readErrors(core.db, { side: 'channel', ...of })
    expect(errors.map(({ key, code, count }) => [key, code, count]).sort()).toEqual([
      ['1', '503', 1],
      ['1', 'no_answer', 1],
    ])
    expect(JSON.stringify(errors)).not.toMatch(/abcdefghijklmnopqrstuvwxyz|status 503/)
  })

  it('are removed after their retention, the finest first', async () => {
    const { core } = await ledgerOf(await fresh())
    const statistics = new CallStatistics({ ...core, now: () => midnight * 1000 })
    statistics.callEnded(endedCall())
    await statistics.close()
    const left = () => core.db.selectFrom('call_sums').select('span').where('side', '=', 'site').orderBy('span').execute()
    await removeOldCallSums(core.db, midnight + 40 * hour)
    expect(await left()).toHaveLength(3)
    await removeOldCallSums(core.db, midnight + 60 * hour)
    expect((await left()).map(({ span }) => Number(span))).toEqual([hour, 24 * hour])
    await removeOldCallSums(core.db, midnight + 401 * 24 * hour)
    expect(await left()).toEqual([])
  })

  it.runIf(kind === 'sqlite')('are read from the fewest rows', () => {
    expect(piecesOf(midnight + 100, midnight + 50 * hour + 100)).toEqual([
      { from: midnight, to: midnight + hour, seconds: 300 },
      { from: midnight + hour, to: midnight + 24 * hour, seconds: 3600 },
      { from: midnight + 24 * hour, to: midnight + 48 * hour, seconds: 86_400 },
      { from: midnight + 48 * hour, to: midnight + 50 * hour, seconds: 3600 },
      { from: midnight + 50 * hour, to: midnight + 50 * hour + 300, seconds: 300 },
    ])
  })
})

function sum(calls: readonly EndedCall[], of: 'tokensIn' | 'tokensOut' | 'quota'): number {
  return calls.reduce((all, call) => all + call[of], 0)
}

function randomNumbers(): () => number {
  let seed = 7
  return () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
}
