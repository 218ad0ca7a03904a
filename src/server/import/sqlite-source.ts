import { openSqliteReading } from '../db/sqlite-file.ts'
import { type Source, type SourceValues, sourceOver } from './source.ts'

/** A SQLite file. One read transaction holds from here to `close`, so that what another process writes meanwhile is not half seen. */
export function openSqliteSource(file: string, kind = 'SQLite'): Source {
  const database = openSqliteReading(file)
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const query = async (text: string): Promise<SourceValues[]> => {
    const statement = database.prepare(text)
    // A number that is not exact any more would be refused by the driver.
    statement.setReadBigInts(true)
    // Rows are objects of columns.
    return statement.all() as SourceValues[]
  }
  try {
    database.exec('begin')
    const names = database.prepare(`select name from sqlite_master where type = 'table'`).all() as { name: string }[]
    const columnsOf = (name: string) => database.prepare(`pragma table_info(${quoted(name)})`).all() as { name: string }[]
    const tables = new Map(names.map(({ name }) => [name, new Set(columnsOf(name).map((column) => column.name))]))
    return sourceOver({ kind, tables, quoted, query, close: async () => database.close() })
  } catch (error) {
    database.close()
    throw error
  }
}
