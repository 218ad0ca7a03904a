import { expect, it } from 'vitest'
import { billOf } from '../../src/contract/bill.ts'
import { readFactors } from '../../src/contract/log-factors.ts'
import type { PriceRow } from '../../src/contract/routes/pricing.ts'
import { verifyCharges } from '../../src/server/money/ledger/verify-charges.ts'
import { serverOfTest } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { addChannel, addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { answeringUpstream, ask, chat, eventually, settledCharges } from './stage.ts'

const [prompt, answer] = [1000, 100]

/** Speaks both dialects: Chat, and Gemini's. `gate`, where there is one, is awaited before it answers. */
async function vendor() {
  const state = { gate: undefined as Promise<void> | undefined, asked: 0 }
  const { url } = await answeringUpstream(async ({ path }) => {
    state.asked++
    await state.gate
    const chatReply = {
      ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
      choices: [{ index: 0, message: { role: 'assistant', content: 'word '.repeat(answer) }, finish_reason: 'stop' }],
      usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer },
    }
    const geminiReply = {
      candidates: [{ content: { role: 'model', parts: [{ text: 'word '.repeat(answer) }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: answer, totalTokenCount: prompt + answer },
    }
    return { json: path.includes('generateContent') ? geminiReply : chatReply }
  })
  return { state, url }
}

const [argon, flash, deepseek] = ['gemini-4-argon', 'gemini-3.8-flash', 'deepseek-v4-pro']

eachDatabase('the price of the time', (_fresh, kind) => {
  async function staged(time: string) {
    const clock = { ms: Date.parse(time) }
    const upstream = await vendor()
    const server = await serverOfTest(kind, { now: () => clock.ms })
    await addChannel(server, { url: upstream.url, type: 24, models: `${argon},${flash}` })
    await addChannel(server, { url: upstream.url, type: 43, models: deepseek })
    const { key } = await addToken(server)
    const call = async (model: string) => {
      const messages = [{ role: 'user', content: 'word '.repeat(prompt) }]
      expect((await ask(server, key, chat({ model, messages, max_tokens: 200 }))).status).toBe(200)
      await settledCharges(server)
      const row = (await books(server)).logs.at(-1)
      return { quota: row?.quota ?? 0, factors: readFactors(row?.other ?? '') }
    }
    const at = (next: string) => {
      clock.ms = Date.parse(next)
    }
    return { server, clock, upstream, key, call, at }
  }

  /** Units of the usage at a price in dollars per million tokens. */
  const units = (input: number, output: number) => Math.ceil((prompt * input + answer * output) / 2)

  it('is charged over 1 December, 11 December and 1 January, and recomputed from the rows alone', async () => {
    const { server, call, at } = await staged('2026-11-30T12:00:00Z')
    const charged: [string, string, number, string | undefined, string | undefined][] = []
    const times = [
      ...['2026-11-30T12:00:00Z', '2026-11-30T23:59:59Z', '2026-12-01T00:00:00Z', '2026-12-11T02:00:00Z'],
      ...['2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z', '2027-01-01T07:00:00Z'],
    ]
    for (const time of times) {
      at(time)
      for (const model of [argon, flash, deepseek]) {
        const { quota, factors } = await call(model)
        expect(billOf({ quota, factors })).toMatchObject({ units: quota, agrees: true })
        expect(factors.held).toBeGreaterThanOrEqual(quota)
        charged.push([time.slice(0, 13), model, quota, factors.price_from, factors.price_hours])
      }
    }
    const night = '04:00–06:00, 10:00–01:00'
    const day = '01:00–04:00, 06:00–10:00'
    const [cheap, dear] = [units(0.66, 1.98), units(1.32, 3.96)]
    const since = '2026-08-17'
    expect(charged).toEqual([
      ['2026-11-30T12', argon, units(2, 10), undefined, undefined],
      ['2026-11-30T12', flash, units(0.75, 3.75), undefined, undefined],
      ['2026-11-30T12', deepseek, cheap, since, night],
      ['2026-11-30T23', argon, units(2, 10), undefined, undefined],
      ['2026-11-30T23', flash, units(0.75, 3.75), undefined, undefined],
      ['2026-11-30T23', deepseek, cheap, since, night],
      ['2026-12-01T00', argon, units(4, 20), '2026-12-01', undefined],
      ['2026-12-01T00', flash, units(0.75, 3.75), undefined, undefined],
      ['2026-12-01T00', deepseek, cheap, since, night],
      ['2026-12-11T02', argon, units(4, 20), '2026-12-01', undefined],
      ['2026-12-11T02', flash, units(0.75, 3.75), undefined, undefined],
      ['2026-12-11T02', deepseek, dear, since, day],
      ['2026-12-31T23', argon, units(4, 20), '2026-12-01', undefined],
      ['2026-12-31T23', flash, units(0.75, 3.75), undefined, undefined],
      ['2026-12-31T23', deepseek, cheap, since, night],
      ['2027-01-01T00', argon, units(4, 20), '2026-12-01', undefined],
      ['2027-01-01T00', flash, units(1.5, 7.5), '2027-01-01', undefined],
      ['2027-01-01T00', deepseek, cheap, since, night],
      ['2027-01-01T07', argon, units(4, 20), '2026-12-01', undefined],
      ['2027-01-01T07', flash, units(1.5, 7.5), '2027-01-01', undefined],
      ['2027-01-01T07', deepseek, dear, since, day],
    ])
    expect(await verifyCharges(server.app.db)).toMatchObject({
      rows: times.length * 3,
      recomputed: times.length * 3,
      differing: 0,
    })
    await requireBalancedBooks(server)
  })

  it.each([
    ['a dearer hour', deepseek, '2026-12-01T00:30:00Z', '2026-12-01T01:00:00Z', units(1.32, 3.96)],
    ['a cheaper hour', deepseek, '2026-12-01T03:30:00Z', '2026-12-01T04:00:00Z', units(0.66, 1.98)],
    ['a dearer day', argon, '2026-11-30T23:30:00Z', '2026-12-01T00:00:00Z', units(4, 20)],
  ])('that begins while a call runs is charged, and its hold covers both: %s', async (_what, model, begins, ends, expected) => {
    const { server, upstream, call, at } = await staged(begins)
    const { promise, resolve: open } = Promise.withResolvers<void>()
    upstream.state.gate = promise
    const calling = call(model)
    await eventually('the upstream is asked', () => upstream.state.asked === 1)
    at(ends)
    open()
    const { quota, factors } = await calling
    expect(quota).toBe(expected)
    // The dearer of the two, for the longest answer that the call allows.
    const dearest = model === argon ? [4, 20] : [1.32, 3.96]
    expect(factors.held).toBeGreaterThanOrEqual(Math.ceil((prompt * (dearest[0] ?? 0) + 200 * (dearest[1] ?? 0)) / 2))
    expect(factors).not.toHaveProperty('above_hold')
    expect(await verifyCharges(server.app.db)).toMatchObject({ rows: 1, recomputed: 1, differing: 0 })
    await requireBalancedBooks(server)
  })

  it('is held alone where no other begins within the hour', async () => {
    const { call, at } = await staged('2026-11-30T22:59:59Z')
    const before = (await call(argon)).factors.held ?? 0
    at('2026-11-30T23:00:00Z')
    expect((await call(argon)).factors.held).toBeGreaterThan(1.9 * before)
  })

  it('is in the price list with those of other hours and later days', async () => {
    const { server, at } = await staged('2026-11-30T12:00:00Z')
    const listed = async () =>
      new Map((await server.call<PriceRow[]>('GET /api/pricing')).map((row) => [row.model_name, row] as const))
    const before = await listed()
    expect(before.get(argon)).toMatchObject({
      ...{ model_ratio: 1, price_from: '', price_hours: '' },
      later: [{ from: '2026-12-01', hours: '', model_ratio: 2, completion_ratio: 5 }],
    })
    expect(before.get(deepseek)).toMatchObject({
      ...{ model_ratio: 0.33, price_from: '2026-08-17', price_hours: '04:00–06:00, 10:00–01:00' },
      later: [{ from: '', hours: '01:00–04:00, 06:00–10:00', model_ratio: 0.66 }],
    })
    at('2026-12-01T00:00:00Z')
    expect((await listed()).get(argon)).toMatchObject({ model_ratio: 2, price_from: '2026-12-01', later: [] })
  })
})
