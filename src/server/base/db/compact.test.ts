import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../../../test/helpers/app.ts'
import { testMasterKey } from '../../../../test/helpers/core.ts'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { fillWithLog } from '../../../../test/helpers/long-log.ts'
import { sluice, startSluice } from '../../../../test/helpers/sluice.ts'
import { openSecrets } from './key-ring.ts'
import { databaseFile } from './open.ts'
import { storageOf, tableSizes } from './storage.ts'

const rows = 100_000
const kept = 1000

it('compact gives the space of deleted rows back, also after it was killed, and tells before what it needs', async () => {
  const { run, start, read, loggedBytes } = await afterPurge()
  const before = await read()
  expect(before.unusedBytes).toBeGreaterThan(before.bytes / 2)
  expect(before.sizes.map(({ name }) => name)).toContain('logs')

  const planned = await run(['compact', '--dry-run', '--json'])
  expect(JSON.parse(planned.output)).toMatchObject({
    ok: true,
    dry_run: true,
    bytes: before.bytes,
    unused_bytes: before.unusedBytes,
  })
  expect(await read()).toEqual(before)

  // Wherever it is killed, the file is as it was, or compact.
  for (const writtenBytes of [1, 1e6, 2e6]) {
    const running = start(['compact'])
    let isOver = false
    void running.ended.then(() => {
      isOver = true
    })
    while (!isOver && loggedBytes() < writtenBytes) await turn()
    running.kill('SIGKILL')
    await running.ended
    expect((await read()).rows).toBe(kept)
  }
  expect(JSON.parse((await run(['compact', '--json'])).output)).toMatchObject({ ok: true, dry_run: false })
  const after = await read()
  expect(after.rows).toBe(kept)
  expect(after.unusedBytes).toBe(0)
  expect(after.bytes).toBeLessThan(before.bytes / 2)
})

it('compact refuses a file that a server uses', async () => {
  const server = await startServer('sqlite')
  onTestFinished(() => server.stop())
  const env = { ...server.database.env, MASTER_KEY: testMasterKey.toString('base64') }
  const { code, errors } = await sluice(['compact'], env)
  expect([code, errors]).toEqual([2, expect.stringContaining('Another server uses')])
})

/** A file most of whose rows were deleted, the commands that use it, and what is in it. */
async function afterPurge() {
  const test = await freshDatabase('sqlite')
  onTestFinished(() => test.drop())
  const database = await test.open()
  await openSecrets(database, testMasterKey, 0)
  await fillWithLog(database, rows)
  await database.db.deleteFrom('logs').where('id', '>', kept).execute()
  await database.close()
  const file = join(test.env.DATA_DIR, databaseFile)
  const env = { ...test.env, MASTER_KEY: testMasterKey.toString('base64') }
  return {
    run: (args: readonly string[]) => sluice(args, env),
    start: (args: readonly string[]) => startSluice(args, env),
    /** The length of the write-ahead log. */
    loggedBytes: () => statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    async read() {
      const opened = await test.open()
      if (opened.dialect !== 'sqlite') throw new Error('SQLite is needed')
      const { count } = await opened.db
        .selectFrom('logs')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      expect(opened.raw.prepare('pragma integrity_check').get()).toEqual({ integrity_check: 'ok' })
      const read = { ...(await storageOf(opened)), rows: count, sizes: await tableSizes(opened) }
      await opened.close()
      return read
    },
  }
}
