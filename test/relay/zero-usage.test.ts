import { expect, it } from 'vitest'
import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream } from './stage.ts'
import { chat, prompt, responses, said, type Told, type Vendor, vendors } from './usage-vendors.ts'

anyDatabase('a usage of zeros', (_fresh, kind) => {
  const sharedStage = sharedStages(kind, { SelfUseModeEnabled: 'true' })

  /** Asks in the format of `caller` a channel that answers in that of `vendor`, and returns the row of the charge. */
  async function charged(
    vendor: Vendor,
    told: readonly Told[],
    {
      stream = false,
      text = said,
      caller = vendor,
      headers = {},
    }: { stream?: boolean; text?: string; caller?: Vendor; headers?: Record<string, string> } = {},
  ) {
    const type = stream ? 'text/event-stream' : 'application/json'
    const { url } = await answeringUpstream({ bytes: vendor.reply(told, text, stream), type, headers })
    const { model } = vendor
    const staged = await sharedStage(url, { ...vendor.channel, models: model })
    const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    const path = caller.path || `/v1beta/models/${model}:${action}`
    const body = caller.path ? { model, ...caller.request(stream) } : caller.request(stream)
    const answer = await staged.ask(body, path)
    expect(answer.status, answer.text).toBe(200)
    await staged.charged()
    const [row] = await staged.logs()
    const { estimated = false } = JSON.parse(row?.other ?? '{}')
    expect(await verifyCharges(staged.server.app.db)).toMatchObject({ differing: 0 })
    await requireBalancedBooks(staged.server)
    return { tokens: [row?.prompt_tokens, row?.completion_tokens], estimated, answer: answer.text }
  }

  const streamed = [false, true]
  const cases = Object.entries(vendors).flatMap(([name, vendor]) => streamed.map((stream) => ({ name, vendor, stream })))

  it.each(cases)('beside an answer is no usage: $name, stream: $stream', async ({ vendor, stream }) => {
    const counted = await charged(vendor, [undefined], { stream })
    expect(counted.estimated).toBe(true)
    expect(Math.min(...counted.tokens.map(Number))).toBeGreaterThan(0)
    const { tokens, estimated } = await charged(vendor, [[0, 0]], { stream })
    expect({ tokens, estimated }).toEqual({ tokens: counted.tokens, estimated: true })
  })

  it.each(cases)('on one side is counted on that side: $name, stream: $stream', async ({ vendor, stream }) => {
    const [input, output] = (await charged(vendor, [undefined], { stream })).tokens
    expect(await charged(vendor, [[77, 0]], { stream })).toMatchObject({ tokens: [77, output], estimated: true })
    expect(await charged(vendor, [[0, 99]], { stream })).toMatchObject({ tokens: [input, 99], estimated: true })
  })

  it.each(cases.filter(({ stream, name }) => stream && name !== 'responses'))(
    'behind real numbers does not replace them: $name',
    async ({ vendor, stream }) => {
      expect(
        await charged(
          vendor,
          [
            [77, 99],
            [0, 0],
          ],
          { stream },
        ),
      ).toMatchObject({ tokens: [77, 99], estimated: false })
    },
  )

  it.each(cases)('is free for an answer without output: $name, stream: $stream', async ({ vendor, stream }) => {
    expect(await charged(vendor, [[0, 0]], { stream, text: '' })).toMatchObject({ tokens: [0, 0], estimated: false })
    expect(await charged(vendor, [[77, 0]], { stream, text: '' })).toMatchObject({ tokens: [77, 0], estimated: false })
  })

  it.each(cases)('is free where the vendor repeats an answer for free: $name, stream: $stream', async ({ vendor, stream }) => {
    const headers = { 'x-openrouter-cache-status': 'HIT' }
    expect(await charged(vendor, [[0, 0]], { stream, headers })).toMatchObject({ tokens: [0, 0], estimated: false })
  })

  it.each(cases)('differs from a low one, which is charged as it is: $name, stream: $stream', async ({ vendor, stream }) => {
    expect(await charged(vendor, [[1, 1]], { stream })).toMatchObject({ tokens: [1, 1], estimated: false })
  })

  it.each(streamed)('is counted for callers of another format, who are told the charged numbers (stream: %s)', async (stream) => {
    const pairs = Object.values(vendors).flatMap((vendor) => Object.values(vendors).map((caller) => ({ vendor, caller })))
    for (const { vendor, caller } of pairs.filter(({ vendor, caller }) => vendor.path !== caller.path && vendor !== responses)) {
      const { tokens, estimated, answer } = await charged(vendor, [[0, 0]], { stream, caller })
      expect(estimated).toBe(true)
      expect(Math.min(...tokens.map(Number))).toBeGreaterThan(0)
      if (!stream || caller !== chat)
        expect(answer).toMatch(new RegExp(`"(?:\\w*input_tokens|prompt_tokens|promptTokenCount)":${tokens[0]}\\b`))
    }
  })

  it('beside vectors is no usage', async () => {
    const embed = async (usage?: object) => {
      const data = [{ object: 'embedding', index: 0, embedding: [0.1, 0.2] }]
      const { url } = await answeringUpstream({ json: { object: 'list', data, model: 'text-embedding-3-small', usage } })
      const staged = await sharedStage(url, { models: 'text-embedding-3-small' })
      expect((await staged.ask({ model: 'text-embedding-3-small', input: prompt }, '/v1/embeddings')).status).toBe(200)
      await staged.charged()
      return (await staged.logs())[0]?.prompt_tokens
    }
    const counted = await embed()
    expect(counted).toBeGreaterThan(0)
    expect(await embed({ prompt_tokens: 0, total_tokens: 0 })).toBe(counted)
    expect(await embed({ prompt_tokens: 1, total_tokens: 1 })).toBe(1)
  })
})
