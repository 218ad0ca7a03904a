import { expect, it } from 'vitest'
import { eachDatabase } from '../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from '../../../test/helpers/ledger.ts'
import { listLedgerRows, statementCsv } from './statement.ts'

eachDatabase('statement', (fresh) => {
  it('names every change of the balance, newest first, page by page, and nothing of others', async () => {
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
    // A page that is jumped to is the same.
    expect(await read(0, 2)).toEqual(second)
    expect((await listLedgerRows(core.db, { userId: other, before: 0, page: whole })).items).toMatchObject([
      { reference: `grant:${other}`, amount: 5 },
    ])
  })

  it('is exported whole, in pieces, and ends with the balance that the user has', async () => {
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
    for await (const piece of statementCsv(core.db, userId)) pieces.push(piece)
    const lines = pieces.join('').split('\r\n')
    expect(pieces.length).toBeGreaterThan(3)
    expect(lines[0]).toBe('id,time,kind,amount,balance,reference,token_id,detail')
    expect(lines[1]).toMatch(/^\d+,1970-01-01T00:00:00Z,grant,1000000,1000000,grant:\d+,0,$/)
    expect(lines[4]).toMatch(/^\d+,2025-10-09T08:53:22Z,charge,-2,999997,charge:r2,3,$/)
    expect(lines).toHaveLength(2503)
    expect(lines.at(-1)).toBe('')
    expect(Number(lines.at(-2)?.split(',')[4])).toBe((await userRow(userId)).quota)
  })
})
