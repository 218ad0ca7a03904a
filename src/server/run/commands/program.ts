import { Command, CommanderError } from 'commander'
import { type Env, readEnv } from '../../base/env.ts'
import { makeNewFilesPrivate } from '../../base/lib/process/private-files.ts'
import { startFailure } from '../../base/lib/process/start-failure.ts'
import { version } from '../../base/lib/process/version.ts'
import { loadEnvFile } from '../prepare-start.ts'
import { backupCommand } from './backup.ts'
import { exitCodes } from './command.ts'
import { compactCommand } from './compact.ts'
import { doctorCommand } from './doctor.ts'
import { importCommand } from './import.ts'
import { migrateCommand } from './migrate.ts'
import { restoreCommand } from './restore.ts'
import { rootPasswordCommand } from './root-password.ts'
import { rotateKeyCommand } from './rotate-key.ts'
import { serveCommand } from './serve.ts'
import { verifyCommand } from './verify.ts'

/**
 * The command line: one file per command, each with its own help. Settings come from the environment and the file `.env`, as those of the
 * server do.
 */
makeNewFilesPrivate()
const program = new Command('sluice')
  .description('The gateway in front of AI model APIs, and the work of its operator')
  .version(version)
  .showHelpAfterError()
  // For an invalid command line commander would exit with 1, which here means that a problem was found.
  .exitOverride()
for (const command of [
  serveCommand,
  migrateCommand,
  importCommand,
  doctorCommand,
  verifyCommand,
  backupCommand,
  restoreCommand,
  compactCommand,
  rotateKeyCommand,
  rootPasswordCommand,
])
  program.addCommand(command.copyInheritedSettings(program))

try {
  loadEnvFile()
  await program.parseAsync()
} catch (error) {
  if (error instanceof CommanderError && error.exitCode === 0) process.exitCode = exitCodes.ok
  else {
    const message = startFailure(error, settings())
    // commander has printed its own errors.
    if (!(error instanceof CommanderError)) process.stderr.write(`sluice: ${message}\n`)
    if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ ok: false, error: message })}\n`)
    process.exitCode = exitCodes.failed
  }
}

function settings(): Env | undefined {
  try {
    return readEnv(process.env)
  } catch {
    return undefined
  }
}
