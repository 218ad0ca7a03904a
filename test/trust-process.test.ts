import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openSqlite } from '../src/server/base/db/sqlite-file.ts'
import { secretVariables } from '../src/server/base/env.ts'
import { freshDatabase, type TestDatabase } from './helpers/databases.ts'
import { type ServerProcess, startProcess } from './helpers/process.ts'
import { sampled } from './helpers/torture.ts'
import { chat, event, eventually, httpUpstream, model, piece, requestBytes, speak } from './relay/stage.ts'

// The protection of secrets in the process, T244, and starting with unusable files, T222.

const main = fileURLToPath(new URL('../dist/server/main.js', import.meta.url))
const onLinux = existsSync('/proc/self/coredump_filter')

function start(nodeArgs: readonly string[], env: Record<string, string>) {
  const folder = join(tmpdir(), `sluice-process-${process.pid}-${Math.random().toString(36).slice(2)}`)
  mkdirSync(folder)
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const settings = { PATH: process.env.PATH ?? '', PORT: '0', DATA_DIR: join(folder, 'data'), ...env }
  return {
    folder,
    run: () => spawnSync(process.execPath, [...nodeArgs, main], { env: settings, encoding: 'utf8', timeout: 50_000 }),
  }
}

describe('a running server', () => {
  let database: TestDatabase
  let hashBefore: string | undefined
  let server: ServerProcess
  const hashOfRoot = async () => {
    const { db, close } = await database.open()
    const root = await db.selectFrom('users').select('password_hash').executeTakeFirst()
    await close()
    return root?.password_hash
  }
  beforeAll(async () => {
    database = await freshDatabase('sqlite', 'started')
    hashBefore = await hashOfRoot()
    // It logs in as root.
    server = await startProcess(database)
  })
  afterAll(async () => {
    await server?.kill('SIGKILL')
    await database?.drop()
  })

  it.each([
    ['NODE_OPTIONS', [], { NODE_OPTIONS: '--inspect=127.0.0.1:0' }],
    ['--inspect', ['--inspect=127.0.0.1:0'], { NODE_ENV: 'production' }],
  ] as const)('[T244] refuses to start with a debugger, asked for by %s', (_name, args, env) => {
    const { status, stderr } = start(args, env).run()
    expect(status).toBe(1)
    expect(stderr).toContain('a debugger reads every secret')
  })

  it.skipIf(!onLinux)(
    '[T244] opens no debugger on a signal, dumps no memory, and keeps no secret in its environment',
    async () => {
      process.kill(server.pid, 'SIGUSR1')
      // These are answered after the signal was handled.
      for (let count = 0; count < 20; count++) expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
      expect(server.output()).not.toContain('Debugger')
      expect(Number.parseInt(readFileSync(`/proc/${server.pid}/coredump_filter`, 'utf8'), 16)).toBe(0)
      expect(await server.kill('SIGTERM')).toBe(0)
    },
  )

  it('[T014] stores hashes of full strength, also for a password that had a weaker hash', async () => {
    expect(hashBefore).toContain('$m=8,t=1,p=1$')
    expect(await hashOfRoot()).toContain('$m=19456,t=2,p=1$')
  })

  it('[T244] removes every secret from the environment that child processes and reports would get', () => {
    const script = `
      import { readEnv, secretVariables } from ${JSON.stringify(new URL('../dist/server/base/env.js', import.meta.url).href)}
      import { clearEnvironment } from ${JSON.stringify(new URL('../dist/server/base/lib/process/harden-process.js', import.meta.url).href)}
      readEnv(process.env)
      clearEnvironment(secretVariables)
      const report = JSON.stringify(process.report.getReport().environmentVariables)
      console.log(report.includes('canary-secret'), secretVariables.filter((name) => name in process.env).length)`
    const env = Object.fromEntries(secretVariables.map((name) => [name, /URL/.test(name) ? '' : 'canary-secret']))
    const done = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { PATH: process.env.PATH, ...env },
      encoding: 'utf8',
    })
    expect(done.stdout.trim()).toBe('false 0')
  })

  it.skipIf(!onLinux)('[T244] leaves no secret in the core dump of a crash', () => {
    const folder = start([], {}).folder
    const script = `
      import { emptyCoreDumps } from ${JSON.stringify(new URL('../dist/server/base/lib/process/harden-process.js', import.meta.url).href)}
      emptyCoreDumps()
      globalThis.kept = Buffer.from('canary-' + 'secret-' + process.pid)
      process.abort()`
    const child = spawnSync(
      'bash',
      ['-c', 'ulimit -c unlimited; exec "$0" --input-type=module -e "$1"', process.execPath, script],
      { cwd: folder },
    )
    expect(child.signal === 'SIGABRT' || child.status === 134).toBe(true)
    for (const name of readdirSync(folder)) expect(readFileSync(join(folder, name)).includes(`canary-secret-`)).toBe(false)
  })
})

describe('an uncaught error', () => {
  /** Throws outside of any server code, each time that it gets the signal. */
  const thrower = `data:text/javascript,${encodeURIComponent(`
    import net from 'node:net'
    const places = [
      (fail) => setTimeout(fail, 0),
      (fail) => net.createServer().listen(0, '127.0.0.1', fail),
      (fail) => void Promise.resolve().then(fail),
    ]
    process.on('SIGUSR2', () => {
      for (const place of places) place(() => { throw new Error('canary of a callback') })
    })`)}`

  it('[T243] in timers, sockets and promises, repeatedly: running requests end and are charged, no new ones begin, and the process exits', async () => {
    const database = await freshDatabase('sqlite', 'started')
    onTestFinished(() => database.drop())
    let finish = () => {}
    const url = await httpUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(piece('one '))
      finish = () => void response.end(piece('two') + piece('', 'stop') + event('[DONE]'))
    })
    const server = await startProcess(database, { NODE_OPTIONS: `--import=${thrower}` })
    onTestFinished(async () => void (await server.kill('SIGKILL')))
    await server.call('POST /api/channel/', { name: 'one', type: 1, key: 'upstream-key', models: model, base_url: url })
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'one', unlimited_quota: true })
    const caller = speak(server, requestBytes(`sk-${key}`, JSON.stringify(chat({ stream: true }))))
    await caller.until((text) => text.includes('one '))

    const fatal = () => server.output().match(/canary of a callback/g)?.length ?? 0
    const ended = server.ended
    for (const times of [1, 2]) {
      process.kill(server.pid, 'SIGUSR2')
      await eventually('it is told of', () => fatal() >= 3 * times)
    }
    await eventually('nobody new is let in', () =>
      fetch(`${server.url}/healthz`).then(
        ({ status }) => status === 503,
        () => true,
      ),
    )
    finish()
    expect(await caller.until((text) => text.includes('[DONE]'))).not.toContain('canary')
    expect(await ended).toBe(1)

    const { db, close } = await database.open()
    const charges = await db.selectFrom('ledger').select('amount').where('kind', '=', 'charge').execute()
    expect([charges.length, await db.selectFrom('holds').select('request_id').execute()]).toEqual([1, []])
    await close()
  })
})

describe('a start with an unusable SQLite file', () => {
  const cases = {
    'is no database': (data: string) => {
      mkdirSync(data)
      writeFileSync(join(data, 'app.db'), 'rubbish '.repeat(1000))
    },
    'is a folder': (data: string) => mkdirSync(join(data, 'app.db'), { recursive: true }),
    'is in a folder that is a file': (data: string) => writeFileSync(data, ''),
  }
  it.each(sampled(Object.entries(cases), 3))('[T222] that %s ends with a message, and leaves it unchanged', (_name, spoil) => {
    const { folder, run } = start([], {})
    const data = join(folder, 'data')
    spoil(data)
    const { status, stderr } = run()
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^Sluice cannot start: \S.+\n$/)])
    if (_name === 'is no database') expect(readFileSync(join(data, 'app.db'), 'utf8')).toBe('rubbish '.repeat(1000))
  })

  it('[T222] that another program keeps locked ends soon with an error message', async () => {
    const database = await freshDatabase('sqlite', 'migrated')
    onTestFinished(() => database.drop())
    const holder = openSqlite(join(database.env.DATA_DIR, 'app.db'))
    holder.exec('begin immediate')
    const { status, stderr } = start([], { DATA_DIR: database.env.DATA_DIR }).run()
    expect([status, stderr]).toEqual([1, expect.stringContaining('database is locked')])
    holder.close()
  })
})
