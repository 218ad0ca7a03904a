import { parentPort, workerData } from 'node:worker_threads'
import { openSqlite } from '../db/sqlite-file.ts'
import { type Batch, type Outcome, prepareCommit } from './sqlite-commit.ts'

/**
 * The thread that writes the ledger of a SQLite file, so that waiting for the disk never delays requests. Each message is a batch;
 * each answer is its outcome. `null` ends the thread.
 */
export type Answer = Outcome | { readonly failed: { readonly message: string; readonly refused: boolean } }

// The thread is started by `sqlite-store.ts` alone, with this data.
const { file, lockWaitMs } = workerData as { file: string; lockWaitMs: number }
const port = parentPort
if (!port) throw new Error('The ledger worker runs as a worker thread only')

const database = openSqlite(file, lockWaitMs)
const commit = prepareCommit(database)

port.on('message', (batch: Batch | null) => {
  if (batch) return port.postMessage(answer(batch))
  database.close()
  port.close()
})

function answer(batch: Batch): Answer {
  try {
    return commit(batch)
  } catch (error) {
    return { failed: { message: error instanceof Error ? error.message : String(error), refused: !isAway(error) } }
  }
}

/**
 * BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB: failures of the whole database. Every
 * other failure is attributed to the rows of the batch.
 */
const awayCodes = [5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26]

function isAway(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && awayCodes.includes(Number(error.errcode) & 0xff)
}
