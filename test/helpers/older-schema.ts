import { type Kysely, sql } from 'kysely'
import { migrations } from '../../src/server/base/db/migrations/index.ts'
import type { Database } from '../../src/server/base/db/open.ts'

/** Gives an empty database the schema of the version before a migration, as that version has left it. */
export async function migrateBefore({ db, dialect }: Pick<Database, 'db' | 'dialect'>, first: string): Promise<void> {
  await sql`create table kysely_migration (name varchar(255) not null primary key, timestamp varchar(255) not null)`.execute(db)
  const place = migrations.findIndex(({ name }) => name === first)
  for (const { name, up } of migrations.slice(0, place)) {
    // A migration is about the schema as it is then, which no type describes.
    await up(db as unknown as Kysely<unknown>, dialect)
    await sql`insert into kysely_migration values (${name}, ${new Date().toISOString()})`.execute(db)
  }
}
