import pg from 'pg'
import { type Source, type SourceValues, sourceOver } from './source.ts'

export function isPostgresAddress(given: string): boolean {
  return /^postgres(ql)?:\/\//.test(given)
}

/** A PostgreSQL database, read in one read-only snapshot. Values arrive as text, so that no number loses a digit. */
export async function openPostgresSource(address: string): Promise<Source> {
  const client = new pg.Client({
    connectionString: address,
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
    const columns = await query(
      'select table_name as of_table, column_name as named from information_schema.columns where table_schema = current_schema()',
    )
    const tables = new Map<string, Set<string>>()
    for (const { of_table, named } of columns) {
      const table = tables.get(String(of_table)) ?? new Set()
      tables.set(String(of_table), table.add(String(named)))
    }
    return sourceOver({ kind: 'PostgreSQL', tables, quoted, query, close: () => client.end() })
  } catch (error) {
    await client.end()
    throw error
  }
}
