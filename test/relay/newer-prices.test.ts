import { expect, it, onTestFinished } from 'vitest'
import type { SystemJob } from '../../src/contract/entities/system.ts'
import { readPrices } from '../../src/server/money/pricing/price-data.ts'
import { serverOfTest, startServer, type TestServer } from '../helpers/app.ts'
import { anyDatabase, freshDatabase } from '../helpers/databases.ts'
import { pricePublisher, publishedPrices, shippedPrices } from '../helpers/published-prices.ts'
import { addChannel, addToken, books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, completion, eventually, settledCharges, stage } from './stage.ts'

const model = 'gpt-5.4-mini'
const usedTokens = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
const used = completion({ model, usage: usedTokens })

/** Price data with other prices for these models, in dollars per million tokens. */
function published(input_mtok: number, output_mtok: number, ids: readonly string[] = [model]): string {
  return publishedPrices(Object.fromEntries(ids.map((id) => [id, { input_mtok, output_mtok }])))
}

/** A prompt of about the length in the reported usage. */
const asked = chat({ model, messages: [{ role: 'user', content: 'word '.repeat(1200) }] })

interface PriceDataState {
  in_use: { date: string; fetched_at: number }
  package_date: string
  newer: { hash: string; left_out: number; changes: Record<string, unknown>[] } | null
  undo: { date: string } | null
}
const stateOf = (server: TestServer) => server.call<PriceDataState>('GET /api/pricing/data')
const check = (server: TestServer) => server.call<{ found: string }>('POST /api/pricing/data/check')
const setUrl = (server: TestServer, value: string) => server.call('PUT /api/option/', { key: 'PriceDataUrl', value })
const hashOf = async (server: TestServer) => (await stateOf(server)).newer?.hash ?? ''
const audited = async (server: TestServer) =>
  (await server.app.db.selectFrom('audit').selectAll().where('target', '=', 'price-data').orderBy('id').execute()).map(
    ({ actor_name, action, before, after }) => [actor_name, action, before, after],
  )
async function refusal(server: TestServer, line: string, body?: unknown): Promise<string> {
  const answer = (await (await server.raw(line, body)).json()) as { success: boolean; code?: string; message: string }
  return answer.success ? 'accepted' : `${answer.code}: ${answer.message}`
}

anyDatabase('newer public prices', (_fresh, kind) => {
  async function priced(text: string) {
    const upstream = await upstreamOfTest()
    upstream.program('*', { body: used })
    const source = await pricePublisher(text)
    const staged = await stage(kind, upstream.url, { channel: { models: model } })
    await setUrl(staged.server, source.url)
    const charge = async () => {
      expect((await staged.ask(asked)).status).toBe(200)
      await settledCharges(staged.server)
      return (await books(staged.server)).logs.at(-1)?.quota
    }
    return { ...staged, upstream, source, charge }
  }
  // 0.75 and 4.5 dollars per million tokens, 500,000 units to the dollar.
  const atFirst = Math.ceil(1000 * 0.375 + 100 * 2.25)
  const afterwards = 1000 * 1 + 100 * 4

  it('change nothing until a super admin applies them, and the data of this version can be restored', async () => {
    const { server, charge } = await priced(published(2, 8))
    expect(await charge()).toBe(atFirst)
    expect(await check(server)).toEqual({ found: 'newer' })
    const { newer, in_use } = await stateOf(server)
    expect(in_use.fetched_at).toBe(0)
    expect(newer?.changes).toMatchObject([
      {
        model,
        vendor: 'OpenAI',
        served: true,
        before: { prices: { input: 0.75 } },
        after: { prices: { input: 2, output: 8 } },
        warning: null,
      },
    ])
    expect(await charge()).toBe(atFirst)

    const hash = await hashOf(server)
    expect(await server.call('POST /api/pricing/data/apply', { hash })).toBeNull()
    expect(await charge()).toBe(afterwards)
    expect((await stateOf(server)).newer).toBeNull()
    expect((await stateOf(server)).in_use.fetched_at).toBeGreaterThan(0)
    expect(await check(server)).toEqual({ found: 'same' })

    await server.call('POST /api/pricing/data/restore')
    expect(await charge()).toBe(atFirst)
    expect(await refusal(server, 'POST /api/pricing/data/restore')).toContain('price_data_changed')
    expect(await audited(server)).toEqual([
      ['root', 'price-data.check', '', 'newer'],
      ['root', 'price-data.apply', '', hash],
      ['root', 'price-data.check', '', 'same'],
      ['root', 'price-data.restore', hash, ''],
    ])
    await requireBalancedBooks(server)
  })

  it('can be applied for single models: the others stay a proposal', async () => {
    const other = 'gpt-5.4-nano'
    const { server, charge } = await priced(published(2, 8, [model, other]))
    await check(server)
    const chosen = (name: string) => [{ vendor_id: 'openai', model: name }]
    const proposed = async () => ((await stateOf(server)).newer?.changes ?? []).map((change) => change.model)
    const hash = await hashOf(server)
    await server.call('POST /api/pricing/data/apply', { hash, models: chosen(other) })
    expect(await charge()).toBe(atFirst)
    expect(await proposed()).toEqual([model])
    await server.call('POST /api/pricing/data/apply', { hash, models: chosen(model) })
    expect(await charge()).toBe(afterwards)
    expect(await proposed()).toEqual([])
    const [, first, second] = await audited(server)
    expect(first).toEqual(['root', 'price-data.apply', '', expect.stringContaining(`"models":["openai ${other}"]`)])
    expect(JSON.parse(first?.[3] ?? '').hash).toBe(second?.[2])
    expect(await refusal(server, 'POST /api/pricing/data/apply', { hash: '0'.repeat(64), models: chosen(model) })).toContain(
      'price_data_changed',
    )
    await server.call('POST /api/pricing/data/restore')
    expect(await charge()).toBe(atFirst)
    await requireBalancedBooks(server)
  })

  it('are applied once where several people decide at the same time', async () => {
    const { server, charge } = await priced(published(2, 8, [model, 'gpt-5.4-nano']))
    await check(server)
    const hash = await hashOf(server)
    const decisions = [
      ...Array.from({ length: 4 }, () => ['apply', { hash }] as const),
      ...[model, 'gpt-5.4-nano'].map((name) => ['apply', { hash, models: [{ vendor_id: 'openai', model: name }] }] as const),
      ['dismiss', { hash }] as const,
    ]
    const answers = await Promise.all(decisions.map(([act, body]) => refusal(server, `POST /api/pricing/data/${act}`, body)))
    expect(answers.filter((answer) => answer !== 'accepted' && !answer.startsWith('price_data_changed'))).toEqual([])
    const rows = await audited(server)
    expect(rows).toHaveLength(1 + answers.filter((answer) => answer === 'accepted').length)
    // Each decision was made on the data that the one before it left in use.
    const applied = rows.slice(1).filter(([, action]) => action === 'price-data.apply')
    const after = (text = '') => (text.startsWith('{') ? JSON.parse(text).hash : text)
    for (const [index, row] of applied.entries()) expect(row[2]).toBe(index === 0 ? '' : after(applied[index - 1]?.[3]))
    expect(server.app.priceBook.inUse.hash).toBe(after(applied.at(-1)?.[3]))
    expect([atFirst, afterwards]).toContain(await charge())
  })

  it('do not change the price of a call that has begun', async () => {
    const { server, upstream, ask: send } = await priced(published(2, 8))
    await check(server)
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    let isAsked = false
    upstream.program('*', async () => {
      isAsked = true
      await gate
      return { body: used }
    })
    const call = send(asked)
    await eventually('the upstream is asked', () => isAsked)
    await server.call('POST /api/pricing/data/apply', { hash: await hashOf(server) })
    go()
    expect((await call).status).toBe(200)
    await settledCharges(server)
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([atFirst])
    await requireBalancedBooks(server)
  })

  it('stay in use after a restart', async () => {
    const database = await freshDatabase(kind, 'started')
    onTestFinished(() => database.drop())
    const upstream = await upstreamOfTest()
    upstream.program('*', { body: used })
    const source = await pricePublisher(published(2, 8))
    const first = await startServer(kind, { database })
    await addChannel(first, { url: upstream.url, models: model })
    const { key } = await addToken(first)
    await setUrl(first, source.url)
    await check(first)
    await first.call('POST /api/pricing/data/apply', { hash: await hashOf(first) })
    await first.stop()

    const server = await serverOfTest(kind, { database })
    expect((await ask(server, key, asked)).status).toBe(200)
    await settledCharges(server)
    expect((await books(server)).logs.map(({ quota }) => quota)).toEqual([afterwards])
  })

  interface Job {
    readonly server: TestServer
    /** Runs the daily check until its outcome is this. */
    run(detail: string): Promise<void>
    state(): Promise<SystemJob | undefined>
  }
  function dailyCheck(server: TestServer): Job {
    const state = async () => (await server.call<SystemJob[]>('GET /api/job/')).find(({ name }) => name === 'find-newer-prices')
    const run = async (detail: string) => {
      await server.call('POST /api/job/find-newer-prices/run')
      await eventually(`the job finds ${detail}`, async () => (await state())?.detail === detail)
    }
    return { server, state, run }
  }
  const setApply = (server: TestServer, value: string) => server.call('PUT /api/option/', { key: 'PriceDataApply', value })

  it('are checked for by a daily job, and not proposed again once they are dismissed', async () => {
    const { server, source } = await priced(published(2, 8))
    const { state, run } = dailyCheck(server)
    expect(await state()).toMatchObject({ every_seconds: 86_400, on: 'one-node', outcome: 'never' })
    expect(source.state.asked).toBe(0)
    for (const key of ['PriceDataCheckEnabled', 'PublicPriceDataEnabled']) {
      await server.call('PUT /api/option/', { key, value: 'false' })
      expect(await state()).toMatchObject({ every_seconds: 0 })
      await server.call('PUT /api/option/', { key, value: 'true' })
    }
    await run('newer')
    await server.call('POST /api/pricing/data/dismiss', { hash: await hashOf(server) })
    expect((await stateOf(server)).newer).toBeNull()
    await run('dismissed')
    expect((await stateOf(server)).newer).toBeNull()
    source.state.answer = published(3, 8)
    await run('newer')
    expect((await stateOf(server)).newer?.changes).toMatchObject([{ after: { prices: { input: 3 } } }])
    await server.call('POST /api/pricing/data/dismiss', { hash: await hashOf(server) })
    expect(await check(server)).toEqual({ found: 'newer' })
  })

  const of = (prices: Readonly<Record<string, readonly [input: number, output: number]>>) =>
    publishedPrices(
      Object.fromEntries(
        Object.entries(prices).map(([id, [input_mtok, output_mtok]]) => [
          id,
          { input_mtok, output_mtok, cache_read_mtok: input_mtok / 10 },
        ]),
      ),
    )
  // The prices of this version: 0.75 and 4.5; 2 and 10; 0.1 and 0.5.
  const [lower, dearer, halved, added] = [model, 'gpt-6-sol', 'gpt-6-luna', 'gpt-next']

  it('apply by themselves where they are new or lower; the others are asked about, and the last change can be undone', async () => {
    const text = of({ [lower]: [0.6, 4], [dearer]: [50, 300], [halved]: [0.01, 0.05], [added]: [1, 2] })
    const { server, charge, source } = await priced(text)
    const { run } = dailyCheck(server)
    // Azure falls back to the list of OpenAI, and sells the new model too.
    await run('applied 3')
    expect(await charge()).toBe(1000 * 0.3 + 100 * 2)
    const proposed = async () => ((await stateOf(server)).newer?.changes ?? []).map((change) => change.model).sort()
    expect(await proposed()).toEqual([halved, dearer].sort())
    await run('newer')
    expect(await proposed()).toEqual([halved, dearer].sort())

    const { undo } = await stateOf(server)
    expect(undo).toEqual({ date: readPrices(shippedPrices.vendors).date })
    await server.call('POST /api/pricing/data/undo')
    expect(await charge()).toBe(atFirst)
    expect((await stateOf(server)).undo).toBeNull()
    expect(await refusal(server, 'POST /api/pricing/data/undo')).toContain('price_data_changed')
    // What was undone stays a proposal, also where it is published anew.
    source.state.answer = of({ [lower]: [0.6, 4] })
    await run('newer')
    expect(await charge()).toBe(atFirst)
    const [first] = await audited(server)
    expect(JSON.parse(first?.[3] ?? '').models.toSorted()).toEqual([`azure ${added}`, `openai ${lower}`, `openai ${added}`])
    expect(await audited(server)).toEqual([
      ['system', 'price-data.apply', '', expect.any(String)],
      ['root', 'price-data.undo', expect.stringMatching(/^[0-9a-f]{64}$/), ''],
    ])
    await requireBalancedBooks(server)
  })

  it('apply by themselves where they are higher too, if the site is set so, and never over a price that an admin has set', async () => {
    const { server, charge } = await priced(of({ [lower]: [0.9, 5], [halved]: [0.01, 0.05] }))
    const { run } = dailyCheck(server)
    await setApply(server, 'all')
    await run('applied 1')
    expect(await charge()).toBe(1000 * 0.45 + 100 * 2.5)
    expect((await stateOf(server)).newer?.changes).toMatchObject([{ model: halved }])
    await setOptions(server, { ModelRatio: { [model]: 4 }, CompletionRatio: { [model]: 2 } })
    expect(await charge()).toBe(1000 * 4 + 100 * 8)
  })

  it('leave a site without a network as it is', async () => {
    const { server, charge, source } = await priced(published(0.6, 4))
    const { run, state } = dailyCheck(server)
    source.state.status = 503
    await run('price_data_unreadable')
    expect(await state()).toMatchObject({ outcome: 'ok' })
    expect(await charge()).toBe(atFirst)
    expect(await stateOf(server)).toMatchObject({ newer: null, undo: null, in_use: { fetched_at: 0 } })
  })

  it('are refused unless they are price data, and keep the earlier proposals', async () => {
    const { server, source } = await priced(published(2, 8))
    await check(server)
    const hash = await hashOf(server)
    for (const answer of ['', '<html></html>', '[]', published(-1, 1), `"${'x'.repeat(17 * 1024 * 1024)}"`]) {
      source.state.answer = answer
      expect(await refusal(server, 'POST /api/pricing/data/check')).toContain('price_data_unreadable')
    }
    source.state.answer = published(2, 8)
    source.state.status = 500
    expect(await refusal(server, 'POST /api/pricing/data/check')).toContain('500')
    await setUrl(server, 'http://169.254.169.254/data.json')
    expect(await refusal(server, 'POST /api/pricing/data/check')).toContain('price_data_unreadable')
    expect(await hashOf(server)).toBe(hash)
    expect((await audited(server)).at(-1)).toEqual(['root', 'price-data.check', '', 'price_data_unreadable'])
  })

  it('are compared by number of entries with the data in use, not with that of this version', async () => {
    const { server, source } = await priced(publishedPrices({}))
    const { date } = readPrices(shippedPrices.vendors)
    const isNewest = (entry: object) => JSON.stringify(entry).includes(date)
    const few = (part: number) =>
      JSON.stringify(
        shippedPrices.vendors.map((vendor) => ({
          ...vendor,
          models: vendor.models.filter((entry, at) => at < vendor.models.length * part || isNewest(entry)),
        })),
      )
    source.state.answer = few(0.6)
    expect(await check(server)).toEqual({ found: 'newer' })
    source.state.answer = few(0.4)
    expect(await refusal(server, 'POST /api/pricing/data/check')).toContain('price_data_unreadable')
    await server.call('POST /api/pricing/data/apply', { hash: await hashOf(server) })
    expect(await check(server)).toEqual({ found: 'newer' })
  })

  it('are flagged where a price becomes zero or a thousand times as much', async () => {
    const { server, source } = await priced(published(0.75, 0))
    await check(server)
    expect((await stateOf(server)).newer?.changes[0]).toMatchObject({ model, warning: 'zero' })
    source.state.answer = published(750, 4500)
    await check(server)
    expect((await stateOf(server)).newer?.changes[0]).toMatchObject({ model, warning: 'high' })
  })

  it('are applied as they were reviewed, or rejected', async () => {
    const { server, source, charge } = await priced(published(2, 8))
    await check(server)
    const looked = await hashOf(server)
    source.state.answer = published(200, 800)
    await check(server)
    const taken = await refusal(server, 'POST /api/pricing/data/apply', { hash: looked })
    expect(taken).toContain('price_data_changed')
    expect(await charge()).toBe(atFirst)
  })
})

it('apply on every node as soon as they are applied on one', async () => {
  const a = await serverOfTest('postgres')
  const b = await startServer('postgres', { database: a.database })
  onTestFinished(() => b.stop())
  const upstream = await upstreamOfTest()
  upstream.program('*', { body: used })
  const source = await pricePublisher(published(2, 8))
  await addChannel(a, { url: upstream.url, models: model })
  await setUrl(a, source.url)
  await check(a)
  await a.call('POST /api/pricing/data/apply', { hash: await hashOf(a) })
  await eventually('the other node knows', () => b.app.priceBook.inUse.hash !== '')
  expect(b.app.catalog.priceOf({ model, group: 'default', acceptsUnpriced: false })).toMatchObject({
    modelRatio: 1,
    completionRatio: 4,
  })
})
