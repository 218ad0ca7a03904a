import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ClientSetup, clients } from '../../src/contract/clients/index.ts'
import { startServer, type TestServer } from '../helpers/app.ts'
import { addChannel, addToken, requireBalancedBooks } from '../helpers/seed.ts'
import { done, type ModelServer, startModel, summary } from './model-server.ts'
import { installPrograms, programs, runProgram, runPython } from './programs.ts'
import { isRecording, proxyTo, recordTo } from './record.ts'

/** Real client programs finish a task with tools through this gateway, with models of any vendor. */

const upstreams = {
  openai: { type: 1, model: 'gpt-5.4', path: '' },
  anthropic: { type: 14, model: 'claude-sonnet-4-6', path: '' },
  gemini: { type: 24, model: 'gemini-2.5-pro', path: '' },
  'chat only': { type: 8, model: 'harbor-1', path: '/v1/chat/completions' },
} as const
type UpstreamName = keyof typeof upstreams
// Object.keys returns the keys of this table.
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
    const model = await startModel(name)
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
    models[name]?.begin({ command: 'printf harbor > answer.txt', calls: 1 })
    const { key } = await addToken(server)
    const file = program.toLowerCase().replaceAll(/[^a-z]+/g, '-')
    const address = isRecording && name === 'openai' ? await recordTo(file, server.url) : server.url
    const run = await runProgram(home, program, task, { address, key, model: upstreams[name].model })
    const written = await readFile(join(run.folder, 'answer.txt'), 'utf8').catch(() => '')
    expect({ status: run.status, written }, run.output).toEqual({ status: 0, written: 'harbor' })
    expect(run.output).toContain(done)
  })
})

describe.each(['Codex', 'opencode', 'pi', 'Continue', 'Claude Code'])('%s', (program) => {
  it.each(names.flatMap((name) => [['cut', name] as const, ['overload', name] as const]))(
    'tries again and finishes its task after a stream with a %s on a channel of %s',
    { timeout: 180_000 },
    async (failure, name) => {
      const model = models[name]
      model?.begin({ command: 'printf harbor > answer.txt', calls: 1, failures: [failure] })
      const { key } = await addToken(server)
      const run = await runProgram(home, program, task, { address: server.url, key, model: upstreams[name].model })
      const written = await readFile(join(run.folder, 'answer.txt'), 'utf8').catch(() => '')
      expect({ status: run.status, written }, run.output).toEqual({ status: 0, written: 'harbor' })
      expect(run.output).toContain(done)
    },
  )
})

/** What a program shows of a wrong key. Copilot has a sentence of its own. */
const wrongKey = /The API key is invalid|Authentication failed with provider/
/**
 * Codex repeats every call that fails with a status that it does not know, 401 too, after 0.2, 0.4, 0.8 and 1.6 seconds; opencode asks
 * for a title as well.
 */
const callsWithWrongKey: Readonly<Record<string, number>> = { Codex: 5, 'Codex, an older one': 5, opencode: 2 }

describe.each(Object.keys(programs))('%s', (program) => {
  it('says that the key is wrong, and does not wait for another answer', async () => {
    const { address, requests } = await proxyTo(server.url)
    const run = await runProgram(home, program, task, { address, key: 'sk-wrong', model: upstreams.openai.model })
    expect(run.status, run.output).not.toBe(0)
    expect(run.output).toMatch(wrongKey)
    expect(requests.length, JSON.stringify(requests.map(({ path }) => path))).toBeLessThanOrEqual(callsWithWrongKey[program] ?? 1)
  })
})

describe('Claude Code', () => {
  it("discovers the gateway's Claude models", async () => {
    const { key } = await addToken(server)
    const { model } = upstreams.anthropic
    models.anthropic?.begin({ command: 'printf harbor > answer.txt', calls: 1 })
    const env = { CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' }
    const run = await runProgram(home, 'Claude Code', task, { address: server.url, key, model }, { env })
    expect(run.status, run.output).toBe(0)
    const found = JSON.parse(await readFile(join(run.folder, '.claude/cache/gateway-models.json'), 'utf8'))
    expect(found).toMatchObject({ models: [{ id: model }] })
  })
})

describe('OpenAI Python', () => {
  it.each(names)('gets an answer with the steps of the connect page on a channel of %s', async (name) => {
    const { key } = await addToken(server)
    const client = clients.find(({ id }) => id === 'openai-python')
    const [step] = client?.steps({ address: server.url, key, model: upstreams[name].model }) ?? []
    if (!step || !('text' in step)) throw new Error('There is nothing to paste')
    const run = await runPython(home, step.text)
    expect(run).toEqual({ status: 0, output: `${summary}\n` })
  })
})

/** A conversation that grows by 15,000 characters with each call. */
const growing = { command: 'printf harbor > answer.txt; head -c 15000 /dev/zero | tr "\\0" x', calls: 20 }

describe.each(['openai', 'anthropic', 'chat only'] as const)('on a channel of %s', (name) => {
  /** The number of characters of the longest request of a short task. */
  async function usualLength(program: string, setup: ClientSetup, model: ModelServer): Promise<number> {
    model.begin({ command: growing.command, calls: 1 })
    await runProgram(home, program, task, setup)
    return Math.max(...model.asked.map(({ body }) => JSON.stringify(body).length))
  }
  async function staged() {
    const model = models[name]
    if (!model) throw new Error(`${name} is not there`)
    const { key } = await addToken(server)
    return { model, setup: { address: server.url, key, model: upstreams[name].model } }
  }
  const hasSummary = ({ asked }: ModelServer) => asked.some(({ body }) => JSON.stringify(body).includes(summary))
  const wasRefused = ({ asked }: ModelServer) => asked.some(({ isRefused }) => isRefused)

  it('Claude Code compacts its conversation when the model refuses it as too long, and continues', async () => {
    const { model, setup } = await staged()
    const usual = await usualLength('Claude Code', setup, model)
    model.begin({ ...growing, charactersMax: usual + 45_000 })
    const run = await runProgram(home, 'Claude Code', task, setup)
    expect([wasRefused(model), hasSummary(model), run.status], run.output).toEqual([true, true, 0])
    expect(run.output).toContain(done)
  })

  // opencode ends with the status of its last error, though it went on. pi keeps the last 20,000 tokens as they are.
  it.each([
    ['opencode', 1],
    ['pi', 0],
  ])('%s compacts its conversation when the model refuses it as too long, and continues', async (program, status) => {
    const { model, setup } = await staged()
    const usual = await usualLength(program, setup, model)
    model.begin({ ...growing, charactersMax: usual + 150_000 })
    const run = await runProgram(home, program, task, setup)
    expect([wasRefused(model), hasSummary(model), run.status], run.output).toEqual([true, true, status])
    expect(run.output).toContain(done)
  })

  it('Codex compacts its conversation by the reported usage, and continues', async () => {
    const { model, setup } = await staged()
    const usual = await usualLength('Codex', setup, model)
    model.begin(growing)
    const limit = `model_auto_compact_token_limit=${Math.round((usual + 45_000) / 4)}`
    const run = await runProgram(home, 'Codex', task, setup, { args: ['-c', limit] })
    expect([hasSummary(model), run.status], run.output).toEqual([true, 0])
    expect(run.output).toContain(done)
  })

  const full = { Codex: "ran out of room in the model's context window", Continue: 'Context length exceeded' }
  // Continue calls models of OpenAI through Responses, whose sentence it does not know.
  it.each(Object.entries(full).filter(([program]) => program === 'Codex' || name !== 'openai'))(
    '%s says that the context is full when the model refuses it as too long',
    async (program, sentence) => {
      const { model, setup } = await staged()
      const usual = await usualLength(program, setup, model)
      model.begin({ ...growing, charactersMax: usual + 45_000 })
      const run = await runProgram(home, program, task, setup)
      expect(wasRefused(model), run.output).toBe(true)
      expect(run.output).toContain(sentence)
    },
  )
})
