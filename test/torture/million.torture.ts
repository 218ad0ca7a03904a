import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { startUpstream, tools } from '../../scripts/bench/targets.mjs'
import { freshDatabase } from '../helpers/databases.ts'
import { startProcess } from '../helpers/process.ts'
import { limitedYoungGeneration, openFilesOf, residentMb } from '../helpers/process-memory.ts'

/**
 * One process, one database, one user: MILLION requests (1,000,000) over 50 kept connections, by the provider and the load
 * of the benchmark, in rounds of ten seconds after which memory and files are read.
 */
const wanted = Number(process.env.MILLION ?? 1_000_000)
const connections = 50
const roundSeconds = 10
const model = 'bench-json'
/** Two units for each token of the prompt, eight for each of the answer, of which the provider reports 200 each. */
const unitsOfCall = 200 * 2 + 200 * 8
const run = promisify(execFile)

interface Round {
  readonly requests: number
  readonly failed: number
  readonly failedStatus: number
  readonly seconds: number
  readonly p99: number
}

it(
  `[T250] ${wanted} requests in one run are charged to the unit, by one row each, and leave memory and files level`,
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-million-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { upstream, load } = await tools(folder)
    const provider = await startUpstream(upstream, [])
    onTestFinished(() => provider.stop())
    const database = await freshDatabase('sqlite')
    onTestFinished(() => database.drop())
    const server = await startProcess(database, { NODE_OPTIONS: limitedYoungGeneration })
    onTestFinished(async () => void (await server.kill('SIGKILL')))
    const key = await furnish(server, provider.port)
    const request = join(folder, 'request')
    writeFileSync(request, requestOf(new URL(server.url).port, key))

    const [command, ...args] = [...load, new URL(server.url).port, request, 1, connections, roundSeconds, 0, 0].map(String)
    const rounds: Round[] = []
    const levels: { readonly memory: number; readonly files: number }[] = []
    const answered = () => rounds.reduce((sum, { requests }) => sum + requests, 0)
    while (answered() < wanted) {
      rounds.push(JSON.parse((await run(command ?? '', args)).stdout))
      levels.push({ memory: residentMb(server.pid), files: openFilesOf(server.pid) })
      // A disk that stands still for seconds refuses calls, which are then free; anything else breaks the run.
      const { failed = 0, failedStatus } = rounds.at(-1) ?? {}
      expect(failed === 0 ? 503 : failedStatus, server.output().slice(-2000)).toBe(503)
    }
    const refused = rounds.reduce((sum, { failed }) => sum + failed, 0)
    const took = rounds.reduce((sum, { seconds }) => sum + seconds, 0)
    const shown = levels.map(({ memory }) => memory)
    console.log(
      `${answered()} requests in ${Math.round(took)} s, ${refused} refused; memory ${shown.join(' ')} MB; files ${levels[0]?.files} to ${levels.at(-1)?.files}`,
    )

    expect(await server.kill('SIGTERM')).toBe(0)
    const open = await database.open()
    onTestFinished(() => open.close())
    const { db } = open
    const count = answered()
    const sum = async (table: 'ledger' | 'logs', amount: 'amount' | 'quota', kinds: string) =>
      db
        .selectFrom(table)
        .select(({ fn }) => [fn.countAll<number>().as('rows'), fn.sum<number>(amount).as('units')])
        .$call((query) => (kinds === '' ? query : query.where('kind' as never, '=', kinds as never)))
        .executeTakeFirstOrThrow()
    expect(await sum('ledger', 'amount', 'charge')).toEqual({ rows: count, units: -count * unitsOfCall })
    const logs = db.selectFrom('logs').where('type', '=', 2)
    const logged = await logs
      .select(({ fn }) => [fn.count<number>('request_id').distinct().as('requests'), fn.sum<number>('quota').as('units')])
      .executeTakeFirstOrThrow()
    expect(logged).toEqual({ requests: count, units: count * unitsOfCall })
    const user = await db.selectFrom('users').select(['quota', 'held', 'used_quota', 'request_count']).executeTakeFirstOrThrow()
    const { units: all } = await sum('ledger', 'amount', '')
    expect(user).toEqual({ quota: all, held: 0, used_quota: count * unitsOfCall, request_count: count })
    expect(await db.selectFrom('tokens').select(['held', 'used_quota']).execute()).toEqual([
      { held: 0, used_quota: count * unitsOfCall },
    ])
    const hours = await db
      .selectFrom('quota_data')
      .select(({ fn }) => [fn.sum<number>('count').as('requests'), fn.sum<number>('quota').as('units')])
      .executeTakeFirstOrThrow()
    expect(hours).toEqual({ requests: count, units: count * unitsOfCall })
    expect(await db.selectFrom('holds').selectAll().execute()).toEqual([])

    // The second half needs no more than the first, whose beginning is the warm-up.
    const half = Math.ceil(levels.length / 2)
    const most = (part: typeof levels, what: 'memory' | 'files') => Math.max(...part.map((level) => level[what]))
    if (levels.length >= 4) {
      expect(most(levels.slice(half), 'memory')).toBeLessThan(most(levels.slice(0, half), 'memory') + 64)
      expect(most(levels.slice(half), 'files')).toBeLessThanOrEqual(most(levels.slice(0, half), 'files') + 10)
    }
  },
  90 * 60_000,
)

async function furnish(server: Awaited<ReturnType<typeof startProcess>>, providerPort: number): Promise<string> {
  const ratios = { ModelRatio: 2, CompletionRatio: 4 }
  for (const [option, ratio] of Object.entries(ratios))
    await server.call('PUT /api/option/', { key: option, value: JSON.stringify({ [model]: ratio }) })
  const base_url = `http://127.0.0.1:${providerPort}`
  await server.call('POST /api/channel/', { name: 'bench', type: 1, key: 'upstream-key', models: model, base_url })
  await server.call('POST /api/user/1/quota', { change: 4e12, reason: 'a million calls' })
  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'bench', unlimited_quota: true })
  return `sk-${key}`
}

function requestOf(port: string, key: string): string {
  const body = JSON.stringify({ model, max_tokens: 500, messages: [{ role: 'user', content: 'tell me about the sea' }] })
  const head = [
    ...['POST /v1/chat/completions HTTP/1.1', `host: 127.0.0.1:${port}`, `authorization: Bearer ${key}`],
    ...['content-type: application/json', `content-length: ${body.length}`],
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
