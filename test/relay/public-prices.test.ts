import { expect, it } from 'vitest'
import { billOf } from '../../src/contract/bill.ts'
import type { LogOther } from '../../src/contract/entities/log.ts'
import { readFactors } from '../../src/contract/log-factors.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, completion, settledCharges, stage } from './stage.ts'

const stepped = 'gpt-5.4'

const used = (prompt_tokens: number, completion_tokens: number, cached_tokens = 0) =>
  completion({
    model: stepped,
    usage: {
      ...{ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
      prompt_tokens_details: { cached_tokens },
    },
  })

anyDatabase('a model whose price is only in the public data', (_fresh, kind) => {
  async function priced() {
    const upstream = await upstreamOfTest()
    const { server, ...rest } = await stage(kind, upstream.url, { channel: { models: stepped } })
    return { upstream, server, ...rest }
  }

  it('is charged at that price to the unit, and its log row contains the factors of the charge, the vendor and the day of the data', async () => {
    const { upstream, server, ask } = await priced()
    upstream.program('*', { body: used(1000, 100, 400) })
    const messages = [{ role: 'user', content: 'word '.repeat(1200) }]
    expect((await ask(chat({ model: stepped, messages }))).status).toBe(200)
    await settledCharges(server)
    const [row] = (await books(server)).logs
    // 2.5, 0.25 and 15 dollars per million tokens, 500,000 units to the dollar.
    expect(row?.quota).toBe(600 * 1.25 + 400 * 0.125 + 100 * 7.5)
    const factors = readFactors(row?.other ?? '')
    expect(factors).toMatchObject({
      price_source: 'public',
      price_vendor: 'OpenAI',
      price_date: server.app.priceBook.current.date,
    })
    expect(factors).not.toHaveProperty('price_above')
    expect(billOf({ quota: row?.quota ?? 0, factors })).toMatchObject({ units: row?.quota, agrees: true })
    await requireBalancedBooks(server)
  })

  it('is charged at the price step for the length of its prompt, which the hold covered', async () => {
    const { upstream, server, ask } = await priced()
    upstream.program('*', { body: used(272_001, 100, 2_000) })
    const content = 'word '.repeat(280_000)
    expect((await ask(chat({ model: stepped, max_tokens: 1000, messages: [{ role: 'user', content }] }))).status).toBe(200)
    await settledCharges(server)
    const [row] = (await books(server)).logs
    // 5, 0.5 and 22.5 dollars per million tokens.
    expect(row?.quota).toBe(Math.ceil(270_001 * 2.5 + 2_000 * 0.25 + 100 * 11.25))
    const factors = readFactors(row?.other ?? '')
    expect(factors).toMatchObject({ price_above: 272_000, model_ratio: 2.5, completion_ratio: 4.5 })
    expect(factors.held).toBeGreaterThanOrEqual(row?.quota ?? Number.POSITIVE_INFINITY)
    expect(billOf({ quota: row?.quota ?? 0, factors })).toMatchObject({ units: row?.quota, agrees: true })
    await requireBalancedBooks(server)
  })

  it('is not held at a price step that its prompt cannot reach', async () => {
    const { server, ask } = await priced()
    expect((await ask(chat({ model: stepped, max_tokens: 1000 }))).status).toBe(200)
    await settledCharges(server)
    const held = (JSON.parse((await books(server)).logs[0]?.other ?? '{}') as LogOther).held ?? 0
    expect(held).toBeGreaterThanOrEqual(1000 * 7.5)
    expect(held).toBeLessThan(1000 * 11.25)
  })

  it('has no price where the site does not use public data, and where no channel of a vendor serves it', async () => {
    const { upstream, server, token } = await priced()
    await setOptions(server, { PublicPriceDataEnabled: false })
    expect(JSON.parse((await ask(server, token.key, chat({ model: stepped }))).text).error.code).toBe('price_missing')
    await setOptions(server, { PublicPriceDataEnabled: true })
    // A channel with a custom address has no vendor.
    await addChannel(server, { url: upstream.url, models: 'gpt-5.5', type: 8 })
    const { key } = await addToken(server)
    expect(JSON.parse((await ask(server, key, chat({ model: 'gpt-5.5' }))).text).error.code).toBe('price_missing')
    expect((await books(server)).logs).toEqual([])
  })

  it('keeps the price that an administrator has set', async () => {
    const { upstream, server, ask } = await priced()
    await setOptions(server, { ModelRatio: { [stepped]: 4 }, CompletionRatio: { [stepped]: 2 } })
    upstream.program('*', { body: used(300_000, 10) })
    expect((await ask(chat({ model: stepped }))).status).toBe(200)
    await settledCharges(server)
    const [row] = (await books(server)).logs
    expect(JSON.parse(row?.other ?? '{}')).toMatchObject({ price_source: 'own', model_ratio: 4, completion_ratio: 2 })
  })
})
