import { expect, it } from 'vitest'
import { freshCore } from '../../../test/helpers/core.ts'
import { eachDatabase } from '../../../test/helpers/databases.ts'
import { noUsage } from '../../contract/usage.ts'
import type { Caller } from '../options/core.ts'
import { openCatalog } from './catalog.ts'
import { acceptPrices, proposePrices } from './proposals.ts'
import { costOf } from './quote.ts'

const admin: Caller = { id: 1, username: 'ada', role: 10, group: 'default', address: '127.0.0.1' }

eachDatabase('proposed prices', (fresh) => {
  async function parts() {
    const { core, close } = await freshCore(fresh)
    return { app: { ...core, catalog: openCatalog(core) }, close }
  }

  it('are those that the public data has otherwise, and none for names that it does not know', async () => {
    const { app, close } = await parts()
    const proposals = await proposePrices(app, ['gpt-4o', 'gpt-5', 'no-such-model-anywhere', 'gpt-5'])
    expect(proposals.map(({ model }) => model)).toEqual(['gpt-5'])
    expect(proposals[0]).toMatchObject({ vendor: 'OpenAI', current: null, proposed: { input: 1.25, output: 10 } })
    await close()
  })

  it('are charged to the unit once an admin accepts them, and are not proposed again', async () => {
    const { app, close } = await parts()
    await app.options.save({ key: 'ModelRatio', value: JSON.stringify({ 'gpt-4o': 7 }), caller: admin })
    expect(await acceptPrices(app, ['gpt-4o', 'gpt-5', 'unknown-model'], admin)).toBe(2)

    const price = app.catalog.priceOf({ model: 'gpt-4o', group: 'default', acceptsUnpriced: false })
    // 2.50 and 10 dollars per million tokens, 500,000 units to the dollar.
    expect(costOf(price, { ...noUsage, input: 1_000_000 })).toBe(1_250_000)
    expect(costOf(price, { ...noUsage, output: 1_000_000 })).toBe(5_000_000)
    expect(costOf(price, { ...noUsage, cacheRead: 1_000_000 })).toBe(625_000)
    expect(await proposePrices(app, ['gpt-4o', 'gpt-5'])).toEqual([])
    expect(await acceptPrices(app, ['gpt-4o'], admin)).toBe(0)
    await close()
  })

  it('take the place of a price per call', async () => {
    const { app, close } = await parts()
    await app.options.save({ key: 'ModelPrice', value: JSON.stringify({ 'gpt-5': 0.5 }), caller: admin })
    expect((await proposePrices(app, ['gpt-5']))[0]).toMatchObject({ current: null, current_per_call: 0.5 })
    await acceptPrices(app, ['gpt-5'], admin)
    expect(app.catalog.modelPriceOf('gpt-5')).toMatchObject({ fixedUsd: -1, modelRatio: 0.625, completionRatio: 8 })
    await close()
  })
})
