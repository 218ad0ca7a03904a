import { expect, it, onTestFinished } from 'vitest'
import { serverOfTest, type TestServer } from './helpers/app.ts'
import { startRedis } from './helpers/redis-server.ts'
import { addChannel, addToken } from './helpers/seed.ts'

/** Two nodes on one PostgreSQL, and on one Redis when the machine has it. */
async function twoNodes() {
  const redis = await startRedis()
  if (redis) onTestFinished(() => redis.stop())
  const env = { REDIS_URL: redis?.url ?? '' }
  const a = await serverOfTest('postgres', { env })
  const b = await serverOfTest('postgres', { env, database: a.database })
  return { a, b, redis }
}

async function statusOn(node: TestServer, key: string): Promise<number> {
  const response = await fetch(`${node.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  await response.text()
  return response.status
}

async function answersWithin(limitMs: number, status: number, node: TestServer, key: string): Promise<void> {
  await within(limitMs, status, () => statusOn(node, key))
}

/** Fails when the answer is still another after the time that is promised. */
async function within(limitMs: number, status: number, asked: () => Promise<number>): Promise<void> {
  const end = Date.now() + limitMs
  while ((await asked()) !== status) {
    if (Date.now() > end) throw new Error(`The node does not answer ${status} after ${limitMs} ms`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

it('a token disabled on one node is refused by the other within 1 s, and within 2 s while Redis hangs or is gone', async () => {
  const { a, b, redis } = await twoNodes()
  await addChannel(a, { url: 'http://127.0.0.1:9', models: 'some-model' })
  const { id, key } = await addToken(a)
  const set = (status: number) => a.call('PUT /api/token/?status_only=true', { id, status })
  await answersWithin(2000, 200, b, key)

  await set(2)
  await answersWithin(1000, 401, b, key)
  await set(1)
  await answersWithin(1000, 200, b, key)

  await redis?.kill('SIGSTOP')
  await set(2)
  await answersWithin(2000, 401, b, key)
  await set(1)
  await answersWithin(2000, 200, b, key)
  await redis?.kill('SIGCONT')

  await redis?.kill()
  await set(2)
  await answersWithin(2000, 401, b, key)
})

it('a banned user is refused by all nodes within 1 s', async () => {
  const { a, b } = await twoNodes()
  const { key } = await addToken(a)
  await answersWithin(2000, 200, b, key)
  expect((await b.raw('GET /api/user/self')).status).toBe(200)

  const { db, bus } = a.app
  await db.updateTable('users').set({ status: 2 }).where('id', '=', 1).execute()
  bus.publish('user', 1)
  for (const node of [a, b]) await answersWithin(1000, 403, node, key)
  await within(1000, 401, async () => (await b.raw('GET /api/user/self')).status)
})
