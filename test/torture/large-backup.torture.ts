import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { openSecrets } from '../../src/server/base/db/key-ring.ts'
import { testMasterKey } from '../helpers/core.ts'
import { eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { fillWithLog } from '../helpers/long-log.ts'
import { peakResidentMb } from '../helpers/process-memory.ts'
import { startSluice } from '../helpers/sluice.ts'
import { newFolder } from '../helpers/templates.ts'

/** A backup of a long log, and its restore into the other kind of database: BACKUP_ROWS rows (2,000,000). */
const rows = Number(process.env.BACKUP_ROWS ?? 2_000_000)
const memoryMaxMb = 500

eachDatabase('a long log', (fresh, kind) => {
  it(`of ${rows} rows is backed up and restored in less than ${memoryMaxMb} MB, with progress`, async () => {
    const from = await fresh()
    onTestFinished(() => from.drop())
    const database = await from.open()
    await openSecrets(database, testMasterKey, 0)
    await fillWithLog(database, rows)
    await database.close()
    const file = join(newFolder(), 'backup.db')
    onTestFinished(() => rmSync(file, { force: true }))
    const backup = await measured(['backup', file, '--json'], from.env)
    expect(backup.errors).toMatch(/backing up: logs \d+ of \d+/)
    expect(JSON.parse(backup.output)).toMatchObject({ ok: true, rows: { logs: rows } })
    expect(backup.mb).toBeLessThan(memoryMaxMb)

    const into = await freshDatabase(kind === 'sqlite' ? 'postgres' : 'sqlite', 'empty')
    onTestFinished(() => into.drop())
    const restore = await measured(['restore', file, '--yes', '--json'], into.env)
    expect(JSON.parse(restore.output)).toMatchObject({ ok: true, rows: { logs: rows } })
    expect(restore.mb).toBeLessThan(memoryMaxMb)
    console.log(
      `${kind}: ${rows} rows, file of ${Math.round(statSync(file).size / 1e6)} MB; backup ${backup.seconds} s and ${backup.mb} MB, restore ${restore.seconds} s and ${restore.mb} MB`,
    )
  })
})

async function measured(args: readonly string[], env: Record<string, string>) {
  const startedAt = performance.now()
  const running = startSluice(args, { ...env, MASTER_KEY: testMasterKey.toString('base64') })
  let mb = 0
  let isOver = false
  const ended = running.ended.finally(() => {
    isOver = true
  })
  while (!isOver) {
    try {
      mb = Math.max(mb, peakResidentMb(running.pid))
    } catch {
      // It has ended.
    }
    await pause(100)
  }
  return { ...(await ended), mb, seconds: Math.round((performance.now() - startedAt) / 1000) }
}
