import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { faultProxy } from '../helpers/fault-proxy.ts'
import { freePort } from '../helpers/free-port.ts'
import { hasHaproxy, startHaproxy } from '../helpers/haproxy.ts'
import { hasNginx, startNginx } from '../helpers/nginx.ts'
import { builtServer, git, hasHistory } from '../helpers/older-version.ts'
import { furnish, startPacedCallers } from '../helpers/paced-callers.ts'
import { type ServerProcess, startProcess } from '../helpers/process.ts'
import { startRedis } from '../helpers/redis-server.ts'
import { addChannel, addToken, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, eventually, model, settledCharges } from '../relay/stage.ts'

/**
 * Several nodes: network failures, nodes that are replaced under load, and two versions side by side: T231, T232 and T236.
 * ROLL_SECONDS (30; T231 asks for 600) and ROLL_RATE (40 requests a second; 200).
 */
const rollMs = Number(process.env.ROLL_SECONDS ?? 30) * 1000
const rate = Number(process.env.ROLL_RATE ?? 40)

const balancers = { haproxy: hasHaproxy ? startHaproxy : undefined, nginx: hasNginx ? startNginx : undefined }

describe.each(Object.entries(balancers))('two nodes behind %s', (_name, start) => {
  it.skipIf(!start)(
    `[T231] are replaced in turn for ${rollMs / 1000} s at ${rate} requests a second, and nobody notices`,
    async () => {
      if (!start) return
      const upstream = await upstreamOfTest({ programs: { [model]: { words: 20, pauseMs: 20 } } })
      const database = await freshDatabase('postgres', 'started')
      onTestFinished(() => database.drop())
      const ports = [await freePort(), await freePort()]
      const startNode = (index: number) => startProcess(database, { PORT: String(ports[index]), DRAIN_DELAY: '4' })
      const nodes = [await startNode(0), await startNode(1)]
      onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.kill('SIGKILL')))))
      const key = await furnish(nodes[0] as ServerProcess, upstream.url)
      const balancer = await start(nodes.map(({ url }) => url))
      onTestFinished(() => balancer.stop())
      const callers = startPacedCallers({ url: balancer.url, key, perSecond: rate })

      let replaced = 0
      for (const end = Date.now() + rollMs; Date.now() < end; replaced++) {
        const index = replaced % 2
        await pause(1000)
        expect(await nodes[index]?.kill('SIGTERM')).toBe(0)
        nodes[index] = await startNode(index)
        // An operator waits as well until the balancer has noticed the node.
        await pause(2000)
      }
      await callers.stop()
      console.log(`${replaced} replaced, ${callers.whole.size} whole answers, ${callers.failures.length} failures`)
      expect(callers.failures).toEqual([])
      for (const node of nodes) expect(await node.kill('SIGTERM')).toBe(0)

      const after = await serverOfTest('postgres', { database })
      const charged = (await settledCharges(after)).map(({ id }) => id)
      expect(new Set(charged)).toEqual(callers.whole)
      expect(charged.length).toBe(callers.whole.size)
      await requireBalancedBooks(after)
    },
    rollMs + 180_000,
  )
})

it('[T232] a node cut off from Redis, from PostgreSQL or from both follows the rules of an outage, and catches up afterwards', async () => {
  const redis = await startRedis()
  if (!redis) return
  onTestFinished(() => redis.stop())
  const upstream = await upstreamOfTest()
  upstream.program(model, { words: 10 })
  const a = await serverOfTest('postgres', { env: { REDIS_URL: redis.url } })
  const toPostgres = await proxyTo(a.database.env.DATABASE_URL)
  const toRedis = await proxyTo(redis.url)
  const b = await serverOfTest('postgres', {
    database: a.database,
    env: { DATABASE_URL: toPostgres.url, REDIS_URL: toRedis.url },
  })
  await addChannel(a, { url: upstream.url, models: model })
  const set = (key: string, value: object) => a.call('PUT /api/option/', { key, value: JSON.stringify(value) })
  await set('ModelRatio', { [model]: 1 })
  await set('CompletionRatio', { [model]: 1 })
  const { id, key } = await addToken(a)
  const allow = (status: number) => a.call('PUT /api/token/?status_only=true', { id, status })
  const statusOf = async (node: typeof a) => (await ask(node, key, chat())).status
  const sees = (status: number, timeout: number) =>
    expect.poll(() => statusOf(b), { timeout, interval: 20, message: `b answers ${status}` }).toBe(status)
  const expectApart = async () => {
    await sees(503, 5000)
    const before = upstream.journal.length
    for (let count = 0; count < 5; count++) expect(await statusOf(b)).toBe(503)
    expect((await b.raw('GET /api/user/self')).status).toBe(503)
    expect((await fetch(`${b.url}/readyz`)).status).toBe(503)
    expect(upstream.journal.length).toBe(before)
    expect(await statusOf(a)).toBe(200)
  }
  await sees(200, 2000)

  // Cut off from Redis: changes are announced through PostgreSQL, and no balance is spent twice.
  toRedis.proxy.cut()
  await allow(2)
  await sees(401, 2000)
  await allow(1)
  await sees(200, 2000)
  const poor = await addToken(a, { unlimited_quota: false, remain_quota: 10_300 })
  const dear = () => chat({ max_tokens: 1000 })
  const spent = await Promise.all(Array.from({ length: 60 }, (_, index) => ask(index % 2 ? a : b, poor.key, dear())))
  expect(spent.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(10_300 / 13)
  toRedis.proxy.heal()

  // Cut off from PostgreSQL: no requests are served there, and tokens revoked meanwhile stay revoked when it is back.
  toPostgres.proxy.cut()
  await expectApart()
  await allow(2)
  toPostgres.proxy.heal()
  await sees(401, 5000)
  await allow(1)
  await sees(200, 2000)

  // Cut off from both during streams: they are charged once after the recovery, at the prices at which they began.
  upstream.program(model, { words: 10, pauseMs: 100 })
  const streams = Array.from({ length: 5 }, () => ask(b, key, chat({ stream: true })))
  const asked = upstream.journal.length
  await eventually('they run', () => upstream.journal.length === asked + 5)
  toPostgres.proxy.cut()
  toRedis.proxy.cut()
  upstream.program(model, { words: 10 })
  await expectApart()
  await set('ModelRatio', { [model]: 1000 })
  toPostgres.proxy.heal()
  toRedis.proxy.heal()
  await sees(200, 5000)
  const ids = (await Promise.all(streams)).map(({ headers }) => headers.get('x-request-id') ?? '')
  await expect.poll(() => b.app.options.current.ModelRatio[model], { timeout: 5000 }).toBe(1000)
  for (const node of [a, b]) expect(await statusOf(node)).toBe(200)

  const charges = await settledCharges(a)
  await settledCharges(b)
  expect(new Set(charges.map((charge) => charge.id)).size).toBe(charges.length)
  const cheap = Math.min(...charges.map(({ amount }) => amount))
  for (const charge of charges.filter((one) => ids.includes(one.id))) expect(charge.amount).toBeLessThan(cheap * 100)
  expect(charges.at(-1)?.amount).toBeGreaterThan(cheap * 100)
  await requireBalancedBooks(a)
}, 120_000)

async function proxyTo(address: string) {
  const url = new URL(address)
  const proxy = await faultProxy({ host: url.hostname, port: Number(url.port) })
  url.port = String(proxy.port)
  return { url: url.href, proxy }
}

/** The commit before the newest migration was added: the last version with another schema. A moved file is none that was added. */
function commitBefore(): string {
  const added = ['log', '--find-renames', '--diff-filter=A', '--format=%H', '-1', '--', ':(glob)src/server/**/migrations/*']
  return process.env.OLD_COMMIT ?? `${git(...added)}^`
}

it.skipIf(!hasHistory)(
  '[T236] a node of the previous version keeps serving beside one of the current version, at the same prices',
  async () => {
    const program = builtServer(commitBefore())
    const upstream = await upstreamOfTest({ programs: { [model]: { words: 20, pauseMs: 5 } } })
    const database = await freshDatabase('postgres', 'empty')
    onTestFinished(() => database.drop())
    const before = await startProcess(database, {}, program)
    onTestFinished(async () => void (await before.kill('SIGKILL')))
    const key = await furnish(before, upstream.url)
    const onBefore = startPacedCallers({ url: before.url, key, perSecond: rate / 2 })
    await eventually('it serves', () => onBefore.whole.size > 20)

    const today = await startProcess(database)
    onTestFinished(async () => void (await today.kill('SIGKILL')))
    const onToday = startPacedCallers({ url: today.url, key, perSecond: rate / 2 })
    const lines = [
      '/api/user/self',
      '/api/token/',
      '/api/channel/',
      '/api/log/',
      '/api/log/stat',
      '/api/option/',
      '/api/redemption/',
    ]
    for (let round = 0; round < 5; round++) {
      for (const node of [before, today]) for (const line of lines) await node.call(`GET ${line}`)
      await before.call('POST /api/token/', { name: `old ${round}`, unlimited_quota: true })
      await today.call('POST /api/token/', { name: `new ${round}`, unlimited_quota: true })
      await setOptions(before, { RetryTimes: round + 1 })
      await pause(500)
    }
    await eventually('both have served', () => onToday.whole.size > 50 && onBefore.whole.size > 50)
    await Promise.all([onBefore.stop(), onToday.stop()])
    expect([...onBefore.failures, ...onToday.failures]).toEqual([])
    expect(await before.kill('SIGTERM')).toBe(0)
    expect(await today.kill('SIGTERM')).toBe(0)

    const after = await serverOfTest('postgres', { database })
    const charges = await settledCharges(after)
    expect(new Set(charges.map(({ id }) => id))).toEqual(new Set([...onBefore.whole, ...onToday.whole]))
    expect(new Set(charges.map(({ amount }) => amount)).size).toBe(1)
    await requireBalancedBooks(after)
  },
  300_000,
)
