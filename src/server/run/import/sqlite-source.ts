import type { DatabaseSync } from 'node:sqlite'
import { openSqliteReading } from '../../base/db/sqlite-file.ts'
import { type Source, type SourceValues, sourceOver } from './source.ts'
import { isRead, type TableShape } from './table-shapes.ts'

/** A SQLite file, read in one transaction that lasts until `close`, so that writes of other processes stay invisible. */
export function openSqliteSource(file: string, kind = 'SQLite'): Source {
  const database = openSqliteReading(file)
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const query = async (text: string): Promise<SourceValues[]> => {
    const statement = database.prepare(text)
    // Without this the driver throws at integers beyond the safe range.
    statement.setReadBigInts(true)
    // Rows are objects of columns.
    return statement.all() as SourceValues[]
  }
  try {
    database.exec('begin')
    const bytesOf = (column: string) => `octet_length(${column})`
    const hasInteger = (column: string) => `typeof(${column}) = 'integer'`
    return sourceOver({
      kind,
      shapes: shapesIn(database),
      quoted,
      bytesOf,
      hasInteger,
      query,
      close: async () => database.close(),
    })
  } catch (error) {
    database.close()
    throw error
  }
}

/** All tables, and views with the name of a table that is read. */
function shapesIn(database: DatabaseSync): TableShape[] {
  const found = database.prepare(`select name, type from sqlite_master where type in ('table', 'view')`).all()
  return found.flatMap((row) => {
    const name = String(row.name)
    if (row.type === 'view' && !isRead(name)) return []
    return { name, columns: columnsOf(database, name) }
  })
}

/** None of a virtual table whose module this SQLite does not have. */
function columnsOf(database: DatabaseSync, table: string): TableShape['columns'] {
  try {
    const columns = database.prepare('select name, type from pragma_table_info(?)').all(table)
    return new Map(columns.map(({ name, type }) => [String(name), /int/i.test(String(type))]))
  } catch {
    return new Map()
  }
}
