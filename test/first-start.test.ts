import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from './helpers/free-port.ts'
import { sluiceProgram } from './helpers/sluice.ts'
import { newFolder } from './helpers/templates.ts'

/** What a person finds who starts the server for the first time: settings in a file, another port, the browser, the next step. */

interface Start {
  readonly args?: readonly string[]
  readonly env?: Record<string, string>
  readonly cwd?: string
  /** Runs the program on a terminal. */
  readonly isTerminal?: boolean
}

function start({ args = [], env = {}, cwd = newFolder(), isTerminal = false }: Start) {
  const command = [process.execPath, sluiceProgram, 'serve', ...args]
  const [program = '', ...rest] = isTerminal
    ? ['script', '--quiet', '--return', '--command', command.join(' '), '/dev/null']
    : command
  const child = spawn(program, rest, { cwd, env: { PATH: process.env.PATH, DRAIN_DELAY: '0', ...env } })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  onTestFinished(async () => {
    child.kill('SIGTERM')
    await ended
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const says = (text: string | RegExp) => vi.waitFor(() => expect(output).toMatch(text), { timeout: 120_000 })
  return { says, output: () => output }
}

it('settings stand in a file .env of the working directory, and those of the environment go before', async () => {
  const cwd = newFolder()
  writeFileSync(join(cwd, '.env'), '# Of the file\nDATA_DIR=./of-the-file\nPORT=1\nROOT_PASSWORD="of the file"\n')
  const { says } = start({ cwd, env: { PORT: '0' } })
  await says('Log in as root with the password of ROOT_PASSWORD')
  expect(existsSync(join(cwd, 'of-the-file/app.db'))).toBe(true)
})

it('an .env that cannot be read is named', async () => {
  const cwd = newFolder()
  mkdirSync(join(cwd, '.env'))
  const { says } = start({ cwd })
  await says(`.env in ${cwd} cannot be read (EISDIR)`)
})

it('--port goes before PORT, and --open opens the console when the server is ready', async () => {
  const [folder, port] = [newFolder(), await freePort()]
  const opened = join(folder, 'opened')
  const opener = join(folder, process.platform === 'darwin' ? 'open' : 'xdg-open')
  writeFileSync(opener, `#!/bin/sh\necho "$@" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`)
  chmodSync(opener, 0o755)
  start({ args: ['--port', String(port), '--open'], env: { PORT: '1', PATH: `${folder}:${process.env.PATH}` } })
  await vi.waitUntil(() => existsSync(opened), { timeout: 120_000 })
  expect(readFileSync(opened, 'utf8')).toBe(`http://127.0.0.1:${port}\n`)
})

it('where there is no browser, the address to open is told', async () => {
  const port = await freePort()
  const { says } = start({ args: ['--port', String(port), '--open'], env: { PATH: newFolder() } })
  await says(`No browser was found: open http://127.0.0.1:${port}`)
})

it.each([
  ['zh_CN.UTF-8', ['已启动：http://localhost:', '用 root 和密码 123456 登录', '下一步：打开“渠道”']],
  ['en_GB.UTF-8', ['listens on http://localhost:', 'Log in as root with the password 123456', 'Next: open Channels']],
  ['', ['listens on http://localhost:', 'Next: open Channels']],
])('a terminal with the language "%s" gets the address, the login and the next step in it', async (LANG, lines) => {
  const { says } = start({ isTerminal: true, env: { PORT: '0', LANG } })
  for (const line of lines) await says(line)
})
