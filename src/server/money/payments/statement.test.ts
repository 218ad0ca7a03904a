import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from '../../../../test/helpers/ledger.ts'
import type { LedgerSort } from '../../../contract/entities/ledger-row.ts'
import type { SortBy } from '../../../contract/envelope.ts'
import { listLedgerRows, statementCsv } from './statement.ts'

eachDatabase('statement', (fresh) => {
  it('lists every change of the balance, newest first, page by page, and nothing of other users', async () => {
    const { core, ledger, user } = await ledgerOf(await fresh())
    const [userId, other] = [await user(1000), await user(5)]
    for (const amount of [10, 20, 30]) {
      const hold = aHold(userId, 0, 100)
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, amount))
    }

    const read = (before: number, offset = 0) => listLedgerRows(core.db, { userId, before, page: { offset, limit: 2 } })
    const whole = { offset: 0, limit: 10 }
    const first = await read(0)
    expect(first.items.map(({ kind, amount, balance }) => [kind, amount, balance])).toEqual([
      ['charge', -30, 940],
      ['charge', -20, 970],
    ])
    expect(first.items[0]).toMatchObject({ model_name: 'gpt-4.1-mini' })
    const second = await read(first.next)
    expect(second.items.map(({ kind, amount, balance }) => [kind, amount, balance])).toEqual([
      ['charge', -10, 990],
      ['grant', 1000, 1000],
    ])
    const charges = await listLedgerRows(core.db, { userId, before: 0, page: whole, kind: 'charge' })
    expect(charges.items.map(({ amount, balance }) => [amount, balance])).toEqual([
      [-30, null],
      [-20, null],
      [-10, null],
    ])
    expect(second.next).toBe(0)
    // Jumping to a page by its number returns the same rows.
    expect(await read(0, 2)).toEqual(second)
    expect((await listLedgerRows(core.db, { userId: other, before: 0, page: whole })).items).toMatchObject([
      { reference: `grant:${other}`, amount: 5 },
    ])
  })

  it('can be sorted by time or amount, with all kinds or one, and its pages and its file have the same order', async () => {
    const { core, user } = await ledgerOf(await fresh())
    const userId = await user(100)
    await user(7)
    const row = { user_id: userId, token_id: 0, created_at: 1_760_000_000 }
    const changes = [
      ['charge', -30],
      ['redeem', 50],
      ['charge', -10],
      ['charge', -30],
    ] as const
    await core.db
      .insertInto('ledger')
      .values(changes.map(([kind, amount], nth) => ({ ...row, kind, amount, reference: `r${nth}` })))
      .execute()
    await core.db.updateTable('users').set({ quota: 80 }).where('id', '=', userId).execute()

    const read = async (sort: SortBy<LedgerSort>, kind = '') => {
      const rows: [string, number | null][] = []
      for (let before = 0; ; ) {
        const { items, next } = await listLedgerRows(core.db, { userId, kind, sort, before, page: { offset: 0, limit: 2 } })
        rows.push(...items.map(({ reference, balance }): [string, number | null] => [reference, balance]))
        if (next === 0) break
        before = next
      }
      const jumped = await listLedgerRows(core.db, { userId, kind, sort, before: 0, page: { offset: 2, limit: 2 } })
      expect(jumped.items.map(({ reference }) => reference)).toEqual(rows.slice(2, 4).map(([reference]) => reference))
      let file = ''
      for await (const piece of statementCsv(core.db, { userId, kind, sort })) file += piece
      const lines = file.trimEnd().split('\r\n').slice(1)
      expect(lines.map((line) => [line.split(',')[5], line.split(',')[4]])).toEqual(
        rows.map(([reference, balance]) => [reference, String(balance ?? '')]),
      )
      return rows
    }
    const first = `grant:${userId}`
    const oldest = [
      [first, 100],
      ['r0', 70],
      ['r1', 120],
      ['r2', 110],
      ['r3', 80],
    ]
    expect(await read({ by: 'id', descending: false })).toEqual(oldest)
    expect(await read({ by: 'id', descending: true })).toEqual(oldest.toReversed())
    const without = (...references: string[]) => references.map((reference) => [reference, null])
    expect(await read({ by: 'amount', descending: false })).toEqual(without('r3', 'r0', 'r2', 'r1', first))
    expect(await read({ by: 'amount', descending: true })).toEqual(without(first, 'r1', 'r2', 'r3', 'r0'))
    expect(await read({ by: 'amount', descending: false }, 'charge')).toEqual(without('r3', 'r0', 'r2'))
    expect(await read({ by: 'id', descending: false }, 'charge')).toEqual(without('r0', 'r2', 'r3'))
  })

  it('is exported completely, in pieces, and ends with the current balance of the user', async () => {
    const { core, user, userRow } = await ledgerOf(await fresh())
    const userId = await user(1_000_000)
    const rows = Array.from({ length: 2500 }, (_, index) => ({
      reference: `charge:r${index}`,
      user_id: userId,
      token_id: 3,
      kind: 'charge' as const,
      amount: -(index % 7),
      created_at: 1_760_000_000 + index,
    }))
    for (let from = 0; from < rows.length; from += 500)
      await core.db
        .insertInto('ledger')
        .values(rows.slice(from, from + 500))
        .execute()
    const spent = rows.reduce((sum, { amount }) => sum - amount, 0)
    await core.db
      .updateTable('users')
      .set({ quota: 1_000_000 - spent })
      .where('id', '=', userId)
      .execute()

    const pieces: string[] = []
    for await (const piece of statementCsv(core.db, { userId })) pieces.push(piece)
    const lines = pieces.join('').split('\r\n')
    expect(pieces.length).toBeGreaterThan(3)
    expect(lines[0]).toBe('\uFEFFid,time (UTC),kind,amount,balance,reference,token_id,detail')
    expect(lines[1]).toMatch(/^\d+,[^,]*,grant,1000000,1000000,grant:\d+,0,$/)
    expect(lines[4]).toMatch(/^\d+,2025-10-09T08:53:22Z,charge,-2,999997,charge:r2,3,$/)
    expect(lines).toHaveLength(2503)
    expect(lines.at(-1)).toBe('')
    expect(Number(lines.at(-2)?.split(',')[4])).toBe((await userRow(userId)).quota)
  })
})
