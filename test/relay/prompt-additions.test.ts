import { describe, expect, it } from 'vitest'
import type { Channel } from '../../src/contract/entities/channel.ts'
import { readFactors } from '../../src/contract/log-factors.ts'
import { modelLimitsOf } from '../../src/contract/model-limits.ts'
import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, eventually } from './stage.ts'
import { chat, messages, said, type Vendor, vendors } from './usage-vendors.ts'

/** Prices: 0.075 units for a prompt token of gpt-4o-mini, four times as much for an output token. */
const costOf = (prompt: number, output: number) => Math.ceil((prompt + output * 4) * 0.075)
const context = modelLimitsOf('gpt-4o-mini').contextTokens

anyDatabase('a prompt that is longer by the report than the request', (_fresh, kind) => {
  const sharedStage = sharedStages(kind, { SelfUseModeEnabled: 'true' })

  async function reporting(
    told: () => readonly [number, number],
    {
      vendor = chat,
      caller = vendor,
      channel = {},
    }: { vendor?: Vendor; caller?: Vendor; channel?: Record<string, unknown> } = {},
  ) {
    const { url } = await answeringUpstream(({ path, body }) =>
      vendor.reply([told()], said, path.includes('stream') || body.stream === true),
    )
    const { model } = vendor
    const staged = await sharedStage(url, { ...vendor.channel, models: model, ...channel })
    const { db } = staged.server.app
    return {
      ...staged,
      async call(more: Record<string, unknown> = {}, stream = false) {
        const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
        const body = { ...(caller.path ? { model } : {}), ...caller.request(stream), ...more }
        const answer = await staged.ask(body, caller.path || `/v1beta/models/${model}:${action}`)
        expect(answer.status, answer.text).toBe(200)
        await staged.charged()
        const row = (await staged.logs()).at(-1)
        return { quota: row?.quota ?? 0, ...readFactors(row?.other ?? '{}') }
      },
      siteCosts: () => db.selectFrom('site_costs').selectAll().where('channel_id', '=', staged.channelId).execute(),
      async clean() {
        expect(await verifyCharges(db)).toMatchObject({ differing: 0 })
        await requireBalancedBooks(staged.server)
      },
    }
  }

  const every = Object.entries(vendors).flatMap(([name, vendor]) => [false, true].map((stream) => ({ name, vendor, stream })))

  it.each(every)(
    'is charged at most the hold, and the rest is a site cost: $name, stream: $stream',
    async ({ vendor, stream }) => {
      const { call, siteCosts, clean } = await reporting(() => [900_000, 10], { vendor })
      const { quota, held, above_hold, prompt_added, usage_implausible } = await call({}, stream)
      expect({ quota, above_hold, usage_implausible }).toEqual({ quota: held, above_hold: true, usage_implausible: undefined })
      expect(prompt_added).toBeGreaterThan(80_000)
      expect(await siteCosts()).toMatchObject([{ reason: 'prompt_addition' }])
      await clean()
    },
  )

  it('is charged in full as far as its hold reaches, and the row says by how much it is longer', async () => {
    const { call, siteCosts, clean } = await reporting(() => [1_500, 10])
    const { quota, above_hold, prompt_added } = await call()
    expect({ quota, above_hold }).toEqual({ quota: costOf(1_500, 10), above_hold: undefined })
    expect(prompt_added).toBeGreaterThan(900)
    expect(await siteCosts()).toEqual([])
    await clean()
  })

  it('is implausible where the channel never adds to prompts, and cut to what the request can have', async () => {
    const setting = JSON.stringify({ adds_to_prompts: false })
    const { call, siteCosts, clean } = await reporting(() => [1_500, 10], { channel: { setting } })
    const { quota, usage_implausible, prompt_added } = await call()
    expect({ usage_implausible, prompt_added }).toEqual({ usage_implausible: true, prompt_added: undefined })
    expect(quota).toBeLessThan(costOf(600, 10))
    expect(await siteCosts()).toMatchObject([{ reason: 'usage_implausible' }])
    await clean()
  })

  it('is covered by the hold where the channel says that it adds to prompts', async () => {
    const setting = JSON.stringify({ adds_to_prompts: true })
    const { call, siteCosts, clean } = await reporting(() => [90_000, 10], { channel: { setting } })
    const { quota, held = 0, above_hold } = await call()
    expect({ quota, above_hold }).toEqual({ quota: costOf(90_000, 10), above_hold: undefined })
    expect(held).toBeGreaterThanOrEqual(costOf(context, 0))
    expect(await siteCosts()).toEqual([])
    await clean()
  })

  it('is learnt after twenty calls: the lower quartile of the excess is held then, and the console asks about it', async () => {
    let calls = 0
    // The excess differs from call to call, and one call has none.
    const { server, channelId, call, siteCosts, clean } = await reporting(() => [++calls === 7 ? 20 : 50_000 + 10 * calls, 10])
    const limited = { max_tokens: 16 }
    const before = (await call(limited)).held ?? 0
    for (let index = 1; index < 20; index++) await call(limited)
    const additions = async () => {
      const { prompt_additions } = await server.call<Channel>(`GET /api/channel/${channelId}`)
      return prompt_additions[chat.model] ?? 0
    }
    await eventually('the addition is stored', async () => (await additions()) > 0)
    const added = await additions()
    expect(added).toBeGreaterThan(49_000)
    expect(added).toBeLessThan(50_070)
    expect(await siteCosts()).toHaveLength(19)
    let charged = await call(limited)
    await eventually('the addition is held', async () => {
      charged = await call(limited)
      return (charged.held ?? 0) > before
    })
    const { quota, held = 0, above_hold } = charged
    expect(held - before).toBeGreaterThanOrEqual(costOf(added, 0) - 1)
    expect({ quota, above_hold }).toEqual({ quota: expect.any(Number), above_hold: quota === held ? true : undefined })
    expect(quota).toBeGreaterThan(costOf(49_000, 0))
    await clean()
  })

  it('is not learnt where only some calls are longer', async () => {
    let calls = 0
    const { server, channelId, call } = await reporting(() => [++calls % 5 === 0 ? 20 : 50_000, 10])
    for (let index = 0; index < 25; index++) await call({ max_tokens: 16 })
    const { prompt_additions } = await server.call<Channel>(`GET /api/channel/${channelId}`)
    expect(prompt_additions).toEqual({})
  })

  it.each(
    Object.entries({
      'Azure, own data': { data_sources: [{ type: 'azure_search', parameters: {} }] },
      'Cohere, connectors': { connectors: [{ id: 'web-search' }] },
      'a search by a switch': { web_search: true },
      'Alibaba, options of a search': { enable_search: true, search_options: { forced_search: true } },
      'Mistral, its prompt for reasoning': { prompt_mode: 'reasoning' },
      'OpenRouter, plugins': { plugins: [{ id: 'web' }] },
    }),
  )('holds the whole context where the request makes the upstream add to it: %s', async (_name, member) => {
    const { call, siteCosts, clean } = await reporting(() => [90_000, 10])
    const { quota, above_hold } = await call({ ...member, max_tokens: 16 })
    expect(quota).toBeGreaterThanOrEqual(costOf(90_000, 10))
    expect(above_hold).toBeUndefined()
    expect(await siteCosts()).toEqual([])
    await clean()
  })

  it.each([
    'vendor/model:online',
    'groq/compound',
    'compound-beta-mini',
    'sonar',
    'sonar-deep-research',
    'bot-20250101120000-abcde',
  ])('holds the whole context where the model adds to it: %s', async (added) => {
    const vendor: Vendor = { ...chat, model: added }
    const { call, siteCosts } = await reporting(() => [90_000, 10], { vendor, channel: { models: added } })
    expect((await call({ max_tokens: 16 })).above_hold).toBeUndefined()
    expect(await siteCosts()).toEqual([])
  })

  it('holds the whole context for a long document of Alibaba', async () => {
    const vendor: Vendor = { ...chat, model: 'qwen-long' }
    const { call, siteCosts } = await reporting(() => [90_000, 10], { vendor, channel: { models: 'qwen-long' } })
    const document = [
      { role: 'system', content: 'fileid://file-fe-1' },
      { role: 'user', content: 'Sum it up.' },
    ]
    expect((await call({ messages: document, max_tokens: 16 })).above_hold).toBeUndefined()
    expect(await siteCosts()).toEqual([])
  })

  describe('overrides of a channel are in its hold and its bound', () => {
    const overriding = (rules: readonly object[]) => ({
      setting: JSON.stringify({ param_override: rules, adds_to_prompts: false }),
    })

    it.each([
      ['sets', [{ set: 'max_tokens', to: 5_000 }]],
      ['removes', [{ remove: 'max_tokens' }]],
    ])('that %s the output limit', async (_name, rules) => {
      const { call, siteCosts, clean } = await reporting(() => [11, 4_000], { channel: overriding(rules) })
      const { quota, usage_implausible } = await call({ max_tokens: 100 })
      expect({ quota, usage_implausible }).toEqual({ quota: costOf(11, 4_000), usage_implausible: undefined })
      expect(await siteCosts()).toEqual([])
      await clean()
    })

    it.each([
      ['enables a search', [{ set: 'enable_search', to: true }]],
      ['adds a plugin', [{ set: 'plugins', to: [{ id: 'file-parser' }] }]],
      ['sets options of a search', [{ default: 'search_options', to: { forced_search: true } }]],
    ])('that %s', async (_name, rules) => {
      const { call, clean } = await reporting(() => [90_000, 10], { channel: overriding(rules) })
      const { quota, usage_implausible, above_hold } = await call({ max_tokens: 16 })
      expect(quota).toBeGreaterThanOrEqual(costOf(90_000, 10))
      expect({ usage_implausible, above_hold }).toEqual({ usage_implausible: undefined, above_hold: undefined })
      await clean()
    })

    it('that asks for more answers', async () => {
      const { call } = await reporting(() => [11, 400], { channel: overriding([{ set: 'n', to: 4 }]) })
      expect(await call({ max_tokens: 100 })).toMatchObject({ quota: costOf(11, 400) })
    })

    it('that sets the output limit of a translated request', async () => {
      const { call, clean } = await reporting(() => [11, 4_000], {
        vendor: messages,
        caller: chat,
        channel: overriding([{ set: 'max_tokens', to: 5_000, when: { path: 'system', exists: false } }]),
      })
      const { usage_implausible, output_tokens } = await call({ max_tokens: 100 })
      expect({ usage_implausible, output_tokens }).toEqual({ usage_implausible: undefined, output_tokens: 4_000 })
      await clean()
    })

    it('with a system prompt', async () => {
      const system_prompt = 'Be brief. '.repeat(500)
      const { call } = await reporting(() => [1_500, 10], {
        channel: { setting: JSON.stringify({ system_prompt, adds_to_prompts: false }) },
      })
      expect(await call({ max_tokens: 16 })).toMatchObject({ quota: costOf(1_500, 10) })
    })
  })
})
