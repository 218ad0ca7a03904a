import { newPostgresClient } from '../../base/db/postgres-hosts.ts'
import { type Source, type SourceValues, sourceOver } from './source.ts'
import { isRead, shapesOf } from './table-shapes.ts'

export function isPostgresAddress(given: string): boolean {
  return /^postgres(ql)?:\/\//.test(given)
}

/** A PostgreSQL database, read in one read-only snapshot. Values arrive as text, so that no number loses a digit. */
export async function openPostgresSource(address: string): Promise<Source> {
  const client = newPostgresClient(address, {
    connectionTimeoutMillis: 10_000,
    application_name: 'sluice import',
    types: { getTypeParser: () => (text: string) => text },
  })
  // A connection that breaks fails its query; without a listener it would also end the process.
  client.on('error', () => {})
  await client.connect()
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
  const query = async (text: string) => (await client.query<SourceValues>(text)).rows
  try {
    await client.query('begin isolation level repeatable read read only')
    const shapes = shapesOf((await query(catalogue)).filter(isListed).map(columnOf))
    const attempt = async (text: string) => {
      // A failed query would end the transaction, and with it the snapshot.
      await query('savepoint attempted')
      try {
        return await query(text)
      } catch (error) {
        await query('rollback to savepoint attempted')
        throw error
      }
    }
    const bytesOf = (column: string) => `octet_length(${column}::text)`
    return sourceOver({ kind: 'PostgreSQL', shapes, quoted, bytesOf, query, attempt, close: () => client.end() })
  } catch (error) {
    await client.end()
    throw error
  }
}

/** The columns of all tables of the schema, and of views and foreign tables; the partitions of a table are not named beside it. */
const catalogue = `
  select c.relname as of_table, a.attname as named, t.typname as type, c.relkind as kind
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace join pg_type t on t.oid = a.atttypid
  where n.nspname = current_schema() and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and a.attnum > 0
    and not a.attisdropped order by c.relname, a.attnum`

/** Tables, and whatever else has the name of one that is read. */
function isListed({ of_table, kind }: SourceValues): boolean {
  return kind === 'r' || kind === 'p' || isRead(String(of_table))
}

function columnOf({ of_table, named, type }: SourceValues) {
  return { table: String(of_table), name: String(named), isInteger: /^int[248]$/.test(String(type)) }
}
