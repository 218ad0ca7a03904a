import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from '../../../../test/helpers/ledger.ts'
import type { Core } from '../../base/options/core.ts'
import { monthlyStatement, statementLines } from './monthly-statement.ts'

eachDatabase('a statement of a month', (fresh) => {
  const at = (text: string) => Date.parse(text) / 1000

  it('opens with all before it and closes with all up to its end, in the time zone of the site', async () => {
    const { core: ofUtc, user } = await ledgerOf(await fresh())
    const zone = 'Asia/Shanghai'
    const options = Object.create(ofUtc.options, { current: { value: { ...ofUtc.options.current, SiteTimeZone: zone } } })
    const core: Core = { ...ofUtc, options }
    const userId = await user(0)
    const other = await user(7)
    const rows = [
      ['top_up', 1000, '2026-10-31T15:59:59Z'],
      ['charge', -100, '2026-10-31T15:59:59Z'],
      ['charge', -30, '2026-10-31T16:00:00Z'],
      ['charge', -5, '2026-11-20T00:00:00Z'],
      ['redeem', 50, '2026-11-21T00:00:00Z'],
      ['redeem', 60, '2026-11-22T00:00:00Z'],
      ['refund', 5, '2026-11-30T15:59:59Z'],
      ['charge', -9, '2026-11-30T16:00:00Z'],
    ] as const
    const common = { token_id: 0, detail: '' }
    const values = rows.map(([kind, amount, time], nth) => ({
      ...{ ...common, kind, amount, created_at: at(time), reference: `r${nth}` },
      user_id: userId,
    }))
    await core.db.insertInto('ledger').values(values).execute()
    await core.db
      .insertInto('ledger')
      .values({ ...common, kind: 'redeem', amount: 3, created_at: at('2026-11-02T00:00:00Z'), reference: 'x', user_id: other })
      .execute()
    const shown = await monthlyStatement(core, { userId, month: '2026-11' })
    expect(shown).toEqual({
      ...{ month: '2026-11', from: at('2026-10-31T16:00:00Z'), to: at('2026-11-30T16:00:00Z'), time_zone: zone },
      opening: 900,
      credits: [
        { kind: 'redeem', count: 2, amount: 110 },
        { kind: 'refund', count: 1, amount: 5 },
      ],
      charges: [{ team_id: 0, team: '', model: '', count: 2, amount: -35 }],
      closing: 980,
    })
    const next = await monthlyStatement(core, { userId, month: '2026-12' })
    expect([next.opening, next.closing]).toEqual([980, 971])
    expect([...statementLines(shown)].join('').split('\r\n').slice(1, -1)).toEqual([
      '2026-11,opening,,,,900',
      '2026-11,redeem,,,2,110',
      '2026-11,refund,,,1,5',
      '2026-11,charge,,,2,-35',
      '2026-11,closing,,,,980',
    ])
  })

  it('names the model of a charge, and the team to which its token belonged when it was charged', async () => {
    const { core, ledger, user, token } = await ledgerOf(await fresh())
    const userId = await user(1000)
    const tokenId = await token(userId, 'unlimited')
    const { db } = core
    const charge = async (amount: number) => {
      const hold = aHold(userId, tokenId, 100)
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, amount))
      const row = await db
        .selectFrom('ledger')
        .select('created_at')
        .where('user_id', '=', userId)
        .orderBy('id', 'desc')
        .limit(1)
        .executeTakeFirstOrThrow()
      return row.created_at
    }
    const when = await charge(10)
    await charge(20)
    const teams = await db
      .insertInto('organisation_teams')
      .values(['R&D', 'Sales'].map((name) => ({ organisation_id: userId, parent_id: 0, name, created_at: 1 })))
      .returning(['id', 'name'])
      .execute()
    const idOf = (name: string) => teams.find((team) => team.name === name)?.id ?? 0
    const place = { token_id: tokenId, member_id: 0 }
    await db
      .insertInto('token_places')
      .values({ ...place, since: when - 100, team_id: idOf('R&D') })
      .execute()
    await db
      .insertInto('token_places')
      .values({ ...place, since: when + 100_000, team_id: idOf('Sales') })
      .execute()
    const month = new Date((when + 8 * 3600) * 1000).toISOString().slice(0, 7)
    const { charges, closing } = await monthlyStatement(core, { userId, month })
    expect(charges).toEqual([{ team_id: idOf('R&D'), team: 'R&D', model: 'gpt-4.1-mini', count: 2, amount: -30 }])
    expect(closing).toBe(970)
  })
})
