import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The results of ordinary callers: all statuses, their number, and the 99th percentile of the durations. */
export interface Fared {
  readonly statuses: readonly (number | string)[]
  readonly count: number
  readonly slowestMs: number
}

/** A process of ordinary callers and of the upstream that answers them. */
export async function startOthers() {
  const child = fork(fileURLToPath(new URL('./others.mjs', import.meta.url)))
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]

  return {
    upstreamUrl: url,
    /** They ask until `work` is done, one after the other. */
    async beside(asked: { url: string; key: string; body: string }, work: () => Promise<unknown>): Promise<Fared> {
      child.send(asked)
      try {
        await work()
      } finally {
        child.send('stop')
      }
      const [fared] = (await once(child, 'message')) as [Fared]
      return fared
    },
    stop: async () => void child.kill('SIGKILL'),
  }
}
