import { Command } from 'commander'
import { type Env, readEnv } from '../../base/env.ts'
import { messageOf } from '../../base/lib/failure.ts'
import { version } from '../../base/lib/process/version.ts'
import { type Check, failed } from './check.ts'
import { checkInstallation } from './check-installation.ts'
import { checkMachine, checkNode } from './check-machine.ts'
import { type Outcome, progress, reporting, withCore } from './command.ts'

export const doctorCommand = reporting(
  new Command('doctor').description(
    'Check what the server needs: settings, Node, processes, open files, proxies, port, disk, database, journal, master key, clock, the last backup, Redis, and whether each enabled channel can be reached. No key is sent and nothing is changed. Exits with 1 when a check failed.',
  ),
  async () => {
    const checks = await examine()
    progress('')
    return outcomeOf(checks)
  },
)

async function examine(): Promise<Check[]> {
  const env = readSettings()
  if ('state' in env) return [checkNode(), env]
  const opened = await withCore(checkInstallation).catch((error: unknown): Check[] => [
    failed(
      'Database',
      messageOf(error),
      'Check DATABASE_URL, DATA_DIR and the master key. A server that was never started has no database.',
    ),
  ])
  return [
    checkNode(),
    { name: 'Settings', state: 'ok', found: `${env.DATABASE_URL === '' ? 'embedded SQLite' : 'PostgreSQL'}, version ${version}` },
    ...(await checkMachine(env)),
    ...opened,
  ]
}

function readSettings(): Env | Check {
  try {
    return readEnv(process.env)
  } catch (error) {
    return failed('Settings', messageOf(error), 'The settings and their values are in docs/reference/environment.md.')
  }
}

const marks = { ok: 'ok     ', warning: 'WARNING', failed: 'FAILED ' } as const

function outcomeOf(checks: readonly Check[]): Outcome {
  return {
    ok: checks.every(({ state }) => state !== 'failed'),
    data: { checks },
    lines: checks.flatMap(({ name, state, found, advice }) => [
      `${marks[state]} ${name}: ${found}`,
      ...(advice === undefined ? [] : [`        ${advice}`]),
    ]),
  }
}
