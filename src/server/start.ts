import { openApp } from './app.ts'
import { readEnv, secretSettings } from './env.ts'
import { listen } from './http/server.ts'
import { clearEnvironment, emptyCoreDumps, refuseDebugger } from './lib/harden-process.ts'
import { allocateYoung } from './lib/node-internals.ts'

/** Starts one node: environment, parts, HTTP; and ends it in order on SIGTERM, SIGINT or a fatal error; on a second signal, at once. */
const drainLimitMs = 30_000
/** Then the resources: files, database, bus. */
const closeLimitMs = 15_000
/** The time for which a proxy may still send on a kept-alive connection: it may take this long to notice that the node is stopping. */
const idleMs = 500

allocateYoung()
const env = readEnvOrExit()
hideSecrets()
const { app, close, createdKey, root, startJobs } = await openApp(env).catch((error: unknown) => exitWith(error))
const server = await listen(app).catch((error: unknown) => exitWith(error))
startJobs()
welcome()

let isEnding = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => (isEnding ? server.cut() : void end(0)))
process.on('uncaughtException', (error) => fail(error, 'uncaught exception'))
process.on('unhandledRejection', (error) => fail(error, 'unhandled rejection'))

/** After an uncaught exception any state may be inconsistent: running requests are drained, and the supervisor starts a new process. */
function fail(error: unknown, what: string): void {
  app.logger.fatal({ error }, what)
  if (!isEnding) void end(1)
}

async function end(code: number): Promise<void> {
  isEnding = true
  setTimeout(() => process.exit(code), drainLimitMs + closeLimitMs).unref()
  try {
    await server.stop(drainLimitMs, idleMs)
    await close()
  } catch (error) {
    app.logger.error({ error }, 'stopping failed')
  }
  process.exit(code)
}

/** Before anything is opened: a debugger must not read along. */
function hideSecrets(): void {
  try {
    if (env.NODE_ENV !== 'development') refuseDebugger()
  } catch (error) {
    exitWith(error)
  }
  emptyCoreDumps()
  clearEnvironment(secretSettings)
}

/** The first notice for the operator: text on a terminal, otherwise lines of the log at any level. */
function welcome(): void {
  const listens = `Sluice ${app.version} listens on ${server.url}`
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
    const next = `Next: add a channel, make a token, and point your SDK to ${server.url}/v1`
    process.stdout.write(`\n  ${[listens, ...notes, next].join('\n  ')}\n\n`)
    return
  }
  const log = app.logger.child({}, { level: 'info' })
  log.info({ url: server.url, version: app.version }, listens)
  for (const note of notes) log.warn(note)
}

function readEnvOrExit() {
  try {
    return readEnv(process.env)
  } catch (error) {
    return exitWith(error)
  }
}

function exitWith(error: unknown): never {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : ''
  process.stderr.write(`Sluice cannot start: ${error instanceof Error ? error.message : String(error)}${cause}\n`)
  process.exit(1)
}
