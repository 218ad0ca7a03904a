import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { openSqlite } from '../db/sqlite-file.ts'
import { readInsert, statementsOf } from './dump-statements.ts'
import type { Source } from './source.ts'
import { openSqliteSource } from './sqlite-source.ts'

/**
 * A dump of MySQL or MariaDB, written by `mysqldump`. Its rows are loaded into a temporary SQLite file, which `close` removes: a dump of any
 * length needs disk space, not memory.
 */
export async function openDumpSource(file: string, onProgress: (text: string) => void = () => {}): Promise<Source> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-dump-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const copy = join(folder, 'dump.db')
    await loadDump(file, copy, onProgress)
    const source = openSqliteSource(copy, 'MySQL dump')
    const close = async () => {
      await source.close()
      remove()
    }
    return { ...source, close }
  } catch (error) {
    remove()
    throw error
  }
}

interface Table {
  readonly columns: readonly string[]
  readonly insert: StatementSync
}

async function loadDump(file: string, copy: string, onProgress: (text: string) => void): Promise<void> {
  const database = openSqlite(copy)
  try {
    database.exec('pragma synchronous = off; begin')
    const tables = new Map<string, Table>()
    let rows = 0
    for await (const statement of statementsOf(createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 }))) {
      const created = /^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?`?([^`\s(]+)`?\s*\(/i.exec(statement)
      if (created?.[1] !== undefined) tables.set(created[1], makeTable(database, created[1], statement))
      const insert = readInsert(statement)
      const table = insert && tables.get(insert.table)
      if (!insert || !table) continue
      const places = insert.columns?.map((column) => table.columns.indexOf(column))
      for (const values of insert.rows) {
        // Values are texts, numbers, bytes and null.
        const row = places ? table.columns.map((_, index) => values[places.indexOf(index)] ?? null) : values
        table.insert.run(...(row as Parameters<StatementSync['run']>))
        rows++
      }
      onProgress(`${rows} rows of the dump`)
    }
    database.exec('commit; pragma journal_mode = delete')
    if (tables.size === 0) throw new Error(`${file} has no tables: it is not a dump of MySQL or MariaDB`)
  } finally {
    database.close()
  }
}

function makeTable(database: DatabaseSync, name: string, statement: string): Table {
  // One column per line, which begins with its name; keys and constraints begin with a word.
  const lines = statement.split('\n').map((line) => line.trimStart())
  const columns = lines.flatMap((line) => (line.startsWith('`') ? [line.slice(1, line.indexOf('`', 1))] : []))
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  const declared = columns.map((column) => (column === 'id' ? '"id" integer primary key' : quoted(column)))
  database.exec(`create table ${quoted(name)} (${declared.join(', ')})`)
  const places = columns.map(() => '?').join(', ')
  return { columns, insert: database.prepare(`insert into ${quoted(name)} values (${places})`) }
}
