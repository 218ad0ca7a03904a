import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { listeningPort } from './helpers/listening.ts'
import { newFolder } from './helpers/templates.ts'

/** What a server that cannot start says: the setting, its value without secrets, the reason and what to do. */

const main = fileURLToPath(new URL('../dist/server/main.js', import.meta.url))
const nobody = 65_534
/** A Node in the folder of a user cannot be run by others. */
const mayBecomeNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, ['--version'], { uid: nobody, gid: nobody }).status === 0

function start(
  env: Record<string, string>,
  identity: { uid?: number; gid?: number } = {},
): Promise<{ code: number; errors: string }> {
  const all = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'error', ...env }
  return new Promise((resolve) => {
    execFile(process.execPath, [main], { env: all, timeout: 60_000, ...identity }, (error, _output, errors) =>
      resolve({ code: Number(error?.code ?? 0), errors }),
    )
  })
}

async function inUse(): Promise<string> {
  const server = createServer()
  onTestFinished(() => void server.close())
  return String(await listeningPort(server))
}

it.each([
  [
    { DATABASE_URL: 'postgres://u:se#cret@h/db' },
    'DATABASE_URL: is no address: write special characters of user and password as %XX',
  ],
  [{ REDIS_URL: 'redis://:se/cret@h:x' }, 'REDIS_URL: is no address'],
  [{ REDIS_URL: 'redis://:secret@h/path' }, 'REDIS_URL: names a database by its number'],
  [{ HTTPS_PROXY: 'ftp://ann:secret@h' }, 'HTTPS_PROXY: must be empty or begin with http://'],
  [{ http_proxy: 'http://ann:se/cret@h' }, 'HTTP_PROXY: is no address: write special characters of user and password as %XX'],
  [{ HTTP_PROXY: 'ann:secret@h:3128/path' }, 'HTTP_PROXY: has more than a host'],
  [{ MASTER_KEY: 'secret' }, 'MASTER_KEY must be 32 bytes in base64; make one with: openssl rand -base64 32'],
  [{ MASTER_KEY_FILE: '/nowhere/master.key' }, 'MASTER_KEY_FILE: /nowhere/master.key does not exist'],
  [{ HOST: '203.0.113.7' }, 'HOST: this machine has no address 203.0.113.7'],
  [{ DRAIN_DELAY: 'soon' }, 'DRAIN_DELAY: '],
])('%o', async (env, told) => {
  const { code, errors } = await start({ DATA_DIR: newFolder(), ...env })
  expect(code).toBe(1)
  expect(errors).toContain(`Sluice cannot start: ${told}`)
  expect(errors).not.toContain('cret')
})

it('a port that another program has', async () => {
  const PORT = await inUse()
  const { code, errors } = await start({ DATA_DIR: newFolder(), PORT })
  expect(code).toBe(1)
  expect(errors).toContain(`PORT: 127.0.0.1:${PORT} is in use by `)
  expect(errors).toContain(process.platform === 'linux' ? `(process ${process.pid}): stop it` : 'another program: stop it')
})

it('a file that is no database', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'app.db'), 'something else, and long enough to be read as a header of a file of SQLite'.repeat(20))
  const { code, errors } = await start({ DATA_DIR: folder })
  expect([code, errors]).toEqual([1, expect.stringContaining(`DATA_DIR: ${folder}/app.db is not a database`)])
})

it('a folder that is a file', async () => {
  const file = join(newFolder(), 'file')
  writeFileSync(file, '')
  const { code, errors } = await start({ DATA_DIR: join(file, 'data') })
  expect([code, errors]).toEqual([1, expect.stringContaining(`DATA_DIR: ${join(file, 'data')} cannot be used by`)])
})

it.runIf(mayBecomeNobody)('a folder of another user, as of a volume that a container gets', async () => {
  const above = newFolder()
  chmodSync(above, 0o755)
  const folder = join(above, 'data')
  mkdirSync(folder, { mode: 0o755 })
  const { code, errors } = await start({ DATA_DIR: folder }, { uid: nobody, gid: nobody })
  expect([code, errors]).toEqual([1, expect.stringContaining(`DATA_DIR: ${folder}`)])
  expect(errors).toContain(`the user with id ${nobody}`)
})
