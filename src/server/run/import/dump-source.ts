import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import { openSqlite } from '../../base/db/sqlite-file.ts'
import { messageOf } from '../../base/lib/failure.ts'
import { type Part, partsOf } from './dump-statements.ts'
import {
  type Beginning,
  type DumpColumn,
  type DumpValue,
  readBeginning,
  readColumns,
  readNames,
  readValues,
} from './dump-values.ts'
import type { Source } from './source.ts'
import { openSqliteSource } from './sqlite-source.ts'
import { isRead, strangenessOf } from './table-shapes.ts'

/**
 * A dump of MySQL or MariaDB, written by `mysqldump`. Rows of the tables that an import reads are loaded into a temporary SQLite file,
 * which `close` removes: a dump of any length needs disk space, not memory.
 */
export async function openDumpSource(file: string, onProgress: (text: string) => void = () => {}): Promise<Source> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-dump-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const copy = join(folder, 'dump.db')
    const loaded = await loadDump(file, copy, onProgress)
    const source = openSqliteSource(copy, 'MySQL dump')
    const close = async () => {
      await source.close()
      remove()
    }
    return {
      ...source,
      tables: new Map([...source.tables, ...[...loaded.foreign.keys()].map((name) => [name, new Set<string>()] as const)]),
      left: loaded.left,
      hasRows: async (table) => loaded.foreign.get(table) ?? source.hasRows(table),
      count: async (table, since) => (await source.count(table, since)) + (loaded.unread.get(table) ?? 0),
      close,
    }
  } catch (error) {
    remove()
    throw error
  }
}

interface Table {
  readonly columns: readonly DumpColumn[]
  /** The place of the id among the columns, if the table is read by it. */
  readonly idAt: number
  readonly insert: StatementSync
}

interface Loaded {
  /** Tables that are not loaded, and whether the dump has rows of them. */
  readonly foreign: ReadonlyMap<string, boolean>
  /** Tables that are not loaded although they have the name of one that is read, and why. */
  readonly left: ReadonlyMap<string, string>
  /** The number of rows of loaded tables that have no id of their own. */
  readonly unread: ReadonlyMap<string, number>
}

async function loadDump(file: string, copy: string, onProgress: (text: string) => void): Promise<Loaded> {
  const database = openSqlite(copy)
  try {
    database.exec('pragma synchronous = off; begin')
    const loader = new Loader(database, onProgress)
    const pieces = createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })
    for await (const part of partsOf(pieces, (words, line) => loader.begin(words, line))) loader.take(part)
    database.exec('commit; pragma journal_mode = delete')
    if (!loader.hasTables) throw new Error(`${file} has no tables: it is not a dump of MySQL or MariaDB`)
    return loader
  } finally {
    database.close()
  }
}

class Loader implements Loaded {
  readonly foreign = new Map<string, boolean>()
  readonly left = new Map<string, string>()
  readonly unread = new Map<string, number>()
  readonly #database: DatabaseSync
  readonly #onProgress: (text: string) => void
  readonly #tables = new Map<string, Table>()
  readonly #lines = new Map<string, number>()
  #statement: Beginning = { kind: 'create', table: '' }
  /** The columns that an insert lists; then whether its rows have begun, or are over. */
  #names: readonly string[] | undefined
  #rows: 'before' | 'within' | 'after' = 'before'
  #taken = 0

  constructor(database: DatabaseSync, onProgress: (text: string) => void) {
    this.#database = database
    this.#onProgress = onProgress
  }

  get hasTables(): boolean {
    return this.#lines.size > 0
  }

  /** Whether the parts of a statement that begins with these words are needed. */
  begin(words: string, line: number): boolean {
    const statement = readBeginning(words)
    if (!statement) return false
    this.#statement = statement
    this.#names = undefined
    this.#rows = 'before'
    const { kind, table } = statement
    if (kind === 'create') return this.#beginTable(table, line)
    if (!isRead(table) || this.left.has(table)) {
      if (!this.left.has(table)) this.foreign.set(table, true)
      return false
    }
    if (!this.#tables.has(table))
      throw new Error(`${table}, line ${line}: the dump has rows of this table and not the table itself`)
    return true
  }

  #beginTable(table: string, line: number): boolean {
    const earlier = this.#lines.get(table)
    if (isRead(table) && earlier !== undefined)
      throw new Error(
        `${table} is in this dump twice, in lines ${earlier} and ${line}: it is of several databases, or several dumps in one. Dump one database alone`,
      )
    this.#lines.set(table, line)
    if (!isRead(table)) this.foreign.set(table, this.foreign.get(table) ?? false)
    return isRead(table)
  }

  take({ kind, text, line }: Part): void {
    const { table } = this.#statement
    if (this.#statement.kind === 'create') {
      if (kind === 'group' && !this.#tables.has(table) && !this.left.has(table)) this.#makeTable(table, readColumns(text))
      return
    }
    if (kind === 'words') this.#readWords(text)
    else if (kind === 'end') this.#onProgress(`${this.#taken} rows of the dump`)
    else if (this.#rows === 'before') this.#names = readNames(text)
    else if (this.#rows === 'within') this.#takeRow(table, text, line)
  }

  #readWords(text: string): void {
    if (/\bvalues?\s*$/i.test(text)) this.#rows = this.#rows === 'before' ? 'within' : 'after'
    // `on duplicate key update …` may follow the rows.
    else if (this.#rows === 'within' && text.trim() !== ',') this.#rows = 'after'
  }

  #makeTable(name: string, columns: readonly DumpColumn[]): void {
    const strangeness = strangenessOf({ name, columns: new Map(columns.map((column) => [column.name, column.isInteger])) })
    if (strangeness !== undefined) {
      this.left.set(name, strangeness)
      return
    }
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
    const idAt = columns.findIndex((column) => column.name === 'id' && column.isInteger)
    const declared = columns.map((column, at) => quoted(column.name) + (at === idAt ? ' integer primary key' : ''))
    this.#database.exec(`create table ${quoted(name)} (${declared.join(', ')})`)
    const places = columns.map(() => '?').join(', ')
    const insert = this.#database.prepare(`insert or ignore into ${quoted(name)} values (${places})`)
    this.#tables.set(name, { columns, idAt, insert })
  }

  #takeRow(name: string, text: string, line: number): void {
    const table = this.#tables.get(name)
    if (!table) return
    const values = valuesOf(name, text, line)
    const wanted = this.#names?.length ?? table.columns.length
    if (values.length !== wanted)
      throw new Error(`${name}, line ${line}: the row has ${values.length} values for ${wanted} columns`)
    const row = this.#names ? table.columns.map((column) => values[this.#names?.indexOf(column.name) ?? -1] ?? null) : values
    this.#taken++
    const hasId = table.idAt < 0 || isInteger(row[table.idAt])
    // Values are texts, numbers, bytes and null.
    if (!hasId || table.insert.run(...(row as SQLInputValue[])).changes === 0)
      this.unread.set(name, (this.unread.get(name) ?? 0) + 1)
  }
}

function valuesOf(table: string, text: string, line: number): DumpValue[] {
  try {
    return readValues(text)
  } catch (error) {
    throw new Error(`${table}, line ${line}: ${messageOf(error)}`, { cause: error })
  }
}

function isInteger(value: DumpValue | undefined): boolean {
  if (typeof value === 'number') return Number.isInteger(value)
  // SQLite stores no greater integers.
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value
}
