import { openSqliteReading } from '../db/sqlite-file.ts'
import { type Source, type SourceValues, sourceOver } from './source.ts'

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
    const names = database.prepare(`select name from sqlite_master where type = 'table'`).all() as { name: string }[]
    const columnsOf = (name: string) => database.prepare(`pragma table_info(${quoted(name)})`).all() as { name: string }[]
    const tables = new Map(names.map(({ name }) => [name, new Set(columnsOf(name).map((column) => column.name))]))
    return sourceOver({ kind, tables, quoted, query, close: async () => database.close() })
  } catch (error) {
    database.close()
    throw error
  }
}
