import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { clients } from '../../src/contract/clients/index.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { model, stage } from './stage.ts'

/** The steps of the connect page are run as a person would paste them, with the official packages. */

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))
const pasted = clients.flatMap((client) => {
  const [step] = client.steps({ address: '', key: '', model: '' })
  const language = step && 'text' in step ? step.language : ''
  return client.kind === 'library' && ['bash', 'typescript'].includes(language) ? [{ client, language }] : []
})

it('the steps that are run cover curl and every library for JavaScript', () => {
  expect(pasted.map(({ client }) => client.id)).toEqual([
    'curl',
    'openai-js',
    'anthropic-sdk',
    'google-genai',
    'vercel-ai-sdk',
    'langchain',
  ])
  expect(pasted.filter(({ client }) => !client.tried)).toEqual([])
})

/** The package of each client that is run, here or by `npm run clients`. */
const packages: Readonly<Record<string, string>> = {
  'claude-code': '@anthropic-ai/claude-code',
  codex: '@openai/codex',
  'gemini-cli': '@google/gemini-cli',
  opencode: 'opencode-ai',
  'qwen-code': '@qwen-code/qwen-code',
  continue: '@continuedev/cli',
  'openai-js': 'openai',
  'anthropic-sdk': '@anthropic-ai/sdk',
  'google-genai': '@google/genai',
  'vercel-ai-sdk': 'ai',
  langchain: '@langchain/openai',
}
const versionsIn = (file: string) => {
  const { dependencies = {}, devDependencies = {} } = JSON.parse(
    readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), 'utf8'),
  )
  return { ...devDependencies, ...dependencies }
}
const installed: Readonly<Record<string, string>> = {
  ...versionsIn('test/package.json'),
  ...versionsIn('test/clients/programs/package.json'),
}

it('OpenAI Python is marked as run with the version that `npm run clients` installs', () => {
  const list = readFileSync(fileURLToPath(new URL('../clients/programs/requirements.txt', import.meta.url)), 'utf8')
  expect(list.trim()).toBe(`openai==${clients.find(({ id }) => id === 'openai-python')?.tried?.version}`)
})

it.each(Object.entries(packages))('%s is marked as run with the installed version of %s', (id, name) => {
  expect(clients.find((client) => client.id === id)?.tried?.version).toBe(installed[name])
})

it.each(pasted)('$client.name gets an answer with its steps from the connect page', async ({ client, language }) => {
  const upstream = await upstreamOfTest()
  // A vendor that only has Chat, so that every other dialect is translated.
  const { server, token } = await stage('sqlite', upstream.url, { channel: { type: 43 } })
  const key = token.key.startsWith('sk-') ? token.key : `sk-${token.key}`
  const [step] = client.steps({ address: server.url, key, model })
  if (!step || !('text' in step)) throw new Error('There is nothing to paste')

  // Node resolves packages from this folder.
  const folder = await mkdtemp(join(modules, '.client-steps-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'step.mjs')
  await writeFile(file, step.text)
  const [command, args] = language === 'bash' ? ['bash', [file]] : [process.execPath, [file]]
  const { stdout } = await run(command, [...args], { cwd: folder, timeout: 50_000 })
  expect(stdout).toContain('You said')
})
