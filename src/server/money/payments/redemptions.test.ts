import { expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { ledgerOf, outcome } from '../../../../test/helpers/ledger.ts'
import { verifyAudit } from '../../base/options/audit.ts'
import { findRedemption, listRedemptions, searchRedemptions } from './list-redemptions.ts'
import { redeem } from './redeem.ts'
import {
  createRedemptions,
  deleteInvalidRedemptions,
  deleteRedemption,
  editRedemption,
  setRedemptionStatus,
} from './redemptions.ts'

const admin = { id: 1, username: 'root', role: 100, group: 'default', address: '127.0.0.1' }
const all = { offset: 0, limit: 100 }
const refusal = (move: () => Promise<unknown>) => outcome(async () => void (await move()))

eachDatabase('redemption codes', (fresh) => {
  it('[T167] are created up to a hundred at once, each with 128 random bits, stored only as hash and sealed text', async () => {
    const { core } = await ledgerOf(await fresh())
    const input = { name: '活动-1', quota: 100_000 }
    const keys = await createRedemptions(core, { input, count: 100, caller: admin })

    expect(new Set(keys).size).toBe(100)
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
    const { items, total } = await listRedemptions(core, all)
    expect(total).toBe(100)
    expect(items.map(({ key }) => key).reverse()).toEqual(keys)
    expect(items[0]).toMatchObject({ user_id: 1, status: 1, name: '活动-1', quota: 100_000, used_user_id: 0, expired_time: 0 })
    const stored = JSON.stringify([
      await core.db.selectFrom('redemptions').selectAll().execute(),
      await core.db.selectFrom('audit').selectAll().execute(),
    ])
    for (const key of keys) expect(stored).not.toContain(key)
  })

  it('[T168] are made all or none', async () => {
    const { core } = await ledgerOf(await fresh())
    const make = () => createRedemptions(core, { input: { name: 'code', quota: 1 }, count: 100, caller: admin })
    await core.db.schema.alterTable('audit').renameTo('gone').execute()
    await expect(make()).rejects.toThrow()
    expect(await listRedemptions(core, all)).toMatchObject({ total: 0 })
    await core.db.schema.alterTable('gone').renameTo('audit').execute()
    expect(await make()).toHaveLength(100)
  })

  it('are found by the beginning of the name in any case, by id and by the whole code', async () => {
    const { core } = await ledgerOf(await fresh())
    const make = async (name: string) =>
      (await createRedemptions(core, { input: { name, quota: 1 }, count: 1, caller: admin }))[0]
    const key = await make('Spring sale')
    await make('spring_2')
    await make('50% off')
    const found = async (keyword: string) => (await searchRedemptions(core, { keyword, page: all })).items.map(({ name }) => name)

    expect(await found('spring')).toEqual(['spring_2', 'Spring sale'])
    expect(await found('spring_')).toEqual(['spring_2'])
    expect(await found('sale')).toEqual([])
    expect(await found('50%')).toEqual(['50% off'])
    expect(await found(key ?? '')).toEqual(['Spring sale'])
    const { items } = await listRedemptions(core, all)
    expect(await found(String(items[1]?.id))).toEqual(['spring_2'])
    expect(await searchRedemptions(core, { keyword: 'spring', page: { offset: 1, limit: 1 } })).toMatchObject({
      items: [{ name: 'Spring sale' }],
      total: 2,
    })
  })

  it('[T061] change only while they are unused, and a used one never becomes usable again', async () => {
    const { core, ledger, user } = await ledgerOf(await fresh())
    const userId = await user(0)
    const [key = ''] = await createRedemptions(core, { input: { name: 'a', quota: 10 }, count: 1, caller: admin })
    const id = (await listRedemptions(core, all)).items[0]?.id ?? 0
    const edit = (input: { name: string; quota: number; expired_time?: number }) =>
      editRedemption(core, { id, input, caller: admin })
    const set = (status: 1 | 2) => setRedemptionStatus(core, { id, status, caller: admin })

    expect(await edit({ name: 'b', quota: 20, expired_time: 4_000_000_000 })).toMatchObject({ id, key, name: 'b', quota: 20 })
    expect(await edit({ name: 'b', quota: 30 })).toMatchObject({ quota: 30, expired_time: 4_000_000_000 })
    expect(await set(2)).toMatchObject({ status: 2, quota: 30 })
    expect(await refusal(() => edit({ name: 'c', quota: 40 }))).toBe('redemption_not_editable')
    expect(await set(1)).toMatchObject({ status: 1 })

    const caller = { ...admin, id: userId }
    expect(await redeem({ ...core, ledger }, { key, caller })).toBe(30)
    expect(await findRedemption(core, id)).toMatchObject({ status: 3, used_user_id: userId })
    expect(await refusal(() => set(1))).toBe('redemption_used')
    expect(await refusal(() => set(2))).toBe('redemption_used')
    expect(await refusal(() => edit({ name: 'c', quota: 40 }))).toBe('redemption_not_editable')
    await deleteRedemption(core, { id, caller: admin })
    expect(await refusal(() => redeem({ ...core, ledger }, { key, caller }))).toBe('redemption_invalid')
    for (const move of [() => set(1), () => deleteRedemption(core, { id, caller: admin }), () => findRedemption(core, id)])
      expect(await refusal(move)).toBe('not_found')
  })

  it('are not created with, nor changed to, an expiry in the past', async () => {
    const { core } = await ledgerOf(await fresh())
    const input = { name: 'a', quota: 1, expired_time: 1_000_000_000 }
    expect(await refusal(() => createRedemptions(core, { input, count: 1, caller: admin }))).toBe('field_invalid')
    await createRedemptions(core, { input: { name: 'a', quota: 1 }, count: 1, caller: admin })
    const id = (await listRedemptions(core, all)).items[0]?.id ?? 0
    expect(await refusal(() => editRedemption(core, { id, input, caller: admin }))).toBe('field_invalid')

    await core.db.updateTable('redemptions').set({ expired_time: 1_000_000_000 }).execute()
    expect(await editRedemption(core, { id, input: { ...input, name: 'sent back' }, caller: admin })).toMatchObject({
      name: 'sent back',
    })
  })

  it('are deleted together when they are used, disabled or expired', async () => {
    const { core, ledger, user } = await ledgerOf(await fresh())
    const caller = { ...admin, id: await user(0) }
    const make = async (name: string, expired_time = 0) => {
      const [key = ''] = await createRedemptions(core, { input: { name, quota: 1, expired_time }, count: 1, caller: admin })
      return { key, id: (await listRedemptions(core, all)).items[0]?.id ?? 0 }
    }
    await make('unused')
    await make('not yet expired', 4_000_000_000)
    const expired = await make('expired')
    await core.db.updateTable('redemptions').set({ expired_time: 1_000_000_000 }).where('id', '=', expired.id).execute()
    await redeem({ ...core, ledger }, { key: (await make('used')).key, caller })
    await setRedemptionStatus(core, { id: (await make('disabled')).id, status: 2, caller: admin })

    expect(await deleteInvalidRedemptions(core, { caller: admin })).toBe(3)
    expect((await listRedemptions(core, all)).items.map(({ name }) => name)).toEqual(['not yet expired', 'unused'])
    expect(await deleteInvalidRedemptions(core, { caller: admin })).toBe(0)
  })

  it('record every action of an admin in the audit', async () => {
    const { core } = await ledgerOf(await fresh())
    await createRedemptions(core, { input: { name: 'a', quota: 10 }, count: 2, caller: admin })
    const [second, first] = (await listRedemptions(core, all)).items.map(({ id }) => id)
    await editRedemption(core, { id: first ?? 0, input: { name: 'b', quota: 20 }, caller: admin })
    await setRedemptionStatus(core, { id: first ?? 0, status: 2, caller: admin })
    await deleteRedemption(core, { id: second ?? 0, caller: admin })
    await deleteInvalidRedemptions(core, { caller: admin })

    const rows = await core.db
      .selectFrom('audit')
      .select(['action', 'target', 'before', 'after', 'actor_name'])
      .orderBy('id')
      .execute()
    const text = (name: string, quota: number, status: number) => JSON.stringify({ name, quota, expired_time: 0, status })
    expect(rows).toEqual(
      [
        [
          'redemption.create',
          `redemption:${first}`,
          '',
          JSON.stringify({ count: 2, name: 'a', quota: 10, expired_time: 0, ids: [first, second] }),
        ],
        ['redemption.edit', `redemption:${first}`, text('a', 10, 1), text('b', 20, 1)],
        ['redemption.status', `redemption:${first}`, text('b', 20, 1), text('b', 20, 2)],
        ['redemption.delete', `redemption:${second}`, text('a', 10, 1), ''],
        ['redemption.delete-invalid', 'redemptions', '', '{"deleted":1}'],
      ].map(([action, target, before, after]) => ({ action, target, before, after, actor_name: 'root' })),
    )
    expect((await verifyAudit(core)).brokenAt).toBeUndefined()
  })
})
