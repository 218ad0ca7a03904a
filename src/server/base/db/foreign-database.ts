/** A table that only databases of this program have, from their first migration on. */
const ownTable = 'key_ring'

/**
 * Throws when the columns of the tables show that the database belongs to another program of this family; the error names the
 * import command. Its tables have the names of this schema, so that a migration would break both programs.
 */
export function requireOwn(tables: ReadonlyMap<string, readonly string[]>, where: string): void {
  if (tables.has(ownTable) || !['users', 'tokens', 'channels', 'options'].every((table) => tables.has(table))) return
  const family = tables.get('tokens')?.includes('model_limits_enabled') ? 'new-api' : 'one-api'
  throw new Error(
    `This is a database of ${family}, ${where}. Sluice does not open it: name another database, which may be empty, by DATA_DIR or DATABASE_URL, and take this one over with: sluice import ${family} FILE-OR-ADDRESS --dry-run`,
  )
}
