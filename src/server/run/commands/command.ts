import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { requireCurrentSchema } from '../../base/db/migrate.ts'
import { type Database, databaseFile } from '../../base/db/open.ts'
import { type Env, readEnv } from '../../base/env.ts'
import { newLogger } from '../../base/lib/log/logger.ts'
import { openCore } from '../../base/open-core.ts'
import type { Core } from '../../base/options/core.ts'
import { drainJournal } from '../../money/ledger/sqlite/drain-journal.ts'

/** The exit codes of every command: 0 for success, 1 when it found a problem, 2 when it could not run. */
export const exitCodes = { ok: 0, found: 1, failed: 2 } as const

/** The result of a command: one object for programs, lines for people. */
export interface Outcome {
  readonly ok: boolean
  readonly data: object
  readonly lines: readonly string[]
}

/** Adds `--json`, and prints the outcome of the work in the requested form. */
export function reporting<Options extends { readonly json?: true }>(
  command: Command,
  work: (options: Options, args: readonly string[]) => Promise<Outcome>,
): Command {
  return command.option('--json', 'print one JSON object').action(async () => {
    const options = command.opts<Options>()
    const { ok, data, lines } = await work(options, command.args)
    process.stdout.write(options.json ? `${JSON.stringify({ ok, ...data })}\n` : `${lines.join('\n')}\n`)
    process.exitCode = ok ? exitCodes.ok : exitCodes.found
  })
}

/** The settings of the server. Throws if they name an embedded database that does not exist, which opening it would create. */
export function readServerEnv(): Env {
  const env = readEnv(process.env)
  if (env.DATABASE_URL === '' && !existsSync(join(env.DATA_DIR, databaseFile)))
    throw new Error(`There is no database in ${env.DATA_DIR}: check DATA_DIR and DATABASE_URL, or start the server once`)
  return env
}

/** Runs work on the database that the settings of the server name. Creates nothing and changes no schema. */
export async function withCore<Result>(work: (core: Core) => Promise<Result>): Promise<Result> {
  const env = readServerEnv()
  const clock = { now: Date.now, steady: () => performance.now() }
  const { core, close } = await openCore(env, { ...clock, logger: newLogger('error'), prepare: prepareToRead })
  try {
    return await work(core)
  } finally {
    await close()
  }
}

/** Throws unless the schema is that of this program, and waits until every charge that is durable now is in its tables. */
export async function prepareToRead(database: Database): Promise<void> {
  await requireCurrentSchema(database)
  await drainJournal(database, (text) => process.stderr.write(`${text}\n`))
}

/**
 * Runs work that a signal interrupts: its own is aborted, and says that nothing of the work is left. Another one ends the process at once.
 */
export async function interruptible<Result>(name: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const interrupt = () => controller.abort(new Error(`The ${name} was interrupted, and nothing of it is left: start it again`))
  for (const each of interruptions) process.once(each, interrupt)
  try {
    return await work(controller.signal)
  } finally {
    for (const each of interruptions) process.off(each, interrupt)
  }
}

/** Runs work in a new folder, which is removed afterwards, also when a signal ends the process. */
export async function inTemporaryFolder<Result>(purpose: string, work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), `sluice-${purpose}-`))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const end = () => {
    remove()
    process.exit(exitCodes.failed)
  }
  for (const each of interruptions) process.once(each, end)
  try {
    return await work(folder)
  } finally {
    for (const each of interruptions) process.off(each, end)
    remove()
  }
}

const interruptions = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const progressIntervalMs = 10_000
let progressAt = performance.now()

/** Shows progress on standard error: on a terminal in one line that is overwritten, elsewhere as a line every ten seconds. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
  else if (text !== '' && performance.now() - progressAt >= progressIntervalMs) {
    progressAt = performance.now()
    process.stderr.write(`${text}\n`)
  }
}
