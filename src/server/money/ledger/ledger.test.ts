import { describe, expect, it } from 'vitest'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { aCharge, aHold, ledgerOf, outcome, tally } from '../../../../test/helpers/ledger.ts'
import { tokenStatus } from '../../../contract/entities/token.ts'
import { reconcile } from './reconcile.ts'

eachDatabase('ledger', (fresh) => {
  describe('hold', () => {
    it('[T144] lets exactly ten of 200 parallel holds pass on a user with quota for ten', async () => {
      const { ledger, user, token, userRow } = await ledgerOf(await fresh())
      const userId = await user(1005)
      const tokenId = await token(userId, 'unlimited')
      const holds = Array.from({ length: 200 }, () => aHold(userId, tokenId, 100))

      const results = await Promise.all(holds.map((hold) => outcome(() => ledger.hold(hold))))

      expect(tally(results)).toEqual({ ok: 10, quota_insufficient: 190 })
      expect(ledger.openHolds).toBe(10)
      const passed = holds.filter((_, index) => results[index] === 'ok')
      await Promise.all(passed.map((hold) => ledger.settle(hold, aCharge(hold, 100))))
      expect(await userRow(userId)).toEqual({ quota: 5, held: 0, used_quota: 1000, request_count: 10 })
    })

    it('[T145] lets exactly ten of 200 parallel holds pass on a token with quota for ten', async () => {
      const { ledger, user, token, tokenRow } = await ledgerOf(await fresh())
      const userId = await user(1_000_000)
      const tokenId = await token(userId, 1000)
      const holds = Array.from({ length: 200 }, () => aHold(userId, tokenId, 100))

      const results = await Promise.all(holds.map((hold) => outcome(() => ledger.hold(hold))))

      expect(tally(results)).toEqual({ ok: 10, token_quota_insufficient: 190 })
      const passed = holds.filter((_, index) => results[index] === 'ok')
      await Promise.all(passed.map((hold) => ledger.settle(hold, aCharge(hold, 99))))
      expect(await tokenRow(tokenId)).toMatchObject({ remain_quota: 10, held: 0, used_quota: 990 })
    })

    it('counts a charge that is settled and not durable yet', async () => {
      const { ledger, user } = await ledgerOf(await fresh())
      const userId = await user(100)
      const first = aHold(userId, 0, 100)
      await ledger.hold(first)

      const durable = ledger.settle(first, aCharge(first, 100))

      expect(await outcome(() => ledger.hold(aHold(userId, 0, 1)))).toBe('quota_insufficient')
      await durable
      expect(await outcome(() => ledger.hold(aHold(userId, 0, 1)))).toBe('quota_insufficient')
    })

    it('[T147] holds nothing on the user when the token lacks quota, and nothing on the token when the user does', async () => {
      const { ledger, user, token } = await ledgerOf(await fresh())
      const rich = await user(100)
      const poor = await user(50)
      const emptyToken = await token(rich, 10)
      const fullToken = await token(poor, 1000)

      expect(await outcome(() => ledger.hold(aHold(rich, emptyToken, 100)))).toBe('token_quota_insufficient')
      expect(await outcome(() => ledger.hold(aHold(poor, fullToken, 100)))).toBe('quota_insufficient')

      expect(ledger.openHolds).toBe(0)
      expect(await outcome(() => ledger.hold(aHold(rich, 0, 100)))).toBe('ok')
      expect(await outcome(() => ledger.hold(aHold(poor, fullToken, 50)))).toBe('ok')
    })

    it('refuses only amounts that do not fit, regardless of the queue before them', async () => {
      const { ledger, user, token } = await ledgerOf(await fresh())
      const userId = await user(1000)
      const tokenId = await token(userId, 600)
      const amounts = [900, 400, 5000, 300, 200, 600, 1]
      const holds = amounts.map((amount) => aHold(userId, tokenId, amount))

      const results = await Promise.all(holds.map((hold) => outcome(() => ledger.hold(hold))))

      // 900 fits the user but not the token; then 400 and 200 fill the token, and nothing is left for 1.
      const passed = amounts.filter((_, index) => results[index] === 'ok')
      expect(passed.reduce((sum, amount) => sum + amount, 0)).toBe(600)
      expect(results[2]).toBe('quota_insufficient')
      expect(results[0]).toMatch(/quota_insufficient/)
    })

    it('reports the needed and the available amount', async () => {
      const { ledger, user } = await ledgerOf(await fresh())
      const userId = await user(70)
      await ledger.hold(aHold(userId, 0, 30))
      await expect((async () => ledger.hold(aHold(userId, 0, 50)))()).rejects.toMatchObject({
        code: 'quota_insufficient',
        params: { need: 50, have: 40 },
      })
    })

    it('that reserves everything is refused, with the available amount, if anything would remain', async () => {
      const { ledger, user, token } = await ledgerOf(await fresh())
      const userId = await user(5000)
      const tokenId = await token(userId, 600)
      const all = (amount: number) => ({ ...aHold(userId, tokenId, amount), takesAll: true })
      const refusal = (amount: number) => (async () => ledger.hold(all(amount)))().catch(({ code, params }) => [code, params])

      expect(await refusal(599)).toEqual(['quota_insufficient', { need: 599, have: 600 }])
      expect(await refusal(601)).toEqual(['token_quota_insufficient', { need: 601, have: 600 }])
      const results = await Promise.all([599, 600, 600, 600].map((amount) => outcome(() => ledger.hold(all(amount)))))
      expect(tally(results.slice(1))).toEqual({ ok: 1, token_quota_insufficient: 2 })
      expect(results[0]).toMatch(/quota_insufficient/)
      expect(ledger.openHolds).toBe(1)
    })

    it('is refused for users and tokens that do not exist', async () => {
      const { ledger, user } = await ledgerOf(await fresh())
      const userId = await user(100)
      expect(await outcome(() => ledger.hold(aHold(999_999, 0, 1)))).toBe('quota_insufficient')
      expect(await outcome(() => ledger.hold(aHold(userId, 999_999, 1)))).toBe('token_quota_insufficient')
    })

    it('throws on amounts that are not integer units, before anything changes', async () => {
      const { ledger, user, userRow } = await ledgerOf(await fresh())
      const userId = await user(100)
      for (const amount of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53]) {
        expect(await outcome(() => ledger.hold(aHold(userId, 0, amount)))).toBe('amount_out_of_range')
      }
      const hold = aHold(userId, 0, 10)
      await ledger.hold(hold)
      for (const amount of [-1, 0.5, 2 ** 53]) {
        expect(await outcome(() => ledger.settle(hold, aCharge(hold, amount)))).toBe('amount_out_of_range')
      }
      expect(ledger.openHolds).toBe(1)
      await ledger.settle(hold, aCharge(hold, 10))
      expect((await userRow(userId)).quota).toBe(90)
    })
  })

  describe('settle', () => {
    it('writes the ledger, the balances, the log and the roll-up of a charge', async () => {
      const { core, ledger, user, token, channel, userRow, tokenRow } = await ledgerOf(await fresh())
      const userId = await user(1000)
      const tokenId = await token(userId, 500)
      const channelId = await channel()
      const hold = aHold(userId, tokenId, 300)
      const at = 1_760_001_234
      await ledger.hold(hold)

      await ledger.settle(hold, aCharge(hold, 120, { channelId, at }))

      expect(await userRow(userId)).toEqual({ quota: 880, held: 0, used_quota: 120, request_count: 1 })
      expect(await tokenRow(tokenId)).toEqual({ remain_quota: 380, held: 0, used_quota: 120, status: tokenStatus.enabled })
      expect(await core.db.selectFrom('channels').select('used_quota').execute()).toEqual([{ used_quota: 120 }])
      expect(await core.db.selectFrom('ledger').selectAll().where('kind', '=', 'charge').execute()).toMatchObject([
        { reference: `charge:${hold.requestId}`, user_id: userId, token_id: tokenId, amount: -120, created_at: at },
      ])
      expect(await core.db.selectFrom('logs').selectAll().execute()).toMatchObject([
        { user_id: userId, quota: 120, request_id: hold.requestId, content: '', other: aCharge(hold, 1).log?.other },
      ])
      expect(await core.db.selectFrom('quota_data').selectAll().execute()).toEqual([
        {
          created_at: at - (at % 3600),
          user_id: userId,
          username: 'someone',
          model_name: 'gpt-4.1-mini',
          channel_id: channelId,
          group: 'default',
          token_used: 7,
          count: 1,
          quota: 120,
        },
      ])
      expect(await core.db.selectFrom('holds').selectAll().execute()).toEqual([])
    })

    it('charges a request once, no matter how often and how concurrently it is settled', async () => {
      const { core, ledger, user, token, userRow, tokenRow } = await ledgerOf(await fresh())
      const userId = await user(1000)
      const tokenId = await token(userId, 1000)
      const hold = aHold(userId, tokenId, 100)
      await ledger.hold(hold)

      await Promise.all(Array.from({ length: 50 }, () => ledger.settle(hold, aCharge(hold, 80))))
      await ledger.settle(hold, aCharge(hold, 80))
      await Promise.all([1, 2, 3].map(() => ledger.settle(hold, aCharge(hold, 80))))

      expect(await userRow(userId)).toEqual({ quota: 920, held: 0, used_quota: 80, request_count: 1 })
      expect(await tokenRow(tokenId)).toMatchObject({ remain_quota: 920, held: 0, used_quota: 80 })
      expect(await core.db.selectFrom('logs').selectAll().execute()).toHaveLength(1)
      expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 921)))).toBe('quota_insufficient')
      expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 920)))).toBe('ok')
    })

    it('writes the new charges of a batch that also contains one charged before', async () => {
      const { ledger, user, userRow } = await ledgerOf(await fresh())
      const userId = await user(1000)
      const holds = Array.from({ length: 20 }, () => aHold(userId, 0, 10))
      const [first] = holds
      if (!first) throw new Error('no holds')
      await ledger.settle(first, aCharge(first, 10))
      await Promise.all(holds.map((hold) => ledger.settle(hold, aCharge(hold, 10))))
      expect(await userRow(userId)).toEqual({ quota: 800, held: 0, used_quota: 200, request_count: 20 })
    })

    it('stores all texts that a request may contain', async () => {
      const { core, ledger, user } = await ledgerOf(await fresh())
      const userId = await user(1000)
      const texts = ['a"b', 'back\\slash\\', '{1,2}', "it's", '', 'null', '模型 🚰', 'line\nbreak', 'no\0l', 'half \ud83d']
      for (const model of texts) {
        const hold = aHold(userId, 0, 1)
        await ledger.settle(hold, aCharge(hold, 1, { model }))
      }
      const rows = await core.db.selectFrom('logs').select('model_name').orderBy('id').execute()
      expect(rows.slice(0, 8).map((row) => row.model_name)).toEqual(texts.slice(0, 8))
      expect(await core.db.selectFrom('quota_data').selectAll().execute()).toHaveLength(texts.length)
    })

    it('[T146] goes through when it exceeds the hold, and the next request is refused', async () => {
      const { ledger, user, token, userRow, tokenRow } = await ledgerOf(await fresh())
      const userId = await user(100)
      const tokenId = await token(userId, 100)
      const hold = aHold(userId, tokenId, 100)
      await ledger.hold(hold)

      await ledger.settle(hold, aCharge(hold, 150))

      expect(await userRow(userId)).toMatchObject({ quota: -50, held: 0 })
      expect(await tokenRow(tokenId)).toMatchObject({ remain_quota: -50, held: 0 })
      expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 1)))).toBe('quota_insufficient')
    })

    it('counts a request of zero units, and one without a log row', async () => {
      const { core, ledger, user, userRow } = await ledgerOf(await fresh())
      const userId = await user(0)
      const free = aHold(userId, 0, 0)
      const silent = aHold(userId, 0, 0)
      await ledger.hold(free)
      await ledger.hold(silent)

      await ledger.settle(free, aCharge(free, 0))
      await ledger.settle(silent, { ...aCharge(silent, 0), log: null })

      expect(await userRow(userId)).toEqual({ quota: 0, held: 0, used_quota: 0, request_count: 2 })
      expect(await core.db.selectFrom('ledger').selectAll().where('kind', '=', 'charge').execute()).toHaveLength(2)
      expect(await core.db.selectFrom('logs').selectAll().execute()).toHaveLength(1)
    })

    it('counts the use of an unlimited token and leaves its remaining quota alone', async () => {
      const { ledger, user, token, tokenRow } = await ledgerOf(await fresh())
      const userId = await user(1000)
      const tokenId = await token(userId, 'unlimited')
      const hold = aHold(userId, tokenId, 400)
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, 400))
      expect(await tokenRow(tokenId)).toEqual({ remain_quota: 0, held: 0, used_quota: 400, status: tokenStatus.enabled })
    })

    it('marks a token without quota as exhausted and invalidates the caches', async () => {
      const { core, ledger, user, token, tokenRow } = await ledgerOf(await fresh())
      const userId = await user(1000)
      const [used, disabled, fresher] = [await token(userId, 100), await token(userId, 100), await token(userId, 101)]
      await core.db.updateTable('tokens').set({ status: tokenStatus.disabled }).where('id', '=', disabled).execute()
      const news: number[] = []
      core.bus.on('token', (id) => news.push(id))

      for (const tokenId of [used, disabled, fresher]) {
        const hold = aHold(userId, tokenId, 100)
        await ledger.hold(hold)
        await ledger.settle(hold, aCharge(hold, 100))
      }

      expect((await tokenRow(used)).status).toBe(tokenStatus.exhausted)
      expect((await tokenRow(disabled)).status).toBe(tokenStatus.disabled)
      expect((await tokenRow(fresher)).status).toBe(tokenStatus.enabled)
      expect(news).toEqual([used, disabled])
    })

    it('[T155] keeps amounts near 2^31 and 2^50 exact', async () => {
      const { core, ledger, user, token, channel, userRow, tokenRow } = await ledgerOf(await fresh())
      const quota = 2 ** 51
      const userId = await user(quota)
      const tokenId = await token(userId, quota)
      const channelId = await channel()
      const amounts = [2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 50 - 1, 2 ** 50 - 2 ** 33 + 7]
      for (const amount of amounts) {
        const hold = aHold(userId, tokenId, amount)
        await ledger.hold(hold)
        await ledger.settle(hold, aCharge(hold, amount, { channelId }))
      }
      const spent = amounts.reduce((sum, amount) => sum + amount, 0)
      expect(await userRow(userId)).toEqual({ quota: quota - spent, held: 0, used_quota: spent, request_count: 5 })
      expect(await tokenRow(tokenId)).toMatchObject({ remain_quota: quota - spent, used_quota: spent })
      expect(await core.db.selectFrom('channels').select('used_quota').execute()).toEqual([{ used_quota: spent }])
      expect(await reconcile(core)).toEqual([])
    })
  })

  describe('release', () => {
    it('[T149] gives back the hold once', async () => {
      const { core, ledger, user, token, userRow } = await ledgerOf(await fresh())
      const userId = await user(100)
      const tokenId = await token(userId, 100)
      const hold = aHold(userId, tokenId, 60)
      await ledger.hold(hold)

      await ledger.release(hold)
      await ledger.release(hold)
      await Promise.all([ledger.release(hold), ledger.release(hold)])

      expect(await userRow(userId)).toEqual({ quota: 100, held: 0, used_quota: 0, request_count: 0 })
      expect(await core.db.selectFrom('holds').selectAll().execute()).toEqual([])
      expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 100)))).toBe('ok')
      expect(await outcome(() => ledger.hold(aHold(userId, tokenId, 1)))).toBe('quota_insufficient')
    })

    it('does nothing after a settle', async () => {
      const { ledger, user, userRow } = await ledgerOf(await fresh())
      const userId = await user(100)
      const hold = aHold(userId, 0, 60)
      await ledger.hold(hold)
      await ledger.settle(hold, aCharge(hold, 40))
      await ledger.release(hold)
      expect(await userRow(userId)).toMatchObject({ quota: 60, held: 0 })
    })
  })
})
