import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { migrations } from '../../src/server/base/db/migrations/index.ts'
import { databaseFile, openDatabase } from '../../src/server/base/db/open.ts'
import { lockForServer } from '../../src/server/base/db/sqlite-file.ts'
import { type DatabaseKind, eachDatabase, freshDatabase } from '../helpers/databases.ts'
import { inlineCommand } from '../helpers/documented-commands.ts'
import { migrateBefore } from '../helpers/older-schema.ts'
import { installation } from './installation.ts'

// The commands of docs/operations/upgrade.md, as they are written there.

const command = (text: string) => inlineCommand('upgrade.md', text)
const newest = migrations.at(-1)?.name ?? ''

eachDatabase('a database of the previous version', (_fresh, kind) => {
  it('is described by a dry run, brought up to date by a command, and served by the start', async () => {
    const { shell, start } = installation()
    const env = await previousDatabase(kind)
    const dryRun = () => shell(command('sluice migrate --dry-run'), env)
    const planned = await dryRun()
    expect(planned).toMatch(new RegExp(`^${newest}\n(?: {2}.+\n)*Would run: 1 migration\\.\n$`))
    // It has changed nothing.
    expect(await dryRun()).toBe(planned)
    expect(await shell(command('sluice migrate'), env)).toContain('Has run: 1 migration.')
    expect(await dryRun()).toBe('The database is up to date.\n')

    const server = start(command('npm start'), env)
    expect((await fetch(`${await server.url}/readyz`)).status).toBe(200)
    if (kind === 'postgres') expect(await shell(command('sluice doctor'), { ...env, PORT: '0' })).toContain('Indexes: complete')
    server.stop()
    expect((await server.ended).output).toContain('stopped')
  })

  it('is brought up to date by the start; a file of SQLite that another process uses is left as it is', async () => {
    const { shell, start } = installation()
    const env = await previousDatabase(kind)
    const dryRun = () => shell(command('sluice migrate --dry-run'), env)
    if (kind === 'sqlite') {
      const planned = await dryRun()
      const other = lockForServer(join(env.DATA_DIR, databaseFile), 0)
      const { code, output } = await start(command('npm start'), env).ended
      expect([code, output]).toEqual([1, expect.stringContaining('stop it first')])
      expect(await dryRun()).toBe(planned)
      other.close()
    }
    const server = start(command('npm start'), env)
    expect((await fetch(`${await server.url}/readyz`)).status).toBe(200)
    expect(await dryRun()).toBe('The database is up to date.\n')
    server.stop()
    await server.ended
  })
})

/** The environment of a database with the schema of the previous version. */
async function previousDatabase(kind: DatabaseKind) {
  const test = await freshDatabase(kind, 'empty')
  onTestFinished(() => test.drop())
  const database = await openDatabase(test.env)
  await migrateBefore(database, newest)
  await database.close()
  return test.env
}
