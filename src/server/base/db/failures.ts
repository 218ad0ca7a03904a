/**
 * Whether a failure is a violated unique constraint, on either database; of this column, if one is given, such as `users.email`.
 */
export function isUniqueViolation(error: unknown, column?: string): boolean {
  if (!(error instanceof Error)) return false
  if ('code' in error && error.code === '23505') {
    // Index names follow their columns.
    return column === undefined || ('constraint' in error && error.constraint === column.replace('.', '_'))
  }
  return error.message.includes('UNIQUE constraint failed') && (column === undefined || error.message.includes(column))
}

/**
 * SQLSTATE classes of connection, resources, operator and system, and the read-only state; then the system's error codes of a
 * connection.
 */
const failureCodes =
  /^(08|53|57|58)\w{3}$|^25006$|^E(CONNREFUSED|CONNRESET|PIPE|TIMEDOUT|NOTFOUND|HOSTUNREACH|NETUNREACH)$|^EAI_AGAIN$/
/** Texts of failures without a code: of SQLite, of the PostgreSQL client, and of a database that this process has closed. */
const failureTexts =
  /database is locked|disk is full|readonly database|disk I\/O error|unable to open database|exceeded when trying to connect|wait for a connection|database did not answer|Query read timeout|timeout expired|Connection terminated|is not queryable|database is not open|driver has already been destroyed/

/** Whether a failure means that the database is unavailable: unreachable, busy, full or read-only. A later retry may succeed. */
export function isDatabaseFailure(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return failureCodes.test('code' in error ? String(error.code) : '') || failureTexts.test(error.message)
}
