import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { openDumpSource } from './dump-source.ts'
import { isMysqlAddress, openMysqlSource } from './mysql-source.ts'
import { isPostgresAddress, openPostgresSource } from './postgres-source.ts'
import type { Source } from './source.ts'
import { openSqliteSource } from './sqlite-source.ts'

const beginningBytes = 4096

/** Opens a file or the address of a database. The error for an unsupported source explains what to do. */
export async function openSource(given: string, onProgress: (text: string) => void = () => {}): Promise<Source> {
  if (/^clickhouse:|^tcp:/i.test(given))
    throw new Error(
      'Logs in ClickHouse cannot be imported. Import without them, or copy them into a table `logs` of a MySQL or PostgreSQL database and give its address with --logs',
    )
  if (isPostgresAddress(given)) return openPostgresSource(given)
  if (isMysqlAddress(given)) return openMysqlSource(given)
  if (!existsSync(given))
    throw new Error(`There is no such file, and it is not the address of a database: ${withoutPassword(given)}`)
  const beginning = beginningOf(given)
  if (beginning.startsWith('SQLite format 3')) return openSqliteSource(given)
  if (beginning.startsWith('PGDMP') || /PostgreSQL database (cluster )?dump/.test(beginning))
    throw new Error('This is a dump of PostgreSQL: restore it into a PostgreSQL database and give its address')
  if (beginning.startsWith('\u001f\u008b')) throw new Error(`${given} is compressed: run gunzip first`)
  if (/^(?:--[^\n]*\n\s*)*pragma foreign_keys=off;\s*begin transaction;/i.test(beginning))
    throw new Error(`This is a dump of SQLite: make a database of it with: sqlite3 copy.db < ${given} and give copy.db`)
  if (/^(\u00ff\u00fe|\u00fe\u00ff)/.test(beginning))
    throw new Error(`${given} is UTF-16, as PowerShell redirects output: write the dump with mysqldump --result-file`)
  return openDumpSource(given, onProgress)
}

function withoutPassword(address: string): string {
  return address.replace(/:[^:@/]*@/, ':…@')
}

function beginningOf(file: string): string {
  const descriptor = openSync(file, 'r')
  try {
    const bytes = Buffer.alloc(beginningBytes)
    return bytes.toString('latin1', 0, readSync(descriptor, bytes))
  } finally {
    closeSync(descriptor)
  }
}
