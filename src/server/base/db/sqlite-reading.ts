import { setPriority } from 'node:os'
import type { StatementSync } from 'node:sqlite'
import { emptyCoreDumps, refuseDebugger } from '../lib/process/harden-process.ts'
import { openSqlite } from './sqlite-file.ts'

/** The process that reads a SQLite file for `sqlite-reader.ts`: one statement, one answer. It ends with the process that started it. */
export interface Statement {
  readonly sql: string
  readonly parameters: readonly unknown[]
}

/**
 * Rows are JSON: the parent process, which also serves requests, parses it in half the time that a structured clone takes. Columns
 * are numbers, texts and null.
 */
export type Answer = { readonly rows: string } | { readonly failed: string }

/** Gives it a lower priority than the process that serves requests. */
const niceness = 10

refuseDebugger()
emptyCoreDumps()
try {
  setPriority(niceness)
} catch {
  // If that is not allowed, it reads at normal priority.
}
// A terminal and a service manager signal the whole group: the parent decides when this process ends.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {})
process.on('disconnect', () => process.exit())

const [, , file = ''] = process.argv
const database = openSqlite(file)
database.exec('pragma query_only = on')
type Values = Parameters<StatementSync['all']>

process.on('message', ({ sql, parameters }: Statement) => {
  process.send?.(answer(sql, parameters))
})

function answer(sql: string, parameters: readonly unknown[]): Answer {
  try {
    // Kysely's compiled query; its values are those of the schema: numbers, texts and null.
    return { rows: JSON.stringify(database.prepare(sql).all(...(parameters as Values))) }
  } catch (error) {
    return { failed: error instanceof Error ? error.message : String(error) }
  }
}
