import { parentPort } from 'node:worker_threads'
import { openSqlite } from '../db/sqlite-file.ts'
import { type Batch, type Outcome, prepareCommit } from './sqlite-commit.ts'

/**
 * The thread that writes the ledger of a SQLite file, so that waiting for the disk never delays requests. A name of a file opens it; each
 * batch is answered by its outcome; `null` closes the file, is answered by `null`, and another file may follow.
 */
export type Message = string | Batch | null
export type Answer = Outcome | { readonly failed: { readonly message: string; readonly refused: boolean } } | null

const port = parentPort
if (!port) throw new Error('The ledger worker runs as a worker thread only')

let database: ReturnType<typeof openSqlite> | undefined
let commit: ReturnType<typeof prepareCommit> | undefined

port.on('message', (message: Message) => {
  if (typeof message === 'string') {
    database = openSqlite(message)
    commit = prepareCommit(database)
  } else if (message) {
    // Ends the thread, so that nothing is laid on the rows.
    if (!commit) throw new Error('No file is open')
    port.postMessage(answer(commit, message))
  } else {
    database?.close()
    commit = undefined
    port.postMessage(null)
  }
})

function answer(commit: ReturnType<typeof prepareCommit>, batch: Batch): Answer {
  try {
    return commit(batch)
  } catch (error) {
    return { failed: { message: error instanceof Error ? error.message : String(error), refused: !isAway(error) } }
  }
}

/**
 * BUSY, LOCKED, NOMEM, READONLY, INTERRUPT, IOERR, CORRUPT, FULL, CANTOPEN, PROTOCOL, NOTADB: the database as a whole. Every other
 * failure is laid on the rows.
 */
const awayCodes = [5, 6, 7, 8, 9, 10, 11, 13, 14, 15, 26]

function isAway(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && awayCodes.includes(Number(error.errcode) & 0xff)
}
