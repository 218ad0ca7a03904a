import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { signIn } from '../helpers/app.ts'
import { eachDatabase, freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { fillWithLog } from '../helpers/long-log.ts'
import { startProcess } from '../helpers/process.ts'
import { limitedYoungGeneration, memoryGrowth } from '../helpers/process-memory.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { askWithRetry, chat, model } from '../relay/stage.ts'

/** What the console answers about a long log while callers go on: LOG_ROWS rows (2,000,000). */
const rows = Number(process.env.LOG_ROWS ?? 2_000_000)
const growthMaxMb = 256
const endSeconds = Math.floor(Date.now() / 1000)
const middle = endSeconds - 15 * 86_400

eachDatabase('a long log', (_fresh, kind) => {
  it(`[T257] of ${rows} rows is listed, searched, summed, exported and purged to the row, in bounded memory, while calls are answered`, async () => {
    const database = await freshDatabase(kind, 'started')
    onTestFinished(() => database.drop())
    const expected = await filled(database)
    const server = await startProcess(database, { NODE_OPTIONS: limitedYoungGeneration })
    onTestFinished(async () => void (await server.kill('SIGKILL')))
    const upstream = await upstreamOfTest()
    const channel = { name: 'test', type: 1, key: 'upstream-key', models: model, base_url: upstream.url }
    await server.call('POST /api/channel/', channel)
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'caller', unlimited_quota: true })
    const calls: number[] = []
    let isOver = false
    const calling = (async () => {
      while (!isOver) calls.push((await askWithRetry(server, `sk-${key}`, chat())).status)
    })()

    const growth = await memoryGrowth(server.pid, async () => {
      const list = (query: string) =>
        server.call<{ total: number; items: { request_id: string; created_at: number }[] }>(
          `GET /api/log/?end_timestamp=${endSeconds}&${query}`,
        )
      expect((await list('type=2&model_name=model-rare&page_size=100')).items).toHaveLength(Math.min(100, expected.rare))
      const page = await list('type=2&username=user-7&page_size=100')
      expect(page.items.map(({ request_id }) => request_id)).toEqual(expected.newestOfUser)
      const stat = await server.call<{ quota: number }>(`GET /api/log/stat?type=2&username=user-7&end_timestamp=${endSeconds}`)
      expect(stat.quota).toBe(expected.quotaOfUser)
      expect(await exportedLines(server.url, `type=2&username=user-7&end_timestamp=${endSeconds}`)).toBe(expected.rowsOfUser)
      await server.call('POST /api/log/purge', { before: middle })
      const purge = () => server.call<{ removed: number; finished_at: number }>('GET /api/log/purge')
      await expect.poll(async () => (await purge()).finished_at, { timeout: 20 * 60_000, interval: 1000 }).toBeGreaterThan(0)
      expect((await purge()).removed).toBe(expected.older)
    })
    isOver = true
    await calling
    console.log(`${kind}: ${rows} rows, ${calls.length} calls beside, ${growth} MB more at most`)
    expect(new Set(calls)).toEqual(new Set([200]))
    expect(growth).toBeLessThan(growthMaxMb)
  })
})

/** Fills an empty database, and reads from it what the console has to answer. */
async function filled(database: TestDatabase) {
  const open = await database.open()
  const { db } = open
  await fillWithLog(open, rows, endSeconds)
  const charges = db.selectFrom('logs').where('type', '=', 2)
  const counted = sql<number>`count(*)`.as('count')
  const count = async (query: typeof charges) => Number((await query.select(counted).executeTakeFirstOrThrow()).count)
  const ofUser = charges.where('username', '=', 'user-7')
  const newest = await ofUser.select('request_id').orderBy('created_at', 'desc').orderBy('id', 'desc').limit(100).execute()
  const { quota } = await ofUser.select(({ fn }) => fn.sum<number>('quota').as('quota')).executeTakeFirstOrThrow()
  const expected = {
    rare: await count(charges.where('model_name', '=', 'model-rare')),
    newestOfUser: newest.map(({ request_id }) => request_id),
    quotaOfUser: Number(quota),
    rowsOfUser: await count(ofUser),
    older: await count(charges.where('created_at', '<', middle)),
  }
  await open.close()
  return expected
}

async function exportedLines(url: string, query: string): Promise<number> {
  const headers = { cookie: await signIn(url), 'new-api-user': '1' }
  const { body } = await fetch(`${url}/api/log/export.jsonl?${query}`, { headers })
  let lines = 0
  for await (const chunk of body ?? []) lines += Buffer.from(chunk).filter((byte) => byte === 10).length
  return lines
}
