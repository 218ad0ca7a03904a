import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type ClientSetup, clients } from '../../src/contract/clients/index.ts'

/** How the programs are installed and run: with the very settings that the connect page shows, in a home of their own. */

const list = fileURLToPath(new URL('programs/package.json', import.meta.url))

/** Installs the listed versions from npm once, and answers where. */
export function installPrograms(): string {
  const versions = createHash('sha256').update(readFileSync(list)).digest('hex').slice(0, 12)
  const home = join(tmpdir(), `sluice-clients-${versions}`)
  if (existsSync(home)) return home
  const half = `${home}-${process.pid}`
  mkdirSync(half, { recursive: true })
  copyFileSync(list, join(half, 'package.json'))
  try {
    execFileSync('npm', ['install', '--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: half,
      stdio: 'inherit',
    })
    renameSync(half, home)
  } finally {
    rmSync(half, { recursive: true, force: true })
  }
  return home
}

interface Program {
  /** The row of the table of clients that says how it is set up. */
  readonly client: string
  /** Below `node_modules`. */
  readonly file: string
  readonly args: (task: string) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const codexArgs = (task: string) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task]

export const programs: Readonly<Record<string, Program>> = {
  'Claude Code': {
    client: 'claude-code',
    file: '.bin/claude',
    args: (task) => ['-p', task, '--allowedTools', 'Bash'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1' },
  },
  Codex: { client: 'codex', file: '@openai/codex/bin/codex.js', args: codexArgs },
  'Codex, an older one': { client: 'codex', file: 'codex-older/bin/codex.js', args: codexArgs },
  'Gemini CLI': {
    client: 'gemini-cli',
    file: '.bin/gemini',
    args: (task) => ['-p', task, '--approval-mode', 'yolo', '--skip-trust'],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_TELEMETRY_ENABLED: 'false' },
  },
  opencode: {
    client: 'opencode',
    file: '.bin/opencode',
    args: (task) => ['run', task],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  },
}

export interface Run {
  readonly status: number | null
  readonly output: string
  /** The folder that it worked in. */
  readonly folder: string
}

/** Runs a program on a task until it ends. Nothing but loopback can be reached from it. */
export async function runProgram(
  home: string,
  name: keyof typeof programs,
  task: string,
  setup: ClientSetup,
  more: readonly string[] = [],
): Promise<Run> {
  const program = programs[name]
  const client = clients.find(({ id }) => id === program?.client)
  if (!program || !client) throw new Error(`${name} is not known`)
  const folder = await mkdtemp(join(tmpdir(), 'sluice-client-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const env: Record<string, string> = {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    TERM: 'dumb',
    CI: '1',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
    ...program.env,
  }
  for (const step of client.steps(setup)) {
    if (!('text' in step)) throw new Error(`${name} is set up by a form`)
    if (step.language === 'bash') Object.assign(env, exportsIn(step.text))
    else if (program.client !== 'claude-code') await writeSettings(join(folder, step.place.en.replace('~/', '')), step.text)
  }

  const file = join(home, 'node_modules', program.file)
  const [command, ...first] = file.endsWith('.js') ? [process.execPath, file] : [file]
  const child = spawn(command ?? '', [...first, ...program.args(task), ...more], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      output += piece
    })
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { status, output, folder }
}

function exportsIn(text: string): Record<string, string> {
  const lines = text.split('\n').flatMap((line) => /^export (\w+)=(.*)$/.exec(line) ?? [])
  const pairs: Record<string, string> = {}
  for (let at = 0; at < lines.length; at += 3) pairs[lines[at + 1] ?? ''] = lines[at + 2] ?? ''
  return pairs
}

async function writeSettings(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}
