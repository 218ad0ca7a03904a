import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../../../../test/helpers/app.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'

const endless = sql`
  with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 1000000000) select max(n) as n from numbers`

const codeOf = async (server: TestServer, path: string) => {
  const response = await server.raw(`GET ${path}`)
  const { code = 'ok' } = (await response.json()) as { code?: string }
  return [response.status, code]
}

eachDatabase('searches of the log', (_fresh, kind) => {
  it('are refused with 429 when too many run and wait, but not files, other users and other calls', async () => {
    const server = await serverOfTest(kind)
    const { promise: over, resolve: end } = Promise.withResolvers<void>()
    const left = new AbortController().signal
    const occupying = Array.from({ length: 6 }, (_, at) =>
      server.app.searches.run({ userId: 1, filter: `${at}`, signal: left }, () => over),
    )

    for (const path of ['/api/log/', '/api/log/self', '/api/log/stat', '/api/log/search?keyword=x', '/api/data/self'])
      expect(await codeOf(server, path)).toEqual([429, 'log_searches_busy'])
    expect((await server.raw('GET /api/log/export.csv')).status).toBe(200)
    expect((await server.raw('GET /api/log/self/export.jsonl')).status).toBe(200)
    expect(await codeOf(server, '/api/user/self')).toEqual([200, 'ok'])

    end()
    await Promise.all(occupying)
    const start = Math.floor(Date.now() / 1000) - 3600
    for (const path of ['/api/log/', '/api/log/self/stat', `/api/data/self/sums?by=model&grain=hour&start_timestamp=${start}`])
      expect(await codeOf(server, path)).toEqual([200, 'ok'])
  })

  it('block neither the calls of the console nor the log of others, and end when their caller has disconnected', async () => {
    const server = await serverOfTest(kind)
    const caller = new AbortController()
    const long = server.app.searches.run({ userId: 2, filter: '', signal: caller.signal }, (db) => endless.execute(db))
    const outcome = long.catch((error: { code: string }) => error.code)
    for (let count = 0; count < 5; count++) expect(await codeOf(server, '/api/user/self')).toEqual([200, 'ok'])

    caller.abort()
    expect(await outcome).toBe('log_search_cancelled')
    expect(await codeOf(server, '/api/log/')).toEqual([200, 'ok'])
  })

  it('with the same query replace each other', async () => {
    const server = await serverOfTest(kind)
    const left = new AbortController().signal
    const search = () =>
      server.app.searches
        .run({ userId: 1, filter: 'same', signal: left }, (db) => endless.execute(db))
        .catch((error: { code: string }) => error.code)
    const [older, newer] = [search(), search()]
    expect(await older).toBe('log_search_cancelled')
    const newest = search()
    expect(await newer).toBe('log_search_cancelled')
    const last = server.app.searches.run({ userId: 1, filter: 'same', signal: left }, async () => 'found')
    expect(await newest).toBe('log_search_cancelled')
    expect(await last).toBe('found')
  })
})
