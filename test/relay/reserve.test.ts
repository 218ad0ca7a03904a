import { expect, it } from 'vitest'
import { eachDatabase } from '../helpers/databases.ts'
import { addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, settledCharges, stage } from './stage.ts'

eachDatabase('a hold covers what the call can cost', (_fresh, kind) => {
  it('a request without a limit passes unchanged while the balance covers the longest answer', async () => {
    const upstream = await upstreamOfTest()
    const { ask } = await stage(kind, upstream.url)
    const answer = await ask(chat())
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-sluice-output-limit')).toBeNull()
    expect(upstream.journal[0]?.json).not.toHaveProperty('max_tokens')
  })

  it('a balance that does not cover the greatest cost lowers the output limit, which a header and the row report', async () => {
    const upstream = await upstreamOfTest()
    const { server } = await stage(kind, upstream.url)
    const { key } = await addToken(server, { unlimited_quota: false, remain_quota: 1_600 })
    const answer = await ask(server, key, chat())
    expect(answer.status).toBe(200)
    // 0.075 a token in, 0.3 a token out.
    expect(answer.headers.get('x-sluice-output-limit')).toBe('4096')
    expect(upstream.journal[0]?.json.max_tokens).toBe(4096)
    await settledCharges(server)
    expect(JSON.parse((await books(server)).logs[0]?.other ?? '{}').output_limit).toBe(4096)
    await requireBalancedBooks(server)
  })
})
