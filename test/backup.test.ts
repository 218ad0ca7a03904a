import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { openBackup, writeBackup } from '../src/server/base/db/backup.ts'
import { openSecrets } from '../src/server/base/db/key-ring.ts'
import { openDatabase } from '../src/server/base/db/open.ts'
import { openSqlite } from '../src/server/base/db/sqlite-file.ts'
import { restoreCommand } from '../src/server/run/commands/restore.ts'
import { freshCore, testMasterKey } from './helpers/core.ts'
import { eachDatabase, freshDatabase } from './helpers/databases.ts'
import { importFile, originalFile } from './helpers/family-database.ts'
import { fillWithLog } from './helpers/long-log.ts'
import { randomsOf } from './helpers/randoms.ts'
import { runCommand, startSluice } from './helpers/sluice.ts'
import { newFolder } from './helpers/templates.ts'
import { isTorture } from './helpers/torture.ts'

const flips = isTorture ? 2000 : 150
const seed = Number(process.env.SEED ?? 33)

eachDatabase('a backup', (fresh, kind) => {
  /** A backup with users, balances, texts and indexes of several pages. */
  const written = async () => {
    const folder = newFolder()
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { core, close } = await freshCore(fresh)
    onTestFinished(close)
    await importFile(core, originalFile('new-api-0.4'))
    await core.db.updateTable('users').set({ display_name: 'a name to be found', quota: 7_654_321 }).where('id', '=', 2).execute()
    const file = join(folder, 'backup.db')
    await writeBackup(core.database, file)
    return { folder, file, core }
  }
  /** The environment of a database without tables. */
  const target = async (into: 'sqlite' | 'postgres') => {
    const database = await freshDatabase(into, 'empty')
    onTestFinished(() => database.drop())
    return database
  }

  it(`is refused with any one byte flipped, wherever it is (seed ${seed})`, async () => {
    const { folder, file } = await written()
    const bytes = readFileSync(file)
    const random = randomsOf(seed)
    const copy = join(folder, 'copy.db')
    // Every byte of the header and of the checksum, and many between.
    const places = new Set([
      ...Array.from({ length: 100 }, (_, at) => at),
      ...Array.from({ length: 100 }, (_, at) => bytes.length - 1 - at),
      ...Array.from({ length: flips }, () => Math.floor(random() * bytes.length)),
    ])
    const taken: number[] = []
    for (const at of places) {
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8))
      writeFileSync(copy, damaged)
      const error = await openBackup(copy).then(
        (opened) => opened.close().then(() => undefined),
        (refused: unknown) => String(refused),
      )
      if (error === undefined) taken.push(at)
      else
        expect(error).toMatch(
          /copy\.db (is damaged|is cut off|does not begin like a backup).*Nothing was restored\. Take another copy/,
        )
    }
    expect(taken).toEqual([])
    expect(readdirSync(folder).sort()).toEqual(['backup.db', 'copy.db'])
  })

  it.each(['sqlite', 'postgres'] as const)(
    'is refused whole with a flipped balance, text or index page: into %s',
    async (into) => {
      const { folder, file, core } = await written()
      const bytes = readFileSync(file)
      const database = openSqlite(copyOf(file, join(folder, 'pages.db')))
      const pageBytes = Number(database.prepare('pragma page_size').get()?.page_size)
      const index = database.prepare(`select rootpage from sqlite_master where type = 'index' and tbl_name = 'users'`).get()
      database.close()
      const places = {
        balance: bytes.indexOf(Buffer.from([0x74, 0xcb, 0xb1])),
        text: bytes.indexOf('a name to be found'),
        index: Number(index?.rootpage) * pageBytes - 3,
      }
      for (const at of Object.values(places)) {
        expect(at).toBeGreaterThan(0)
        const damaged = Buffer.from(bytes)
        damaged[at] = (damaged[at] ?? 0) ^ 1
        const copy = join(folder, 'copy.db')
        writeFileSync(copy, damaged)
        const { env } = await target(into)
        await expect(runCommand(restoreCommand, [copy, '--yes'], env)).rejects.toThrow(
          `${copy} is damaged: its content does not have the checksum`,
        )
        await requireUntouched(env)
      }
      const { env, open } = await target(into)
      const done = await runCommand(restoreCommand, [file, '--yes', '--json'], env)
      expect([done.code, JSON.parse(done.output)]).toMatchObject([0, { ok: true, checksum: true }])
      const restored = await open()
      const users = (db: typeof restored.db) => db.selectFrom('users').selectAll().orderBy('id').execute()
      expect(await users(restored.db)).toEqual(await users(core.db))
      await restored.close()
    },
  )

  it('is refused when it is cut off or has become longer, with both lengths', async () => {
    const { folder, file } = await written()
    const whole = readFileSync(file).length
    const { env } = await target(kind)
    const copy = join(folder, 'copy.db')
    for (const length of [0, 15, 99, 100, 4096, 5000, whole - 4096, whole - 80, whole - 79, whole - 1]) {
      truncateSync(copyOf(file, copy), length)
      const wanted = length < 100 ? 'does not begin like a backup' : `is cut off: it has ${length} of ${whole} bytes`
      await expect(runCommand(restoreCommand, [copy, '--yes'], env)).rejects.toThrow(wanted)
    }
    for (const added of [1, 79, 4096, 2 << 20]) {
      appendFileSync(copyOf(file, copy), Buffer.alloc(added))
      await expect(runCommand(restoreCommand, [copy, '--yes'], env)).rejects.toThrow(`longer than the ${whole} bytes`)
    }
    await requireUntouched(env)
    expect(readdirSync(folder).sort()).toEqual(['backup.db', 'copy.db'])
  })

  it('of an earlier version, without a checksum, is restored with a warning, and refused when a page is damaged', async () => {
    const { folder, file } = await written()
    const older = join(folder, 'older.db')
    copyFileSync(file, older)
    truncateSync(older, Math.floor(readFileSync(older).length / 4096) * 4096)
    const database = openSqlite(older)
    database.exec('pragma application_id = 0; pragma journal_mode = delete')
    database.close()
    const { env } = await target(kind)
    const done = await runCommand(restoreCommand, [older, '--yes'], env)
    expect(done).toMatchObject({ code: 0, output: expect.stringContaining('carries no checksum') })

    const bytes = readFileSync(older)
    writeFileSync(older, bytes.fill(0xff, 4096, 8192))
    const { env: other } = await target(kind)
    await expect(runCommand(restoreCommand, [older, '--yes'], other)).rejects.toThrow(`${older} is damaged`)
    await requireUntouched(other)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'that is interrupted by %s leaves no file, and says what to do',
    async (interruption) => {
      const test = await fresh()
      onTestFinished(() => test.drop())
      const database = await test.open()
      await openSecrets(database, testMasterKey, 0)
      await fillWithLog(database, 100_000)
      await database.close()
      const file = join(newFolder(), 'backup.db')
      const running = startSluice(['backup', file], { ...test.env, MASTER_KEY: testMasterKey.toString('base64') })
      await expect.poll(() => existsSync(`${file}.partial`), { timeout: 60_000, interval: 5 }).toBe(true)
      running.kill(interruption)
      expect(await running.ended).toMatchObject({
        code: 2,
        errors: expect.stringContaining('The backup was interrupted, and nothing of it is left: start it again'),
      })
      expect(readdirSync(dirname(file))).toEqual([])
    },
  )

  it('can be read by SQLite as it is', async () => {
    const { file } = await written()
    const database = openSqlite(copyOf(file, `${file}.copy`))
    expect(database.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(database.prepare('select quota from users where id = 2').get()).toEqual({ quota: 7_654_321 })
    database.close()
  })
})

function copyOf(file: string, copy: string): string {
  copyFileSync(file, copy)
  return copy
}

/** Nothing half restored: no file, and no table. */
async function requireUntouched(env: { DATABASE_URL: string; DATA_DIR: string }): Promise<void> {
  expect(readdirSync(env.DATA_DIR)).toEqual([])
  if (env.DATABASE_URL === '') return
  const database = await openDatabase(env)
  const { rows } = await sql`select tablename from pg_tables where schemaname = 'public'`.execute(database.db)
  await database.close()
  expect(rows).toEqual([])
}
