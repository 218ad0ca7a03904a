import { expect, it } from 'vitest'
import { type Part, partsOf } from './dump-statements.ts'
import { readBeginning, readColumns, readNames, readValues } from './dump-values.ts'

const dump = `-- MariaDB dump; with a semicolon
/*!40101 SET NAMES utf8mb4; */;
CREATE TABLE \`t\` (
  \`id\` bigint(20) NOT NULL, # a comment; too
  \`a;b\` text DEFAULT 'x;y'
) ENGINE=InnoDB;
INSERT INTO \`t\` VALUES (1,'it''s; \\'fine\\' -- no comment /* nor here */'),(2,NULL),(-3,'line\\nbreak\\\\'),(9223372036854775807,_binary 'b'),(5,0x4142),(6,1.5);
DELIMITER ;;
CREATE PROCEDURE \`p\`() BEGIN INSERT INTO \`t\` VALUES (7,'of a routine'); END ;;
DELIMITER ;
INSERT INTO \`t\` (\`a;b\`, \`id\`) VALUES ('中文 😀', 7);
UNLOCK TABLES`

async function partsIn(
  text: string,
  pieceLength = text.length,
  isWanted = (words: string) => readBeginning(words) !== undefined,
) {
  async function* pieces() {
    for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength)
  }
  const found: Part[] = []
  for await (const part of partsOf(pieces(), isWanted)) found.push(part)
  return found
}

const groups = (parts: readonly Part[]) => parts.filter(({ kind }) => kind === 'group').map(({ text }) => text)

it('splits a dump into rows, with their lines, however the stream is cut into chunks', async () => {
  const whole = await partsIn(dump)
  const [columns = '', ...rows] = groups(whole)
  expect(readColumns(columns)).toEqual([
    { name: 'id', isInteger: true },
    { name: 'a;b', isInteger: false },
  ])
  expect(rows.map((row) => (row.startsWith('(`') ? readNames(row) : readValues(row)))).toEqual([
    [1, "it's; 'fine' -- no comment /* nor here */"],
    [2, null],
    [-3, 'line\nbreak\\'],
    [9223372036854775807n, 'b'],
    [5, Buffer.from('AB')],
    [6, '1.5'],
    ['a;b', 'id'],
    ['中文 😀', 7],
  ])
  expect(whole.filter(({ kind }) => kind === 'end')).toHaveLength(3)
  expect(whole.filter(({ kind, text }) => kind === 'group' && /^\((1|'中)/.test(text)).map(({ line }) => line)).toEqual([7, 11])
  for (let length = 1; length < 40; length++) expect(await partsIn(dump, length)).toEqual(whole)
})

it.each([
  ['insert into `t` values (', 'insert', 't'],
  ['REPLACE INTO t(', 'insert', 't'],
  ['INSERT IGNORE INTO `d`.`a b` VALUES(', 'insert', 'a b'],
  ['CREATE TABLE IF NOT EXISTS "order" (', 'create', 'order'],
  ['create table `a``b` (', 'create', 'a`b'],
  ['CREATE TABLE `select` (', 'create', 'select'],
  ['CREATE VIEW `t` AS SELECT (', undefined, ''],
  ['ALTER TABLE `t` ADD PRIMARY KEY (', undefined, ''],
])('finds the table of: %s', (words, kind, table) => {
  expect(readBeginning(words.slice(0, -1))).toEqual(kind && { kind, table })
})

it('finds the columns of any table', () => {
  const names = (group: string) => readColumns(group).map(({ name, isInteger }) => (isInteger ? `${name} int` : name))
  expect(names("(id int, `key` char(3) DEFAULT 'a,)', PRIMARY KEY (id, `key`), KEY k (id))")).toEqual(['id int', 'key'])
  expect(names("(`primary` uuid NOT NULL,\"group\" enum('a','b'),`n` int GENERATED ALWAYS AS (length(`group`)) STORED)")).toEqual(
    ['primary', 'group', 'n int'],
  )
  expect(names('()')).toEqual([])
})

it('throws at values that it cannot parse, and at a dump that ends within something', async () => {
  for (const row of ["(1,'a", '(1,now())', '(1 2)', '(,)', `(${'('.repeat(100_000)}${')'.repeat(100_000)})`, "(1,'a''"])
    expect(() => readValues(row)).toThrow('this is not a value')
  const cut = (text: string) => partsIn(`\n\n${text}`)
  await expect(cut('insert into t values (1, (2;')).rejects.toThrow('the parenthesis that opens in line 3 is never closed')
  await expect(cut("insert into t values (1,\n'2;\n)")).rejects.toThrow('the text that begins in line 4 is never closed')
  await expect(cut('select 1;\n/* ...')).rejects.toThrow('the comment that begins in line 4 is never closed')
  await expect(cut('create table `t')).rejects.toThrow('the text that begins in line 3 is never closed')
})

it('reads a value of ten million escapes, and parentheses of any depth outside of rows', async () => {
  const escapes = 10_000_000
  const [row = ''] = groups(await partsIn(`insert into t values ('${"\\'".repeat(escapes)}');`, 1 << 20))
  const [value] = readValues(row)
  expect([typeof value, String(value).length, String(value).slice(0, 3)]).toEqual(['string', escapes, "'''"])
  const doubled = readValues(`('${"''".repeat(escapes)}')`)
  expect(String(doubled[0]).length).toBe(escapes)
  const deep = `select ${'('.repeat(1_000_000)}1${')'.repeat(1_000_000)}; insert into t values (1);`
  expect(groups(await partsIn(deep, 1 << 20))).toEqual(['(1)'])
})

it('keeps nothing of statements that are not wanted, and refuses a row that is too long', async () => {
  const piece = 'x'.repeat(1 << 20)
  async function* long(begin: string, pieces: number) {
    yield begin
    for (let count = 0; count < pieces; count++) yield piece
    yield "');"
  }
  const read = async (begin: string) => {
    for await (const part of partsOf(long(begin, 20), (words) => readBeginning(words)?.table === 't'))
      expect(part).toBe('unwanted')
  }
  await read("insert into foreign_one values ('")
  await read("set @a = ('")
  await expect(
    (async () => {
      for await (const _ of partsOf(long("\ninsert into t values ('", 140), () => true));
    })(),
  ).rejects.toThrow('The row that begins in line 2 is longer than 129 million characters')
})
