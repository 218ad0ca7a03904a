import { randomBytes } from 'node:crypto'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { eachDatabase, freshDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { testLogger } from '../../../../test/helpers/logger.ts'
import { startRedis } from '../../../../test/helpers/redis-server.ts'
import { scaledByLoad } from '../../../../test/helpers/scaled-by-load.ts'
import { openSecrets } from '../db/key-ring.ts'
import type { Database } from '../db/open.ts'
import { Bus, type Topic } from './bus.ts'
import { connectBus, redisPrefix } from './connect.ts'
import { Revisions } from './revision.ts'
import { readChange, type Transport, writeChange } from './transport.ts'

const masterKey = randomBytes(32)
const cleanups: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function fresh(kind: 'sqlite' | 'postgres'): Promise<TestDatabase> {
  const test = await freshDatabase(kind)
  cleanups.push(() => test.drop())
  return test
}

interface Heard {
  readonly topic: Topic
  readonly id: number
}

/** A bus that records its messages and lets a test wait for them. */
function listening(name: string) {
  const logged: { level: number; msg: string }[] = []
  const bus = new Bus(testLogger('info', (line) => void logged.push(JSON.parse(line))))
  const heard: Heard[] = []
  const waiting = new Set<() => void>()
  for (const topic of ['options', 'channels', 'token', 'user'] as const) {
    bus.on(topic, (id) => {
      heard.push({ topic, id })
      for (const wake of waiting) wake()
    })
  }
  /** Resolves when the expected notification arrives; the limit is the tested guarantee. */
  const hears = (topic: Topic, ids: readonly number[], limitMs: number) =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(
            new Error(`${name} heard of ${JSON.stringify(heard)} but not of ${topic} ${ids.join(' or ')} within ${limitMs} ms`),
          ),
        scaledByLoad(limitMs),
      )
      const check = () => {
        if (!heard.some((change) => change.topic === topic && ids.includes(change.id))) return
        clearTimeout(timer)
        waiting.delete(check)
        resolve()
      }
      waiting.add(check)
      check()
    })
  return { bus, heard, hears, logged, logger: testLogger('info', (line) => void logged.push(JSON.parse(line))) }
}

async function startNode(test: TestDatabase, name: string, redisUrl = '') {
  const database = await test.open()
  await openSecrets(database, masterKey, 0)
  const node = listening(name)
  const connection = await connectBus({
    siblings: undefined,
    env: { REDIS_URL: redisUrl },
    bus: node.bus,
    database,
    logger: node.logger,
    node: name,
  })
  const stop = async () => {
    await connection.close()
    node.bus.close()
    await database.close()
  }
  cleanups.push(stop)
  return { ...node, database, connection }
}

/** Waits until the nodes receive messages of each other, and not only changes found by the poll, which has no ids. */
async function meet(a: Awaited<ReturnType<typeof startNode>>, b: Awaited<ReturnType<typeof startNode>>) {
  for (let round = 1_000_000; ; round++) {
    a.bus.publish('options', round)
    b.bus.publish('options', round)
    // A message published before a listening connection is open is lost, so it is repeated; on a busy machine it may be late.
    const bothHeard = () => [a, b].every(({ heard }) => heard.filter(({ id }) => id === round).length === 2)
    const hasMet = await vi.waitUntil(bothHeard, { timeout: scaledByLoad(500), interval: 10 }).catch(() => false)
    if (hasMet) break
  }
  a.heard.length = 0
  b.heard.length = 0
}

/**
 * Waits until a change of node `a` reaches node `b` by a message, which names its id, within the limit. A poll between the change
 * and its message announces it without an id, and the message is then ignored: in that case another change is made.
 */
async function receivesByMessage(a: ReturnType<typeof listening>, b: ReturnType<typeof listening>, limitMs: number) {
  for (let id = 1; id <= 10; id++) {
    a.heard.length = 0
    b.heard.length = 0
    a.bus.publish('user', id)
    await b.hears('user', [id, 0], limitMs)
    if (b.heard.some((change) => change.topic === 'user' && change.id === id)) return
  }
  throw new Error('ten changes were found by the poll and none by its message')
}

describe('a bus', () => {
  it('delivers to every listener of its own process immediately, even when one fails', () => {
    const { bus, heard } = listening('a')
    const off = bus.on('user', () => {
      throw new Error('broken listener')
    })
    bus.publish('user', 7)
    off()
    bus.publish('token')
    expect(heard).toEqual([
      { topic: 'user', id: 7 },
      { topic: 'token', id: 0 },
    ])
  })
})

describe('messages', () => {
  it('are read as they were written', () => {
    const change = { node: '12-ab', topic: 'token', ids: [3, 9], revision: 17 } as const
    expect(readChange(writeChange(change))).toEqual(change)
    expect(readChange(writeChange({ ...change, ids: Array.from({ length: 5000 }, (_, id) => id + 1) }))?.ids).toEqual([0])
    expect(readChange(writeChange({ ...change, ids: [4, 0] }))?.ids).toEqual([0])
  })

  it.each(['', 'x', 'n:token:1', 'n:unknown:1:1', 'n:token:x:1', 'n:token:1:x', 'n:token:1:1:1', 'n:token::1', '{"a":1}'])(
    'are ignored when they are %j',
    (text) => {
      expect(readChange(text)).toBeUndefined()
    },
  )
})

eachDatabase('revisions', (_fresh, kind) => {
  async function oneNode(test: TestDatabase, name: string) {
    const database = await test.open()
    const node = listening(name)
    const revisions = new Revisions({ db: database.db, bus: node.bus, logger: node.logger, node: name })
    node.bus.connect(revisions)
    cleanups.push(async () => {
      await revisions.close()
      await database.close()
    })
    return { ...node, database, revisions }
  }

  /** Two nodes over one database, with a transport that the test controls. */
  async function twoNodes(carry: (message: string) => 'arrives' | 'is lost' = () => 'arrives') {
    const test = await fresh(kind)
    const a = await oneNode(test, 'a')
    const b = await oneNode(test, 'b')
    const wire = (to: typeof a): Transport => ({
      name: 'wire',
      isUp: true,
      send: async (message) => {
        if (carry(message) === 'arrives') to.revisions.receive(message)
      },
      close: async () => {},
    })
    await a.revisions.start([wire(b)])
    await b.revisions.start([wire(a)])
    return { a, b }
  }

  it('bring notifications to the other node and not back', async () => {
    const { a, b } = await twoNodes()
    a.bus.publish('user', 5)
    await b.hears('user', [5], 2000)
    await a.revisions.poll()
    await b.revisions.poll()
    expect(a.heard).toEqual([{ topic: 'user', id: 5 }])
    expect(b.heard).toEqual([{ topic: 'user', id: 5 }])
  })

  it('find lost messages, once', async () => {
    let lost = true
    const { a, b } = await twoNodes(() => (lost ? 'is lost' : 'arrives'))
    a.bus.publish('token', 5)
    await a.revisions.poll()
    lost = false
    a.bus.publish('token', 6)
    await a.revisions.poll()
    expect(b.heard).toEqual([{ topic: 'token', id: 6 }])
    await b.revisions.poll()
    await b.revisions.poll()
    expect(b.heard).toEqual([
      { topic: 'token', id: 6 },
      { topic: 'token', id: 0 },
    ])
  })

  it('ignore a repeated message', async () => {
    const { a, b } = await twoNodes()
    const message = writeChange({ node: 'c', topic: 'user', ids: [1], revision: 1 })
    b.revisions.receive(message)
    b.revisions.receive(message)
    expect(b.heard).toEqual([{ topic: 'user', id: 1 }])
    expect(a.heard).toEqual([])
  })

  it('do not deliver messages sent before a node started', async () => {
    const { a, b } = await twoNodes()
    a.bus.publish('options')
    await a.revisions.poll()
    const late = listening('late')
    const revisions = new Revisions({ db: b.database.db, bus: late.bus, logger: late.logger, node: 'late' })
    await revisions.start([])
    await revisions.poll()
    await revisions.close()
    expect(late.heard).toEqual([])
  })

  it('gather many changes into few writes and lose none of them', async () => {
    const messages: string[] = []
    const { a, b } = await twoNodes((message) => {
      messages.push(message)
      return 'arrives'
    })
    for (let id = 1; id <= 200; id++) a.bus.publish('token', id)
    await a.revisions.poll()
    expect(new Set(b.heard.map(({ id }) => id)).size).toBe(200)
    expect(messages.length).toBeLessThan(10)
  })

  it('are counted correctly under parallel changes on two nodes', async () => {
    const { a, b } = await twoNodes()
    const checks: (() => void)[] = []
    const change = (from: typeof a, to: typeof a, id: number) => {
      const before = to.heard.length
      from.bus.publish('user', id)
      // A poll may precede the message: it reports 0, and then the message is ignored.
      checks.push(() =>
        expect(
          to.heard.slice(before).some((change) => change.id === id || change.id === 0),
          `${id}`,
        ).toBe(true),
      )
    }
    for (let id = 1; id <= 50; id++) {
      change(a, b, id)
      change(b, a, 1000 + id)
      if (id % 10 === 0) await a.revisions.poll()
    }
    await Promise.all([a.revisions.poll(), b.revisions.poll()])
    for (const check of checks) check()
  })

  it('continue when the database was restored to an older state', async () => {
    const { a, b } = await twoNodes()
    for (let id = 1; id <= 5; id++) {
      a.bus.publish('user', id)
      await a.revisions.poll()
    }
    await a.database.db.updateTable('revisions').set({ revision: 2 }).execute()
    b.heard.length = 0
    await b.revisions.poll()
    await a.revisions.poll()
    expect(b.heard).toEqual([{ topic: 'user', id: 0 }])
    a.bus.publish('user', 9)
    await a.revisions.poll()
    expect(b.heard.at(-1)).toEqual({ topic: 'user', id: 9 })
  })

  it('keep messages that the database did not accept, and send them when it is available again', async () => {
    const { a, b } = await twoNodes()
    const { db } = a.database
    await db.schema.alterTable('revisions').renameTo('away').execute()
    a.bus.publish('user', 3)
    await a.revisions.poll()
    expect(b.heard).toEqual([])
    await db.schema.alterTable('away').renameTo('revisions').execute()
    await a.revisions.poll()
    expect(b.heard).toEqual([{ topic: 'user', id: 3 }])
    expect(a.logged.map(({ msg }) => msg)).toEqual([expect.stringContaining('does not reach'), expect.stringContaining('again')])
  })
})

describe('nodes on one PostgreSQL', () => {
  it('receive changes of each other within a second', async () => {
    const test = await fresh('postgres')
    const a = await startNode(test, 'a')
    const b = await startNode(test, 'b')
    await meet(a, b)
    await receivesByMessage(a, b, 1000)
    b.bus.publish('channels')
    await a.hears('channels', [0], 1000)
    expect(a.heard.filter(({ topic }) => topic === 'user')).toHaveLength(1)
  })

  it('receive changes of each other within two seconds while the listening connections are cut', async () => {
    const test = await fresh('postgres')
    const a = await startNode(test, 'a')
    const b = await startNode(test, 'b')
    await meet(a, b)
    await cutListeners(a.database)
    a.bus.publish('user', 43)
    await b.hears('user', [43, 0], 2000)
    await meet(a, b)
    await receivesByMessage(a, b, 1000)
  })

  it('that share only the server receive nothing from each other', async () => {
    const a = await startNode(await fresh('postgres'), 'a')
    const twin = await startNode(await fresh('postgres'), 'b')
    a.bus.publish('user', 1)
    await a.hears('user', [1], 1000)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(twin.heard).toEqual([])
  })
})

async function cutListeners(database: Database): Promise<void> {
  if (database.dialect !== 'postgres') throw new Error('Only PostgreSQL has listeners')
  const cut = await database.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'sluice-news'`,
  )
  expect(cut.rowCount).toBe(2)
}

describe('Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis()
    return () => redis?.stop()
  })

  it('[T223] carries notifications between nodes without another transport, and loses none when it fails', async ({ skip }) => {
    if (!redis) return skip('redis-server is not installed')
    const test = await fresh('sqlite')
    const a = await startNode(test, 'a', redis.url)
    const b = await startNode(test, 'b', redis.url)
    await meet(a, b)
    await receivesByMessage(a, b, 1000)

    await redis.kill()
    a.bus.publish('user', 2)
    await b.hears('user', [2, 0], 2000)
    expect(b.logged.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
      expect.stringContaining('REDIS IS UNREACHABLE'),
    ])

    await redis.start()
    await meet(a, b)
    await receivesByMessage(a, b, 1000)
    expect(b.logged.at(-1)?.msg).toBe('Redis is back')
  })

  it('beside PostgreSQL changes nothing when it hangs', async ({ skip }) => {
    if (!redis) return skip('redis-server is not installed')
    const test = await fresh('postgres')
    const a = await startNode(test, 'a', redis.url)
    const b = await startNode(test, 'b', redis.url)
    await meet(a, b)
    await redis.kill('SIGSTOP')
    await receivesByMessage(a, b, 3000)
    await redis.kill('SIGCONT')
  })

  it('that is down at the start does not keep a node from starting', async () => {
    const test = await fresh('postgres')
    const a = await startNode(test, 'a', 'redis://127.0.0.1:1')
    const b = await startNode(test, 'b', 'redis://:wrong@127.0.0.1:1')
    a.bus.publish('user', 1)
    await b.hears('user', [1, 0], 2000)
  })

  it('[T224] is shared by two installations that receive nothing from each other', async ({ skip }) => {
    if (!redis) return skip('redis-server is not installed')
    const a = await startNode(await fresh('sqlite'), 'a', redis.url)
    const stranger = await startNode(await fresh('sqlite'), 'b', redis.url)
    expect(await redisPrefix(a.database)).not.toBe(await redisPrefix(stranger.database))
    a.bus.publish('user', 1)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(stranger.heard).toEqual([])
  })
})
