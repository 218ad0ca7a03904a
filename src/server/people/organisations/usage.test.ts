import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf } from '../../../../test/helpers/ledger.ts'
import type { UsageSide } from '../../../contract/entities/organisation-usage.ts'
import { refundCharge } from '../../money/ledger/refund.ts'
import type { Membership } from './membership.ts'
import { organisationUsage, shortened, usageCsv } from './usage.ts'

eachDatabase('the usage of an organisation', (fresh) => {
  const start = 1_760_000_000
  const until = start + 1000

  /** An organisation with two teams and two members, a token that moves at 500, and one of no place; and another account. */
  async function organisation() {
    const { core, ledger, user, token } = await ledgerOf(await fresh())
    const { db } = core
    const [id, other, anne, bert] = [await user(100_000), await user(100_000), await user(0), await user(0)]
    const [moving, free, others] = [await token(id, 'unlimited'), await token(id, 'unlimited'), await token(other, 'unlimited')]
    const teams = await db
      .insertInto('organisation_teams')
      .values(['R&D', 'Sales'].map((name) => ({ organisation_id: id, parent_id: 0, name, created_at: 1 })))
      .returning('id')
      .execute()
    const members = await db
      .insertInto('organisation_members')
      .values([anne, bert].map((user_id) => ({ organisation_id: id, user_id, role: 'member', created_at: 1 })))
      .returning('id')
      .execute()
    const [research = 0, sales = 0] = teams.map((row) => row.id)
    const [ofAnne = 0, ofBert = 0] = members.map((row) => row.id)
    const places = [
      { token_id: moving, since: start - 100, team_id: research, member_id: ofAnne },
      { token_id: moving, since: start + 500, team_id: sales, member_id: ofBert },
    ]
    await db.insertInto('token_places').values(places).execute()

    const charge = async (tokenId: number, amount: number, more: { at: number; model?: string }) => {
      const hold = aHold(tokenId === others ? other : id, tokenId, amount)
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, amount, more))
      return hold.requestId
    }
    const refund = (requestId: string, at: number, kept = 0) =>
      db.transaction().execute((within) => {
        const refunded = { requestId, channelId: 0, model: 'gpt-4.1-mini', group: 'default', at, detail: '', kept }
        return refundCharge(ledger, within, refunded)
      })
    const payer = { id, username: '@acme', group: 'default', status: 1 }
    const membership = (role: Membership['role'], memberId: number): Membership => ({ payer, role, memberId })
    const read = async (by: UsageSide, { from = start, to = until, as = membership('owner', 0) } = {}) =>
      organisationUsage(core, as, { from, to, by })
    const costs = async (by: UsageSide, more?: Parameters<typeof read>[1]) =>
      Object.fromEntries((await read(by, more)).rows.map(({ key, calls, cost }) => [key, [calls, cost]]))
    return { core, charge, refund, read, costs, membership, id, moving, free, others, research, sales, ofAnne, ofBert }
  }

  it('is where the token was when it was charged, by each side, and adds up to the ledger to the unit', async () => {
    const { core, charge, refund, read, costs, id, ...of } = await organisation()
    await charge(of.moving, 1000, { at: start - 1 })
    await charge(of.moving, 10, { at: start })
    const drawn = await charge(of.moving, 200, { at: start + 499, model: 'painter' })
    await charge(of.moving, 3000, { at: start + 500 })
    await charge(of.free, 40_000, { at: start + 999, model: 'painter' })
    await charge(of.moving, 1, { at: until })
    await charge(of.others, 7, { at: start })
    // It comes when the token is elsewhere, and belongs to where the charge was.
    await refund(drawn, start + 600, 50)
    await core.db
      .insertInto('ledger')
      .values({
        ...{ user_id: id, token_id: 0, kind: 'refund' as const, amount: -5, detail: '' },
        ...{ reference: 'top_up_withdraw:1', created_at: start },
      })
      .execute()

    expect(await costs('team')).toEqual({ '0': [1, 40_000], [of.sales]: [1, 3000], [of.research]: [2, 60] })
    expect(await costs('member')).toEqual({ '0': [1, 40_000], [of.ofBert]: [1, 3000], [of.ofAnne]: [2, 60] })
    expect(await costs('token')).toEqual({ [of.free]: [1, 40_000], [of.moving]: [3, 3060] })
    expect(await costs('model')).toEqual({ painter: [2, 40_050], 'gpt-4.1-mini': [2, 3010] })
    const { rows } = await read('team')
    expect(rows.map(({ name }) => name)).toEqual(['', 'Sales', 'R&D'])
    const { amount } = await core.db
      .selectFrom('ledger')
      .select(({ fn }) => fn.sum<number>('amount').as('amount'))
      .where('user_id', '=', id)
      .where('reference', 'not like', 'top_up%')
      .where('kind', 'in', ['charge', 'refund'])
      .where('created_at', '>=', start)
      .where('created_at', '<', until)
      .executeTakeFirstOrThrow()
    for (const by of ['team', 'member', 'token', 'model'] as const) expect((await read(by)).total.cost, by).toBe(-Number(amount))
  })

  it('keeps its calls and cost when the log is purged, and loses models, failures and counts of tokens', async () => {
    const { core, charge, read, id, moving } = await organisation()
    await charge(moving, 10, { at: start })
    await charge(moving, 20, { at: start + 1 })
    await core.db.updateTable('logs').set({ prompt_tokens: 7, completion_tokens: 5 }).where('user_id', '=', id).execute()
    const failed = { user_id: id, token_id: moving, created_at: start + 2, type: 5, model_name: 'gpt-4.1-mini' }
    await core.db.insertInto('logs').values(failed).execute()
    const known = { name: 'gpt-4.1-mini', calls: 2, failed: 1, input_tokens: 14, output_tokens: 10, cost: 30 }
    expect((await read('model')).rows).toEqual([{ key: 'gpt-4.1-mini', ...known }])
    await core.db.deleteFrom('logs').where('user_id', '=', id).execute()
    const left = { name: '', calls: 2, failed: 0, input_tokens: 0, output_tokens: 0, cost: 30 }
    expect((await read('model')).rows).toEqual([{ key: '', ...left }])
  })

  it('shows a member the own calls, and a manager those of the team; the billing role sees all', async () => {
    const { core, charge, costs, membership, ...of } = await organisation()
    await charge(of.moving, 10, { at: start })
    await charge(of.moving, 200, { at: start + 500 })
    await charge(of.free, 3000, { at: start + 1 })
    const anne = membership('member', of.ofAnne)
    expect(await costs('team', { as: anne })).toEqual({ [of.research]: [1, 10] })
    expect(await costs('token', { as: anne })).toEqual({ [of.moving]: [1, 10] })
    await core.db
      .insertInto('organisation_team_members')
      .values({ team_id: of.sales, member_id: of.ofAnne, is_manager: 1 })
      .execute()
    expect(await costs('member', { as: anne })).toEqual({ [of.ofAnne]: [1, 10], [of.ofBert]: [1, 200] })
    expect(Object.keys(await costs('member', { as: membership('billing', 9) }))).toHaveLength(3)
  })

  it('covers the last 30 days where no time is given, and refuses more than 366 days', async () => {
    const { core, read } = await organisation()
    const now = Math.floor(core.now() / 1000)
    const { from, to } = await read('team', { from: 0, to: 0 })
    expect([to - from, Math.abs(to - now) < 60]).toEqual([30 * 86_400, true])
    expect((await read('team', { from: start, to: start + 366 * 86_400 })).rows).toEqual([])
    await expect(read('team', { from: start, to: start + 366 * 86_400 + 1 })).rejects.toMatchObject({
      code: 'data_span_too_long',
    })
  })
})

it('names the costliest rows in a reply, sums up the others, and has all in a file', () => {
  const none = { failed: 0, input_tokens: 0, output_tokens: 0 }
  const rows = Array.from({ length: 250 }, (_, nth) => ({ key: String(nth), name: '=a', calls: 1, cost: 1000 - nth, ...none }))
  const total = { calls: 250, cost: 250_000, ...none }
  const shown = shortened({ from: 1, to: 2, rows, total })
  expect(shown.rows).toHaveLength(200)
  expect(shown.rows.at(-1)).toMatchObject({ key: '*', calls: 51 })
  expect(shown.rows.reduce((sum, { cost }) => sum + cost, 0)).toBe(rows.reduce((sum, { cost }) => sum + cost, 0))
  const lines = usageCsv({ from: 1, to: 2, rows, total }).split('\r\n')
  expect(lines).toHaveLength(252)
  expect(lines[1]).toBe("0,'=a,1,0,0,0,1000")
})
