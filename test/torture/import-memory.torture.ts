import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { testMasterKey } from '../helpers/core.ts'
import { eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { changedOriginal, logRows, originalFile } from '../helpers/family-database.ts'
import { statementsFor } from '../helpers/family-schema.ts'
import { type MariadbServer, startMariadb } from '../helpers/mariadb-server.ts'
import { limitedYoungGeneration, peakResidentMb } from '../helpers/process-memory.ts'
import { sluiceProgram } from '../helpers/sluice.ts'

const fewRows = 100_000
const manyRows = Number(process.env.IMPORT_ROWS ?? 400_000)
const peakMaxMb = 400
/** The variation of the heap between two runs; the rows of the longer log alone are more than 100 MB. */
const growthMaxMb = 60

let mariadb: MariadbServer | undefined
beforeAll(async () => {
  mariadb = await startMariadb()
}, 60_000)
afterAll(() => mariadb?.stop())

/** Sources whose log has this many more rows than the original, by kind of database. */
const sources = {
  SQLite: async (rows: number) => changedOriginal('new-api-0.4', [logRows(rows)]),
  async MariaDB(rows: number) {
    if (!mariadb) throw new Error('mariadb-server is missing')
    const name = `source_${rows}`
    const address = await mariadb.database(name)
    await mariadb.run(name, [...statementsFor('mysql', originalFile('new-api-0.4')), logRowsOfMariadb(rows)])
    return address
  },
} as const

eachDatabase('sluice import', (_fresh, kind) => {
  const kinds = kind === 'postgres' ? (['SQLite', 'MariaDB'] as const) : (['SQLite'] as const)

  it.for(kinds)(`from %s takes ${manyRows} log rows in the memory that ${fewRows} need`, async (from, { skip }) => {
    if (from === 'MariaDB' && !mariadb) return skip('mariadb-server is missing')
    const few = await lowestPeakOf(await sources[from](fewRows), fewRows)
    const many = await lowestPeakOf(await sources[from](manyRows), manyRows)
    console.log(`${from} into ${kind}: ${manyRows} log rows at ${many} MB, ${fewRows} at ${few} MB`)
    expect(many).toBeLessThan(peakMaxMb)
    expect(many - few).toBeLessThan(growthMaxMb)
  })

  /** Of two runs: how much garbage waits for its collection differs by tens of megabytes. */
  async function lowestPeakOf(source: string, rows: number): Promise<number> {
    return Math.min(await peakOf(source, rows), await peakOf(source, rows))
  }

  async function peakOf(source: string, rows: number): Promise<number> {
    const database = await freshDatabase(kind, 'empty')
    onTestFinished(() => database.drop())
    const env = {
      PATH: process.env.PATH,
      NODE_OPTIONS: limitedYoungGeneration,
      ...database.env,
      MASTER_KEY: testMasterKey.toString('base64'),
    }
    const child = spawn(process.execPath, [sluiceProgram, 'import', 'new-api', source, '--yes', '--json'], { env })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    let peak = 0
    const isRunning = () => child.exitCode === null && child.signalCode === null
    while (isRunning()) {
      try {
        if (child.pid) peak = Math.max(peak, peakResidentMb(child.pid))
      } catch {
        // The process has just ended.
      }
      await Promise.race([ended, sleep(20)])
    }
    expect(await ended).toBe(0)
    expect(JSON.parse(output).tables.logs).toMatchObject({ taken: rows + 13 })
    return peak
  }
})

/** The rows that `logRows` adds, from a sequence of MariaDB. */
function logRowsOfMariadb(count: number): string {
  return `
    insert into logs (id, user_id, created_at, type, content, username, token_name, model_name, quota, prompt_tokens, completion_tokens,
      channel_id, token_id, \`group\`, other)
    select seq, 1, 1795415042 + seq, 2, '', 'root', 't', 'm', 3, 1, 2, 1, 1, 'default', '{}' from seq_100_to_${count + 99}`
}
