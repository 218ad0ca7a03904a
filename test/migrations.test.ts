import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Migration, Migrator, sql } from 'kysely'
import { expect, it } from 'vitest'
import { openBackup, restoreBackup } from '../src/server/base/db/backup.ts'
import { migrate, requireCurrentSchema } from '../src/server/base/db/migrate.ts'
import { migrations } from '../src/server/base/db/migrations/index.ts'
import { openDatabase, openSqliteDatabase } from '../src/server/base/db/open.ts'
import { eachDatabase, freshDatabase } from './helpers/databases.ts'
import { newFolder } from './helpers/templates.ts'

/** `table.column` and whether it may be null, in order. Tables of the migrator itself are left out. */
async function columnsOf(kind: 'sqlite' | 'postgres'): Promise<string[]> {
  const test = await freshDatabase(kind, 'empty')
  const database = await test.open()
  const tables = await database.db.introspection.getTables()
  await database.close()
  await test.drop()
  return tables
    .filter(({ name, isView }) => !isView && !name.startsWith('kysely_'))
    .flatMap(({ name, columns }) =>
      columns.map((column) => `${name}.${column.name}${column.isNullable && !column.isAutoIncrementing ? '?' : ''}`),
    )
    .sort()
}

/** The same, read from the types in `schema.ts`. */
function columnsOfTypes(): string[] {
  const text = readFileSync(new URL('../src/server/base/db/schema.ts', import.meta.url), 'utf8')
  const fieldsOf = (body: string) =>
    [...body.matchAll(/(\w+): ([^;\n}]+)/g)].map(([, name = '', type = '']) => `${name}${/\| null/.test(type) ? '?' : ''}`)
  const bodies = new Map(
    [...text.matchAll(/interface (\w+) \{\n(.*?)\n\}/gs)].map(([, name = '', body = '']) => [
      name,
      body.replace(/\/\*\*.*?\*\//gs, ''),
    ]),
  )

  return [...(bodies.get('Tables') ?? '').matchAll(/^ {2}(\w+): (?:\{ (.*) \}|(\w+))$/gm)]
    .flatMap(([, table = '', inline, named = '']) =>
      fieldsOf(inline ?? bodies.get(named) ?? '').map((field) => `${table}.${field}`),
    )
    .sort()
}

it('migrations create the same tables on SQLite and on PostgreSQL, and they match schema.ts', async () => {
  const sqlite = await columnsOf('sqlite')
  expect(sqlite.length).toBeGreaterThan(150)
  expect(await columnsOf('postgres')).toEqual(sqlite)
  expect(columnsOfTypes()).toEqual(sqlite)
})

it('[T226] of several nodes that start together one migrates, while the others wait', async () => {
  const test = await freshDatabase('postgres', 'empty')
  const nodes = await Promise.all(Array.from({ length: 4 }, () => openDatabase(test.env)))
  await Promise.all(nodes.map((node) => migrate(node)))
  await Promise.all(nodes.map((node) => node.db.selectFrom('users').select('id').execute()))
  await Promise.all(nodes.map((node) => node.close()))
  await test.drop()
})

it('a restored backup of the version before is migrated in a copy, and leaves no files beside it', async () => {
  const folder = newFolder()
  const backup = openSqliteDatabase(join(folder, 'backup.db'))
  const older = migrations.slice(0, -1).map(({ name, up }): [string, Migration] => [name, { up: (db) => up(db, 'sqlite') }])
  const { error } = await new Migrator({
    db: backup.db,
    provider: { getMigrations: async () => Object.fromEntries(older) },
  }).migrateToLatest()
  expect(error).toBeUndefined()
  backup.raw.exec('pragma journal_mode = delete')
  await backup.close()
  const test = await freshDatabase('sqlite', 'empty')
  const database = await openDatabase(test.env)
  const opened = await openBackup(join(folder, 'backup.db'))
  await restoreBackup(opened, database)
  await opened.close()
  expect(readdirSync(folder)).toEqual(['backup.db'])
  expect(await database.db.selectFrom('ledger_journal').select('applied').execute()).toHaveLength(1)
  await database.close()
  await test.drop()
})

eachDatabase('migrations', (fresh) => {
  it('[T226] refuse a schema that is newer than the program', async () => {
    const test = await fresh()
    const database = await test.open()
    await sql`insert into kysely_migration (name, timestamp) values ('9999-later', '2099-01-01T00:00:00.000Z')`.execute(
      database.db,
    )
    for (const judge of [migrate, requireCurrentSchema])
      await expect(judge(database)).rejects.toThrow('The database is of a newer version, which has the migration 9999-later')
    await database.close()
    await test.drop()
  })
})
