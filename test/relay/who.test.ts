import { expect, it } from 'vitest'
import type { LogOther } from '../../src/contract/entities/log.ts'
import { noUsage } from '../../src/contract/usage.ts'
import { costOf } from '../../src/server/money/pricing/quote.ts'
import type { TestServer } from '../helpers/app.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, completion, model, settledCharges, stage } from './stage.ts'

anyDatabase('groups, pins and the playground', (_fresh, kind) => {
  const groups = {
    GroupRatio: { default: 1, cheap: 0.5, vip: 2, secret: 3 },
    UserUsableGroups: { default: 'd', cheap: 'c', vip: 'v' },
  }

  async function withGroups() {
    const upstream = await upstreamOfTest()
    const staged = await stage(kind, upstream.url)
    await setOptions(staged.server, groups)
    return { upstream, ...staged }
  }

  const lastLog = async (server: TestServer) => {
    const row = (await books(server)).logs.at(-1)
    return { group: row?.group, token: row?.token_name, other: JSON.parse(row?.other ?? '{}') as LogOther }
  }

  it('[T056] a token is used in its own group, `auto` in the cheapest that has a channel, and a group that was taken away is refused', async () => {
    const { server, upstream } = await withGroups()
    await addChannel(server, { url: upstream.url, models: `${model},gpt-4o`, group: 'vip' })
    const vip = await addToken(server, { group: 'vip' })
    const auto = await addToken(server, { group: 'auto' })

    expect((await ask(server, vip.key, chat())).status).toBe(200)
    expect(await lastLog(server)).toMatchObject({ group: 'vip', other: { group_ratio: 2 } })
    expect((await ask(server, auto.key, chat())).status).toBe(200)
    expect(await lastLog(server)).toMatchObject({ group: 'default', other: { group_ratio: 1 } })
    expect((await ask(server, auto.key, chat({ model: 'gpt-4o' }))).status).toBe(200)
    expect(await lastLog(server)).toMatchObject({ group: 'vip' })
    await addChannel(server, { url: upstream.url, models: model, group: 'cheap,secret' })
    expect((await ask(server, auto.key, chat())).status).toBe(200)
    expect(await lastLog(server)).toMatchObject({ group: 'cheap', other: { group_ratio: 0.5 } })

    await setOptions(server, { UserUsableGroups: '{"default":"d"}' })
    const refused = await ask(server, vip.key, chat())
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([403, 'group_forbidden'])
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  it('the playground uses the session in a usable group, never a token, and marks its log rows', async () => {
    const { server, upstream } = await withGroups()
    await addChannel(server, { url: upstream.url, models: model, group: 'vip' })
    const play = async (more: Record<string, unknown>, headers: Record<string, string> = {}) => {
      const response = await server.raw('POST /pg/chat/completions', chat({ ...more }), headers)
      const text = await response.text()
      return { status: response.status, code: text.startsWith('{"error"') ? JSON.parse(text).error.code : undefined }
    }
    const sent = {
      group: 'vip',
      temperature: 0,
      max_tokens: 0,
      messages: [{ role: 'user', content: 'hi', id: '7', createAt: 1, status: 'complete' }],
    }
    expect(await play(sent)).toEqual({ status: 200, code: undefined })
    expect(upstream.journal[0]?.json).toEqual({ model, messages: [{ role: 'user', content: 'hi' }] })
    expect(await lastLog(server)).toMatchObject({ group: 'vip', token: 'playground-vip' })
    expect(await play({ group: '', stream: true })).toMatchObject({ status: 200 })
    expect(await lastLog(server)).toMatchObject({ group: 'default', token: 'playground-default' })
    for (const group of ['secret', 'none', '__proto__', 'constructor'])
      expect(await play({ group })).toEqual({ status: 403, code: 'group_forbidden' })
    expect(await play({}, { authorization: 'Bearer x' })).toEqual({ status: 400, code: 'playground_needs_session' })
    expect(await play({}, { cookie: '' })).toMatchObject({ status: 401 })
    expect(await play({}, { 'new-api-user': '2' })).toMatchObject({ status: 401 })
    expect(await play({}, { 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 })
    expect((await books(server)).logs.map((row) => row.token_id)).toEqual([0, 0])
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  it('[T057] an admin may pin a channel, which is the only one called, once; others may not', async () => {
    const { server, upstream, channelId } = await withGroups()
    const other = await upstreamOfTest()
    const pinned = await addChannel(server, { url: other.url, models: 'something-else', group: 'secret' })
    const { key } = await addToken(server)
    await setOptions(server, { RetryTimes: 3 })

    expect((await ask(server, `${key}-${pinned}`, chat())).status).toBe(200)
    other.program(model, { status: 500 })
    expect((await ask(server, `${key}-${pinned}`, chat())).status).toBe(502)
    expect([upstream.journal.length, other.journal.length]).toEqual([0, 2])
    expect((await ask(server, `${key}-999999`, chat())).status).toBe(400)
    // The pinned channel is called in its own protocol.
    expect((await ask(server, `${key}-${pinned}`, { ...chat(), max_tokens: 5 }, '/v1/messages')).status).toBe(502)
    const embeddings = await addChannel(server, { url: other.url, type: 44, models: model })
    expect((await ask(server, `${key}-${embeddings}`, { ...chat(), max_tokens: 5 }, '/v1/messages')).status).toBe(400)

    await server.app.db.updateTable('users').set({ role: 1 }).where('id', '=', 1).execute()
    server.app.bus.publish('user', 1)
    const refused = await ask(server, `${key}-${channelId}`, chat())
    expect([refused.status, JSON.parse(refused.text).error.code]).toEqual([403, 'channel_pin_forbidden'])
    await settledCharges(server)
    await requireBalancedBooks(server)
  })

  it('errors have a fixed order, and nothing is held, sent or written before all checks pass', async () => {
    const { server, upstream } = await withGroups()
    await setOptions(server, { ModelPrice: '{}' })
    await addChannel(server, { url: upstream.url, models: 'unpriced-model' })
    const nobody = await addToken(server, {
      unlimited_quota: false,
      remain_quota: 1,
      model_limits_enabled: true,
      model_limits: `${model},nowhere,unpriced-model`,
      group: 'vip',
    })
    await setOptions(server, { UserUsableGroups: '{"default":"d"}' })
    const code = async (body: unknown, key = nobody.key) => JSON.parse((await ask(server, key, body)).text).error.code

    expect(await code('{', 'sk-wrong')).toBe('invalid_api_key')
    expect(await code('{')).toBe('bad_json')
    expect(await code({ model: 'gpt-4', messages: [] })).toBe('field_invalid')
    expect(await code(chat({ model: 'gpt-4' }))).toBe('token_model_forbidden')
    expect(await code(chat({ model: 'nowhere' }))).toBe('group_forbidden')
    await setOptions(server, { UserUsableGroups: '{"default":"d","vip":"v"}' })
    expect(await code(chat({ model: 'nowhere' }))).toBe('model_not_found')
    expect(await code(chat())).toBe('no_channel')
    await server.call('PUT /api/token/', {
      ...(await server.call<Record<string, unknown>>(`GET /api/token/${nobody.id}`)),
      group: '',
    })
    const unpriced = await ask(server, nobody.key, chat({ model: 'unpriced-model' }))
    expect([unpriced.status, JSON.parse(unpriced.text).error.code]).toEqual([400, 'price_missing'])
    expect(await code(chat())).toBe('insufficient_quota')
    const { message } = JSON.parse((await ask(server, nobody.key, chat())).text).error
    expect(message).toMatch(/\$0\.000002 left, \$0\.\d{6} needed/)
    const poor = await addToken(server, { unlimited_quota: false, remain_quota: 499_999 })
    const dear = JSON.parse((await ask(server, poor.key, chat({ max_tokens: 9_000_000 }))).text).error.message
    expect(dear).toMatch(/: \$0\.99 left, \$[\d,]+\.\d\d needed/)
    expect(upstream.journal).toHaveLength(0)
    const { logs, holds, users, tokens } = await books(server)
    expect([logs, holds, users[0]?.held, tokens.find(({ id }) => id === nobody.id)?.held]).toEqual([[], [], 0, 0])
    await requireBalancedBooks(server)
  })

  it('every charge can be computed again from its log row alone', async () => {
    const { server, upstream, token } = await withGroups()
    await setOptions(server, { ModelRatio: { [model]: 0.075, dear: 12.345678 }, CompletionRatio: { dear: 3.3333 } })
    await setOptions(server, { CacheRatio: { dear: 0.1 }, ModelPrice: '{"fixed":0.0123456}' })
    await addChannel(server, {
      url: upstream.url,
      models: 'dear,fixed,unpriced',
      group: 'default,vip',
      model_mapping: '{"dear":"real"}',
    })
    await setOptions(server, { SelfUseModeEnabled: true })
    const vip = await addToken(server, { group: 'vip' })

    for (const [index, name] of [model, 'dear', 'fixed', 'unpriced'].entries()) {
      const usage = {
        prompt_tokens: 1001 + index,
        completion_tokens: 333,
        total_tokens: 2000,
        prompt_tokens_details: { cached_tokens: 600, cache_write_tokens: 17 },
        completion_tokens_details: { reasoning_tokens: 40 },
      }
      upstream.program('*', { body: completion({ usage }) })
      for (const { key } of [token, vip])
        if (name !== model || key === token.key) expect((await ask(server, key, chat({ model: name }))).status).toBe(200)
    }
    await settledCharges(server)
    const { logs } = await books(server)
    expect(logs).toHaveLength(7)
    for (const row of logs) {
      const other = JSON.parse(row.other) as LogOther
      const price = {
        model: row.model_name,
        group: row.group,
        fixedUsd: other.model_price,
        modelRatio: other.model_ratio,
        completionRatio: other.completion_ratio,
        cacheRatio: other.cache_ratio,
        createCacheRatio: other.create_cache_ratio,
        cacheWriteFactors: { '30m': 1, '1h': 1, '12h': 1, ...other.cache_creation_factors },
        audioCacheRatio: other.audio_cache_ratio ?? 1,
        imageCacheRatio: other.image_cache_ratio ?? 1,
        videoCompletionRatio: other.video_completion_ratio ?? 1,
        groupRatio: other.group_ratio,
        quotaPerUnit: other.quota_per_unit,
        unpriced: other.unpriced ?? false,
        audioRatio: other.audio_ratio ?? 1,
        audioCompletionRatio: other.audio_completion_ratio ?? 1,
        imageRatio: other.image_ratio ?? 1,
        imageCompletionRatio: other.image_completion_ratio ?? 1,
        searchUsd: other.search_price ?? 0,
        toolUsd: {},
        tierFactors: {},
      }
      const usage = {
        ...noUsage,
        input: other.input_tokens,
        cacheRead: other.cache_tokens,
        cacheWrite: other.cache_creation_tokens,
        cacheWrite1h: other.cache_creation_1h_tokens ?? 0,
        output: other.output_tokens,
        reasoning: other.reasoning_tokens ?? 0,
      }
      expect(costOf(price, usage)).toBe(row.quota)
      expect(usage.input + usage.cacheRead + usage.cacheWrite).toBe(row.prompt_tokens)
      expect([usage.output, row.request_id.length, row.channel_id > 0, row.username]).toEqual([
        row.completion_tokens,
        29,
        true,
        'root',
      ])
      expect(other.frt).toBeLessThanOrEqual(other.use_time_ms)
    }
    expect(logs.filter((row) => row.model_name === 'dear').map((row) => JSON.parse(row.other).upstream_model_name)).toEqual([
      'real',
      'real',
    ])
    expect(logs.filter((row) => row.model_name === 'unpriced').map((row) => JSON.parse(row.other).unpriced)).toEqual([true, true])
    await requireBalancedBooks(server)
  })
})
