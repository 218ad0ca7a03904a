import { readdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { startServer } from './helpers/app.ts'
import { freshDatabase } from './helpers/databases.ts'
import { freePort } from './helpers/free-port.ts'
import { tally } from './helpers/ledger.ts'
import { type ServerProcess, startProcess } from './helpers/process.ts'
import { revocations } from './helpers/revocations.ts'
import { books, expireLeases, requireBalancedBooks, setOptions } from './helpers/seed.ts'
import { type Called, startCallers } from './helpers/steady-callers.ts'
import { isTorture, sampled } from './helpers/torture.ts'
import { type FakeUpstream, startFakeUpstream } from './helpers/upstream.ts'
import { allServe, killOne, servingProcesses } from './helpers/workers.ts'
import { ask, chat, model } from './relay/stage.ts'

// Several processes on one port (WORKERS): what they decide together, and what is left when one of them is killed.

it('several processes write to DATA_DIR and nowhere else', async () => {
  const database = await freshDatabase('sqlite')
  onTestFinished(() => database.drop())
  const server = await startProcess(database, { WORKERS: '2', TMPDIR: '/nowhere', PORT: String(await freePort()) })
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  await allServe(server, 2)
  expect(readdirSync(database.env.DATA_DIR).filter((name) => name.startsWith('workers-'))).toHaveLength(1)
  expect(await server.kill('SIGTERM')).toBe(0)
  expect(readdirSync(database.env.DATA_DIR).filter((name) => name.startsWith('workers-'))).toEqual([])
})

/** A model with a fixed price: a call costs 10 units, which is also its hold. */
const fixed = 'fixed-price'
/** The name of the token of calls during which the owner is killed. */
const owned = 'owned'
/** A model with the same price, of two channels, of which the first fails. */
const both = 'on-both'

/** A start of several processes, all of them ready, with a channel to the simulated upstream and prices: one unit for each token, or fixed. */
async function start(kind: 'sqlite' | 'postgres') {
  const upstream = await startFakeUpstream({
    programs: {
      [model]: (entry) => (entry.json.stream ? { words: 20, pauseMs: 100 } : { words: 3, pauseMs: 0 }),
      [fixed]: () => ({ words: 3, pauseMs: 0 }),
      failing: () => ({ status: 500 }),
    },
  })
  const database = await freshDatabase(kind)
  const workers = isTorture || kind === 'sqlite' ? 3 : 2
  const env = { WORKERS: String(workers), PORT: String(await freePort()), TRUSTED_PROXIES: '127.0.0.1' }
  const server = await startProcess(database, env)
  const ones = JSON.stringify({ [model]: 1 })
  // Before the workers have started, so that all of them know the prices: a change reaches the others a moment later.
  for (const key of ['ModelRatio', 'CompletionRatio']) await server.call('PUT /api/option/', { key, value: ones })
  await setOptions(server, { ModelPrice: { [fixed]: 0.00002, [both]: 0.00002 } })
  const models = `${model},${fixed}`
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: upstream.url, models })
  await allServe(server, workers)
  const token = async (more: object) => {
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true, ...more })
    return `sk-${key}`
  }
  return { upstream, database, server, workers, token }
}

/** Begins a number of streams, and returns them when each has its first word. */
async function beginStreams(
  { upstream, server, key }: { upstream: FakeUpstream; server: ServerProcess; key: string },
  count: number,
) {
  const before = upstream.journal.length
  const streams = Array.from({ length: count }, () => ask(server, key, chat({ stream: true })).catch(() => undefined))
  const begun = () => upstream.journal.slice(before).filter(({ wordsSent }) => wordsSent > 0).length
  await vi.waitUntil(() => begun() === count, { timeout: 60_000 })
  return streams
}

describe.each(['sqlite', 'postgres'] as const)('several processes on %s', (kind) => {
  let site: Awaited<ReturnType<typeof start>>
  let underLoad: Called | undefined
  beforeAll(async () => {
    site = await start(kind)
  })
  afterAll(async () => {
    await site?.server.kill('SIGKILL')
    await site?.upstream.stop()
    await site?.database.drop()
  })

  it('share one request limit', async () => {
    const { server, token } = site
    const key = await token({ limit_requests: 30, limit_seconds: 600 })
    const answers = await Promise.all(Array.from({ length: 90 }, () => ask(server, key, chat())))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(60)
  })

  it.each(revocations)('[T233] refuse all of 60 calls that follow the answer to a change: %s', async (_name, prepare) => {
    const { server, upstream } = site
    const { ask, revoke, refusedWith } = await prepare({ url: server.url, call: server.call, upstreamUrl: upstream.url, model })
    // On connections of their own: each process has seen the caller before the change.
    const askAll = () => Promise.all(Array.from({ length: 60 }, () => ask(server.url)))
    expect(new Set(await askAll())).toEqual(new Set(['200']))
    await revoke()
    expect(tally(await askAll())).toEqual({ [refusedWith]: 60 })
  })

  it('share the failures of a channel: when it fails for one process, all of them stop using it', async () => {
    const { server, upstream, token } = site
    const channel = { type: 1, key: 'k', base_url: upstream.url, models: both, auto_ban: 0 }
    const mapped = (to: string) => JSON.stringify({ [both]: to })
    await server.call('POST /api/channel/', { ...channel, name: 'bad', priority: 1, model_mapping: mapped('failing') })
    await server.call('POST /api/channel/', { ...channel, name: 'good', model_mapping: mapped(model) })
    const key = await token({})
    const statuses = []
    for (let call = 0; call < 30; call++) statuses.push((await ask(server, key, chat({ model: both }))).status)
    // Five failures in a row open the breaker, wherever they happen.
    const tried = upstream.journal.filter(({ json }) => json?.model === 'failing').length
    expect([tried >= 5, tried < 15]).toEqual([true, true])
    expect(statuses.slice(15)).toEqual(Array.from({ length: 15 }, () => 200))
  })

  it('a process that is killed is replaced, and the others continue to answer', async () => {
    const { server, workers, token } = site
    const key = await token({})
    // Only the death of an owner affects the database, because the owner holds and charges for all.
    for (const role of sampled(['owner', 'worker'], kind === 'sqlite' ? 1 : 2)) {
      const streams = await beginStreams({ ...site, key }, 12)
      const replaced = killOne(server, role, workers)
      const answers = await Promise.all(streams)
      const whole = answers.filter((answer) => answer?.text.endsWith('data: [DONE]\n\n'))
      if (role === 'worker') expect(whole.length).toBeGreaterThan(0)
      await replaced
      expect((await ask(server, key, chat())).status).toBe(200)
    }
  })

  it('the owner is killed under load: no connection is refused, and no answered call is lost or charged twice', async () => {
    const { server, workers, token } = site
    const { called, stop } = startCallers(12, {
      url: server.url,
      key: await token({ name: owned }),
      body: chat({ model: fixed }),
    })
    const moreAnswers = async () => {
      const before = called.answered.length
      await vi.waitUntil(() => called.answered.length > before + 50, { timeout: 60_000 })
    }
    for (let kill = 0; kill < 2; kill++) {
      await moreAnswers()
      await killOne(server, 'owner', workers)
    }
    await moreAnswers()
    await stop()
    const gapMs = Math.round(called.longestGapMs)
    console.log(`${kind}: ${called.answered.length} answered, ${called.cut} cut, ${gapMs} ms at most between two answers`)
    expect(called.refused).toBe(0)
    underLoad = called
  })

  it('spend a balance to its end and no further, with 200 concurrent calls', async () => {
    const { server, token } = site
    const key = await token({ name: 'spent', unlimited_quota: false, remain_quota: 700 })
    const answers = await Promise.all(Array.from({ length: 200 }, () => ask(server, key, chat({ model: fixed }))))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(70)
    // The key itself is refused once it is empty.
    expect(answers.filter(({ status }) => status === 403 || status === 401)).toHaveLength(130)
  })

  it('stop together: running requests are completed, the exit code is 0, and the books balance', async () => {
    const { server, database, token } = site
    const key = await token({ name: 'last' })
    const streams = await beginStreams({ ...site, key }, 9)
    const processes = servingProcesses(server)
    expect(await server.kill('SIGTERM')).toBe(0)
    for (const answer of await Promise.all(streams)) expect(answer?.text.endsWith('data: [DONE]\n\n')).toBe(true)
    for (const { pid } of processes) expect(() => process.kill(pid, 0)).toThrow()

    const after = await startServer(kind, { database })
    onTestFinished(() => after.stop())
    // The holds of a killed node on PostgreSQL are settled or released when its lease ends.
    if (kind === 'postgres') await expireLeases(after)
    await after.app.ledger.expire()
    await requireBalancedBooks(after)
    const { logs, tokens } = await books(after)
    expect(logs.filter(({ token_name }) => token_name === 'spent')).toHaveLength(70)
    expect(tokens.filter(({ unlimited_quota }) => unlimited_quota === 0).map(({ remain_quota }) => remain_quota)).toEqual([0])
    expect(logs.filter(({ token_name }) => token_name === 'last')).toHaveLength(9)
    const charged = logs.filter(({ token_name }) => token_name === owned).map(({ request_id }) => request_id)
    const { answered = [], cut = 0 } = underLoad ?? {}
    expect(new Set(charged).size).toBe(charged.length)
    expect(answered.filter((id) => !charged.includes(id))).toEqual([])
    expect(charged.length).toBeLessThanOrEqual(answered.length + cut)
  })
})
