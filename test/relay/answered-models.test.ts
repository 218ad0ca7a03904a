import { expect, it } from 'vitest'
import { billOf } from '../../src/contract/bill.ts'
import { readFactors } from '../../src/contract/log-factors.ts'
import { readOtherAnswers } from '../../src/server/gateway/channels/health/answered-models.ts'
import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import { anyDatabase } from '../helpers/databases.ts'
import { books, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { tunnelTo } from '../helpers/tunnel.ts'
import { caller, live, realtimeUpstream } from './realtime-stage.ts'
import { sharedStages } from './shared-stage.ts'
import { answeringUpstream, ask, eventually, httpUpstream, settledCharges, stage } from './stage.ts'
import { said, type Vendor, vendors } from './usage-vendors.ts'

const streamed = [false, true]
const cases = Object.entries(vendors).flatMap(([name, vendor]) => streamed.map((stream) => ({ name, vendor, stream })))

/** An upstream whose replies name `answered`, whatever they were asked for. */
async function answering(vendor: Vendor, answered: string): Promise<string> {
  const { url } = await answeringUpstream(({ path, body }) =>
    vendor.reply.call({ ...vendor, model: answered }, [[77, 99]], said, path.includes('stream') || body.stream === true),
  )
  return url
}

function requestOf(vendor: Vendor, stream: boolean): { body: unknown; path: string } {
  const { model } = vendor
  const action = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  return vendor.path
    ? { body: { model, ...vendor.request(stream) }, path: vendor.path }
    : { body: vendor.request(stream), path: `/v1beta/models/${model}:${action}` }
}

anyDatabase('a reply that names another model than was sent', (_fresh, kind) => {
  const sharedStage = sharedStages(kind, { SelfUseModeEnabled: 'true' })

  async function asked(vendor: Vendor, answered: string, { stream = false, caller = vendor } = {}) {
    const staged = await sharedStage(await answering(vendor, answered), { ...vendor.channel, models: caller.model })
    const { body, path } = requestOf(caller, stream)
    const answer = await staged.ask(body, path)
    expect(answer.status, answer.text).toBe(200)
    const [charged] = await staged.charged()
    const [row] = await staged.logs()
    const { app } = staged.server
    await app.answeredModels.flush()
    const counted = await readOtherAnswers(app.db, { from: 0, to: 1e11, channels: [staged.channelId] })
    return { charged, row, factors: readFactors(row?.other ?? ''), counted, answer }
  }

  it('stands in the rows and in the count of a realtime session, at the price as asked', async () => {
    const upstream = await realtimeUpstream((talk, event) => {
      if (event.type !== 'response.create') return
      talk.say({ type: 'session.updated', session: { type: 'realtime', model: 'gpt-4o-mini-realtime-preview' } })
      talk.say({ type: 'response.created', response: { id: 'resp_1' } })
      const usage = { input_tokens: 20, output_tokens: 10, total_tokens: 30 }
      talk.say({ type: 'response.done', response: { id: 'resp_1', status: 'completed', usage } })
    })
    const staged = await sharedStage(upstream.url, { models: live })
    const client = caller(staged.server.url, staged.token.key)
    await client.hears('session.created')
    client.say({ type: 'response.create' })
    await client.hears('response.done')
    client.socket.close(1000)
    await client.closed()
    const { app } = staged.server
    await eventually('it is charged', async () => (await staged.logs()).length === 1)
    const [row] = await staged.logs()
    expect([row?.model_name, readFactors(row?.other ?? '').answered_model]).toEqual([live, 'gpt-4o-mini-realtime-preview'])
    await app.answeredModels.flush()
    expect(await readOtherAnswers(app.db, { from: 0, to: 1e11, channels: [staged.channelId] })).toMatchObject([
      { sent: live, answered: 'gpt-4o-mini-realtime-preview', calls: 1 },
    ])
  })

  it.each(cases)(
    'stands in the row and in the count of the channel, at the price as asked: $name, stream: $stream',
    async ({ vendor, stream }) => {
      const { model } = vendor
      const same = await asked(vendor, model, { stream })
      const { charged, row, factors, counted } = await asked(vendor, 'gpt-4o', { stream })
      expect([same.factors.answered_model, same.counted]).toEqual([undefined, []])
      expect([row?.model_name, factors.answered_model, charged]).toEqual([model, 'gpt-4o', same.charged])
      expect(counted).toMatchObject([{ sent: model, answered: 'gpt-4o', calls: 1, charged, priced: 1 }])
      // 2.5 and 10 dollars per million tokens, 500,000 units to the dollar.
      expect(counted[0]?.difference).toBe(Math.ceil(77 * 1.25 + 99 * 5) - (charged ?? 0))
    },
  )

  it.each(cases)('is not one of another form of the name: $name, stream: $stream', async ({ vendor, stream }) => {
    const { factors, counted } = await asked(vendor, `models/${vendor.model}-20260102`, { stream })
    expect([factors.answered_model, counted]).toEqual([undefined, []])
  })

  it.each(streamed)('is found in translated replies (stream: %s)', async (stream) => {
    const { chat, messages } = vendors
    if (!chat || !messages) throw new Error('The vendors are missing')
    const { factors } = await asked(messages, 'claude-haiku-4-5', { stream, caller: chat })
    expect(factors.answered_model).toBe('claude-haiku-4-5')
  })

  it.each([3, 2000])('is found behind %s vectors', async (length) => {
    const vector = Array.from({ length }, (_, index) => index / 7)
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' })
      const data = [{ object: 'embedding', index: 0, embedding: vector }]
      response.end(JSON.stringify({ object: 'list', data, model: 'small-vectors', usage: { prompt_tokens: 3, total_tokens: 3 } }))
    })
    const staged = await sharedStage(url, { models: 'text-embedding-3-large' })
    const answer = await staged.ask({ model: 'text-embedding-3-large', input: 'one' }, '/v1/embeddings')
    expect(answer.status, answer.text).toBe(200)
    await staged.charged()
    expect(readFactors((await staged.logs())[0]?.other ?? '')).toMatchObject({ answered_model: 'small-vectors' })
  })

  it('is not a name inside of the content, and never shows the key of the channel', async () => {
    const { chat, gemini } = vendors
    if (!chat || !gemini) throw new Error('The vendors are missing')
    const args = { model: 'family-car', modelVersion: 'estate' }
    const url = await httpUpstream((request, response) => {
      request.resume()
      response.writeHead(200, { 'content-type': 'application/json' })
      const content = { role: 'model', parts: [{ functionCall: { name: 'f', args } }] }
      const candidates = [{ index: 0, content, finishReason: 'STOP' }]
      const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
      response.end(JSON.stringify({ candidates, usageMetadata, modelVersion: gemini.model }))
    })
    const staged = await sharedStage(url, { ...gemini.channel, models: gemini.model })
    const { body, path } = requestOf(gemini, false)
    expect((await staged.ask(body, path)).status).toBe(200)
    await staged.charged()
    expect(readFactors((await staged.logs())[0]?.other ?? '').answered_model).toBeUndefined()
    expect((await asked(chat, 'x-upstream-key-0123456789')).row?.other).not.toContain('upstream-key-0123456789')
  })

  it('is not expected of deployments, endpoints and routers', async () => {
    const { chat } = vendors
    if (!chat) throw new Error('The vendors are missing')
    for (const model of ['ep-20260101-abcde', 'openrouter/auto']) {
      const { factors } = await asked({ ...chat, model, reply: chat.reply }, 'gpt-4o', {})
      expect(factors.answered_model, model).toBeUndefined()
    }
  })
})

anyDatabase('a redirect that a vendor has announced', (_fresh, kind) => {
  const { gemini } = vendors
  const before = Date.parse('2026-11-30T23:59:59Z')
  const after = Date.parse('2026-12-01T00:00:00Z')
  const old = 'gemini-2.5-pro'
  const other = 'gemini-3.8-flash'
  // Dollars per million tokens: 20 and 40 as asked, 2 and 4 of the model that answers.
  const ratios = { [old]: 10, [other]: 1 }

  async function staged(nowMs: number, { own = true, priced = true, answered = other, dearer = 1 } = {}) {
    if (!gemini) throw new Error('The vendor is missing')
    const vendor = { ...gemini, model: old }
    const url = await answering(vendor, answered)
    const channel = { ...gemini.channel, models: old }
    const made = own
      ? await stage(kind, 'http://generativelanguage.googleapis.com', {
          channel: { ...channel, setting: await tunnelTo(url) },
          server: { now: () => nowMs },
        })
      : await stage(kind, url, { channel, server: { now: () => nowMs } })
    const { server, token } = made
    const known = priced ? { ...ratios, [other]: dearer } : { [old]: 10 }
    await setOptions(server, { ModelRatio: known, CompletionRatio: { [old]: 2, [other]: 2 }, PublicPriceDataEnabled: false })
    return async (stream: boolean) => {
      const { body, path } = requestOf(vendor, stream)
      const answer = await ask(server, token.key, body, path)
      expect(answer.status, answer.text).toBe(200)
      await settledCharges(server)
      await requireBalancedBooks(server)
      expect(await verifyCharges(server.app.db)).toMatchObject({ differing: 0 })
      const row = (await books(server)).logs.at(-1)
      const factors = readFactors(row?.other ?? '')
      expect(billOf({ quota: row?.quota ?? 0, factors })).toMatchObject({ units: row?.quota, agrees: true })
      return [row?.model_name, row?.quota, factors.answered_model, factors.redirected]
    }
  }

  const asAsked = 10 * (77 + 2 * 99)
  const asAnswered = 77 + 2 * 99

  it.each(streamed)('is charged at the price of the model that answers, from its day on (stream: %s)', async (stream) => {
    expect(await (await staged(before))(stream)).toEqual([old, asAsked, other, undefined])
    expect(await (await staged(after))(stream)).toEqual([old, asAnswered, other, true])
  })

  it.each(streamed)('is held at the dearer of both prices, in the next year too (stream: %s)', async (stream) => {
    const nextYear = Date.parse('2027-01-01T00:00:00Z')
    expect(await (await staged(nextYear, { dearer: 100 }))(stream)).toEqual([old, 100 * asAnswered, other, true])
  })

  it('does not count elsewhere than at the address of the vendor', async () => {
    expect(await (await staged(after, { own: false }))(false)).toEqual([old, asAsked, other, undefined])
  })

  it('does not count for another model than the announced one, nor while the old one answers', async () => {
    expect(await (await staged(after, { answered: 'gemini-9-lite' }))(false)).toEqual([old, asAsked, 'gemini-9-lite', undefined])
    expect(await (await staged(after, { answered: old }))(false)).toEqual([old, asAsked, undefined, undefined])
  })

  it('is charged as asked where the site has no price for the model that answers', async () => {
    expect(await (await staged(after, { priced: false }))(false)).toEqual([old, asAsked, other, undefined])
  })
})
