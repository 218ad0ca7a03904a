import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, goodPassword, startAccounts } from '../../../../test/helpers/accounts.ts'
import { anyDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { outcome, tally } from '../../../../test/helpers/ledger.ts'
import { scaledByLoad } from '../../../../test/helpers/scaled-by-load.ts'
import { signIn } from './sign-in.ts'

type Verdict = (given: Record<string, string>) => { status?: number; body?: unknown } | 'hang'

anyDatabase('the human check', (fresh) => {
  const cleanups: (() => Promise<unknown>)[] = []
  let test: TestDatabase
  let node: AccountNode
  let verdict: Verdict
  const asked: Record<string, string>[] = []

  beforeEach(async () => {
    test = await fresh()
    cleanups.push(() => test.drop())
    asked.length = 0
    // Like the real verifier, it accepts a token once.
    const spent = new Set<string>()
    verdict = ({ secret, response = '' }) => {
      const success = secret === 'canary-secret' && response.startsWith('good') && !spent.has(response)
      spent.add(response)
      return { body: { success, hostname: 'site.test' } }
    }
    const server = http.createServer((request, response) => {
      let text = ''
      request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      request.on('end', () => {
        const given = JSON.parse(text)
        asked.push(given)
        const answer = verdict(given)
        if (answer === 'hang') return
        response.writeHead(answer.status ?? 200)
        response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    // A server that listens on a port has an address of this type.
    const { port } = server.address() as AddressInfo
    node = await startAccounts(test, { humanVerifier: `http://127.0.0.1:${port}/verify` })
    cleanups.push(() => node.close())
    await node.set({ TurnstileCheckEnabled: 'true', TurnstileSiteKey: 'site', ServerAddress: 'https://site.test' })
    await seal('canary-secret')
    await addUser(node, 'ada')
    await addUser(node, 'boss', { role: 100 })
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  const root = { id: 1, username: 'root', role: 100, group: 'default', address: '' }
  const seal = (value: string) => node.options.save({ key: 'TurnstileSecretKey', value, caller: root })
  const enter = (username: string, turnstile?: string, password = goodPassword) =>
    outcome(async () => void (await signIn(node, { username, password, turnstile, address: '192.0.2.9', userAgent: 'test' })))
  const require = (token?: string) => outcome(() => node.human.require({ token, address: '192.0.2.9', action: 'reset' }))

  it('[T024] accepts a solved check for one call, and passes on the address of the client', async () => {
    expect(await enter('ada', 'good1')).toBe('ok')
    expect(asked).toEqual([{ secret: 'canary-secret', response: 'good1', remoteip: '192.0.2.9' }])
    expect(await enter('ada', 'good1')).toBe('human_check_failed')
    const uses = await Promise.all(Array.from({ length: 20 }, () => require('good2')))
    expect(tally(uses)).toEqual({ ok: 1, human_check_failed: 19 })
  })

  it('reveals nothing about a password that is sent without a solved check', async () => {
    for (const password of [goodPassword, 'wrong']) expect(await enter('ada', undefined, password)).toBe('human_check_failed')
    expect(await enter('nobody', 'bad')).toBe('human_check_failed')
    expect(asked).toHaveLength(1)
  })

  it.each<[string, Verdict]>([
    ['another site', () => ({ body: { success: true, hostname: 'evil.test' } })],
    ['another form', () => ({ body: { success: true, hostname: 'site.test', action: 'register' } })],
    ['a broken verifier', () => ({ status: 500, body: { success: true } })],
    ['an answer that is no JSON', () => ({ body: '<html>' })],
    ['an answer of another shape', () => ({ body: { success: 'true' } })],
    ['an answer that is too large', () => ({ body: `"${'x'.repeat(100_000)}"` })],
  ])('[T024] is failed by %s, but never locks the super admin out', async (_what, answer) => {
    verdict = answer
    expect(await require('good')).toBe('human_check_failed')
    expect(await enter('ada', 'good')).toBe('human_check_failed')
    expect(await enter('boss', 'good')).toBe('ok')
    expect(await enter('boss')).toBe('ok')
    expect(await enter('boss', 'good', 'wrong')).toBe('human_check_failed')
  })

  it('[T024] accepts a solved check only for the form in which it was solved', async () => {
    verdict = ({ response = '' }) => ({ body: { success: true, hostname: 'site.test', action: response } })
    expect([await enter('ada', 'login'), await enter('ada', 'reset')]).toEqual(['ok', 'human_check_failed'])
    expect([await require('reset'), await require('login')]).toEqual(['ok', 'human_check_failed'])
    // A console that does not name the form.
    verdict = () => ({ body: { success: true, hostname: 'site.test', action: '' } })
    expect(await require('any')).toBe('ok')
  })

  it('[T024] is failed by a verifier that never answers, in five seconds', async () => {
    verdict = () => 'hang'
    const startedAt = performance.now()
    expect(await require('good')).toBe('human_check_failed')
    expect(performance.now() - startedAt).toBeLessThan(scaledByLoad(7000))
  })

  it('is not required while it is disabled', async () => {
    await node.set({ TurnstileCheckEnabled: 'false' })
    expect([await require(), await enter('ada')]).toEqual(['ok', 'ok'])
    expect(asked).toEqual([])
  })
})
