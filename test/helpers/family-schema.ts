import { openSqliteReading } from '../../src/server/base/db/sqlite-file.ts'

type Dialect = 'mysql' | 'postgres'

const quotes = { mysql: '`', postgres: '"' } as const
/** The column types of the original programs on database servers, by the column types in their SQLite files. */
const types: Readonly<Record<Dialect, readonly (readonly [RegExp, string])[]>> = {
  mysql: [
    [/^integer/i, 'bigint'],
    [/^numeric/i, 'tinyint(1)'],
    [/^real/i, 'double'],
    [/^datetime/i, 'datetime(3)'],
    [/^json/i, 'json'],
    [/^(char|varchar)/i, '$&'],
    [/^text/i, 'longtext'],
  ],
  postgres: [
    [/^integer/i, 'bigint'],
    [/^numeric/i, 'boolean'],
    [/^real/i, 'double precision'],
    [/^datetime/i, 'timestamptz'],
    [/^json/i, 'json'],
    [/^text/i, 'text'],
  ],
}

/** The statements that create the tables and rows of a SQLite file on a server, as the original programs would. */
export function statementsFor(dialect: Dialect, file: string): string[] {
  const database = openSqliteReading(file)
  const quoted = (name: string) => quotes[dialect] + name + quotes[dialect]
  try {
    const tables = database.prepare(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`).all()
    return tables.flatMap(({ name }) => {
      const table = String(name)
      const columns = database
        .prepare(`pragma table_info("${table}")`)
        .all()
        .map((column) => ({ name: String(column.name), type: String(column.type) }))
      const typeOf = (given: string) => {
        const [form, type] = types[dialect].find(([pattern]) => pattern.test(given)) ?? [/.*/, given]
        return type === '$&' ? given : given.replace(form, type).replace(/^(\S+( precision)?).*$/, type)
      }
      const declared = columns.map(
        (column) => `${quoted(column.name)} ${typeOf(column.type)}${column.name === 'id' ? ' primary key' : ''}`,
      )
      const rows = database.prepare(`select * from "${table}"`).all()
      const value = (given: unknown, type: string) => {
        if (given === null) return 'null'
        if (dialect === 'postgres' && /^numeric/i.test(type)) return String(given === 1)
        if (/^json/i.test(type) && given === '') return 'null'
        if (/^datetime/i.test(type) && dialect === 'mysql') return `'${String(given).slice(0, 23)}'`
        if (typeof given === 'number') return String(given)
        const text = String(given).replaceAll("'", "''")
        return `'${dialect === 'mysql' ? text.replaceAll('\\', '\\\\') : text}'`
      }
      return [
        `create table ${quoted(table)} (${declared.join(', ')})`,
        ...rows.map(
          (row) =>
            `insert into ${quoted(table)} values (${columns.map((column) => value(row[column.name], column.type)).join(', ')})`,
        ),
      ]
    })
  } finally {
    database.close()
  }
}
