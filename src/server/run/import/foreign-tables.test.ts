import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { freshCore } from '../../../../test/helpers/core.ts'
import { freshDatabase } from '../../../../test/helpers/databases.ts'
import { changedOriginal, importFile, originalFile } from '../../../../test/helpers/family-database.ts'
import { statementsFor } from '../../../../test/helpers/family-schema.ts'
import { startMariadb } from '../../../../test/helpers/mariadb-server.ts'
import { openSource } from './open-source.ts'

/** Tables of every shape that a program beside the original may have made, with one row each. */
const foreign = {
  all: [
    'create table no_key (a int, b varchar(9))',
    "insert into no_key values (1, 'x')",
    'create table composite (a int, b int, primary key (a, b))',
    'insert into composite values (1, 2)',
    'create table text_id (id varchar(40) primary key, body text)',
    "insert into text_id values ('5f0c7e6e-0000-4000-8000-000000000000', 'it''s')",
    'create table text_only (id text)',
    "insert into text_only values ('a')",
    'create table constructor (id varchar(9) primary key)',
    "insert into constructor values ('a')",
    'create table empty_one (id varchar(9) primary key)',
    'create table computed (id int primary key, doubled int generated always as (id * 2) stored)',
    'insert into computed (id) values (4)',
    'create view shown as select * from no_key',
    'drop table if exists tasks',
    'create table tasks (id varchar(40) primary key, user_id int, task_id int)',
    "insert into tasks values ('b', 1, 1)",
    'drop table if exists top_ups',
    'create table top_ups (id int primary key, note varchar(9))',
    "insert into top_ups values (1, 'x')",
  ],
  mysql: [
    'create table `select` (`group` int, `key` int)',
    'insert into `select` values (1, 2)',
    'create table `a``b "c` (`x y` int)',
    'insert into `a``b "c` values (1)',
    'create table parted (id int, at int) partition by range (at) (partition p0 values less than (10), partition p1 values less than maxvalue)',
    'insert into parted values (1, 1), (2, 50)',
    'create trigger copies after insert on no_key for each row begin insert into logs (id, user_id, created_at, type) values (999, 1, 1, 1); end',
    'create procedure fills() begin insert into logs (id, user_id, created_at, type) values (998, 1, 1, 1); end',
  ],
  postgres: [
    'create table "select" ("group" int, "key" int)',
    'insert into "select" values (1, 2)',
    'create table "a`b ""c" ("x y" int)',
    'insert into "a`b ""c" values (1)',
    'create table parted (id int, at int) partition by range (at)',
    'create table parted_old partition of parted default',
    'insert into parted values (1, 1)',
    'create table uuid_id (id uuid primary key, bytes bytea)',
    "insert into uuid_id values (gen_random_uuid(), '\\x00ff')",
    'create schema other',
    'create table other.users (id uuid, username text)',
    'create table denied (id int)',
    'alter table denied enable row level security',
  ],
}
const named = ['a`b "c', 'composite', 'computed', 'constructor', 'no_key', 'parted', 'select', 'text_id', 'text_only']
const strange = ['tasks (its id is not an integer)', 'top_ups (it has no column user_id)']

async function imported(source: string) {
  const { core, close } = await freshCore(() => freshDatabase('sqlite'))
  onTestFinished(close)
  const report = await importFile(core, source)
  expect(report.balances.agree).toBe(true)
  const taken = Object.fromEntries(Object.entries(report.tables).map(([name, table]) => [name, table.taken]))
  return { taken, named: report.withoutCounterpart.filter((name) => !/^(users|tokens|channels|logs)\./.test(name)) }
}

const expectedTaken = async () => {
  const { taken, named: none } = await imported(originalFile('new-api-0.4'))
  expect(none).toEqual([])
  const { tasks: _tasks, top_ups: _orders, ...rest } = taken
  return rest
}

describe('tables of other programs', () => {
  it('are named and left: in a SQLite file', async () => {
    const quoted = ['create table "select" ("group" int)', 'insert into "select" values (1)', 'create table `a``b "c` (x)']
    const file = changedOriginal('new-api-0.4', [
      ...foreign.all,
      ...quoted,
      'insert into `a``b "c` values (1)',
      'create table parted (id text primary key, at) without rowid',
      "insert into parted values ('x', 1)",
      'create trigger copies after insert on no_key begin delete from logs; end',
      'create virtual table words using fts5(body)',
    ])
    const result = await imported(file)
    expect(result.taken).toEqual(await expectedTaken())
    expect(result.named.filter((name) => !name.startsWith('words'))).toEqual([...named, ...strange].sort())
  })

  it('are named and left: on PostgreSQL', async () => {
    const database = await freshDatabase('postgres', 'empty')
    onTestFinished(() => database.drop())
    const client = new pg.Client(database.env.DATABASE_URL)
    await client.connect()
    for (const statement of statementsFor('postgres', originalFile('new-api-0.4'))) await client.query(statement)
    for (const statement of [...foreign.all, ...foreign.postgres]) await client.query(statement)
    await client.end()
    const result = await imported(database.env.DATABASE_URL)
    expect(result.taken).toEqual(await expectedTaken())
    expect(result.named).toEqual([...named, ...strange, 'uuid_id'].sort())
  })

  it('are named and left: on MariaDB and in a dump of it', async ({ skip }) => {
    const mariadb = await startMariadb()
    if (!mariadb) return skip()
    onTestFinished(() => mariadb.stop())
    const address = await mariadb.database('source')
    await mariadb.run('source', statementsFor('mysql', originalFile('new-api-0.4')))
    await mariadb.run('source', [...foreign.all, ...foreign.mysql])
    const wanted = { taken: await expectedTaken(), named: [...named, ...strange].sort() }
    expect(await imported(address)).toEqual(wanted)
    expect(await imported(dumpOf(await mariadb.dump('source', ['--routines'])))).toEqual(wanted)
  })
})

describe('a table of the program itself', () => {
  it('with rows without an id of their own has these refused, and the others taken', async () => {
    const file = changedOriginal('new-api-0.4', [
      'create table copied as select * from logs',
      'drop table logs',
      'create table logs as select * from copied',
      'drop table copied',
      'insert into logs (id, user_id, created_at, type) values (null, 1, 1, 1), (13, 1, 1, 1)',
      "insert into logs (id, user_id, created_at, type) values ('a', 1, 1, 1)",
    ])
    const { core, close } = await freshCore(() => freshDatabase('sqlite'))
    onTestFinished(close)
    const { tables } = await importFile(core, file)
    expect(tables.logs).toMatchObject({ read: 16, refused: 3 })
    expect(tables.logs?.findings).toContainEqual(
      expect.objectContaining({ what: 'its id is empty, not an integer, or that of another row', rows: 3 }),
    )
  })

  it('that is another one ends the import with its name when nothing works without it', async () => {
    const file = changedOriginal('new-api-0.4', ['alter table users rename column username to login'])
    await expect(imported(file)).rejects.toThrow(
      'The table users of this SQLite database is not that of new-api: it has no column username',
    )
  })

  it('with large values is read in small pages', async () => {
    const file = changedOriginal('new-api-0.4', [
      'with recursive n(i) as (select 100 union all select i + 1 from n where i < 139) insert into logs (id, user_id, created_at, type, content) select i, 1, 1, 4, hex(zeroblob(1 << 20)) from n',
    ])
    const source = await openSource(file)
    onTestFinished(() => source.close())
    const sizes: number[] = []
    for (let after = 99n; ; ) {
      const page = await source.page('logs', { after, limit: 1000 })
      if (page.length === 0) break
      sizes.push(page.length)
      after = BigInt(String(page.at(-1)?.id))
    }
    expect(sizes.reduce((sum, count) => sum + count)).toBe(40)
    expect(Math.max(...sizes)).toBe(7)
  })
})

describe('a dump', () => {
  const users =
    "CREATE TABLE `users` (\n`id` bigint,\n`username` text,\n`quota` bigint);\nINSERT INTO `users` VALUES (1,'a',5);\n"

  it.each([
    ["INSERT INTO `users` VALUES (2,'b');", 'users, line 6: the row has 2 values for 3 columns'],
    ["INSERT INTO `users` VALUES (2,'b',3),\n(3,now(),4);", 'users, line 7: this is not a value'],
    ["INSERT INTO `logs` VALUES (2,'b',3);", 'logs, line 6: the dump has rows of this table and not the table itself'],
    [users, 'users is in this dump twice, in lines 1 and 6: it is of several databases'],
    ["INSERT INTO `users` VALUES (2,'b", 'the text that begins in line 6 is never closed'],
  ])('that cannot be read is refused with the table and the line: %s', async (added, message) => {
    await expect(openSource(dumpOf(users + added))).rejects.toThrow(message)
  })

  it.each([
    ['PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\nCREATE TABLE users (id);', 'This is a dump of SQLite'],
    ['--\n-- PostgreSQL database cluster dump\n--\n', 'This is a dump of PostgreSQL'],
    [Buffer.from(`\ufeff${users}`, 'utf16le'), 'is UTF-16'],
    ['nothing', 'has no tables'],
  ])('of another kind is refused with what to do (%#)', async (content, message) => {
    await expect(openSource(dumpOf(content))).rejects.toThrow(message)
  })

  it('with one statement of many rows, and a value of 64 MB, is loaded', async () => {
    const many = Array.from({ length: 50_000 }, (_, at) => `(${at + 10},'${'n'.repeat(40)}',1)`).join(',\n')
    const source = await openSource(
      dumpOf(`${users}INSERT INTO \`users\` VALUES ${many};\nINSERT INTO \`users\` VALUES (2,'${'\\n'.repeat(1 << 26)}',7);`),
    )
    onTestFinished(() => source.close())
    expect(await source.count('users')).toBe(50_002)
    const [row] = await source.page('users', { after: 1n, limit: 100 })
    expect([String(row?.id), String(row?.username).length]).toEqual(['2', 1 << 26])
  })
})

function dumpOf(text: string | Buffer): string {
  const file = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'dump.sql')
  writeFileSync(file, text)
  return file
}
