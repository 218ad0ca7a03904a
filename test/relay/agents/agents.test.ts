import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { anthropicRules } from '../../helpers/agents/anthropic.ts'
import { bedrockRules } from '../../helpers/agents/bedrock.ts'
import { geminiRules } from '../../helpers/agents/gemini.ts'
import { openAiRules } from '../../helpers/agents/openai.ts'
import { startProxy } from '../../helpers/agents/proxy.ts'
import { callsOfAll, scenario, steps, usageOfAll } from '../../helpers/agents/scenario.ts'
import { startVendor, type Vendor, type VendorRules } from '../../helpers/agents/vendor-server.ts'
import { startServer, type TestServer } from '../../helpers/app.ts'
import { anyDatabase } from '../../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../../helpers/seed.ts'
import { sampled } from '../../helpers/torture.ts'
import type { Agent } from './agent.ts'
import { aiSdk } from './ai-sdk.ts'
import { langchain } from './langchain.ts'
import { officialSdks } from './official-sdks.ts'

/**
 * Agent loops of common libraries, through the whole gateway, to every kind of upstream: three turns with streaming, an image,
 * parallel calls, sealed reasoning that must be sent back, and an answer in JSON. The simulated upstreams refuse what their vendors
 * refuse.
 */
const agents: Readonly<Record<string, Agent>> = { ...officialSdks, ...aiSdk, ...langchain }

interface Upstream {
  readonly type: number
  readonly model: string
  readonly rules: () => VendorRules
  readonly key?: string
  /** The path after the address of the vendor, for channels whose base URL must be the full URL. */
  readonly path?: string
  /** The model refuses requests for reasoning. */
  readonly isPlain?: true
  /** Reasoning is sent only to callers that request it; agents of the other dialects do not. */
  readonly tellsThoughtsTo?: RegExp
}

/** Their libraries do not read the reasoning that vendors have added to Chat. */
const blindAgents = /^(ai sdk, openai chat|langchain openai, chat)$/

const aws = 'AKIDEXAMPLE|wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY|us-east-1'
const upstreams: Readonly<Record<string, Upstream>> = {
  'OpenAI, a model without reasoning': { type: 1, model: 'gpt-4.1', rules: openAiRules, isPlain: true },
  'OpenAI, a model that wants Responses': { type: 1, model: 'gpt-5.4', rules: openAiRules, tellsThoughtsTo: /responses|google/ },
  'OpenAI in Chat alone': { type: 8, model: 'gpt-4.1', rules: openAiRules, path: '/v1/chat/completions', isPlain: true },
  Anthropic: { type: 14, model: 'claude-sonnet-4-6', rules: anthropicRules },
  Gemini: { type: 24, model: 'gemini-3-pro-preview', rules: geminiRules },
  'Bedrock by InvokeModel': {
    type: 33,
    model: 'global.anthropic.claude-sonnet-4-6',
    rules: bedrockRules,
    key: aws,
  },
  'Bedrock by Converse': { type: 33, model: 'us.amazon.nova-2-lite-v1:0', rules: bedrockRules, key: aws },
}

interface Stage {
  /** The current server; one test replaces it. */
  server: TestServer
  readonly vendors: Readonly<Record<string, Vendor>>
}

/** The same price for every model: then the same conversation costs the same on every route. */
async function openStage(server: TestServer, chosen: Readonly<Record<string, Upstream>>): Promise<Stage> {
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

async function closeStage({ server, vendors }: Stage): Promise<void> {
  await requireBalancedBooks(server)
  await server.stop()
  for (const vendor of Object.values(vendors)) await vendor.stop()
}

/** The charge of one turn: input, cached input and output by their ratios. */
function chargeOf({ input, cached, output }: { input: number; cached: number; output: number }): number {
  return Math.ceil((input - cached + cached * 0.1 + output * 4) * 1.25)
}

async function requireRun(name: string, stage: Stage, upstream: Upstream, url = stage.server.url): Promise<void> {
  const { [name]: agent } = agents
  const [vendor] = Object.values(stage.vendors)
  if (!agent || !vendor) throw new Error(`${name} is not there`)
  const token = await addToken(stage.server, { unlimited_quota: false, remain_quota: 1_000_000 })
  const faultsBefore = vendor.faults.length
  const run = await agent({ url, key: token.key, model: upstream.model, reasons: !upstream.isPlain }).catch((cause: unknown) => {
    const refused = vendor.faults.slice(faultsBefore)
    throw new Error(refused.length > 0 ? `The upstream refused: ${refused.join('; ')}` : String(cause), { cause })
  })

  expect(vendor.faults.slice(faultsBefore)).toEqual([])
  expect(run.calls).toEqual(callsOfAll)
  expect(run.answer).toEqual(scenario.answer)
  expect(run.texts).toEqual(steps.map(({ text }) => text))
  const { tellsThoughtsTo = /./ } = upstream
  const seesThoughts = !upstream.isPlain && !blindAgents.test(name) && tellsThoughtsTo.test(name)
  expect(run.thoughts).toEqual(steps.map(({ thought }) => (seesThoughts ? thought : '')))
  const { reasoning: _, ...usage } = usageOfAll
  if (run.usage) expect(run.usage).toEqual(usage)
  await requireCharges(stage.server, token.id)
}

/** The log, the token and the price agree on each turn, to the unit. */
async function requireCharges(server: TestServer, tokenId: number): Promise<void> {
  const { logs, tokens } = await books(server)
  const own = logs.filter((row) => row.token_id === tokenId)
  expect(own.map((row) => [row.prompt_tokens, row.completion_tokens, row.quota])).toEqual(
    steps.map(({ usage }) => [usage.input, usage.output, chargeOf(usage)]),
  )
  const charged = own.reduce((sum, row) => sum + row.quota, 0)
  expect(tokens.find((row) => row.id === tokenId)).toMatchObject({
    remain_quota: 1_000_000 - charged,
    used_quota: charged,
    held: 0,
  })
}

describe.each(Object.entries(upstreams).map(([name, upstream], nth) => [name, upstream, nth] as const))(
  'agents through the gateway to %s',
  (name, upstream, nth) => {
    let stage: Stage

    beforeAll(async () => {
      stage = await openStage(await startServer('sqlite'), { [name]: upstream })
    })
    afterAll(() => closeStage(stage))

    // In the ordinary run every agent is run against every second kind of upstream.
    it.each(sampled(Object.keys(agents), 2, nth))('%s', (agent) => requireRun(agent, stage, upstream))
  },
)

anyDatabase('an agent whose server is replaced in the middle of its conversation', (fresh, kind) => {
  it.each([
    ['Anthropic', 'langchain openai, chat'],
    ['Gemini', 'ai sdk, anthropic'],
    ['OpenAI, a model that wants Responses', '@google/genai'],
  ])('completes: state sealed by %s for %s survives a restart', async (name, agent) => {
    const { [name]: upstream } = upstreams
    if (!upstream) throw new Error(`${name} is not there`)
    const database = await fresh()
    onTestFinished(() => database.drop())
    const stage = await openStage(await startServer(kind, { database }), { [name]: upstream })
    let asked = 0
    const url = await startProxy(async () => {
      if (++asked === 2) {
        await stage.server.stop()
        stage.server = await startServer(kind, { database })
      }
      return stage.server.url
    })
    await requireRun(agent, stage, upstream, url)
    await closeStage(stage)
  })
})
