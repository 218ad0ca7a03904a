import { setTimeout as pause } from 'node:timers/promises'
import { type StopSignal, stopSignals } from '../base/bus/siblings.ts'
import type { Env } from '../base/env.ts'
import { allocateYoung, releaseYoungGeneration } from '../base/lib/process/node-internals.ts'
import { listen } from '../console/http/server.ts'
import { openApp } from './app.ts'
import { welcome } from './welcome.ts'

/** After draining, the time limit for closing the resources: files, database, bus. */
const closeLimitMs = 15_000
/** The time for which a proxy may still send on a kept-alive connection: it may take this long to notice that the node is stopping. */
const idleMs = 500

/**
 * Runs the server in this process: parts and HTTP. Shuts it down gracefully on SIGTERM, SIGINT or a fatal error, and at once on a
 * second signal; only SIGTERM gives load balancers time to notice. A process that a supervisor has started is stopped by the supervisor's messages instead, because a terminal
 * signals every process of a start. Rejects when a part cannot be opened.
 */
export async function serve(env: Env): Promise<void> {
  allocateYoung()
  const opened = await openApp(env)
  const { app, startJobs } = opened
  const server = await listen(app)
  startJobs()
  releaseYoungGeneration()

  const [delayMs, drainLimitMs] = [env.DRAIN_DELAY * 1000, env.DRAIN_LIMIT * 1000]
  const endLimitMs = drainLimitMs + env.DRAIN_RESUMABLE * 1000 + closeLimitMs
  const hurry = new AbortController()
  let isEnding = false
  const end = async (code: number, waitMs: number) => {
    isEnding = true
    setTimeout(() => process.exit(code), waitMs + endLimitMs).unref()
    try {
      app.logger.info({ seconds: waitMs / 1000 }, 'stopping: not ready any more, calls are still accepted')
      server.leave()
      await pause(waitMs, undefined, { signal: hurry.signal }).catch(() => {})
      await server.stop(drainLimitMs, idleMs)
      // The last charges of workers are written here.
      if (app.siblings?.isOwner) await app.siblings.workersGone()
      await opened.close()
      app.logger.info('stopped')
    } catch (error) {
      app.logger.error({ error }, 'stopping failed')
    }
    process.exit(code)
  }
  const stop = (waitMs: number) => {
    if (!isEnding) return void end(0, waitMs)
    hurry.abort()
    server.cut()
  }
  /** After an uncaught exception any state may be inconsistent: running requests are drained, and the supervisor starts a new process. */
  const fail = (error: unknown, what: string) => {
    app.logger.fatal({ error }, what)
    if (!isEnding) void end(1, 0)
  }

  const waits = { SIGTERM: delayMs, SIGINT: 0 } as const
  for (const signal of stopSignals) process.on(signal, app.siblings ? () => {} : () => stop(waits[signal]))
  process.on('uncaughtException', (error) => fail(error, 'uncaught exception'))
  process.on('unhandledRejection', (error) => fail(error, 'unhandled rejection'))
  // Whoever reads that it listens may signal it from then on.
  if (app.siblings?.isOwner !== false) welcome(opened, server.url)
  if (!app.siblings) return
  process.on('message', (signal: StopSignal) => stop(waits[signal]))
  // Without its owner a worker can neither hold nor charge.
  if (!app.siblings.isOwner) app.siblings.owner.onClose(() => !isEnding && process.exit(1))
  process.send?.('ready')
}
