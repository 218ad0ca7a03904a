import { Worker } from 'node:worker_threads'

/**
 * Starts a thread from a file of this folder: the built one, also when the sources run, because not every supported Node starts a
 * thread from TypeScript.
 */
export function startThread(name: 'sqlite-worker' | 'sqlite-query', workerData: object): Worker {
  const folder = import.meta.url.endsWith('.ts') ? '../../../dist/server/wallet/' : './'
  return new Worker(new URL(`${folder}${name}.js`, import.meta.url), { workerData })
}
