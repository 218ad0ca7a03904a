import { parentPort, workerData } from 'node:worker_threads'
import { openSqlite } from '../../../base/db/sqlite-file.ts'

/** A thread for one long query over a SQLite file, so that neither requests nor commits wait for it. */

// The thread is started by `reconcile.ts` alone, with this data.
const { file, query } = workerData as { file: string; query: string }
const database = openSqlite(file)
try {
  parentPort?.postMessage(database.prepare(query).all())
} finally {
  database.close()
}
