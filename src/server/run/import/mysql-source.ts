import type { ConnectionOptions } from 'mysql2/promise'
import { type Source, type SourceValues, sourceOver } from './source.ts'
import { isRead, shapesOf } from './table-shapes.ts'

const defaultPort = 3306

export function isMysqlAddress(given: string): boolean {
  return /^(mysql|mariadb):\/\//.test(given) || given.includes('@tcp(') || given.includes('@unix(')
}

/** A MySQL or MariaDB server, read in one read-only snapshot. */
export async function openMysqlSource(address: string): Promise<Source> {
  const { createConnection } = await import('mysql2/promise')
  const connection = await createConnection({
    ...optionsOf(address),
    charset: 'utf8mb4',
    // Integers beyond the safe range arrive as strings of digits, times as they are stored.
    supportBigNumbers: true,
    dateStrings: true,
    jsonStrings: true,
  })
  const quoted = (name: string) => `\`${name.replaceAll('`', '``')}\``
  // Rows are objects of columns.
  const query = async (text: string) => (await connection.query(text))[0] as SourceValues[]
  try {
    await connection.query('set session transaction isolation level repeatable read')
    await connection.query('start transaction with consistent snapshot, read only')
    const shapes = shapesOf((await query(catalogue)).filter(isListed).map(columnOf))
    const bytesOf = (column: string) => `octet_length(${column})`
    const [version] = await query('select version() as named')
    const kind = /mariadb/i.test(String(version?.named)) ? 'MariaDB' : 'MySQL'
    return sourceOver({ kind, shapes, quoted, bytesOf, query, close: () => connection.end() })
  } catch (error) {
    await connection.end()
    throw error
  }
}

const catalogue = `
  select c.table_name as of_table, c.column_name as named, c.data_type as type, t.table_type as kind
  from information_schema.columns c join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
  where c.table_schema = database() order by c.table_name, c.ordinal_position`

/** Tables, and views with the name of a table that is read. */
function isListed({ of_table, kind }: SourceValues): boolean {
  return kind === 'BASE TABLE' || kind === 'SYSTEM VERSIONED' || isRead(String(of_table))
}

function columnOf({ of_table, named, type }: SourceValues) {
  return { table: String(of_table), name: String(named), isInteger: /int$/i.test(String(type)) }
}

/** Parses a URL, or the form `user:password@tcp(host:port)/database?…` or `user:password@unix(path)/database` of Go programs. */
function optionsOf(address: string): ConnectionOptions {
  const net = ['@tcp(', '@unix('].find((form) => address.includes(form))
  if (net === undefined) return { uri: address.replace(/^mariadb:/, 'mysql:') }
  const at = address.lastIndexOf(net)
  const end = address.indexOf(')', at)
  const [user = '', ...password] = address.slice(0, at).split(':')
  const database =
    address
      .slice(end + 1)
      .replace(/^\//, '')
      .split('?')[0] ?? ''
  const login = { user, password: password.join(':'), database }
  const place = address.slice(at + net.length, end)
  if (net === '@unix(') return { ...login, socketPath: place }
  const colon = place.lastIndexOf(':')
  const host = (colon < 0 ? place : place.slice(0, colon)).replace(/^\[|\]$/g, '')
  return { ...login, host: host || '127.0.0.1', port: colon < 0 ? defaultPort : Number(place.slice(colon + 1)) }
}
