import { expect, it } from 'vitest'
import { readInsert, statementsOf } from './dump-statements.ts'

const dump = `-- MariaDB dump; with a semicolon
/*!40101 SET NAMES utf8mb4; */;
CREATE TABLE \`t\` (
  \`id\` bigint(20) NOT NULL, # a comment; too
  \`a;b\` text DEFAULT 'x;y'
) ENGINE=InnoDB;
INSERT INTO \`t\` VALUES (1,'it''s; \\'fine\\' -- no comment /* nor here */'),(2,NULL),(-3,'line\\nbreak\\\\'),(9223372036854775807,_binary 'b'),(5,0x4142),(6,1.5);
INSERT INTO \`t\` (\`a;b\`, \`id\`) VALUES ('中文 😀', 7);
UNLOCK TABLES`

async function statementsIn(text: string, pieceLength: number): Promise<string[]> {
  async function* pieces() {
    for (let at = 0; at < text.length; at += pieceLength) yield text.slice(at, at + pieceLength)
  }
  const found: string[] = []
  for await (const statement of statementsOf(pieces())) if (statement.trim() !== '') found.push(statement.trim())
  return found
}

it('splits a dump into statements, however the stream is cut into chunks', async () => {
  const whole = await statementsIn(dump, dump.length)
  expect(whole).toHaveLength(4)
  expect(whole[0]).toMatch(/^CREATE TABLE/)
  for (let length = 1; length < 40; length++) expect(await statementsIn(dump, length)).toEqual(whole)
})

it('reads the values of inserted rows', async () => {
  const inserts = (await statementsIn(dump, 1000)).flatMap((statement) => readInsert(statement) ?? [])
  expect(inserts.map(({ table, columns, rows }) => ({ table, columns, rows: [...rows] }))).toEqual([
    {
      table: 't',
      columns: undefined,
      rows: [
        [1, "it's; 'fine' -- no comment /* nor here */"],
        [2, null],
        [-3, 'line\nbreak\\'],
        [9223372036854775807n, 'b'],
        [5, Buffer.from('AB')],
        [6, '1.5'],
      ],
    },
    { table: 't', columns: ['a;b', 'id'], rows: [['中文 😀', 7]] },
  ])
})

it('throws at values that it cannot parse', () => {
  const insert = readInsert("INSERT INTO `t` VALUES (1,'a'")
  expect(() => [...(insert?.rows ?? [])]).toThrow('cannot be read')
  expect(readInsert('SELECT 1')).toBeUndefined()
})
