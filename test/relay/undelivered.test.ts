import { describe, expect, it } from 'vitest'
import { serverOfTest, type TestServer } from '../helpers/app.ts'
import { newClock } from '../helpers/clock.ts'
import { type DatabaseKind, eachDatabase } from '../helpers/databases.ts'
import { interruptDatabase } from '../helpers/outage.ts'
import { addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { upstreamOfTest } from '../helpers/upstream.ts'
import { ask, chat, eventually, model, stage } from './stage.ts'

/** Shorter than on a real server, because each of these tests waits for it. */
const commitWaitMs = 1000

/** A server whose database becomes unreachable while the upstream answers. */
async function staged(kind: DatabaseKind) {
  const upstream = await upstreamOfTest()
  const clock = newClock()
  const made = await stage(kind, upstream.url, { server: { now: () => clock.now(), commitWaitMs } })
  const { server } = made
  let bringBack: (() => Promise<void>) | undefined
  upstream.program(model, async () => {
    bringBack ??= await interruptDatabase(server.app.database)
    return {}
  })
  return {
    ...made,
    upstream,
    clock,
    /** Waits until no write of the charge is running, so that the charge is withdrawn. */
    untilWithdrawn: () => eventually('the hold is open again', () => server.app.ledger.openHolds === 1),
    async bringBack() {
      upstream.program(model, {})
      await bringBack?.()
      await eventually('the ledger writes again', async () => {
        const { status } = await ask(server, made.token.key, { ...chat(), max_tokens: 1, user: 'probe' })
        return status === 200
      })
    },
  }
}

const siteCosts = (server: TestServer) => server.app.db.selectFrom('site_costs').selectAll().execute()
/** The charges of one request, without those of the probe in `bringBack`. */
const chargesFor = async (server: TestServer, requestId: string | null) =>
  (await books(server)).ledger.filter((row) => row.reference === `charge:${requestId}`).map((row) => 0 - row.amount)

eachDatabase('a whole reply whose charge the database did not store', (_fresh, kind) => {
  it('is not delivered; a repeat on the node gets it without another upstream call, charged once', async () => {
    const { server, upstream, token, bringBack } = await staged(kind)
    const first = await ask(server, token.key, chat())
    expect(first.status).toBe(503)
    expect(server.app.undelivered.size).toBe(1)
    const whileDown = await ask(server, token.key, chat())
    expect(whileDown.status).toBe(503)
    expect(upstream.journal).toHaveLength(1)

    await bringBack()
    const asked = upstream.journal.length
    const again = await ask(server, token.key, chat())
    expect([again.status, again.headers.get('x-sluice-original-request-id')]).toEqual([200, first.headers.get('x-request-id')])
    expect(JSON.parse(again.text).choices[0].message.content).toContain('You said')
    expect(upstream.journal).toHaveLength(asked)
    const charged = await chargesFor(server, first.headers.get('x-request-id'))
    expect([charged.length, (charged[0] ?? 0) > 0]).toEqual([1, true])
    expect(await chargesFor(server, again.headers.get('x-request-id'))).toEqual([])
    expect(await siteCosts(server)).toEqual([])
    expect(server.app.undelivered.size).toBe(0)
    expect(server.app.ledger.openHolds).toBe(0)
    await requireBalancedBooks(server)

    const anew = await ask(server, token.key, chat())
    expect([anew.status, anew.headers.get('x-sluice-original-request-id')]).toEqual([200, null])
    expect(upstream.journal).toHaveLength(asked + 1)
  })

  it('is returned for the idempotency key, token and body that it was made for, and for no other', async () => {
    const { server, upstream, token, bringBack } = await staged(kind)
    const other = await addToken(server)
    const send = (key: string, apiKey = token.key, body = chat()) =>
      ask(server, apiKey, body, undefined, key === '' ? {} : { 'idempotency-key': key })
    // The node caches the token before the database becomes unreachable.
    await server.app.authenticator.authenticate([other.key], '127.0.0.1')
    const first = await send('k')
    expect(first.status).toBe(503)
    await bringBack()
    const original = first.headers.get('x-request-id')
    const asked = upstream.journal.length
    for (const answer of [
      await send(''),
      await send('other'),
      await send('k', other.key),
      await send('', token.key, chat({ n: 1 })),
    ])
      expect([answer.status, answer.headers.get('x-sluice-original-request-id')]).toEqual([200, null])
    expect(upstream.journal).toHaveLength(asked + 4)
    const again = await send('k')
    expect([again.status, again.headers.get('x-sluice-original-request-id')]).toEqual([200, original])
    const replayed = await send('k')
    expect([replayed.text, replayed.headers.get('idempotent-replayed')]).toEqual([again.text, 'true'])
    expect(upstream.journal).toHaveLength(asked + 4)
    expect(await chargesFor(server, original)).toHaveLength(1)
    await requireBalancedBooks(server)
  })

  it('is free for its caller when not fetched within ten minutes: the site bears the cost', async () => {
    const { server, upstream, token, untilWithdrawn, bringBack, clock } = await staged(kind)
    const first = await ask(server, token.key, chat())
    expect(first.status).toBe(503)
    await untilWithdrawn()
    await bringBack()
    clock.passSeconds(599)
    await server.app.undelivered.sweep()
    expect(server.app.undelivered.size).toBe(1)
    clock.passSeconds(2)
    await server.app.undelivered.sweep()

    const requestId = first.headers.get('x-request-id')
    expect(await chargesFor(server, requestId)).toEqual([0])
    const [cost] = await siteCosts(server)
    expect(cost).toMatchObject({ request_id: requestId, reason: 'undelivered', user_id: 1 })
    expect(cost?.amount).toBeGreaterThan(0)
    const log = (await books(server)).logs.find((row) => row.request_id === requestId)
    expect([log?.quota, JSON.parse(log?.other ?? '{}').admin_info.site_cost]).toEqual([
      0,
      { amount: cost?.amount, reason: 'undelivered' },
    ])
    await requireBalancedBooks(server)

    const asked = upstream.journal.length
    expect((await ask(server, token.key, chat())).headers.get('x-sluice-original-request-id')).toBeNull()
    expect(upstream.journal).toHaveLength(asked + 1)
  })

  it('is written off when the server stops, and no hold is left', async () => {
    const { server, token, untilWithdrawn, bringBack } = await staged(kind)
    const first = await ask(server, token.key, chat())
    expect(first.status).toBe(503)
    await untilWithdrawn()
    await bringBack()
    await server.app.undelivered.close()
    expect(await chargesFor(server, first.headers.get('x-request-id'))).toEqual([0])
    expect((await siteCosts(server)).map(({ reason }) => reason)).toEqual(['undelivered'])
    await requireBalancedBooks(server)
  })

  it('has its charge refunded when the commit that seemed lost has written it', async () => {
    const { server, token, untilWithdrawn, bringBack } = await staged(kind)
    const first = await ask(server, token.key, chat())
    expect(first.status).toBe(503)
    await untilWithdrawn()
    await bringBack()
    const requestId = first.headers.get('x-request-id') ?? ''
    const before = (await books(server)).users[0]?.quota
    // The rows of the lost commit.
    const written = { user_id: 1, token_id: token.id, kind: 'charge' as const, amount: -5, created_at: 1 }
    await server.app.db
      .insertInto('ledger')
      .values({ ...written, reference: `charge:${requestId}` })
      .execute()
    await server.app.db
      .updateTable('users')
      .set((eb) => ({ quota: eb('quota', '-', 5) }))
      .where('id', '=', 1)
      .execute()
    server.app.bus.publish('user', 1)
    await server.app.undelivered.close()
    expect((await books(server)).users[0]).toMatchObject({ quota: before, held: 0 })
    expect((await siteCosts(server)).map(({ request_id, reason }) => [request_id, reason])).toEqual([[requestId, 'undelivered']])
  })

  it('of a stream is charged by the delivered part, and not stored', async () => {
    const upstream = await upstreamOfTest()
    const { server, token } = await stage(kind, upstream.url, { server: { commitWaitMs } })
    let bringBack: (() => Promise<void>) | undefined
    upstream.program('*', async () => {
      bringBack ??= await interruptDatabase(server.app.database)
      return {}
    })
    const first = await ask(server, token.key, { ...chat(), stream: true })
    await bringBack?.()
    expect(first.status).toBe(200)
    expect(server.app.undelivered.size).toBe(0)
    await eventually('the charge lands', async () => (await chargesFor(server, first.headers.get('x-request-id'))).length === 1)
    expect((await siteCosts(server)).length).toBe(0)
  })
})

describe('a request at another node while the database is down', () => {
  it('gets 503 without a second upstream call', async () => {
    const upstream = await upstreamOfTest()
    const { server: a, token } = await stage('postgres', upstream.url, { server: { commitWaitMs } })
    const b = await serverOfTest('postgres', { database: a.database, commitWaitMs })
    expect((await ask(b, token.key, chat())).status).toBe(200)
    let bringBack: (() => Promise<void>) | undefined
    upstream.program(model, async () => {
      bringBack ??= await interruptDatabase(a.app.database)
      return {}
    })
    const first = await ask(a, token.key, chat())
    expect(first.status).toBe(503)
    const second = await ask(b, token.key, chat())
    const keyed = await ask(b, token.key, chat(), undefined, { 'idempotency-key': 'k' })
    expect([second.status, keyed.status]).toEqual([503, 503])
    expect(upstream.journal).toHaveLength(2)

    upstream.program(model, {})
    await bringBack?.()
    await eventually('node a delivers it', async () => {
      const again = await ask(a, token.key, chat())
      return again.headers.get('x-sluice-original-request-id') === first.headers.get('x-request-id')
    })
    expect(await chargesFor(a, first.headers.get('x-request-id'))).toHaveLength(1)
    await requireBalancedBooks(a)
  })
})
