import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { testMasterKey } from '../helpers/core.ts'
import { eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { changedOriginal, logRows } from '../helpers/family-database.ts'
import { peakResidentMb } from '../helpers/process-memory.ts'
import { sluiceProgram } from '../helpers/sluice.ts'

const fewRows = 50_000
const manyRows = Number(process.env.IMPORT_ROWS ?? 400_000)
const peakMaxMb = 400
/** What the heap varies by between two runs; the rows of the longer log alone are more than 100 MB. */
const growthMaxMb = 60

eachDatabase('sluice import', (_fresh, kind) => {
  it(`imports ${manyRows} log rows in the memory that ${fewRows} need`, async () => {
    const few = await peakOf(fewRows)
    const many = await peakOf(manyRows)
    expect(many).toBeLessThan(peakMaxMb)
    expect(many - few).toBeLessThan(growthMaxMb)
  })

  async function peakOf(rows: number): Promise<number> {
    const file = changedOriginal('new-api-0.4', [logRows(rows)])
    const database = await freshDatabase(kind, 'empty')
    onTestFinished(() => database.drop())
    const env = { PATH: process.env.PATH, ...database.env, MASTER_KEY: testMasterKey.toString('base64') }
    const child = spawn(process.execPath, [sluiceProgram, 'import', 'new-api', file, '--yes', '--json'], { env })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    let output = ''
    child.stdout.on('data', (chunk) => {
      output += chunk
    })
    let peak = 0
    const isRunning = () => child.exitCode === null && child.signalCode === null
    while (isRunning()) {
      try {
        const resident = child.pid ? peakResidentMb(child.pid) : 0
        // Not a number once it has ended.
        if (resident > peak) peak = resident
      } catch {
        // It has just ended.
      }
      await Promise.race([ended, sleep(20)])
    }
    expect(await ended).toBe(0)
    expect(JSON.parse(output).tables.logs).toMatchObject({ taken: rows + 13 })
    return peak
  }
})
