import { execFile, spawn } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { startServer } from '../helpers/app.ts'
import { testMasterKey } from '../helpers/core.ts'
import { freshDatabase, type TestDatabase } from '../helpers/databases.ts'
import { startProcess } from '../helpers/process.ts'
import { books, requireBalancedBooks } from '../helpers/seed.ts'
import { sluiceProgram } from '../helpers/sluice.ts'
import { newFolder } from '../helpers/templates.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, model } from '../relay/stage.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Installation {
  readonly folder: string
  readonly data: string
  /** Runs commands of a document in the folder, and returns what they print; fails when one of them does. */
  shell(commands: string, env?: Record<string, string>): Promise<string>
  /** Starts a command of a document that runs until it is stopped. */
  start(command: string, env?: Record<string, string>): RunningCommand
}

/**
 * A project folder in which the commands of docs/operations run: its program is that of this checkout, `data` and `backup` are its
 * own, and `sluice` is on the path as in the image.
 */
export function installation(): Installation {
  const folder = newFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['package.json', 'scripts']) symlinkSync(join(root, name), join(folder, name))
  const [data, bin] = [join(folder, 'data'), join(folder, 'bin')]
  for (const path of [data, join(folder, 'backup'), bin]) mkdirSync(path)
  const program = join(bin, 'sluice')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${sluiceProgram}' "$@"\n`)
  chmodSync(program, 0o755)
  const own = { PATH: [bin, usualEnv.PATH].join(delimiter), MASTER_KEY: testMasterKey.toString('base64') }
  return {
    folder,
    data,
    shell: (commands, env = {}) => shell(folder, commands, { ...own, ...env }),
    start: (command, env = {}) => startCommand(folder, command, { ...own, ...env }),
  }
}

/** An installation with a database of SQLite in its `data`, as after the first start of a server. */
export async function sqliteInstallation(): Promise<Installation & { readonly database: TestDatabase }> {
  const made = installation()
  const template = await freshDatabase('sqlite', 'started')
  copyFileSync(join(template.env.DATA_DIR, 'app.db'), join(made.data, 'app.db'))
  await template.drop()
  return { ...made, database: { ...template, env: { DATABASE_URL: '', DATA_DIR: made.data } } }
}

const { PATH = '', HOME = '', npm_config_cache = join(HOME, '.npm') } = process.env
/** Its first Node is this one. */
const usualEnv = { PATH: [dirname(process.execPath), PATH].join(delimiter), HOME, npm_config_cache }

/** Runs commands by a shell that ends at the first that fails. */
export async function shell(folder: string, commands: string, env: Record<string, string>): Promise<string> {
  const all = { ...usualEnv, ...env }
  return (await promisify(execFile)('sh', ['-euc', commands], { cwd: folder, env: all })).stdout
}

interface RunningCommand {
  /** Resolves with the address of the server that the command starts; rejects with its output if it ends before. */
  readonly url: Promise<string>
  /** Resolves with the exit code and everything that it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly output: string }>
  /** Tells all its processes to stop, as a terminal or a service manager does. */
  stop(): void
}

export function startCommand(folder: string, command: string, env: Record<string, string>): RunningCommand {
  const child = spawn('sh', ['-euc', command], {
    cwd: folder,
    detached: true,
    env: { ...usualEnv, PORT: '0', DRAIN_DELAY: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (code) => resolve({ code, output })),
  )
  const url = new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => {
        output += chunk
        const found = /listens on (http:\/\/[^\s"]+)/.exec(output)?.[1]
        if (found) resolve(found.replace(/localhost|0\.0\.0\.0/, '127.0.0.1'))
      })
    void ended.then(({ code }) => reject(new Error(`${command} ended with ${code}: ${output}`)))
  })
  // Whoever waits for the end alone does not ask for the address.
  url.catch(() => {})
  const signal = (name: NodeJS.Signals) => {
    try {
      if (child.pid) process.kill(-child.pid, name)
    } catch {
      // All of them have ended.
    }
  }
  onTestFinished(() => signal('SIGKILL'))
  return { url, ended, stop: () => signal('SIGTERM') }
}

/** A server with a channel and a key. `spend` makes a number of charged calls, and returns their request ids. */
export async function serving(database: TestDatabase) {
  const upstream = await upstreamOfTest()
  const server = await startProcess(database)
  onTestFinished(async () => void (await server.kill('SIGKILL')))
  await server.call('POST /api/channel/', { name: 'x', type: 1, key: 'k', base_url: upstream.url, models: model })
  const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'x', unlimited_quota: true })
  const spend = async (calls: number) => {
    const ids: string[] = []
    for (let call = 0; call < calls; call++) {
      const { status, headers } = await ask(server, `sk-${key}`, chat())
      expect(status).toBe(200)
      ids.push(headers.get('x-request-id') ?? '')
    }
    return ids
  }
  return { server, spend }
}

export async function requireCharges(database: TestDatabase, count: number): Promise<void> {
  const server = await startServer(database.kind, { database })
  expect((await books(server)).logs).toHaveLength(count)
  await requireBalancedBooks(server)
  await server.stop()
}

/** Whether a program is installed. If not, says which tests are skipped, and which package of Debian has it. */
export function hasProgram(name: string, tests: string, debianPackage: string): boolean {
  const isThere = (process.env.PATH ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
  if (!isThere)
    process.stderr.write(`\n!!! ${name} is missing: ${tests} is SKIPPED. Install it: apt-get install ${debianPackage}\n\n`)
  return isThere
}
