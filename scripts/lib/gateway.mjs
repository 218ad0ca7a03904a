// The built server as a child process, and the console calls that the demo and the benchmark make on it.
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ended, root, startChild } from './process.mjs'

/**
 * Starts the built server and resolves when it answers.
 * @param {{ port: number, env?: Record<string, string>, nodeArgs?: string[], prefix?: string[], folder?: string }} settings
 * `folder` is a built checkout, by default this one.
 */
export async function startGateway({ port, env = {}, nodeArgs = [], prefix = [], folder = root }) {
  const startedAt = performance.now()
  const command = [...prefix, process.execPath, ...nodeArgs, join(folder, 'dist/server/main.js')]
  const child = startChild(command, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...withoutSettings(), PORT: String(port), DRAIN_DELAY: '0', ...env },
  })
  const exited = ended(child)
  let said = ''
  child.stdout.on('data', (chunk) => {
    said = (said + chunk).slice(-4000)
  })
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    if (child.exitCode !== null) throw new Error(`The server ended while it started (exit code ${child.exitCode})\n${said}`)
    if (await isReady(url)) break
    await sleep(10)
  }
  return {
    url,
    pid: child.pid,
    startMs: performance.now() - startedAt,
    exited,
    stop: async () => {
      child.kill('SIGTERM')
      await exited
    },
  }
}

/** Logs in and returns a function that makes console calls by their line: `call('POST /api/token/', { body })` → data. */
export async function signIn(url, { username = 'root', password }) {
  const caller = { cookie: '', user: '' }
  const call = async (line, { params = {}, query = {}, body } = {}) => {
    const [method, pattern] = line.split(' ')
    const path = pattern.replace(/:(\w+)/g, (_, name) => params[name])
    const response = await fetch(`${url}${path}?${new URLSearchParams(query)}`, {
      method,
      headers: {
        'accept-language': 'en',
        cookie: caller.cookie,
        'new-api-user': caller.user,
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      body: body ? JSON.stringify(body) : undefined,
    })
    const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0])
    if (cookies.length > 0) caller.cookie = cookies.join('; ')
    const answer = await response.json()
    if (!answer.success) throw new Error(`${line} was refused: ${answer.message}`)
    return answer.data
  }

  const user = await call('POST /api/user/login', { body: { username, password } })
  caller.user = String(user.id)
  return call
}

/** The wanted port if nothing listens on it, otherwise a free one. */
export async function freePort(wanted = 0) {
  for (const port of [wanted, 0]) {
    const free = await new Promise((resolve) => {
      const probe = net.createServer().once('error', () => resolve(undefined))
      probe.listen(port, '127.0.0.1', () => {
        const { port: found } = probe.address()
        probe.close(() => resolve(found))
      })
    })
    if (free !== undefined) return free
  }
  throw new Error('No free port')
}

async function isReady(url) {
  try {
    return (await fetch(`${url}/readyz`)).ok
  } catch {
    return false
  }
}

/** The environment without settings of a server: a demo must never open a real database. */
function withoutSettings() {
  const { DATABASE_URL, DATA_DIR, REDIS_URL, MASTER_KEY, MASTER_KEY_FILE, ROOT_PASSWORD, HOST, ...rest } = process.env
  return rest
}
