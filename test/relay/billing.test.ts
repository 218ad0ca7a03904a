import { beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addToken, setOptions } from '../helpers/seed.ts'

eachDatabase('balance queries of a key', (_fresh, kind) => {
  let server: TestServer
  let key: string
  let tokenId: number

  beforeAll(async () => {
    server = await startServer(kind)
    const made = await addToken(server, {
      name: 'shown',
      unlimited_quota: false,
      remain_quota: 1_000_000,
      model_limits_enabled: true,
      model_limits: 'm-1',
    })
    key = made.key
    tokenId = made.id
    await server.app.db.updateTable('tokens').set({ used_quota: 250_003 }).where('id', '=', tokenId).execute()
    return () => server.stop()
  })

  const ask = (path: string, headers: Record<string, string> = { authorization: `Bearer ${key}` }) =>
    fetch(server.url + path, { headers })
  const json = async (path: string) => (await ask(path)).json()

  it('return its limit and usage, in dollars, to any origin', async () => {
    for (const prefix of ['', '/v1']) {
      const response = await ask(`${prefix}/dashboard/billing/subscription`)
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(await response.json()).toEqual({
        object: 'billing_subscription',
        has_payment_method: true,
        soft_limit_usd: 2.500006,
        hard_limit_usd: 2.500006,
        system_hard_limit_usd: 2.500006,
        access_until: 0,
      })
      expect(await json(`${prefix}/dashboard/billing/usage?start_date=2026-01-01&end_date=2026-02-01`)).toEqual({
        object: 'list',
        total_usage: 50.0006,
      })
    }
    const preflight = await fetch(`${server.url}/dashboard/billing/usage`, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, '*, authorization'])
  })

  it('return those of its owner where the site hides token statistics, and units where the site shows no currency', async () => {
    await setOptions(server, { DisplayTokenStatEnabled: false, DisplayInCurrencyEnabled: false })
    const user = await server.app.db
      .selectFrom('users')
      .select(['quota', 'used_quota'])
      .where('id', '=', 1)
      .executeTakeFirstOrThrow()
    expect(await json('/v1/dashboard/billing/subscription')).toMatchObject({ hard_limit_usd: user.quota + user.used_quota })
    await setOptions(server, { DisplayTokenStatEnabled: true })
    expect(await json('/v1/dashboard/billing/usage')).toEqual({ object: 'list', total_usage: 25_000_300 })
    await setOptions(server, { DisplayInCurrencyEnabled: true })
  })

  it('return the usage of the key itself', async () => {
    expect(await json('/api/usage/token/')).toEqual({
      code: true,
      message: 'ok',
      data: {
        object: 'token_usage',
        name: 'shown',
        total_granted: 1_250_003,
        total_used: 250_003,
        total_available: 1_000_000,
        unlimited_quota: false,
        model_limits: { 'm-1': true },
        model_limits_enabled: true,
        expires_at: 0,
      },
    })
  })

  it('return its own log, without other keys and members for admins', async () => {
    const row = {
      user_id: 1,
      created_at: 1_800_000_000,
      type: 2,
      channel_id: 7,
      other: '{"frt":1,"admin_info":{"use_channel":["7"]}}',
    }
    await server.app.db
      .insertInto('logs')
      .values([
        { ...row, token_id: tokenId, token_name: 'shown', content: 'mine' },
        { ...row, token_id: tokenId + 1, token_name: 'shown', content: '' },
      ])
      .execute()
    // The hour bucket of the charges, by which log rows are found.
    await server.app.db
      .insertInto('quota_data')
      .values({
        user_id: 1,
        username: 'root',
        model_name: 'm-1',
        channel_id: 7,
        group: 'default',
        created_at: row.created_at,
        count: 2,
        quota: 0,
        token_used: 0,
      })
      .execute()
    const answer = await json('/api/log/token')
    expect(answer).toMatchObject({ success: true, data: [{ content: 'mine', channel: 0, other: '{"frt":1}' }] })
    expect(answer.data).toHaveLength(1)
    const byAddress = await ask(`/api/log/token?key=${key}`, {})
    expect((await byAddress.json()).data).toEqual(answer.data)
  })

  it('are refused without a key that is valid from that address', async () => {
    for (const path of ['/dashboard/billing/usage', '/api/usage/token', '/api/log/token', '/v1/dashboard/billing/subscription']) {
      const refused = await ask(path, { authorization: 'Bearer sk-nobody' })
      expect([refused.status, (await refused.json()).error.code]).toEqual([401, 'invalid_api_key'])
      expect((await ask(path, {})).status).toBe(401)
    }
    const elsewhere = await addToken(server, { allow_ips: '203.0.113.9' })
    const refused = await ask('/dashboard/billing/subscription', { authorization: `Bearer ${elsewhere.key}` })
    expect(refused.status).toBe(403)
    expect((await fetch(`${server.url}/dashboard/billing/usage`, { method: 'POST' })).status).toBe(405)
  })
})
