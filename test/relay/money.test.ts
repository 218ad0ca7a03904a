import { expect, it } from 'vitest'
import { serverOfTest } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { startProcess } from '../helpers/process.ts'
import { addChannel, addToken, books, expireLeases, requireBalancedBooks, setOptions } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { askWithRetry, eventually } from './stage.ts'

const model = 'gpt-4o-mini'
const messages = [{ role: 'user', content: 'one two three' }]
const ask = (url: string, key: string, body: Record<string, unknown>) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages, ...body }),
  })

eachDatabase('money under load and death', (fresh, kind) => {
  it('[T145] 200 requests at once on a token for 10: at most 10 pass and nothing goes below zero', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { words: 1000 })
    const server = await serverOfTest(kind)
    await addChannel(server, { url: upstream.url, models: model })
    await setOptions(server, { ModelRatio: { [model]: 1 }, CompletionRatio: { [model]: 1 } })

    const probe = await addToken(server)
    await (await ask(server.url, probe.key, { max_tokens: 1000 })).text()
    const one = (await books(server)).logs[0]?.quota ?? 0
    const token = await addToken(server, { unlimited_quota: false, remain_quota: 10_300 })
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const asked = { model, messages, max_tokens: 1000, stream: index % 2 === 0 }
        return (await askWithRetry(server, token.key, asked)).status
      }),
    )
    const passed = statuses.filter((status) => status === 200).length
    expect(passed).toBeGreaterThan(0)
    expect(passed).toBeLessThanOrEqual(10)
    expect(new Set(statuses)).toEqual(new Set([200, 403]))
    const { tokens } = await books(server)
    expect(tokens.find((row) => row.id === token.id)?.remain_quota).toBe(10_300 - passed * one)
    expect(upstream.journal).toHaveLength(passed + 1)
    await requireBalancedBooks(server)
  })

  it('[T142] kill -9 during 50 streams: every completed answer is charged once, none twice, and no hold is left', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, (entry) => ({ words: 5 + (Number(entry.json?.seed) % 40), pauseMs: 10 }))
    const database = await fresh()
    const first = await startProcess(database)
    await first.call('POST /api/channel/', { name: 'test', type: 1, key: 'k'.repeat(20), base_url: upstream.url, models: model })
    const token = await first.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })

    const completed: string[] = []
    const streamOnce = async (seed: number) => {
      const response = await ask(first.url, `sk-${token.key}`, { stream: true, seed })
      const text = await response.text()
      if (text.includes('[DONE]')) completed.push(response.headers.get('x-oneapi-request-id') ?? '')
    }
    const streams = Array.from({ length: 50 }, (_, index) => streamOnce(index).catch(() => 'cut'))
    await eventually('a stream is complete', () => completed.length > 0)
    await first.kill('SIGKILL')
    await Promise.all(streams)
    expect(completed.length).toBeGreaterThan(0)
    expect(completed.length).toBeLessThan(50)

    const server = await serverOfTest(kind, { database })
    await expireLeases(server)
    await waitForNoHolds(server)
    const { ledger } = await books(server)
    const charges = ledger.filter((row) => row.kind === 'charge').map((row) => row.reference)
    for (const id of completed) expect(charges.filter((reference) => reference === `charge:${id}`)).toHaveLength(1)
    expect(new Set(charges).size).toBe(charges.length)
    await requireBalancedBooks(server)
    expect((await (await ask(server.url, `sk-${token.key}`, {})).json()).choices).toHaveLength(1)
  })

  it('SIGTERM lets running streams end, settles them and exits with 0', async () => {
    const upstream = await upstreamOfTest()
    upstream.program(model, { words: 60, pauseMs: 10 })
    const database = await fresh()
    const first = await startProcess(database)
    await first.call('POST /api/channel/', { name: 'test', type: 1, key: 'k'.repeat(20), base_url: upstream.url, models: model })
    const token = await first.call<{ key: string }>('POST /api/token/', { name: 'test', unlimited_quota: true })
    const streams = Array.from({ length: 20 }, async () => (await ask(first.url, `sk-${token.key}`, { stream: true })).text())
    await eventually('all streams run', () => upstream.journal.length === 20)
    const exit = first.kill('SIGTERM')
    for (const text of await Promise.all(streams)) expect(text).toContain('[DONE]')
    expect(await exit).toBe(0)

    const server = await serverOfTest(kind, { database })
    expect((await books(server)).ledger.filter((row) => row.kind === 'charge')).toHaveLength(20)
    await requireBalancedBooks(server)
  })
})

async function waitForNoHolds(server: Parameters<typeof books>[0]): Promise<void> {
  await eventually('no hold is left', async () => {
    await server.app.ledger.expire()
    return (await books(server)).holds.length === 0
  })
}
