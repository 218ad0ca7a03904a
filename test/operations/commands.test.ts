import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type CommandBlock, commandBlocks, inlineCommands } from '../helpers/documented-commands.ts'

// Which test follows each command of the pages about upgrades, backups and more machines; or, for a command that none does, why.

const upgrade = 'test/operations/upgrade.test.ts'
const checkout = 'test/torture/checkout.torture.ts'
const backup = 'test/operations/backup.test.ts'
const scaleOut = 'test/operations/scale-out.test.ts'
const hosts = 'test/postgres-hosts.test.ts'
const pgbouncer = 'test/pgbouncer.test.ts'
/** Run by `npm run containers`, because they need root and Docker. */
const containers = 'test/containers'
const image = `${containers}/image.containers.ts`
const compose = `${containers}/compose.containers.ts`
const cluster = `${containers}/cluster.containers.ts`

const followed: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'upgrade.md': {
    'In containers: One container': image,
    'In containers: One node with compose': compose,
    'In containers: Two nodes': cluster,
    'git pull': checkout,
    'npm start': upgrade,
    'sluice migrate --dry-run': upgrade,
    'sluice migrate': upgrade,
    'sluice doctor': upgrade,
    'docker run': image,
    'docker compose up -d': 'not followed: the page says why not to use it for an upgrade',
    'docker compose restart proxy': cluster,
  },
  'backup.md': {
    Backup: backup,
    'Backup: Restore a backup': backup,
    'SQLite: Back up while the server runs': backup,
    'SQLite: Back up after a clean stop': backup,
    'SQLite: Restore': backup,
    'PostgreSQL: Back up': backup,
    'PostgreSQL: Restore': backup,
    'npm run -s sluice -- verify': backup,
    'strings FILE': backup,
    'sluice backup': 'test/last-backup.test.ts',
    'sluice doctor': 'test/last-backup.test.ts',
  },
  'scale-out.md': {
    'Several nodes: A database with a standby': hosts,
    'WORKERS=4': scaleOut,
    'NODE_OPTIONS=--max-semi-space-size=16': scaleOut,
    "alter role sluice set lock_timeout = '1s'": pgbouncer,
    "alter role sluice set statement_timeout = '30s'": pgbouncer,
    'sluice doctor': pgbouncer,
    'target_session_attrs=standby': hosts,
  },
}

const placeOf = ({ chapter, heading }: CommandBlock) => (heading === '' ? chapter : `${chapter}: ${heading}`)

it.each(Object.entries(followed))('every command of %s is followed by a test, or not for a reason', (page, byTest) => {
  const commands = [...commandBlocks(page).map(placeOf), ...inlineCommands(page)]
  expect(commands.toSorted()).toEqual(Object.keys(byTest).toSorted())
  for (const [command, test] of Object.entries(byTest)) {
    if (test.startsWith('not followed: ')) continue
    expect(existsSync(test), test).toBe(true)
    expect(
      namesOf(command).some((name) => readFileSync(test, 'utf8').includes(name)),
      `${command} in ${test}`,
    ).toBe(true)
  }
})

/** How a test names a command: by its text or its heading, by the declaration of the command, by the name of the setting. */
function namesOf(command: string): string[] {
  const [, subcommand] = /^sluice (\w+)$/.exec(command) ?? []
  const [, setting] = /^(\w+)=/.exec(command) ?? []
  const heading = command.split(': ').at(-1)
  const statement = command.startsWith('alter role') ? 'alter role' : undefined
  return [command, heading, subcommand && `${subcommand}Command`, setting, statement].filter((name) => name !== undefined)
}
