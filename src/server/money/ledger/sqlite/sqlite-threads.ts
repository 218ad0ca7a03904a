import { Worker } from 'node:worker_threads'
import { builtModule } from '../../../base/lib/process/root.ts'

/** Starts a thread from a file of this folder. */
export function startThread(name: 'sqlite-worker' | 'sqlite-query', workerData: object): Worker {
  return new Worker(builtModule(`money/ledger/sqlite/${name}.js`), { workerData })
}
