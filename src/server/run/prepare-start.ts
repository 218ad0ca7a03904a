import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { parseEnv } from 'node:util'
import { localUrl, readEnv } from '../base/env.ts'

/** What `npm start` and `sluice serve` take from their command line. */
export interface StartOptions {
  /** Goes before `PORT`. */
  readonly port?: string
  /** Opens the console in the browser once the server is ready. */
  readonly open?: boolean
}

/**
 * Adds the settings of the file `.env` in the working directory to the environment, a line each as `NAME=value`. Those of the environment
 * go before. Throws where there is a file that cannot be read.
 */
export function loadEnvFile(): void {
  for (const [name, value] of Object.entries(parseEnv(readEnvFile()))) process.env[name] ??= value
}

/** The text of the file; '' where there is none. */
function readEnvFile(): string {
  try {
    return readFileSync('.env', 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return ''
    throw new Error(`.env in ${process.cwd()} cannot be read (${code})`)
  }
}

/** Called before the server is loaded. */
export function prepareStart({ port, open = false }: StartOptions): void {
  if (port !== undefined) process.env.PORT = port
  if (open) void openWhenReady()
}

/** A start that fails ends the process, and with it the wait. */
async function openWhenReady(): Promise<void> {
  const url = knownUrl()
  if (url === undefined) return
  while (!(await isReady(`${url}/readyz`))) await pause(200)
  openInBrowser(url)
}

function knownUrl(): string | undefined {
  try {
    const env = readEnv(process.env)
    if (env.PORT !== 0) return localUrl(env)
    process.stderr.write('No browser is opened: PORT=0 takes any free port\n')
  } catch {
    // The server reads the same settings, and says what is wrong with them.
  }
  return undefined
}

function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = http.get(url, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.once('error', () => resolve(false))
  })
}

/** The programs that open an address; those of other systems are like Linux's. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

function openInBrowser(url: string): void {
  const [program = '', ...args] = openers[process.platform] ?? ['xdg-open']
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true })
  child.once('error', () => process.stderr.write(`No browser was found: open ${url}\n`))
  child.unref()
}
