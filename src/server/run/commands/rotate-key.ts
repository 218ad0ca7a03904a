import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, writeFileSync } from 'node:fs'
import { Command } from 'commander'
import { masterKeyFile, openSecrets, readKeyFile, readMasterKey } from '../../base/db/key-ring.ts'
import { requireCurrentSchema } from '../../base/db/migrate.ts'
import { openDatabase } from '../../base/db/open.ts'
import type { Env } from '../../base/env.ts'
import { recordAction } from '../../base/options/audit.ts'
import { type Outcome, readServerEnv, reporting } from './command.ts'

export const rotateKeyCommand = reporting<{ json?: true; yes?: true }>(
  new Command('rotate-key')
    .description(
      'Replace the master key: the data keys are wrapped by a new one in one transaction. Running nodes go on, and take the new key at their next start.',
    )
    .option('--yes', 'do it'),
  async ({ yes }) => {
    if (!yes) throw new Error('From then on only the new master key opens the database: say --yes')
    const env = readServerEnv()
    return env.MASTER_KEY === '' ? rotateInFile(env, masterKeyFile(env)) : rotateInEnvironment(env)
  },
)

/** The key is printed before it is in force, so that it is never lost while the database already requires it. */
async function rotateInEnvironment(env: Env): Promise<Outcome> {
  const key = randomBytes(32)
  process.stderr.write(`New master key, keep it now: ${key.toString('base64')}\n`)
  await rewrap(env, key)
  return {
    ok: true,
    data: { master_key: key.toString('base64') },
    lines: ['The new master key is in force. Set MASTER_KEY to it before the next start.'],
  }
}

/** The new key is stored beside the old one before it is in force; a run after an interrupted one continues with it. */
async function rotateInFile(env: Env, file: string): Promise<Outcome> {
  const next = `${file}.new`
  if (!existsSync(next)) writeFileSync(next, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  await rewrap(env, readKeyFile(next))
  const old = `${file}.${new Date().toISOString().slice(0, 19).replaceAll(':', '')}`
  renameSync(file, old)
  renameSync(next, file)
  return {
    ok: true,
    data: { file, old_file: old },
    lines: [
      `The new master key is in force: ${file}. Keep a copy of it apart from the database.`,
      `The old one opens backups that were made before: ${old}.`,
    ],
  }
}

async function rewrap(env: Env, key: Buffer): Promise<void> {
  const database = await openDatabase(env)
  try {
    await requireCurrentSchema(database)
    const secrets = await openSecrets(database, key, Date.now(), readMasterKey(env).key)
    const core = { database, db: database.db, secrets, now: Date.now }
    await recordAction(core, { caller: undefined, action: 'master-key.rotate', target: 'key-ring' })
  } finally {
    await database.close()
  }
}
