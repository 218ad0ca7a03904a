import { expect, it } from 'vitest'
import { type DatabaseKind, eachDatabase } from '../helpers/databases.ts'
import { addToken, books, requireBalancedBooks } from '../helpers/seed.ts'
import { accountsOfSuite, costOf } from './accounts-stage.ts'
import { eventually, requestBytes, speak } from './stage.ts'
import { bodyOf, idle, paths, post } from './trust-stage.ts'

// Accounting, part G of docs/reference/trust-cases.md.

eachDatabase('accounts', (_fresh, kind: DatabaseKind) => {
  const accounts = accountsOfSuite(kind)

  it("[T141] [T148] [T160] the cost of random requests equals an independent computation from the upstream's journal, in every account", () =>
    accounts.requireExactAccounts(6, 20))

  it('[T157] a free model has its log row, the playground is charged as a key is, and a key that is deleted, disabled or expired in mid-stream is charged for the stream', async () => {
    const { server } = accounts
    accounts.program('cheap', { words: 40, pauseMs: 5 })
    const ends: ((id: number) => Promise<unknown>)[] = [
      (id) => server.call(`DELETE /api/token/${id}`),
      (id) => server.call('PUT /api/token/?status_only=true', { id, status: 2 }),
      (id) => server.app.db.updateTable('tokens').set({ expired_time: 1 }).where('id', '=', id).execute(),
    ]
    const rowsOf = (id: number) => server.app.db.selectFrom('logs').selectAll().where('token_id', '=', id).execute()
    for (const end of ends) {
      const token = await addToken(server)
      const caller = speak(
        server,
        requestBytes(token.key, JSON.stringify(bodyOf('cheap', 'one two', { stream: true })), {}, paths.openai),
      )
      await caller.until((text) => text.includes('word3'))
      await end(token.id)
      expect(await caller.until((text) => text.includes('[DONE]'))).toContain('word40')
      caller.socket.destroy()
      expect(await rowsOf(token.id)).toMatchObject([{ prompt_tokens: 2, completion_tokens: 40, quota: costOf('cheap', 2, 40) }])
    }
    const token = await addToken(server)
    expect((await post(server, token.key, 'openai', bodyOf('free', 'one two'))).status).toBe(200)
    expect(await rowsOf(token.id)).toMatchObject([{ model_name: 'free', quota: 0 }])
    const tried = await server.raw('POST /pg/chat/completions', bodyOf('cheap', 'one two'))
    expect([tried.status, (await tried.text()).includes('word40')]).toEqual([200, true])
    expect(await rowsOf(0)).toMatchObject([{ prompt_tokens: 2, completion_tokens: 40, quota: costOf('cheap', 2, 40) }])
    await idle(server)
    await requireBalancedBooks(server)
  })

  it('[T151] a flood of changes to one account disturbs no charge', async () => {
    const { server } = accounts
    accounts.program('dear', {})
    const token = await addToken(server)
    const before = (await books(server)).users[0]
    const flood = Array.from({ length: 50 }, async (_, count) => {
      await server.app.db
        .updateTable('users')
        .set({ display_name: `root ${count}` })
        .where('id', '=', 1)
        .execute()
      server.app.bus.publish('user', 1)
    })
    const asked = await Promise.all(
      Array.from({ length: 100 }, () => post(server, token.key, 'openai', bodyOf('dear', 'one two three'))),
    )
    await Promise.all(flood)
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([200]))
    await eventually(
      'all is charged',
      async () => (await books(server)).users[0]?.request_count === (before?.request_count ?? 0) + 100,
    )
    const after = (await books(server)).users[0]
    // "You said:" and the three words.
    expect((before?.quota ?? 0) - (after?.quota ?? 0)).toBe(100 * costOf('dear', 3, 5))
    await idle(server)
    await requireBalancedBooks(server)
  })
})
