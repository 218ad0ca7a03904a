import { execFile } from 'node:child_process'
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

it('covers curl and every library for JavaScript', () => {
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

it.each(pasted)('$client.name gets an answer with the steps that it is given', async ({ client, language }) => {
  const upstream = await upstreamOfTest()
  // A vendor with Chat alone, so that every other dialect is translated.
  const { server, token } = await stage('sqlite', upstream.url, { channel: { type: 43 } })
  const key = token.key.startsWith('sk-') ? token.key : `sk-${token.key}`
  const [step] = client.steps({ address: server.url, key, model })
  if (!step || !('text' in step)) throw new Error('There is nothing to paste')

  // Packages are found from here.
  const folder = await mkdtemp(join(modules, '.client-steps-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'step.mjs')
  await writeFile(file, step.text)
  const [command, args] = language === 'bash' ? ['bash', [file]] : [process.execPath, [file]]
  const { stdout } = await run(command, [...args], { cwd: folder, timeout: 50_000 })
  expect(stdout).toContain('You said')
})
