import { execFile } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { makePrivateFile, tightenFiles } from '../src/server/base/lib/process/private-files.ts'
import { freshDatabase } from './helpers/databases.ts'
import { originalFile } from './helpers/family-database.ts'
import { startProcess } from './helpers/process.ts'
import { sluiceProgram } from './helpers/sluice.ts'
import { newFolder } from './helpers/templates.ts'

const main = fileURLToPath(new URL('../dist/server/main.js', import.meta.url))
const run = promisify(execFile)

/** A program that runs a built one under another umask than that of the tests. */
function under(umask: number, program: string): string {
  const file = join(mkdtempSync(join(newFolder(), 'umask-')), 'program.mjs')
  writeFileSync(file, `process.umask(${umask})\nawait import(${JSON.stringify(pathToFileURL(program).href)})\n`)
  return file
}

/** Name and mode of each file in a folder, and of those below it. */
function modesIn(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => lstatSync(join(folder, name)).isFile())
  return Object.fromEntries(files.sort().map((name) => [name, modeOf(join(folder, name))]))
}
const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)
/** Some files are there, and none is for others. */
function requirePrivate(folder: string, names: readonly string[]): void {
  const modes = modesIn(folder)
  expect(Object.keys(modes)).toEqual(expect.arrayContaining([...names]))
  expect(Object.entries(modes).filter(([, mode]) => mode !== '600')).toEqual([])
}
const inUse = ['app.db', 'app.db-charges-1', 'app.db-charges-2', 'app.db-charges-lock', 'app.db-shm', 'app.db-wal']

it.skipIf(process.platform === 'win32')(
  'every file of the server and of its commands is for its user alone, whatever the umask and the mode of the folder',
  async () => {
    const database = await freshDatabase('sqlite', 'empty')
    onTestFinished(() => database.drop())
    const { DATA_DIR } = database.env
    chmodSync(DATA_DIR, 0o777)
    const env = { MASTER_KEY: '', ACCESS_LOG: join(DATA_DIR, 'access.log'), WORKERS: '2' }
    const command = (umask: number, args: readonly string[], more: Record<string, string> = {}) =>
      run(process.execPath, [under(umask, sluiceProgram), ...args], { env: { PATH: process.env.PATH, DATA_DIR, ...more } })

    const server = await startProcess(database, env, under(0, main))
    onTestFinished(async () => void (await server.kill('SIGKILL')))
    const token = await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
    const refused = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer sk-${token.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'none', messages: [] }),
    })
    expect(refused.status).toBeGreaterThanOrEqual(400)
    // A long read starts the reading process.
    await server.call('GET /api/log/?type=0')
    await command(0, ['backup', join(DATA_DIR, 'kept', 'backup.db')])
    await expect.poll(() => readdirSync(DATA_DIR)).toContain('access.log')
    requirePrivate(DATA_DIR, [...inUse, 'access.log', 'kept/backup.db', 'master.key'])
    expect(modeOf(join(DATA_DIR, 'kept'))).toBe('700')
    await server.kill('SIGKILL')

    // Whatever is left of a process that died, and what a version before made, or a tool of the operator.
    for (const name of [...inUse, 'app.db-charges-1-foreign-7', 'ledger-mark.json']) {
      if (!readdirSync(DATA_DIR).includes(name)) writeFileSync(join(DATA_DIR, name), '')
      chmodSync(join(DATA_DIR, name), 0o644)
    }
    const again = await startProcess(database, env, under(0o777, main))
    onTestFinished(async () => void (await again.kill('SIGKILL')))
    const expected = [...inUse, 'access.log', 'app.db-charges-1-foreign-7', 'kept/backup.db', 'ledger-mark.json', 'master.key']
    requirePrivate(DATA_DIR, expected)
    await again.kill('SIGTERM')

    await command(0, ['rotate-key', '--yes'])
    const restored = join(DATA_DIR, 'restored')
    mkdirSync(restored, { mode: 0o777 })
    await command(0, ['restore', join(DATA_DIR, 'kept', 'backup.db'), '--yes'], { DATA_DIR: restored })
    const imported = join(DATA_DIR, 'imported')
    mkdirSync(imported, { mode: 0o777 })
    await command(0, ['import', 'new-api', originalFile('new-api-0.4'), '--yes'], { DATA_DIR: imported })
    requirePrivate(DATA_DIR, [
      'imported/app.db',
      'imported/master.key',
      'restored/app.db',
      expect.stringMatching(/^master\.key\.2/),
    ])
  },
)

it.skipIf(process.platform === 'win32')('a file whose mode cannot be changed is named, and a link is left alone', () => {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [elsewhere, file] = [join(folder, 'elsewhere'), join(folder, 'app.db')]
  writeFileSync(elsewhere, 'kept')
  chmodSync(elsewhere, 0o644)
  symlinkSync(elsewhere, join(folder, 'app.db-wal'))
  makePrivateFile(file)
  chmodSync(file, 0o640)
  const failures: string[] = []
  tightenFiles(folder, (name) => failures.push(name))
  expect([modeOf(file), modeOf(elsewhere), failures]).toEqual(['600', '644', []])
  makePrivateFile(elsewhere)
  expect(modeOf(elsewhere)).toBe('600')
})
