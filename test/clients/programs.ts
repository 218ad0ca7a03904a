import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type ClientSetup, clients } from '../../src/contract/clients/index.ts'

/** Installs and runs the programs: with the settings shown on the connect page, each in a separate home folder. */

const fileOf = (name: string) => fileURLToPath(new URL(`programs/${name}`, import.meta.url))

/** Copied to where the programs are installed, so that they find their packages. */
const aiSdk = 'ai-sdk.mjs'
const officialSdks = 'official-sdks.mjs'

/** Installs the listed versions from npm and PyPI once, and returns the folder. */
export function installPrograms(): string {
  const home = installPackages()
  for (const script of [aiSdk, officialSdks]) copyFileSync(fileOf(script), join(home, script))
  return home
}

function installPackages(): string {
  const lists = ['package.json', 'requirements.txt'].map(fileOf)
  const versions = lists
    .reduce((hash, list) => hash.update(readFileSync(list)), createHash('sha256'))
    .digest('hex')
    .slice(0, 12)
  const home = join(tmpdir(), `sluice-clients-${versions}`)
  if (existsSync(home)) return home
  const half = `${home}-${process.pid}`
  mkdirSync(half, { recursive: true })
  for (const list of lists) copyFileSync(list, join(half, basename(list)))
  try {
    execFileSync('npm', ['install', '--ignore-scripts=false', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: half,
      stdio: 'inherit',
    })
    execFileSync('python3', ['-m', 'venv', 'python'], { cwd: half, stdio: 'inherit' })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', 'requirements.txt']
    execFileSync('python/bin/python', pip, { cwd: half, stdio: 'inherit' })
    renameSync(half, home)
  } finally {
    rmSync(half, { recursive: true, force: true })
  }
  return home
}

interface Program {
  /** The row of the client table that describes its setup. */
  readonly client: string
  /** The path below the folder of the installed programs. */
  readonly file: string
  /** `setup` is for a program whose setup on the connect page is code. */
  readonly args: (task: string, setup: ClientSetup) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const codexArgs = (task: string) => ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', task]

const withAiSdk = (provider: string): Program => ({
  client: 'vercel-ai-sdk',
  file: aiSdk,
  args: (task, { address, key, model }) => [provider, task, address, key, model],
})

const withOfficialSdk = (client: string, name: string): Program => ({
  client,
  file: officialSdks,
  args: (task, { address, key, model }) => [name, task, address, key, model],
})

export const programs: Readonly<Record<string, Program>> = {
  'Claude Code': {
    client: 'claude-code',
    file: 'node_modules/.bin/claude',
    args: (task) => ['-p', task, '--allowedTools', 'Bash'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', IS_SANDBOX: '1' },
  },
  Codex: { client: 'codex', file: 'node_modules/@openai/codex/bin/codex.js', args: codexArgs },
  'Codex, an older one': { client: 'codex', file: 'node_modules/codex-older/bin/codex.js', args: codexArgs },
  'Gemini CLI': {
    client: 'gemini-cli',
    file: 'node_modules/.bin/gemini',
    args: (task) => ['-p', task, '--approval-mode', 'yolo', '--skip-trust'],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_TELEMETRY_ENABLED: 'false' },
  },
  opencode: {
    client: 'opencode',
    file: 'node_modules/.bin/opencode',
    args: (task) => ['run', task],
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  },
  'Qwen Code': {
    client: 'qwen-code',
    file: 'node_modules/.bin/qwen',
    args: (task) => ['--approval-mode', 'yolo', task],
  },
  Continue: {
    client: 'continue',
    file: 'node_modules/.bin/cn',
    args: (task) => ['--auto', '-p', task],
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
  },
  'GitHub Copilot CLI': {
    client: 'copilot-cli',
    file: 'node_modules/.bin/copilot',
    args: (task) => ['-p', task, '--allow-all-tools', '--no-color'],
    env: { COPILOT_OFFLINE: 'true', COPILOT_AUTO_UPDATE: 'false' },
  },
  pi: {
    client: 'pi',
    file: 'node_modules/.bin/pi',
    args: (task, { model }) => ['--provider', 'sluice', '--model', model, '--no-session', '-p', task],
    env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' },
  },
  'AI SDK, OpenAI Responses': withAiSdk('openai'),
  'AI SDK, OpenAI Chat': withAiSdk('openai-chat'),
  'AI SDK, Anthropic': withAiSdk('anthropic'),
  'AI SDK, Google': withAiSdk('google'),
  'OpenAI SDK, Chat': withOfficialSdk('openai-js', 'chat'),
  'OpenAI SDK, Responses': withOfficialSdk('openai-js', 'responses'),
  'Anthropic SDK': withOfficialSdk('anthropic-sdk', 'messages'),
  'Anthropic SDK, 2023-06-01': withOfficialSdk('anthropic-sdk', 'messages-2023-06-01'),
  'Anthropic SDK, 2026-10-21': withOfficialSdk('anthropic-sdk', 'messages-2026-10-21'),
  'Google SDK': withOfficialSdk('google-genai', 'gemini'),
}

interface Run {
  readonly status: number | null
  readonly output: string
  /** The folder in which it worked. */
  readonly folder: string
}

/** Runs a program on a task until it ends. It can reach only loopback. */
export async function runProgram(
  home: string,
  name: keyof typeof programs,
  task: string,
  setup: ClientSetup,
  more: { readonly args?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
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
    ...more.env,
  }
  for (const step of client.steps(setup)) {
    if (!('text' in step) || step.language === 'typescript') continue
    if (step.language === 'bash') Object.assign(env, exportsIn(step.text))
    else if (program.client !== 'claude-code') await writeSettings(join(folder, step.place.en.replace('~/', '')), step.text)
  }

  const file = join(home, program.file)
  const [command = '', ...first] = /\.m?js$/.test(file) ? [process.execPath, file] : [file]
  const run = await runCommand(command, [...first, ...program.args(task, setup), ...(more.args ?? [])], { cwd: folder, env })
  return { ...run, folder }
}

/** Runs the steps of the connect page for Python, as a person would paste them. */
export async function runPython(home: string, text: string): Promise<Omit<Run, 'folder'>> {
  return runCommand(join(home, 'python/bin/python'), ['-c', text], { cwd: home, env: { PATH: process.env.PATH ?? '' } })
}

async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<Omit<Run, 'folder'>> {
  const child = spawn(command, [...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
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
  return { status, output }
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
