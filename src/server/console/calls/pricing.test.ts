import { beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../../../../test/helpers/app.ts'
import { addChannel } from '../../../../test/helpers/seed.ts'
import type { PricedModel, PriceRow } from '../../../contract/routes/pricing.ts'

interface Answer {
  success: boolean
  data: PriceRow[]
  group_ratio: Record<string, number>
  usable_group: Record<string, string>
}

describe('the price list', () => {
  let server: TestServer
  const ask = async (signedIn: boolean): Promise<{ status: number; answer: Answer }> => {
    const response = signedIn ? await server.raw('GET /api/pricing') : await fetch(`${server.url}/api/pricing`)
    return { status: response.status, answer: await response.json() }
  }
  const save = (key: string, value: string) => server.call('PUT /api/option/', { key, value })

  beforeAll(async () => {
    server = await startServer('sqlite')
    await save('GroupRatio', '{"default":1,"vip":0.5,"secret-partner":2}')
    await save('UserUsableGroups', '{"default":"Everybody","vip":"Faster"}')
    await save('ModelPrice', '{"draws":0.04}')
    await addChannel(server, { url: 'http://127.0.0.1:9', models: 'gpt-4o,draws,unpriced-x', group: 'default,vip' })
    await addChannel(server, { url: 'http://127.0.0.1:9', models: 'gpt-4o-mini', group: 'secret-partner' })
    return () => server.stop()
  })

  it('shows visitors the price of every priced model and which public groups have it, and names no other group', async () => {
    const { answer } = await ask(false)
    expect(answer).toMatchObject({
      success: true,
      group_ratio: { default: 1, vip: 0.5 },
      usable_group: { default: 'Everybody', vip: 'Faster' },
    })
    expect(JSON.stringify(answer)).not.toContain('secret-partner')
    expect(answer.data.map(({ model_name, quota_type, enable_groups }) => [model_name, quota_type, enable_groups])).toEqual([
      ['draws', 1, ['default', 'vip']],
      ['gpt-4o', 0, ['default', 'vip']],
      ['gpt-4o-mini', 0, []],
    ])
    expect(answer.data[0]).toMatchObject({ model_price: 0.04, model_ratio: 0 })
    expect(answer.data[1]).toMatchObject({ model_ratio: 1.25, completion_ratio: 4, model_price: 0, owner_by: '' })
  })

  it('is for logged-in users only if the site is configured so', async () => {
    await save('PricingPublicEnabled', 'false')
    expect(await ask(false)).toMatchObject({ status: 200, answer: { success: false, code: 'prices_for_members' } })
    expect((await ask(true)).answer.data).toHaveLength(3)
    await save('PricingPublicEnabled', 'true')
  })

  it('lists models without a price where such models are charged', async () => {
    await save('SelfUseModeEnabled', 'true')
    expect((await ask(true)).answer.data.find(({ model_name }) => model_name === 'unpriced-x')).toMatchObject({
      model_ratio: 37.5,
    })
    await save('SelfUseModeEnabled', 'false')
  })
})

describe("the source of a model's price", () => {
  let server: TestServer
  const models = async () => {
    const answer = await server.call<{ data_date: string; models: PricedModel[] }>('GET /api/pricing/models')
    return { ...answer, of: (model: string) => answer.models.find((row) => row.model === model) }
  }

  beforeAll(async () => {
    server = await startServer('sqlite')
    const url = 'http://127.0.0.1:9'
    await server.call('PUT /api/option/', { key: 'ModelPrice', value: '{"draws":0.04}' })
    await addChannel(server, { url, models: 'gpt-4o,draws,gpt-5.4' })
    await addChannel(server, { url, models: 'claude-opus-5,nobody-knows,whisper-large-v3', type: 8 })
    return () => server.stop()
  })

  it('is shown with the vendor and the tiers of public prices, and with a proposal for models without a price', async () => {
    const { of, data_date } = await models()
    expect(data_date).toBe(server.app.priceBook.current.date)
    expect([of('gpt-4o')?.source, of('draws')?.source, of('gpt-3.5-turbo')]).toMatchObject([
      'default',
      'own',
      { source: 'default', served: false },
    ])
    expect(of('gpt-5.4')).toMatchObject({
      source: 'public',
      charged: { vendor: 'OpenAI', prices: { input: 2.5, output: 15 }, steps: [{ above: 272_000, prices: { input: 5 } }] },
      proposal: null,
    })
    expect(of('claude-opus-5')).toMatchObject({ source: null, charged: null, proposal: { vendor: 'Anthropic' } })
    expect(of('nobody-knows')).toMatchObject({ source: null, proposal: null })
  })

  it('is the site itself once a proposal was accepted', async () => {
    expect(await server.call('POST /api/pricing/proposals', { models: ['claude-opus-5'] })).toEqual({ accepted: 1 })
    expect((await models()).of('claude-opus-5')).toMatchObject({ source: 'own', proposal: null })
  })

  it('is shown to everyone in the price list', async () => {
    const answer: Answer = await (await server.raw('GET /api/pricing')).json()
    expect(answer.data.find(({ model_name }) => model_name === 'gpt-5.4')).toMatchObject({
      ...{ price_source: 'public', price_vendor: 'OpenAI', price_date: server.app.priceBook.current.date, model_ratio: 1.25 },
      steps: [{ above: 272_000, model_ratio: 2.5, completion_ratio: 4.5 }],
    })
    expect(answer.data.find(({ model_name }) => model_name === 'gpt-4o')).toMatchObject({
      ...{ price_source: 'default', steps: [], clips: null },
    })
  })

  it('shows tables of clips, with a clip of the usual length as the price per call', async () => {
    const clips = {
      per: 'second',
      seconds: { usual: 8, longest: 10 },
      rates: [
        { resolution: '720p', sound: 'with', usd: 0.4 },
        { resolution: '4k', sound: 'any', usd: 0.6 },
      ],
    }
    await addChannel(server, { url: 'http://127.0.0.1:9', type: 24, models: 'film-1' })
    await server.call('PUT /api/option/', { key: 'VideoPrice', value: JSON.stringify({ 'film-*': clips }) })
    const answer: Answer = await (await server.raw('GET /api/pricing')).json()
    expect(answer.data.find(({ model_name }) => model_name === 'film-1')).toMatchObject({
      quota_type: 1,
      model_price: 3.2,
      clips,
    })
  })
})
