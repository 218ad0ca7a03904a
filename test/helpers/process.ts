import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { consoleCalls, rootPassword, signIn } from './app.ts'
import { isWatched, note } from './canaries.ts'
import { testMasterKey } from './core.ts'
import type { TestDatabase } from './databases.ts'

const main = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url))

/**
 * The built server as a separate process that can be killed; of another version when `program` names its file, and with at most `openFiles`
 * descriptors.
 */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  readonly output: () => string
  /** Resolves with its exit code, for whatever reason it ended. */
  readonly ended: Promise<number | null>
  call<Data = unknown>(line: string, body?: unknown): Promise<Data>
  kill(signal: NodeJS.Signals): Promise<number | null>
}

export async function startProcess(
  database: TestDatabase,
  env: Record<string, string> = {},
  program = main,
  openFiles = 0,
): Promise<ServerProcess> {
  const command = [process.execPath, program]
  const limited = openFiles === 0 ? command : ['sh', '-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', ...command]
  const [executable = '', ...args] = limited
  const child = spawn(executable, args, {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      LOG_LEVEL: 'warn',
      // No load balancer has to notice.
      DRAIN_DELAY: '0',
      ROOT_PASSWORD: rootPassword,
      MASTER_KEY: testMasterKey.toString('base64'),
      ...database.env,
      ...env,
      ...(isWatched && { LOG_LEVEL: 'trace' }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  const hear = (chunk: Buffer) => {
    output += chunk
    if (isWatched) note('output of processes', String(chunk))
  }
  child.stdout.on('data', hear)
  child.stderr.on('data', hear)
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const url = await listeningUrl(child, () => output)
  const cookie = await signIn(url)

  return {
    url,
    pid: child.pid ?? 0,
    output: () => output,
    ended,
    call: consoleCalls(url, cookie),
    kill: (signal) =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve(child.exitCode)
        child.once('exit', resolve)
        child.kill(signal)
      }),
  }
}

function listeningUrl(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const url = /listens on (http:\/\/[^\s"]+)/.exec(output())?.[1]
      if (url) resolve(url.replace('localhost', '127.0.0.1'))
    }
    child.stdout?.on('data', look)
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${output()}`)))
  })
}
