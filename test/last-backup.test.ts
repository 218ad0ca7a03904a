import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { SystemInfo } from '../src/contract/entities/system.ts'
import { noteBackup } from '../src/server/base/db/last-backup.ts'
import { backupCommand } from '../src/server/run/commands/backup.ts'
import { doctorCommand } from '../src/server/run/commands/doctor.ts'
import { restoreCommand } from '../src/server/run/commands/restore.ts'
import { noteNode } from '../src/server/watch/jobs/note-node.ts'
import { serverOfTest } from './helpers/app.ts'
import { testMasterKey } from './helpers/core.ts'
import { eachDatabase, freshDatabase, type TestDatabase } from './helpers/databases.ts'
import { runCommand } from './helpers/sluice.ts'
import { newFolder } from './helpers/templates.ts'

const envOf = ({ env }: TestDatabase) => ({ ...env, MASTER_KEY: testMasterKey.toString('base64') })
const json = async (...given: Parameters<typeof runCommand>) => JSON.parse((await runCommand(...given)).output)

async function backupCheck(database: TestDatabase) {
  const { checks } = await json(doctorCommand, ['--json'], envOf(database))
  return checks.find(({ name }: { name: string }) => name === 'Backup')
}

eachDatabase('the age of the last backup', (_fresh, kind) => {
  it('is known to servers that run meanwhile, to their metrics and to doctor; a restored site tells of none', async () => {
    const server = await serverOfTest(kind)
    const { database } = server
    const told = async () => (await server.call<SystemInfo>('GET /api/system/')).last_backup
    const metric = async () => {
      await noteNode.run(server.app, new AbortController().signal, () => {})
      const text = await (await fetch(`${server.url}/metrics`)).text()
      return Number(/^sluice_last_backup_timestamp_seconds (\S+)$/m.exec(text)?.[1])
    }
    expect([await told(), await metric()]).toEqual([null, 0])
    expect(await backupCheck(database)).toMatchObject({ state: 'warning', found: expect.stringContaining('none was made') })

    const file = join(newFolder(), 'backup.db')
    const made = await json(backupCommand, [file, '--json'], envOf(database))
    expect(made).toMatchObject({ ok: true, noted: true })
    const last = await told()
    const rows = Object.values<number>(made.rows).reduce((sum, count) => sum + count, 0)
    expect(last).toEqual({ made_at: expect.any(Number), duration_ms: expect.any(Number), bytes: made.bytes, rows })
    expect(await metric()).toBe(last?.made_at)
    expect(await backupCheck(database)).toMatchObject({ state: 'ok', found: expect.stringContaining(`${made.bytes} bytes`) })

    const later = join(newFolder(), 'later.db')
    await runCommand(backupCommand, [later], envOf(database))
    const target = await freshDatabase(kind, 'empty')
    onTestFinished(() => target.drop())
    await runCommand(restoreCommand, [later, '--yes'], target.env)
    expect(await backupCheck(target)).toMatchObject({ found: expect.stringContaining('none was made') })

    const old = Math.floor(Date.now() / 1000) - 27 * 3600
    await noteBackup(server.app.db, { made_at: old, duration_ms: 1, bytes: 1, rows: 1 })
    expect(await backupCheck(database)).toMatchObject({
      state: 'warning',
      advice: expect.stringContaining('older than 26 hours'),
    })
  })
})

it('a backup of a database that takes no note succeeds, and says so', async () => {
  const database = await freshDatabase('postgres', 'started')
  onTestFinished(() => database.drop())
  const url = new URL(database.env.DATABASE_URL)
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const env = { ...envOf(database), DATABASE_URL: url.href }
  const { code, output } = await runCommand(backupCommand, [join(newFolder(), 'backup.db')], env)
  expect(code).toBe(0)
  expect(output).toContain('the database took no note: cannot execute INSERT in a read-only transaction')
})
