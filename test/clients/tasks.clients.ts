import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../helpers/app.ts'
import { addChannel, addToken, requireBalancedBooks } from '../helpers/seed.ts'
import { done, type ModelServer, startModel } from './model-server.ts'
import { installPrograms, programs, runProgram } from './programs.ts'

/** Programs that people use finish a task with tools through this gateway, whoever made the model behind it. */

const upstreams = {
  openai: { type: 1, model: 'gpt-5.4', path: '' },
  anthropic: { type: 14, model: 'claude-sonnet-4-6', path: '' },
  gemini: { type: 24, model: 'gemini-3-pro-preview', path: '' },
  'chat only': { type: 8, model: 'harbor-1', path: '/v1/chat/completions' },
} as const
type UpstreamName = keyof typeof upstreams
// The keys of the table.
const names = Object.keys(upstreams) as UpstreamName[]

const task = 'Write the word harbor into a file called answer.txt, with your shell tool, then stop.'
const home = installPrograms()
let server: TestServer
const models: Partial<Record<UpstreamName, ModelServer>> = {}

beforeAll(async () => {
  server = await startServer('sqlite')
  const prices = Object.fromEntries(names.map((name) => [upstreams[name].model, 1]))
  await server.call('PUT /api/option/', { key: 'ModelRatio', value: JSON.stringify(prices) })
  for (const name of names) {
    const model = await startModel(name, 'printf harbor > answer.txt')
    models[name] = model
    await addChannel(server, { url: model.url + upstreams[name].path, type: upstreams[name].type, models: upstreams[name].model })
  }
})
afterAll(async () => {
  await requireBalancedBooks(server)
  await server.stop()
  await Promise.all(Object.values(models).map((model) => model.stop()))
})

describe.each(Object.keys(programs))('%s', (program) => {
  it.each(names)('finishes a task with tools on a channel of %s', { timeout: 180_000 }, async (name) => {
    const { key } = await addToken(server)
    const setup = { address: server.url, key, model: upstreams[name].model }
    const run = await runProgram(home, program, task, setup)
    const written = await readFile(join(run.folder, 'answer.txt'), 'utf8').catch(() => '')
    expect({ status: run.status, written, output: run.output }).toMatchObject({ status: 0, written: 'harbor' })
    expect(run.output).toContain(done)
  })
})
