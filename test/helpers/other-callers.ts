import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** The results of ordinary callers: all statuses, their number, and the 99th percentile of the durations. */
interface CallerResults {
  readonly statuses: readonly (number | string)[]
  readonly count: number
  readonly slowestMs: number
}

/** A process of ordinary callers and of the upstream that answers them. */
export async function startOtherCallers() {
  const child = fork(fileURLToPath(new URL('./other-callers.mjs', import.meta.url)))
  const [{ url }] = (await once(child, 'message')) as [{ url: string }]

  return {
    upstreamUrl: url,
    /** The callers send requests, one after the other, until `work` is done. */
    async beside(asked: { url: string; key: string; body: string }, work: () => Promise<unknown>): Promise<CallerResults> {
      child.send(asked)
      try {
        await work()
      } finally {
        child.send('stop')
      }
      const [fared] = (await once(child, 'message')) as [CallerResults]
      return fared
    },
    stop: async () => void child.kill('SIGKILL'),
  }
}
