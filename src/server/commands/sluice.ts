#!/usr/bin/env node
import { Command } from 'commander'
import { version } from '../lib/version.ts'
import { backupCommand } from './backup.ts'
import { exitCodes } from './command.ts'
import { doctorCommand } from './doctor.ts'
import { importCommand } from './import.ts'
import { restoreCommand } from './restore.ts'
import { rootPasswordCommand } from './root-password.ts'
import { rotateKeyCommand } from './rotate-key.ts'
import { serveCommand } from './serve.ts'
import { verifyCommand } from './verify.ts'

/** The command line: one command a file, each with its own help. Settings come from the environment, as those of the server do. */
const program = new Command('sluice')
  .description('The gateway in front of AI model APIs, and the work of its operator')
  .version(version)
  .showHelpAfterError()
for (const command of [
  serveCommand,
  importCommand,
  doctorCommand,
  verifyCommand,
  backupCommand,
  restoreCommand,
  rotateKeyCommand,
  rootPasswordCommand,
])
  program.addCommand(command)

try {
  await program.parseAsync()
} catch (error) {
  process.stderr.write(`sluice: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = exitCodes.failed
}
