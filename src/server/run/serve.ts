import { setTimeout as pause } from 'node:timers/promises'
import { type StopSignal, stopSignals } from '../base/bus/siblings.ts'
import type { Env } from '../base/env.ts'
import { allocateYoung, releaseYoungGeneration } from '../base/lib/process/node-internals.ts'
import { listen, type RunningServer } from '../console/http/server.ts'
import { type OpenApp, openApp } from './app.ts'

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
  const hurry = new AbortController()
  let isEnding = false
  const end = async (code: number, waitMs: number) => {
    isEnding = true
    setTimeout(() => process.exit(code), waitMs + drainLimitMs + closeLimitMs).unref()
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
  if (app.siblings?.isOwner !== false) welcome(opened, server)
  if (!app.siblings) return
  process.on('message', (signal: StopSignal) => stop(waits[signal]))
  // Without its owner a worker can neither hold nor charge.
  if (!app.siblings.isOwner) app.siblings.owner.onClose(() => !isEnding && process.exit(1))
  process.send?.('ready')
}

/** The first notice for the operator: text on a terminal, otherwise lines of the log at any level. */
function welcome({ app, createdKey, root }: OpenApp, { url }: RunningServer): void {
  const listens = `Sluice ${app.version} listens on ${url}`
  const notes = [
    ...(createdKey
      ? [
          `A master key was generated: ${createdKey}. Keep a copy of it apart from the database; without it no stored secret can be read.`,
        ]
      : []),
    ...(process.env.SQL_DSN
      ? [
          'SQL_DSN names a database of another program: it is not opened. Take it over with: sluice import new-api --dry-run (or one-api).',
        ]
      : []),
    ...(root?.defaultPassword ? ['Log in as root with the password 123456 and change it at once.'] : []),
    ...(root && !root.defaultPassword ? ['Log in as root with the password of ROOT_PASSWORD.'] : []),
  ]
  if (process.stdout.isTTY) {
    const next = `Next: add a channel, make a token, and point your SDK to ${url}/v1`
    process.stdout.write(`\n  ${[listens, ...notes, next].join('\n  ')}\n\n`)
    return
  }
  const log = app.logger.child({}, { level: 'info' })
  log.info({ url: url, version: app.version }, listens)
  for (const note of notes) log.warn(note)
}
