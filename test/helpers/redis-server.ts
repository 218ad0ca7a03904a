import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'

/** A real Redis on a free loopback port, without persistence. */
export interface RedisServer {
  /** Without the password. */
  readonly url: string
  /** Starts it again on the same port after `kill`. */
  start(): Promise<void>
  kill(signal?: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>
  stop(): Promise<void>
}

/** Undefined, with a loud notice, on a machine without `redis-server` (Debian package redis-server). */
export async function startRedis({ password = '' }: { password?: string } = {}): Promise<RedisServer | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-redis-'))
  const port = await freePort()
  let server: ChildProcess | undefined

  const start = async () => {
    const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder]
    if (password !== '') settings.push('--requirepass', password)
    const started = spawn('redis-server', settings, { stdio: 'ignore' })
    server = started
    let failed = false
    started.once('error', () => {
      failed = true
    })
    while (!failed && started.exitCode === null && !(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 20))
    if (failed) throw new Error('redis-server is not installed')
  }
  const kill: RedisServer['kill'] = async (signal = 'SIGKILL') => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server?.once('exit', resolve))
    server.kill(signal)
    if (signal === 'SIGKILL') await ended
  }
  const stop = async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  }

  try {
    await start()
  } catch {
    process.stderr.write(
      '\n!!! redis-server is missing: the tests of Redis are SKIPPED. Install it: apt-get install redis-server\n\n',
    )
    await stop()
    return undefined
  }
  return { url: `redis://127.0.0.1:${port}`, start, kill, stop }
}

/** Whether Redis answers a ping: it may listen before it does. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', (data) => resolve(/^\+PONG|^-NOAUTH/.test(String(data)))).once('error', () => resolve(false))
    socket.once('data', () => socket.destroy())
  })
}
