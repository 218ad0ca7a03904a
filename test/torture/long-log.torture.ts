import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { eachDatabase, freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { fillWithLog } from '../helpers/long-log.ts'
import { startProcess } from '../helpers/process.ts'
import { addChannel, addToken } from '../helpers/seed.ts'
import { ask, chat, completion, httpUpstream, model } from '../relay/stage.ts'

/** Many users aggregate and search a long log while others call models: LOG_ROWS rows (300,000; T209 requires 10,000,000). */
const rows = Number(process.env.LOG_ROWS ?? 300_000)
const people = 50
const searchMs = 15_000
const rounds = 5
const callsOfRound = 1000
const callersAtOnce = 2

const hard = [
  '/api/log/?p=100000&page_size=100',
  '/api/log/?model_name=nothing-like-it',
  '/api/log/?username=user-7&token_name=none',
  '/api/log/?model_name=model-14&group=group-1&p=20',
  '/api/log/search?keyword=none',
  '/api/log/stat?token_name=x&model_name=y',
  '/api/log/stat',
  `/api/data/sums?by=user&grain=day&start_timestamp=${Math.floor(Date.now() / 1000) - 29 * 86_400}`,
]
/** Found, or refused with the advice to retry or to narrow the search. */
const answers = ['', 'log_searches_busy', 'log_search_timeout']

eachDatabase('a long log', (_fresh, kind) => {
  it(
    `[T209] of ${rows} rows: ${people} concurrent searches are answered or refused in time, and the p99 of the relay stays below twice the usual`,
    async () => {
      const database = await freshDatabase(kind, 'started')
      onTestFinished(() => database.drop())
      const url = await httpUpstream((request, response) => {
        request.resume()
        response.writeHead(200, { 'content-type': 'application/json' }).end(completion())
      })
      const { key, seekers } = await prepare(database, url)
      // A process of its own: the collections of garbage of this one, with the callers in it, are not measured.
      const server = await startProcess(database, { TRUSTED_PROXIES: '127.0.0.1' })
      onTestFinished(() => void server.kill('SIGKILL'))

      const searches: { code: string; ms: number }[] = []
      let clients = 0
      /** A person who searches without a pause, and who waits after a refusal for as long as it says. */
      const seek = async (headers: Record<string, string>, person: number, isOver: () => boolean) => {
        for (let turn = person; !isOver(); turn++) {
          const startedAt = performance.now()
          // A different address each time: the rate limit is not measured.
          const address = `10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients++ & 255}`
          const answer = await fetch(server.url + hard[turn % hard.length], {
            headers: { ...headers, 'x-forwarded-for': address },
          })
          const { code = '' } = (await answer.json()) as { code?: string }
          searches.push({ code, ms: performance.now() - startedAt })
          await sleep(Number(answer.headers.get('retry-after')) * 1000)
        }
      }
      const call = async () => {
        const startedAt = performance.now()
        expect((await ask(server, key, chat())).status).toBe(200)
        return performance.now() - startedAt
      }

      const [alone, beside]: [number[], number[]] = [[], []]
      await callMany(call)
      for (let round = 0; round < rounds; round++) {
        alone.push(...(await callMany(call)))
        let isOver = false
        const seeking = seekers.map((headers, person) => seek(headers, person, () => isOver))
        beside.push(...(await callMany(call)))
        isOver = true
        await Promise.all(seeking)
      }

      const [usual, now] = [p99(alone), p99(beside)]
      const slowest = Math.max(...searches.map(({ ms }) => ms))
      const counts = answers.map((code) => `${code || 'found'} ${searches.filter((search) => search.code === code).length}`)
      console.log(
        `${kind}: p99 of the relay ${usual.toFixed(1)} ms alone, ${now.toFixed(1)} ms beside searches, ratio ${(now / usual).toFixed(2)}; median ${median(alone).toFixed(1)} and ${median(beside).toFixed(1)} ms; ${searches.length} searches (${counts.join(', ')}), ${Math.round(slowest)} ms at most`,
      )
      expect(searches.filter(({ code }) => !answers.includes(code))).toEqual([])
      expect(searches.filter(({ code }) => code === '').length).toBeGreaterThan(0)
      expect(slowest).toBeLessThan(searchMs + 5000)
      expect(now / usual).toBeLessThan(2)
    },
    30 * 60_000,
  )

  /** The channel, a token, the rows of the log, and an admin's session for each person. */
  async function prepare(database: TestDatabase, url: string) {
    const server = await startServer(kind, { database })
    await addChannel(server, { url, models: model })
    const { key } = await addToken(server)
    await fillWithLog(server.app.database, rows)
    const admins = Array.from({ length: people }, (_, index) => index + 2)
    await server.app.database.db.updateTable('users').set({ role: 10 }).where('id', 'in', admins).execute()
    const seekers = await Promise.all(
      admins.map(async (userId) => {
        const session = await server.app.sessions.create({ userId, address: '127.0.0.1', userAgent: 'test' })
        return { cookie: `session=${session}`, 'new-api-user': `${userId}` }
      }),
    )
    await server.stop()
    return { key, seekers }
  }
})

async function callMany(call: () => Promise<number>): Promise<number[]> {
  const all: number[] = []
  const caller = async () => {
    for (let count = 0; count < callsOfRound / callersAtOnce; count++) all.push(await call())
  }
  await Promise.all(Array.from({ length: callersAtOnce }, caller))
  return all
}

const sorted = (all: readonly number[]) => all.toSorted((one, other) => one - other)
const median = (all: readonly number[]) => sorted(all)[Math.floor(all.length / 2)] ?? 0
const p99 = (all: readonly number[]) => sorted(all)[Math.floor(all.length * 0.99)] ?? 0
