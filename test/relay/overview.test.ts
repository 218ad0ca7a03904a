import { expect, it } from 'vitest'
import type { ChannelHealth, Overview } from '../../src/contract/entities/call-statistics.ts'
import { newClock } from '../helpers/clock.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addChannel, setOptions } from '../helpers/seed.ts'
import { answeringUpstream, ask, chat, completion, eventually, model, stage } from './stage.ts'

eachDatabase('the overview', (_fresh, kind) => {
  it('shows a failing channel with its last error, its circuit breaker and the charges, without waiting for a job', async () => {
    const { url: failing } = await answeringUpstream({ bytes: '{"error":{"message":"overloaded today"}}', status: 503 })
    const { server, token, channelId } = await stage(kind, failing, { channel: { priority: 2 } })
    await setOptions(server, { RetryTimes: 1 })
    const body = JSON.stringify(chat())
    for (let calls = 0; calls < 2; calls++) await ask(server, token.key, body)
    const { url } = await answeringUpstream(completion())
    const second = await addChannel(server, { url, models: model, name: 'the second' })
    for (let calls = 0; calls < 4; calls++) await ask(server, token.key, body)

    const overview = async () => {
      await server.app.callStatistics.flush()
      return server.call<Overview>('GET /api/overview/?period=hour')
    }
    await eventually('the calls are counted', async () => (await overview()).current.requests === 6)
    const charged = await server.app.db.selectFrom('logs').select('quota').where('type', '=', 2).execute()
    const quota = charged.reduce((sum, row) => sum + Number(row.quota), 0)
    const { current, before, failing: shown, errors, users, models, tokens, points } = await overview()
    expect(current).toMatchObject({ requests: 6, failed: 2, success: 4 / 6, quota })
    expect(current.p95_ms).toBeGreaterThan(0)
    expect(before).toMatchObject({ requests: 0, success: null, p95_ms: null })
    expect(points.reduce((sum, { requests }) => sum + requests, 0)).toBe(6)
    expect(shown).toEqual([
      expect.objectContaining({ id: channelId, failed: 5, success: 0, last: expect.objectContaining({ code: '503' }) }),
    ])
    expect(shown[0]?.last?.message).toContain('overloaded today')
    expect(errors).toEqual([expect.objectContaining({ count: 2 })])
    expect(users).toEqual([{ key: '1', name: 'root', owner: '', requests: 6, failed: 2, quota }])
    expect(models).toEqual([{ key: model, name: model, owner: '', requests: 6, failed: 2, quota }])
    expect(tokens).toEqual([{ key: String(token.id), name: 'test', owner: 'root', requests: 6, failed: 2, quota }])
    for (const period of ['day', 'week', 'month'])
      expect((await server.call<Overview>(`GET /api/overview/?period=${period}`)).current).toMatchObject({ requests: 6, quota })

    const health = await server.call<ChannelHealth[]>(`GET /api/channel/health?ids=${channelId},${second},nothing`)
    const bad = health.find(({ id }) => id === channelId)
    const good = health.find(({ id }) => id === second)
    expect(bad).toMatchObject({ attempts: 5, success: 0, p95_ms: null, last_error: { code: '503', count: 5 } })
    // The fifth failure in a row has opened the circuit breaker for some seconds: the last call was sent to the other channel at
    // once.
    expect(bad?.breaker).toMatchObject({ keys: 1, failures: 5 })
    expect(['open', 'half-open']).toContain(bad?.breaker.state)
    expect(good).toMatchObject({ attempts: 4, success: 1, last_error: null, breaker: { state: 'closed', keys_open: 0 } })
    expect(good?.hours).toHaveLength(24)
    expect(good?.hours.at(-1)).toEqual({ answered: 4, failed: 0 })
    const keys = await server.call<ChannelHealth[]>(`GET /api/channel/${channelId}/keys/health`)
    expect(keys).toEqual([{ ...bad, id: keys[0]?.id, breaker: expect.objectContaining({ failures: 5 }) }])
  })

  it('compares with the period before', async () => {
    const clock = newClock()
    const { url } = await answeringUpstream(completion())
    const { server, token } = await stage(kind, url, { server: { now: () => clock.now() } })
    const call = () => ask(server, token.key, JSON.stringify(chat()))
    for (let calls = 0; calls < 3; calls++) await call()
    await server.app.callStatistics.flush()
    clock.passSeconds(90 * 60)
    await call()
    await eventually('the calls are counted', async () => {
      await server.app.callStatistics.flush()
      return (await server.call<Overview>('GET /api/overview/?period=hour')).current.requests === 1
    })
    const { current, before } = await server.call<Overview>('GET /api/overview/?period=hour')
    expect([current.requests, before.requests]).toEqual([1, 3])
  })
})
