import { expect, it, onTestFinished } from 'vitest'
import { consoleLimits } from '../../src/server/gateway/limits/console-rate-limits.ts'
import { serverOfTest } from '../helpers/app.ts'
import { eachDatabase } from '../helpers/databases.ts'
import { startIdentityProviders } from '../helpers/identity-providers.ts'
import { requireBalancedBooks, setOptions } from '../helpers/seed.ts'

/** GUESSES (10,000, as T167 requires): the number of guessed codes, for redemptions and for WeChat. */
const guesses = Number(process.env.GUESSES ?? 10_000)
const timed = 300

eachDatabase('guesses of redemption codes', (_fresh, kind) => {
  it('[T167] are limited, answered alike, and take no longer for codes that were disabled or deleted', async () => {
    const server = await serverOfTest(kind, { env: { TRUSTED_PROXIES: '127.0.0.1' } })
    const codes = await server.call<string[]>('POST /api/redemption/', { name: 'x', quota: 1000, count: 2 })
    const { items } = await server.call<{ items: { id: number }[] }>('GET /api/redemption/?paged=true')
    const [disabled, deleted] = items.map(({ id }) => id)
    await server.call('POST /api/redemption/batch', { ids: [disabled], action: 'disable' })
    await server.call('POST /api/redemption/batch', { ids: [deleted], action: 'delete' })
    const guess = async (key: string, from: string) => {
      const response = await server.raw('POST /api/user/topup', { key }, { 'x-forwarded-for': from })
      const { code, message } = (await response.json()) as { code: string; message: string }
      // Only the remaining time until the next attempt differs.
      return `${response.status} ${code} ${message.replace(/\d+/, 'n')}`
    }
    const randomKey = (number: number) => number.toString(16).padStart(32, '0')

    // From one address: as many as its limit, and then no code is even looked up.
    const heard = new Map<string, number>()
    for (let number = 0; number < guesses; number++) {
      const answer = await guess(randomKey(number), '198.51.100.1')
      heard.set(answer, (heard.get(answer) ?? 0) + 1)
    }
    expect([...heard.keys()].map((answer) => answer.split(' ', 2).join(' '))).toEqual([
      '200 redemption_invalid',
      '429 too_many_requests',
    ])
    expect([...heard.values()]).toEqual([consoleLimits.money.count, guesses - consoleLimits.money.count])

    // From many addresses: an unknown code cannot be distinguished from a disabled or deleted one, not even by time.
    const kinds = { unknown: randomKey, disabled: () => codes[0] ?? '', deleted: () => codes[1] ?? '' }
    const times = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]))
    const answers = new Set<string>()
    for (let round = 0; round < timed; round++) {
      for (const [name, keyOf] of Object.entries(kinds)) {
        const begun = performance.now()
        answers.add(await guess(keyOf(round), `10.${round % 250}.${name.length}.1`))
        times.get(name)?.push(performance.now() - begun)
      }
    }
    expect(answers.size).toBe(1)
    // The fastest quarter is least affected by other load of the machine.
    const typical = [...times.values()].map((all) => all.toSorted((one, other) => one - other)[all.length >> 2] ?? 0)
    console.log([...times.keys()].map((name, index) => `${name}: ${typical[index]?.toFixed(2)} ms`).join(', '))
    expect(Math.max(...typical) / Math.min(...typical)).toBeLessThan(1.5)
    await requireBalancedBooks(server)
  })
})

eachDatabase('guesses of WeChat codes', (_fresh, kind) => {
  it('[T030] are sent to the provider up to the rate limit of their address, each as one encoded query value', async () => {
    const peers = await startIdentityProviders(Date.now)
    onTestFinished(() => peers.stop())
    const server = await serverOfTest(kind, {
      env: { TRUSTED_PROXIES: '127.0.0.1' },
      identityProviders: { endpoints: peers.addresses, timeoutMs: 10_000 },
    })
    const settings = { WeChatServerAddress: peers.url, WeChatServerToken: 'x', WeChatAuthEnabled: 'true' }
    await setOptions(server, settings)
    const signs = ['&x=', '/../admin', '#', '%26', '\r\nx: y', '?']
    const heard = new Map<string, number>()
    for (let number = 0; number < guesses; number++) {
      const code = `${number}${signs[number % signs.length]}`
      const response = await fetch(`${server.url}/api/oauth/wechat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.1' },
        body: JSON.stringify({ code, aff: '' }),
      })
      const { code: answer } = (await response.json()) as { code: string }
      heard.set(answer, (heard.get(answer) ?? 0) + 1)
    }
    const { count } = consoleLimits.critical
    expect(Object.fromEntries(heard)).toEqual({ code_wrong: count, too_many_requests: guesses - count })
    const asked = peers.requests.map(({ path }) => path)
    expect(asked).toHaveLength(count)
    expect(asked.filter((path) => !/^\/api\/wechat\/user\?code=[\w.%-]+$/.test(path))).toEqual([])
  })
})
