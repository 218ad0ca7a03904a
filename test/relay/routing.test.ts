import { describe, expect, it } from 'vitest'
import type { Channel, ChannelKey } from '../../src/contract/entities/channel.ts'
import type { Log } from '../../src/contract/entities/log.ts'
import { Spending } from '../../src/server/gateway/channels/select/spending.ts'
import { type ServerSettings, serverOfTest, type TestServer } from '../helpers/app.ts'
import { anyDatabase, eachDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { type Answer, type Entry, type Program, upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, eventually, model } from './stage.ts'

type LogPage = { items: Log[]; channel_names: Record<string, string> }

const keys = ['upstream-key-one-01', 'upstream-key-two-02', 'upstream-key-three-03'] as const
const retries = (server: TestServer, times: number) => setOptions(server, { RetryTimes: times })
const keyOf = ({ headers }: Entry) => headers.authorization?.replace('Bearer ', '') ?? ''
const lastInfo = async (server: TestServer) => JSON.parse((await books(server)).logs.at(-1)?.other ?? '{}').admin_info

/** Answers with the program of the key that was sent. */
const byKey =
  (programs: Record<string, Program>): Answer =>
  (entry) =>
    programs[keyOf(entry)] ?? {}

async function open(kind: 'sqlite' | 'postgres', more: ServerSettings = {}) {
  const server = await serverOfTest(kind, more)
  const token = await addToken(server)
  const add = async (given: Record<string, unknown> & { setting?: object } = {}, program?: Answer | Program) => {
    const upstream = await upstreamOfTest()
    if (program) upstream.program(model, program)
    const setting = given.setting ? { setting: JSON.stringify(given.setting) } : {}
    const id = await addChannel(server, { url: upstream.url, models: model, ...given, ...setting })
    return { id, upstream }
  }
  return { server, token, add, ask: (more: Record<string, unknown> = {}) => ask(server, token.key, chat(more)) }
}

anyDatabase('several keys in one channel', (_fresh, kind) => {
  const several = { key: keys.join('\n'), multi_key: true }

  it('after a fault of a key, another key of the same channel is tried, and the bad key is disabled', async () => {
    const stage = await open(kind)
    const bad = { [keys[0]]: { status: 401 }, [keys[2]]: { status: 401 } }
    const { id, upstream } = await stage.add({ ...several, setting: { key_mode: 'round-robin' } }, byKey(bad))
    await retries(stage.server, 5)
    await setOptions(stage.server, { AutomaticDisableChannelEnabled: true })

    expect((await stage.ask()).status).toBe(200)
    expect(upstream.journal.map(keyOf)).toEqual([keys[0], keys[2], keys[1]])
    expect(await lastInfo(stage.server)).toMatchObject({
      use_channel: [String(id), String(id), String(id)],
      attempts: [
        { channel: id, status: 401, choice: 'weighted' },
        { channel: id, status: 401 },
      ],
    })
    const listed = () => stage.server.call<ChannelKey[]>(`GET /api/channel/${id}/keys`)
    await eventually('both keys are disabled', async () => (await listed()).filter(({ status }) => status === 3).length === 2)
    expect(await stage.server.call<Channel>(`GET /api/channel/${id}`)).toMatchObject({ status: 1, keys_enabled: 1 })
    await eventually('the relay knows', () => stage.server.app.channels.current.keysOf(id).length === 1)
    expect((await stage.ask()).status).toBe(200)
    expect(upstream.journal).toHaveLength(4)
    await requireBalancedBooks(stage.server)
  })

  it('after a fault of the upstream, the channel is not called again', async () => {
    const stage = await open(kind)
    const { upstream } = await stage.add({ ...several, priority: 5 }, { status: 500 })
    const other = await stage.add()
    await retries(stage.server, 5)
    expect((await stage.ask()).status).toBe(200)
    expect([upstream.journal.length, other.upstream.journal.length]).toEqual([1, 1])
  })

  it('keys are added, removed, disabled and enabled by calls, which are in force when they are answered', async () => {
    const stage = await open(kind)
    const { id } = await stage.add({ key: keys[0] })
    const usable = () => stage.server.app.channels.current.keysOf(id).map(({ key }) => key)
    const [added] = await stage.server.call<number[]>(`POST /api/channel/${id}/keys`, { key: keys.join('\n') })
    expect(usable()).toEqual(keys)
    expect(await stage.server.call(`POST /api/channel/${id}/keys/status`, { ids: [added], status: 2 })).toBe(1)
    expect(usable()).toEqual([keys[0], keys[2]])
    await stage.server.call(`DELETE /api/channel/${id}/keys/${added}`)
    const text = await (await stage.server.raw(`GET /api/channel/${id}/keys`)).text()
    expect(text).not.toMatch(/upstream-key|v1\./)
    expect(JSON.parse(text).data).toMatchObject([{ tail: '…e-01' }, { tail: '…e-03' }])
  })
})

describe('a channel that fails', () => {
  it('is skipped by the next requests while another is left, and tried again later', async () => {
    let nowMs = Date.now()
    const stage = await open('sqlite', { now: () => nowMs })
    let isBroken = true
    const first = await stage.add({ priority: 5 }, () => (isBroken ? { status: 500 } : {}))
    const second = await stage.add()
    await retries(stage.server, 3)
    for (let time = 0; time < 8; time++) expect((await stage.ask()).status).toBe(200)
    expect([first.upstream.journal.length, second.upstream.journal.length]).toEqual([5, 8])

    isBroken = false
    nowMs += 5000
    for (let time = 0; time < 3; time++) expect((await stage.ask()).status).toBe(200)
    expect([first.upstream.journal.length, second.upstream.journal.length]).toEqual([8, 8])
  })

  it('is called nevertheless when it is the only one', async () => {
    const stage = await open('sqlite')
    const { upstream } = await stage.add({}, { status: 500 })
    for (let time = 0; time < 8; time++) expect((await stage.ask()).status).toBe(502)
    expect(upstream.journal).toHaveLength(8)
  })

  it('is called again at once when its base URL was changed', async () => {
    const stage = await open('sqlite')
    const { id } = await stage.add({ priority: 5, key: 'k-1' }, { status: 500 })
    await stage.add()
    await retries(stage.server, 3)
    for (let time = 0; time < 6; time++) await stage.ask()
    const good = await upstreamOfTest()
    await stage.server.call('PUT /api/channel/', { id, base_url: good.url, key: 'k-1' })
    expect((await stage.ask()).status).toBe(200)
    expect(good.journal).toHaveLength(1)
  })

  it('with a `retry-after` is skipped for that model, and the caller gets the remaining time', async () => {
    let nowMs = Date.now()
    const stage = await open('sqlite', { now: () => nowMs })
    let isBusy = true
    const { upstream } = await stage.add({}, () => (isBusy ? { status: 429, headers: { 'retry-after': '20' } } : {}))
    expect((await stage.ask()).status).toBe(429)
    isBusy = false
    const refused = await stage.ask()
    expect([refused.status, refused.headers.get('retry-after'), upstream.journal.length]).toEqual([429, '20', 1])
    nowMs += 20_000
    expect((await stage.ask()).status).toBe(200)
    await requireBalancedBooks(stage.server)
  })
})

describe('the limits of a channel', () => {
  it('moves excess requests to another channel, and refuses them when there is none', async () => {
    const stage = await open('sqlite')
    const small = await stage.add({ priority: 5, setting: { max_concurrency: 1 } }, { delayMs: 300 })
    const answers = Promise.all([stage.ask(), stage.ask()])
    expect((await answers).map(({ status }) => status).sort()).toEqual([200, 429])
    const other = await stage.add({ setting: { max_requests_per_minute: 1 } })
    expect((await Promise.all([stage.ask(), stage.ask(), stage.ask()])).map(({ status }) => status).sort()).toEqual([
      200, 200, 429,
    ])
    expect([small.upstream.journal.length, other.upstream.journal.length]).toEqual([2, 1])
  })
})

eachDatabase('the daily cost limit of a channel', (_fresh, kind) => {
  it("counts today's charges of the ledger, over all nodes, and survives a restart", async () => {
    const dayMs = 86_400_000
    let nowMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs / 2
    const now = () => nowMs
    const stage = await open(kind, { now })
    const { id } = await stage.add({ setting: { max_quota_per_day: 1 } })
    await stage.server.app.spending.refresh(stage.server.app.channels.current)
    expect((await stage.ask({ messages: [{ role: 'user', content: 'word '.repeat(2000) }] })).status).toBe(200)
    const [charge] = (await books(stage.server)).ledger.filter((row) => row.kind === 'charge')
    expect(charge?.amount).toBeLessThan(-1)

    await stage.server.app.spending.refresh(stage.server.app.channels.current)
    expect(stage.server.app.spending.today(id)).toBe(-(charge?.amount ?? 0))
    expect((await stage.ask()).status).toBe(429)

    const restarted = new Spending(stage.server.app)
    await restarted.refresh(stage.server.app.channels.current)
    expect(restarted.today(id)).toBe(-(charge?.amount ?? 0))
    if (kind === 'postgres') {
      const other = await serverOfTest(kind, { now, database: stage.server.database })
      expect(other.app.spending.today(id)).toBe(-(charge?.amount ?? 0))
    }

    nowMs += dayMs / 2
    await stage.server.app.spending.refresh(stage.server.app.channels.current)
    expect(stage.server.app.spending.today(id)).toBe(0)
    expect((await stage.ask()).status).toBe(200)
  })
})

describe('a conversation', () => {
  it('stays with the channel and key that answered it, on every node', async () => {
    const stage = await open('postgres')
    const channels = [await stage.add({ key: keys.join('\n'), multi_key: true }), await stage.add(), await stage.add()]
    const hits = () => channels.flatMap(({ upstream }) => upstream.journal.map((entry) => `${upstream.url} ${keyOf(entry)}`))
    for (let turn = 0; turn < 6; turn++) expect((await stage.ask({ prompt_cache_key: 'one' })).status).toBe(200)
    expect(new Set(hits()).size).toBe(1)
    expect(await lastInfo(stage.server)).toMatchObject({ choice: 'session' })

    const other = await serverOfTest('postgres', { database: stage.server.database })
    expect((await ask(other, stage.token.key, chat({ prompt_cache_key: 'one' }))).status).toBe(200)
    expect(new Set(hits().map((hit) => hit.split(' ')[0])).size).toBe(1)
  })

  it('without an id continues at the channel that answered its first turn', async () => {
    const stage = await open('sqlite')
    const channels = await Promise.all([stage.add(), stage.add(), stage.add()])
    const said = [{ role: 'user', content: 'hello' }]
    for (let time = 0; time < 10; time++) {
      await stage.ask({ messages: said })
      const before = channels.map(({ upstream }) => upstream.journal.length)
      await stage.ask({ messages: [...said, { role: 'assistant', content: 'hi' }, { role: 'user', content: 'more' }] })
      const after = channels.map(({ upstream }) => upstream.journal.length)
      expect(await lastInfo(stage.server)).toMatchObject({ choice: 'session' })
      expect(after.filter((count, at) => count !== before[at])).toHaveLength(1)
    }
  })
})

describe('the strategy of a group', () => {
  it('is an option, in force at once and recorded in the log', async () => {
    const stage = await open('sqlite')
    const dear = await stage.add({ weight: 1000 })
    const cheap = await stage.add({ setting: { cost_ratio: 0.5 } })
    await setOptions(stage.server, { GroupRouting: '{"default":"cheapest"}' })
    for (let time = 0; time < 5; time++) await stage.ask()
    expect([dear.upstream.journal.length, cheap.upstream.journal.length]).toEqual([0, 5])
    expect(await lastInfo(stage.server)).toMatchObject({ choice: 'cheapest' })
    await expect(setOptions(stage.server, { GroupRouting: '{"default":"luck"}' })).rejects.toThrow()
  })
})

describe('the candidates of a choice', () => {
  it('are in the log row of a call with the reasons of all attempts, for admins only', async () => {
    const stage = await open('sqlite')
    const { server, token } = stage
    await retries(server, 3)
    const broken = await stage.add({ name: 'broken', priority: 9 })
    const full = await stage.add({ name: 'full', priority: 9, setting: { max_requests_per_minute: 1 } })
    const failing = await stage.add({ name: 'failing', priority: 9, weight: 7 }, { status: 503 })
    const good = await stage.add({ name: 'good', priority: 5 })
    const idle = await stage.add({ name: 'idle' })
    const [channel] = server.app.channels.current.keysOf(broken.id)
    if (!channel) throw new Error('The channel is not there')
    const openBreaker = () => {
      const run = server.app.traffic.begin(channel, { id: 'earlier', model, inputTokens: 0, isPinned: false })
      run.failed({ retryAfter: 0, isFaultOfKey: true, isFaultOfUpstream: false, isRefusal: true })
    }
    openBreaker()
    expect((await ask(server, `${token.key}-${full.id}`, chat())).status).toBe(200)
    expect(await lastInfo(server)).toMatchObject({ choice: 'pinned' })
    expect(await lastInfo(server)).not.toHaveProperty('candidates')

    expect((await stage.ask()).status).toBe(200)
    const first = [
      { channel: broken.id, priority: 9, excluded: 'breaker' },
      { channel: full.id, priority: 9, excluded: 'requests-per-minute' },
      { channel: failing.id, priority: 9, weight: 7 },
      { channel: good.id, priority: 5, excluded: 'lower-priority' },
      { channel: idle.id, excluded: 'lower-priority' },
    ]
    const second = [...first.slice(0, 2), { ...first[2], excluded: 'failed' }, { channel: good.id, priority: 5 }, first[4]]
    expect(await lastInfo(server)).toMatchObject({
      use_channel: [String(failing.id), String(good.id)],
      attempts: [{ channel: failing.id, status: 503, choice: 'only', candidates: { listed: first } }],
      candidates: { listed: second },
    })

    const listed = await server.call<LogPage>('GET /api/log/?p=1&page_size=10')
    expect(listed.channel_names).toEqual({
      [broken.id]: 'broken',
      [full.id]: 'full',
      [failing.id]: 'failing',
      [good.id]: 'good',
      [idle.id]: 'idle',
    })
    const own = await (await server.raw('GET /api/log/self?p=1&page_size=10')).text()
    expect(own).not.toMatch(/channel_names|admin_info|candidates|broken|lower-priority/)

    for (const { id } of [good, idle]) await server.call('PUT /api/channel/', { id, status: 2 })
    expect((await stage.ask()).status).toBe(200)
    const left = second.slice(0, 3)
    expect(await lastInfo(server)).toMatchObject({ choice: 'last-resort', key: channel.keyId, candidates: { listed: left } })

    openBreaker()
    broken.upstream.program(model, { status: 500 })
    expect((await stage.ask()).status).toBe(502)
    const failed = async () => (await server.call<LogPage>('GET /api/log/?p=1&page_size=10&type=5')).items
    await eventually('the failed call is logged', async () => (await failed()).length === 1)
    expect(JSON.parse((await failed())[0]?.other ?? '').admin_info).toMatchObject({
      attempts: [
        { channel: failing.id, candidates: { listed: first.slice(0, 3) } },
        { channel: broken.id, choice: 'last-resort', candidates: { listed: left } },
      ],
      candidates: { listed: left.map((each) => (each?.channel === broken.id ? { ...each, excluded: 'failed' } : each)) },
    })
  })

  it('have the scores of the strategy, and are not stored when there was only one', async () => {
    const stage = await open('sqlite')
    await stage.add({ setting: { cost_ratio: 2 } })
    await stage.ask()
    expect(await lastInfo(stage.server)).not.toHaveProperty('candidates')
    await stage.add({ setting: { cost_ratio: 1 } })
    await setOptions(stage.server, { GroupRouting: '{"default":"cheapest"}' })
    await stage.ask()
    const { choice, candidates } = await lastInfo(stage.server)
    expect(choice).toBe('cheapest')
    expect(candidates.listed[0].score).toBeCloseTo(2 * candidates.listed[1].score, 6)
  })
})

describe('a channel with a pattern in its models', () => {
  it('serves matching models, and lists those with a price', async () => {
    const stage = await open('sqlite')
    const { upstream } = await stage.add({ models: 'gpt-4o*,own-name' })
    expect((await stage.ask({ model: 'gpt-4o-mini' })).status).toBe(200)
    expect((await stage.ask({ model: 'gpt-3.5-turbo' })).status).toBe(503)
    expect((await stage.ask({ model: 'made-up' })).status).toBe(404)
    expect(upstream.journal.map(({ model }) => model)).toEqual(['gpt-4o-mini'])

    const list = await fetch(`${stage.server.url}/v1/models`, { headers: { authorization: `Bearer ${stage.token.key}` } })
    const told = ((await list.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
    expect(told).toEqual(expect.arrayContaining(['gpt-4o', 'gpt-4o-mini']))
    expect(told.every((name) => name.startsWith('gpt-4o'))).toBe(true)
    expect(told.some((name) => name.includes('*'))).toBe(false)
    // Admins see what the channel names, although calls of it are refused until it has a price.
    expect(await stage.server.call('GET /api/channel/models_enabled')).toEqual([...told, 'own-name'])
    expect(await stage.server.call('GET /api/user/models')).toEqual([...told, 'own-name'])
  })
})
