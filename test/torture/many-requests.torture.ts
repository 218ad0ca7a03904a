import { describe, expect, it, onTestFinished } from 'vitest'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { accountsOfSuite } from '../relay/accounts-stage.ts'
import { requireMostAnswered } from '../relay/half-failing.ts'
import { ask, askWithRetry, chat, eventually, httpUpstream, model, settledCharges } from '../relay/stage.ts'
import { type FormatPair, forEachPair, formatPairs, idle, trustOfSuite } from '../relay/trust-stage.ts'

/**
 * The counts of parts E and G of docs/reference/trust-cases.md; the same cases with fewer requests run with every change. MANY
 * replaces 10,000.
 */
const many = Number(process.env.MANY ?? 10_000)

eachDatabase('many requests', (_fresh, kind) => {
  const trust = trustOfSuite(kind)
  const accounts = accountsOfSuite(kind)

  it(`[T116] of ${many} in each pair over four channels that each fail half of the time, at least 99 of 100 that can be answered are answered`, () =>
    trust.underLoad(async () => {
      await trust.setOption('RetryTimes', '3')
      const goodLeast = Math.floor(many * (1 - 0.5 ** 4) * 0.99)
      await forEachPair((pair) => requireMostAnswered(trust, pair, { rounds: many / 10, together: 10, goodLeast }))
    }, 10 * many))

  it('[T117] of 1,000 simultaneous failures one disables the channel, one notice is sent, and other channels stay', () =>
    trust.underLoad(async () => {
      await trust.setOption('RetryTimes', '0')
      await trust.setOption('AutomaticDisableChannelEnabled', 'true')
      const [, , pair] = formatPairs as [FormatPair, FormatPair, FormatPair]
      const url = await httpUpstream((request, response) => {
        request.resume()
        response.writeHead(401, { 'content-type': 'application/json' })
        response.end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}')
      })
      const lane = await trust.lane(pair, url)
      const statuses = await Promise.all(
        Array.from({ length: 1000 }, async (_, index) => (await lane.ask(index % 2 === 0)).status),
      )
      expect(new Set(statuses)).toEqual(new Set([503]))
      await eventually('the channel is disabled', async () => (await statusOf(trust.server, lane.channelId)) === 3)
      const off = (await books(trust.server)).channels.filter(({ status }) => status !== 1)
      expect(off).toHaveLength(1)
      const { db } = trust.server.app
      const told = await db.selectFrom('audit').select('action').where('target', '=', `channel:${lane.channelId}`).execute()
      expect(told.filter(({ action }) => action === 'channel.auto-disable')).toHaveLength(1)
      expect(await lane.charged()).toEqual([])
    }, 10_000))

  it(`[T141] [T148] [T160] ${many} random requests cost in every account the amount of the upstreams' journal`, () =>
    accounts.requireExactAccounts(many / 50, 50))

  it.each([
    ['the user', 1],
    ['the user', 2],
    ['the token', 1],
    ['the token', 2],
  ] as const)('[T144] [T145] of 1,000 at once, when %s has enough for 10, at most 10 pass on %d nodes', async (whose, count) => {
    // One process has a file of SQLite for itself.
    if (kind === 'sqlite' && count > 1) return
    const upstream = await upstreamOfTest()
    upstream.program(model, { words: 1000 })
    const nodes = await nodesOfTest(kind, upstream.url, count)
    const [server] = nodes
    const most = 1011
    const token = await addToken(server, whose === 'the token' ? { unlimited_quota: false, remain_quota: 10 * most } : {})
    if (whose === 'the user') await leave(server, 10 * most)
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => {
        // The remainder is within the list.
        const node = nodes[index % nodes.length] as TestServer
        return (await ask(node, token.key, chat({ max_tokens: 1000, stream: index % 4 < 2 }))).status
      }),
    )
    const passed = statuses.filter((status) => status === 200).length
    expect([passed > 0, passed <= 10]).toEqual([true, true])
    expect(new Set(statuses)).toEqual(new Set([200, 403]))
    expect(upstream.journal).toHaveLength(passed)
    await settledCharges(server)
    const { users, tokens } = await books(server)
    expect(users[0]?.quota).toBeGreaterThanOrEqual(0)
    if (whose === 'the token') expect(tokens.find(({ id }) => id === token.id)?.remain_quota).toBeGreaterThanOrEqual(0)
    await requireBalancedBooks(server)
  })

  it('[T146] without max_tokens, no balance goes below zero though the upstream ignores limits, and calls pass until the balance affords none', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { words: 3000 })
    const [server] = await nodesOfTest(kind, upstream.url, 1)
    const token = await addToken(server)
    await leave(server, 20 * 511)
    const quota = async () => (await books(server)).users[0]?.quota
    const statuses = await Promise.all(
      Array.from({ length: 1000 }, async (_, index) => (await ask(server, token.key, chat({ stream: index % 2 === 0 }))).status),
    )
    expect(new Set(statuses)).toEqual(new Set([200, 403]))
    await settledCharges(server)
    expect(await quota()).toBeGreaterThanOrEqual(0)

    let passed = 0
    while ((await ask(server, token.key, chat())).status === 200) expect(++passed).toBeLessThan(40)
    await settledCharges(server)
    expect(await quota()).toBeGreaterThanOrEqual(0)
    await requireBalancedBooks(server)
  })
})

describe('two nodes with Redis', () => {
  it('[T151] a flood of changes to an account and to settings leaves every charge unchanged', async () => {
    const redis = await startRedis()
    if (!redis) return
    onTestFinished(() => redis.stop())
    const upstream = await upstreamOfTest()
    const nodes = await nodesOfTest('postgres', upstream.url, 2, { REDIS_URL: redis.url })
    const [server, other] = nodes as [TestServer, TestServer]
    const token = await addToken(server)
    const before = (await books(server)).users[0]
    let isOver = false
    // Most of a flood is refused; admitted calls change the account.
    const flood = async (node: TestServer, number: number) => {
      let changes = 0
      for (let count = 0; !isOver; count++) {
        const own = await node.raw('PUT /api/user/self', { display_name: `root ${number} ${count}` })
        const settings = await node.raw('PUT /api/user/setting', { quota_warning_threshold: 1 + (count % 9) })
        for (const { status } of [own, settings]) if (status === 200) changes++
      }
      return changes
    }
    const floods = nodes.flatMap((node) => [1, 2].map((number) => flood(node, number)))
    for (let round = 0; round < 20; round++) {
      const asked = await Promise.all(
        Array.from({ length: 50 }, (_, at) => askWithRetry(at % 2 ? server : other, token.key, chat())),
      )
      expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]))
    }
    isOver = true
    const changes = await Promise.all(floods)
    expect(changes.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(20)
    await settledCharges(server)
    const after = (await books(server)).users[0]
    // Each of the 1,000 calls costs three words of the prompt and five of the answer.
    expect([(after?.request_count ?? 0) - (before?.request_count ?? 0), (before?.quota ?? 0) - (after?.quota ?? 0)]).toEqual([
      1000, 8000,
    ])
    for (const node of nodes) await idle(node)
    await requireBalancedBooks(server)
  })
})

/** Nodes of one installation at which every word costs one unit. */
async function nodesOfTest(
  kind: 'sqlite' | 'postgres',
  url: string,
  count: number,
  env = {},
): Promise<[TestServer, ...TestServer[]]> {
  const server = await serverOfTest(kind, { env })
  await addChannel(server, { url, models: model })
  for (const key of ['ModelRatio', 'CompletionRatio'])
    await server.call('PUT /api/option/', { key, value: JSON.stringify({ [model]: 1 }) })
  const others: TestServer[] = []
  for (let more = 1; more < count; more++) {
    const other = await startServer(kind, { env, database: server.database })
    onTestFinished(() => other.stop())
    others.push(other)
  }
  return [server, ...others]
}

/** Removes all quota of the only user above this amount. */
async function leave(server: TestServer, quota: number): Promise<void> {
  const has = (await books(server)).users[0]?.quota ?? 0
  await server.call('POST /api/user/1/quota', { change: quota - has, reason: 'test' })
}

const statusOf = async (server: TestServer, id: number) => (await books(server)).channels.find((row) => row.id === id)?.status
