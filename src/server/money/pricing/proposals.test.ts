import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { freshCore } from '../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { whileLocked } from '../../../../test/helpers/while-locked.ts'
import { noUsage } from '../../../contract/usage.ts'
import type { Caller } from '../../base/options/core.ts'
import { openCatalog } from './catalog.ts'
import { openPriceBook } from './price-book.ts'
import { loadShippedPrices } from './price-data.ts'
import { acceptPrices, proposePrices } from './proposals.ts'
import { costOf } from './quote.ts'

const admin: Caller = { id: 1, username: 'ada', role: 10, group: 'default', address: '127.0.0.1' }

const nobody = { vendorsOf: () => [] }

eachDatabase('proposed prices', (fresh, kind) => {
  async function parts() {
    const { core, close } = await freshCore(fresh)
    const priceBook = await openPriceBook(core, await loadShippedPrices())
    const catalog = openCatalog(core, { data: () => priceBook.current, vendors: () => nobody })
    return { app: { ...core, catalog, priceBook }, close }
  }

  it('are those with another price in the public data, and none for unknown names', async () => {
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

  it.runIf(kind === 'postgres')('are saved together, and keep prices that somebody else saves meanwhile', async () => {
    const { app, close } = await parts()
    await app.options.save({ key: 'ModelPrice', value: '{"gpt-5":0.5}', caller: admin })
    await whileLocked(app.db, {
      lock: [sql`lock table options in share mode`],
      works: [() => acceptPrices(app, ['gpt-5'], admin)],
      meanwhile: (within) => within.insertInto('options').values({ key: 'ModelRatio', value: '{"own":3}' }).execute(),
    })
    expect(app.options.current.ModelRatio).toEqual({ own: 3, 'gpt-5': 0.625 })

    await sql`create function refuse() returns trigger language plpgsql as 'begin raise exception ''no''; end'`.execute(app.db)
    await sql`create trigger refuse before update on options for each row when (new.key = 'CompletionRatio') execute function refuse()`.execute(
      app.db,
    )
    await app.options.save({ key: 'ModelRatio', value: '{"gpt-5":3}', caller: admin })
    await expect(acceptPrices(app, ['gpt-5', 'gpt-5-mini'], admin)).rejects.toThrow('no')
    expect(app.options.current.ModelRatio).toEqual({ 'gpt-5': 3 })
    await close()
  })

  it('replace a price per call', async () => {
    const { app, close } = await parts()
    await app.options.save({ key: 'ModelPrice', value: JSON.stringify({ 'gpt-5': 0.5 }), caller: admin })
    expect((await proposePrices(app, ['gpt-5']))[0]).toMatchObject({ current: null, current_per_call: 0.5 })
    await acceptPrices(app, ['gpt-5'], admin)
    expect(app.catalog.modelPriceOf('gpt-5')).toMatchObject({ fixedUsd: -1, modelRatio: 0.625, completionRatio: 8 })
    await close()
  })
})
