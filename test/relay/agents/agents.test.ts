import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anthropicRules } from '../../helpers/agents/anthropic.ts'
import { bedrockRules } from '../../helpers/agents/bedrock.ts'
import { geminiRules } from '../../helpers/agents/gemini.ts'
import { openAiRules } from '../../helpers/agents/openai.ts'
import { callsOfAll, scenario, steps, usageOfAll } from '../../helpers/agents/scenario.ts'
import { startVendor, type Vendor, type VendorRules } from '../../helpers/agents/vendor-server.ts'
import { startServer, type TestServer } from '../../helpers/app.ts'
import { eachDatabase } from '../../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../../helpers/seed.ts'
import type { Agent } from './agent.ts'
import { aiSdk } from './ai-sdk.ts'
import { langchain } from './langchain.ts'
import { officialSdks } from './official-sdks.ts'

/**
 * Agent loops of the libraries that people use, through the whole gateway, to every kind of upstream: three turns with streaming, an image,
 * calls side by side, sealed reasoning that has to come back, and an answer in JSON. The upstreams refuse whatever their vendors refuse.
 */
const agents: Readonly<Record<string, Agent>> = { ...officialSdks, ...aiSdk, ...langchain }

interface Upstream {
  readonly type: number
  readonly model: string
  readonly rules: () => VendorRules
  readonly key?: string
  /** Behind the address of the vendor, for channels that want the whole one. */
  readonly path?: string
  /** The model refuses to be asked for reasoning. */
  readonly isPlain?: true
}

const aws = 'AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|us-east-1'
const upstreams: Readonly<Record<string, Upstream>> = {
  'OpenAI, a model without reasoning': { type: 1, model: 'gpt-4.1', rules: openAiRules, isPlain: true },
  'OpenAI, a model that wants Responses': { type: 1, model: 'gpt-5.4', rules: openAiRules },
  'OpenAI in Chat alone': { type: 8, model: 'gpt-4.1', rules: openAiRules, path: '/v1/chat/completions', isPlain: true },
  Anthropic: { type: 14, model: 'claude-sonnet-4-5', rules: anthropicRules },
  Gemini: { type: 24, model: 'gemini-3-pro-preview', rules: geminiRules },
  'Bedrock by InvokeModel': {
    type: 33,
    model: 'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    rules: bedrockRules,
    key: aws,
  },
  'Bedrock by Converse': { type: 33, model: 'us.amazon.nova-2-lite-v1:0', rules: bedrockRules, key: aws },
}

/** The same price for every model: then the same conversation costs the same, whatever it went through. */
async function openStage(kind: 'sqlite' | 'postgres', chosen: Readonly<Record<string, Upstream>>) {
  const server = await startServer(kind)
  const models = Object.values(chosen).map(({ model }) => model)
  for (const [key, ratio] of [
    ['ModelRatio', 1.25],
    ['CompletionRatio', 4],
    ['CacheRatio', 0.1],
  ] as const) {
    const value = JSON.stringify(Object.fromEntries(models.map((model) => [model, ratio])))
    await server.call('PUT /api/option/', { key, value })
  }
  const vendors: Record<string, Vendor> = {}
  for (const [name, { type, model, rules, key, path = '' }] of Object.entries(chosen)) {
    const vendor = await startVendor(rules())
    vendors[name] = vendor
    await addChannel(server, { url: vendor.url + path, type, models: model, ...(key ? { key } : {}) })
  }
  return { server, vendors }
}

async function closeStage({ server, vendors }: Awaited<ReturnType<typeof openStage>>): Promise<void> {
  await requireBalancedBooks(server)
  await server.stop()
  for (const vendor of Object.values(vendors)) await vendor.stop()
}

/** One turn's charge by the one rule of prices: input and cached input by their ratios, output by its own. */
function chargeOf({ input, cached, output }: { input: number; cached: number; output: number }): number {
  return Math.ceil((input - cached + cached * 0.1 + output * 4) * 1.25)
}

async function requireRun(server: TestServer, vendor: Vendor, agent: Agent, { model, isPlain }: Upstream): Promise<void> {
  const token = await addToken(server, { unlimited_quota: false, remain_quota: 1_000_000 })
  const before = vendor.faults.length
  const outcome = await agent({ url: server.url, key: token.key, model, reasons: !isPlain }).catch((error: unknown) => {
    if (process.env.AGENT_ERRORS) console.log(error)
    return String(error)
  })
  const refused = vendor.faults.slice(before)
  if (refused.length > 0) throw new Error(`The upstream refused: ${refused.join('; ')}`)
  if (typeof outcome === 'string') throw new Error(outcome)
  expect(outcome).toMatchObject({
    calls: callsOfAll,
    answer: scenario.answer,
    texts: steps.map(({ text }) => text),
  })
  const { reasoning: _, ...usage } = usageOfAll
  if (outcome.usage) expect(outcome.usage).toEqual(usage)
  if (process.env.AGENT_THOUGHTS) console.log(JSON.stringify(outcome.thoughts))

  const { logs, tokens } = await books(server)
  const own = logs.filter((row) => row.token_id === token.id)
  expect(own.map((row) => [row.prompt_tokens, row.completion_tokens, row.quota])).toEqual(
    steps.map(({ usage }) => [usage.input, usage.output, chargeOf(usage)]),
  )
  const charged = own.reduce((sum, row) => sum + row.quota, 0)
  expect(tokens.find((row) => row.id === token.id)).toMatchObject({
    remain_quota: 1_000_000 - charged,
    used_quota: charged,
    held: 0,
  })
}

describe.each(Object.keys(upstreams))('agents through the gateway to %s', (name) => {
  const { [name]: upstream } = upstreams
  let stage: Awaited<ReturnType<typeof openStage>>

  beforeAll(async () => {
    stage = await openStage('sqlite', upstream ? { [name]: upstream } : {})
  })
  afterAll(() => closeStage(stage))

  it.each(Object.entries(agents))('%s', async (_, agent) => {
    const { [name]: vendor } = stage.vendors
    if (!vendor || !upstream) throw new Error(`${name} is not there`)
    await requireRun(stage.server, vendor, agent, upstream)
  })
})

eachDatabase('an agent through the gateway', (_fresh, kind) => {
  it('gets its seals back from the database, and pays to the unit', async () => {
    const { Anthropic } = upstreams
    const { 'langchain openai, chat': agent } = agents
    if (!Anthropic || !agent) throw new Error('The agent is not there')
    const stage = await openStage(kind, { Anthropic })
    const { Anthropic: vendor } = stage.vendors
    if (vendor) await requireRun(stage.server, vendor, agent, Anthropic)
    await closeStage(stage)
  })
})
