import { spawnSync } from 'node:child_process'
import { Agent, get } from 'node:http'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { DescriptorWatch } from '../src/server/base/lib/process/descriptors.ts'
import { startFailure } from '../src/server/base/lib/process/start-failure.ts'
import { UpstreamFailure } from '../src/server/gateway/relay/upstream/failure.ts'
import { freshDatabase } from './helpers/databases.ts'
import { startProcess } from './helpers/process.ts'
import { sluiceProgram } from './helpers/sluice.ts'
import { newFolder } from './helpers/templates.ts'
import { ask, chat, completion, eventually, httpUpstream, model } from './relay/stage.ts'

const main = fileURLToPath(new URL('../dist/server/main.js', import.meta.url))
const onLinux = process.platform === 'linux'

/** Runs a program with at most this many descriptors. */
function limited(openFiles: number, program: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  const command = [process.execPath, program, ...args]
  return spawnSync('sh', ['-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', ...command], {
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: newFolder(), ...env },
    encoding: 'utf8',
    timeout: 60_000,
  })
}

it.skipIf(!onLinux)('a server that may have too few files open does not start, and says so in one line', () => {
  for (const openFiles of [32, 63]) {
    const { status, stdout, stderr } = limited(openFiles, main)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      `Sluice cannot start: this process may have ${openFiles} files and connections open (ulimit -n): allow 65536, by LimitNOFILE of a systemd unit or the ulimits of a container\n`,
    )
  }
})

it('a start that runs out of them later says the same', () => {
  const error = Object.assign(new Error('listen EMFILE: too many open files 127.0.0.1:3000'), { code: 'EMFILE' })
  expect(startFailure(error, undefined)).toMatch(
    /^this process may have \d+ files and connections open \(ulimit -n\): allow 65536/,
  )
})

it.skipIf(!onLinux)('doctor names a low limit', () => {
  const { stdout } = limited(100, sluiceProgram, ['doctor'], { DATABASE_URL: '' })
  expect(stdout).toMatch(
    /WARNING Open files: at most 100 files and connections in a process of this shell\n {8}A call takes two\./,
  )
})

it.skipIf(!onLinux)(
  '[T138] a server without a free descriptor is not ready, says it once, and recovers when connections have ended',
  async () => {
    const database = await freshDatabase('sqlite')
    onTestFinished(() => database.drop())
    const server = await startProcess(database, { LOG_LEVEL: 'info' }, undefined, 64)
    onTestFinished(async () => void (await server.kill('SIGKILL')))
    const port = Number(new URL(server.url).port)
    // A load balancer keeps its connection.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    const read = (path: string) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        get({ host: '127.0.0.1', port, path, agent }, (response) => {
          let text = ''
          response.on('data', (chunk) => {
            text += chunk
          })
          response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
        }).on('error', reject)
      })
    expect((await read('/readyz')).status).toBe(200)

    const sockets = new Set<Socket>()
    /** Those that were refused come again: the server may have had other files open, which are closed meanwhile. */
    const crowd = () => {
      while (sockets.size < 40) {
        const socket = connect(port, '127.0.0.1')
        sockets.add(socket)
        socket.on('error', () => {}).on('close', () => sockets.delete(socket))
        // It sends the beginning of a request, so that it is not idle.
        socket.on('connect', () => socket.write('GET /'))
      }
    }
    const leave = () => {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    }
    onTestFinished(leave)
    const lines = (part: string) =>
      server
        .output()
        .split('\n')
        .filter((line) => line.includes(part))
    for (const round of [1, 2]) {
      await eventually('it is not ready', async () => {
        crowd()
        return (await read('/readyz')).status === 503
      })
      const used = /^sluice_descriptors_used_ratio ([\d.]+)$/m.exec((await read('/metrics')).text)?.[1]
      expect(Number(used)).toBeGreaterThan(0.95)
      expect(lines('NO FILE DESCRIPTOR IS LEFT')).toHaveLength(round)
      leave()
      await eventually('it is ready again', async () => (await read('/readyz')).status === 200)
      expect(lines('there are free file descriptors again')).toHaveLength(round)
    }
    expect(lines('"level":50')).toHaveLength(2)
    expect(lines('NO FILE DESCRIPTOR IS LEFT')[0]).toContain('this process may have 64 files and connections open')

    const url = await httpUpstream((_request, response) => void response.end(completion()))
    await server.call('POST /api/channel/', {
      name: 'test',
      type: 1,
      key: 'upstream-key-0123456789',
      models: model,
      base_url: url,
    })
    const { key } = await server.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
    expect((await ask(server, `sk-${key}`, chat())).status).toBe(200)
  },
)

it('no channel is blamed for a connection for which this server has no descriptor', () => {
  const cause = Object.assign(new Error('connect EMFILE 203.0.113.1:443'), { code: 'EMFILE' })
  const failure = new UpstreamFailure('unreachable', { cause: new Error('the address could not be reached', { cause }) })
  expect([failure.isFaultOfUpstream, failure.isRetryable]).toEqual([false, false])
  expect(failure.forCaller()).toMatchObject({ status: 503, code: 'server_busy' })
})

it('a shortage is over after five seconds without one, so that readiness does not flap', () => {
  const told: string[] = []
  let lacks = true
  const log = (text: string) => void told.push(text)
  const watch = new DescriptorWatch({ error: log, info: log } as never, () => lacks)
  onTestFinished(() => watch.close())
  // All looks happen at once, before those of its timer.
  const look = (count: number, isShortThen: boolean) => {
    lacks = isShortThen
    for (let looks = 0; looks < count; looks++) watch.look()
    return watch.isShort
  }
  for (let round = 0; round < 5; round++) expect([look(1, true), look(19, false)]).toEqual([true, true])
  expect(told).toEqual([expect.stringContaining('NO FILE DESCRIPTOR IS LEFT')])
  expect(look(1, false)).toBe(false)
  expect(told).toEqual([expect.anything(), 'there are free file descriptors again'])
})
