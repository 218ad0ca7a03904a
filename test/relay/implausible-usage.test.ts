import { expect, it } from 'vitest'
import { billOf } from '../../src/contract/bill.ts'
import type { Log, LogOther } from '../../src/contract/entities/log.ts'
import { readFactors } from '../../src/contract/log-factors.ts'
import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { seedFile } from '../helpers/files.ts'
import { requireBalancedBooks } from '../helpers/seed.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, chat, completion, event, piece, settledCharges } from './stage.ts'

/** gpt-4o-mini: 0.075 units for a prompt token, four times as much for an output token. */
const costOf = (prompt: number, output: number) => Math.ceil((prompt + output * 4) * 0.075)

const usageOf = (prompt_tokens: number, completion_tokens: number, more: object = {}) => {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, ...more }
}

anyDatabase('usage above what a request can have', (_fresh, kind) => {
  const sharedStage = sharedStages(kind)

  async function reporting(usage: object, setting: object = {}) {
    const last = event({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })
    const { url } = await answeringUpstream(({ body }) =>
      body.stream === true ? piece('four') + piece('', 'stop') + last + event('[DONE]') : completion({ usage }),
    )
    const staged = await sharedStage(url, { setting: JSON.stringify(setting) })
    const { server, channelId } = staged
    const rows = async (query = `channel=${channelId}`) =>
      (await server.call<{ items: Log[] }>(`GET /api/log/?type=2&${query}`)).items
    return {
      ...staged,
      rows,
      siteCosts: () =>
        server.app.db.selectFrom('site_costs').selectAll().where('channel_id', '=', channelId).orderBy('amount').execute(),
    }
  }

  it.each([false, true])('is charged at the bound, and the site bears the rest (stream: %s)', async (stream) => {
    const { server, ask, channelId, rows, charged, siteCosts } = await reporting(usageOf(11, 1000))
    expect((await ask(chat({ max_tokens: 100, stream }))).status).toBe(200)

    expect(await charged()).toEqual([costOf(11, 100)])
    const [row] = await rows()
    const { usage_implausible, output_tokens, admin_info: info }: LogOther = JSON.parse(row?.other ?? '')
    const beyond = costOf(11, 1000) - costOf(11, 100)
    expect({ usage_implausible, output_tokens, tokens: row?.completion_tokens }).toEqual({
      usage_implausible: true,
      output_tokens: 100,
      tokens: 100,
    })
    expect(info).toMatchObject({
      reported: { prompt_tokens: 11, cached_tokens: 0, completion_tokens: 1000 },
      site_cost: { amount: beyond, reason: 'usage_implausible' },
    })
    expect(await siteCosts()).toMatchObject([
      { request_id: row?.request_id, user_id: 1, channel_id: channelId, amount: beyond, reason: 'usage_implausible' },
    ])
    const own = await server.call<{ items: Log[] }>(`GET /api/log/self?type=2&request_id=${row?.request_id}`)
    expect(own.items[0]?.other).toContain('usage_implausible')
    expect(own.items[0]?.other).not.toContain('site_cost')
    await requireBalancedBooks(server)
  })

  it.each([false, true])('of a prompt that only the upstream knows is charged at most the hold (stream: %s)', async (stream) => {
    const { server, ask, channelId, rows, charged, siteCosts } = await reporting(usageOf(250_080, 10))
    await seedFile(server, { id: 'file-1', channelId })
    const messages = [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }]
    expect((await ask(chat({ messages, max_tokens: 100, stream }))).status).toBe(200)

    const [amount = 0] = await charged()
    const [row] = await rows()
    const factors = readFactors(row?.other ?? '')
    expect(amount).toBeLessThan(costOf(250_080, 10))
    expect(factors).toMatchObject({ above_hold: true, held: amount })
    expect(factors.usage_implausible).toBeUndefined()
    expect(billOf({ quota: amount, factors })).toMatchObject({ rounded: costOf(250_080, 10), units: amount, agrees: true })
    expect(await siteCosts()).toMatchObject([{ amount: costOf(250_080, 10) - amount, reason: 'above_hold' }])
    expect(await verifyCharges(server.app.db)).toMatchObject({ differing: 0 })
    await requireBalancedBooks(server)
  })

  it('is measured against the output limit times the number of choices', async () => {
    const { ask, charged, siteCosts } = await reporting(usageOf(11, 400))
    await ask(chat({ max_tokens: 100, n: 4 }))
    expect(await charged()).toEqual([costOf(11, 400)])
    expect(await siteCosts()).toEqual([])
  })

  it.each(['ignores_limits', 'reasoning_beside_limit'])(
    'is not measured against the output limit for a channel with %s',
    async (flag) => {
      const { ask, charged, siteCosts } = await reporting(usageOf(11, 1000), { [flag]: true })
      await ask(chat({ max_tokens: 100 }))
      expect(await charged()).toEqual([costOf(11, 1000)])
      expect(await siteCosts()).toEqual([])
    },
  )

  it("is bounded by the model's maximum on such a channel", async () => {
    const { ask, charged } = await reporting(usageOf(11, 200_000), { ignores_limits: true })
    await ask(chat({ max_tokens: 100 }))
    expect(await charged()).toEqual([costOf(11, 16_384)])
  })

  it('[209] includes cached tokens beyond the prompt tokens: the prompt is raised to them within the bound', async () => {
    const cached = usageOf(10, 5, { prompt_tokens_details: { cached_tokens: 5000 } })
    const { ask, rows, charged, siteCosts } = await reporting(cached, { adds_to_prompts: false })
    await ask(chat())
    const factors = readFactors((await rows())[0]?.other ?? '')
    const { cache_tokens: read = 0 } = factors
    expect(await charged()).toEqual([Math.ceil((read * 0.5 + 5 * 4) * 0.075)])
    expect(read).toBeGreaterThan(10)
    expect(read).toBeLessThan(500)
    expect(factors).toMatchObject({ usage_implausible: true, cached_above_prompt: 4990 })
    expect(await siteCosts()).toMatchObject([{ reason: 'usage_implausible' }])
  })

  it('can be filtered for in the log, its statistics and its exports', async () => {
    const { server, ask, rows, channelId } = await reporting(usageOf(11, 1000))
    for (const max_tokens of [100, 2000, 200, 3000]) await ask(chat({ max_tokens }))
    await settledCharges(server)

    const filter = `site_cost=usage_implausible&channel=${channelId}`
    const found = await rows(filter)
    expect(found.map((row) => row.completion_tokens)).toEqual([200, 100])
    expect((await rows(`${filter}&page_size=1&p=2`)).map((row) => row.completion_tokens)).toEqual([100])
    expect((await rows(`${filter}&sort=created_at`)).map((row) => row.completion_tokens)).toEqual([100, 200])
    expect(await rows(`${filter}&model_name=other`)).toEqual([])
    expect(await rows(`${filter}&end_timestamp=1000`)).toEqual([])
    expect(await rows('site_cost=undelivered')).toEqual([])
    const { total } = await server.call<{ total: number }>(`GET /api/log/?${filter}`)
    expect(total).toBe(2)
    const { quota } = await server.call<{ quota: number }>(`GET /api/log/stat?${filter}`)
    expect(quota).toBe(costOf(11, 100) + costOf(11, 200))
    const lines = (await (await server.raw(`GET /api/log/export.csv?${filter}`)).text()).trim().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toContain('site_cost')
    expect(lines[1]).toContain('usage_implausible')
  })
})
