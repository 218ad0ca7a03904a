import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/** Writes and reads a database of PostgreSQL as nodes of another version do, which wait at most a second for a lock. */
export function otherNodes(url: string, { write, read }: { readonly write: string; readonly read: string }) {
  const pool = new pg.Pool({ connectionString: url, lock_timeout: 1000 })
  pool.on('error', () => {})
  const failures: unknown[] = []
  let written = 0
  let isOver = false
  const work = async () => {
    while (!isOver) {
      await pool.query({ name: 'write', text: write }).then(
        () => written++,
        (error: unknown) => failures.push(error),
      )
      await pool.query({ name: 'read', text: read }).catch((error: unknown) => failures.push(error))
      await pause(50)
    }
  }
  const working = work()
  return {
    async end() {
      isOver = true
      await working
      await pool.end()
      return { written, failures }
    },
  }
}
