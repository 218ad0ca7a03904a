import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { databaseFile, openSqliteDatabase } from '../../src/server/base/db/open.ts'
import { testMasterKey } from '../helpers/core.ts'
import { freshDatabase } from '../helpers/databases.ts'
import { migrateBefore } from '../helpers/older-schema.ts'
import { startProcess } from '../helpers/process.ts'
import { sluice, startSluice } from '../helpers/sluice.ts'
import { newFolder } from '../helpers/templates.ts'

/** Processes that are killed while they migrate a long log on SQLite: MIGRATION_KILLS (14), at moments spread over the migration. */
const kills = Number(process.env.MIGRATION_KILLS ?? 14)
const rows = 500_000
/** The first migration that has to read the whole log. */
const firstLong = '0016-statistics'

it(`a database whose migration is killed, at ${kills} moments of it, is complete after the next start`, async () => {
  const older = await olderFile()
  const copy = async () => {
    const test = await freshDatabase('sqlite', 'empty')
    onTestFinished(() => test.drop())
    copyFileSync(older, join(test.env.DATA_DIR, databaseFile))
    return { test, env: { ...test.env, MASTER_KEY: testMasterKey.toString('base64') } }
  }
  const startedAt = performance.now()
  expect(await sluice(['migrate'], (await copy()).env)).toMatchObject({ code: 0, errors: '' })
  const wholeMs = performance.now() - startedAt

  let interrupted = 0
  for (let kill = 0; kill < kills; kill++) {
    const { test, env } = await copy()
    const running = startSluice(['migrate'], env)
    await pause((wholeMs * (kill + 0.5)) / kills)
    running.kill('SIGKILL')
    if ((await running.ended).code !== 0) interrupted++
    expect([kill, await sluice(['migrate'], env)]).toMatchObject([kill, { code: 0, errors: '' }])
    const server = await startProcess(test)
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    expect(await server.kill('SIGTERM')).toBe(0)
    const database = openSqliteDatabase(join(test.env.DATA_DIR, databaseFile))
    expect(database.raw.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(database.raw.prepare('select count(*) as count from logs').get()).toEqual({ count: rows })
    await database.close()
  }
  console.log(`${interrupted} of ${kills} were killed before they had migrated, which takes ${Math.round(wholeMs)} ms`)
  expect(interrupted).toBeGreaterThan(kills / 2)
})

/** A database of the version before `firstLong`, with a long log. */
async function olderFile(): Promise<string> {
  const file = join(newFolder(), databaseFile)
  const database = openSqliteDatabase(file)
  await migrateBefore(database, firstLong)
  database.raw.exec(`insert into logs (user_id, created_at, type, username, token_name, model_name, request_id)
    with recursive s (n) as (select 1 union all select n + 1 from s where n < ${rows})
    select n % 50, 1760000000 + n, 2, 'user', 'token', 'model', 'request-' || n from s`)
  await database.close()
  return file
}
