import { beforeAll, beforeEach, expect, it } from 'vitest'
import { newClock } from '../../../../test/helpers/clock.ts'
import { freshCore } from '../../../../test/helpers/core.ts'
import { eachDatabase } from '../../../../test/helpers/databases.ts'
import { tokenInput } from '../../../contract/entities/token.ts'
import { sha256 } from '../../base/lib/secrets/secrets.ts'
import type { Core } from '../../base/options/core.ts'
import {
  changeTokens,
  createToken,
  deleteToken,
  editToken,
  findToken,
  listTokens,
  searchTokens,
  setTokenStatus,
  type TokenSearch,
} from './tokens.ts'

const ada = 1
const bob = 2
const nowSeconds = 1_800_000_000
const clock = newClock(nowSeconds * 1000)
const everyGroup = () => true
const ascending = (a = 0, b = 0) => a - b
const all = { offset: 0, limit: 100 }

eachDatabase('tokens', (fresh) => {
  let core: Core
  let published: number[] = []

  beforeAll(async () => {
    const opened = await freshCore(fresh, { now: () => clock.nowMs })
    core = opened.core
    core.bus.on('token', (id) => void published.push(id))
    return opened.close
  })
  beforeEach(async () => {
    await core.db.deleteFrom('tokens').execute()
    clock.nowMs = nowSeconds * 1000
    published = []
  })

  const input = (given: object = {}) => tokenInput.parse({ name: 'one', remain_quota: 500_000, ...given })
  const make = (given: object = {}, userId = ada) => createToken(core, { userId, input: input(given), mayUse: everyGroup })
  const edit = (
    id: number,
    given: object = {},
    more: { userId?: number; status?: number; mayUse?: (group: string) => boolean } = {},
  ) => editToken(core, { userId: ada, id, input: input(given), status: undefined, mayUse: everyGroup, ...more })
  const status = (id: number, to: number) => setTokenStatus(core, { userId: ada, id, status: to })
  const rowOf = (id: number) => core.db.selectFrom('tokens').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const setRow = (id: number, values: object) => core.db.updateTable('tokens').set(values).where('id', '=', id).execute()
  const search = (asked: Partial<TokenSearch>) =>
    searchTokens(core, { userId: ada, keyword: '', key: '', group: '', status: 0, ...asked })
  const code = (expected: string) => expect.objectContaining({ code: expected })

  it('makes keys of 48 characters and stores only their hash and ciphertext', async () => {
    const token = await make()
    expect(token.key).toMatch(/^[0-9A-Za-z]{48}$/)
    const row = await rowOf(token.id)
    expect(row.key_hash).toBe(sha256(token.key))
    expect(JSON.stringify(row)).not.toContain(token.key)
    expect(row.key_sealed).toMatch(/^v1\./)
    expect((await findToken(core, { userId: ada, id: token.id })).key).toBe(token.key)
  })

  it('[T241] binds a ciphertext to its row', async () => {
    const [one, two] = [await make(), await make()]
    await setRow(one.id, { key_sealed: (await rowOf(two.id)).key_sealed })
    await expect(findToken(core, { userId: ada, id: one.id })).rejects.toThrow()
  })

  it('fills in defaults: never expiring, no quota, every model and address, the group of the user', async () => {
    const token = await createToken(core, { userId: ada, input: tokenInput.parse({ name: ' plain ' }), mayUse: everyGroup })
    expect(token).toMatchObject({
      name: 'plain',
      user_id: ada,
      expired_time: -1,
      remain_quota: 0,
      used_quota: 0,
      unlimited_quota: false,
      model_limits_enabled: false,
      model_limits: '',
      allow_ips: '',
      group: '',
      created_time: nowSeconds,
      accessed_time: nowSeconds,
    })
  })

  it('treats an expiry of 0 as never', async () => {
    expect((await make({ expired_time: 0 })).expired_time).toBe(-1)
  })

  it('lists newest first, in pages, with the number of all', async () => {
    for (const name of ['a', 'b', 'c']) await make({ name })
    await make({ name: 'of bob' }, bob)
    const first = await listTokens(core, { userId: ada, page: { offset: 0, limit: 2 } })
    const second = await listTokens(core, { userId: ada, page: { offset: 2, limit: 2 } })
    expect(first.items.map(({ name }) => name)).toEqual(['c', 'b'])
    expect(second.items.map(({ name }) => name)).toEqual(['a'])
    expect(first.total).toBe(3)
  })

  it('[T050] treats ids of tokens of other users like missing ones in every call', async () => {
    const { id } = await make()
    const before = await rowOf(id)
    const asBob = { userId: bob, id }
    const calls = (asked: { userId: number; id: number }) => [
      findToken(core, asked),
      editToken(core, { ...asked, input: input({ name: 'stolen' }), status: 2, mayUse: everyGroup }),
      setTokenStatus(core, { ...asked, status: 2 }),
      deleteToken(core, asked),
    ]
    published = []
    const outcomes = await Promise.allSettled([...calls(asBob), ...calls({ userId: ada, id: id + 1000 })])
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'not_found', params: {} } })

    for (const action of ['enable', 'disable', 'delete'] as const)
      expect(await changeTokens(core, { userId: bob, ids: [id], action })).toBe(0)
    expect(await searchTokens(core, { userId: bob, keyword: '', key: '', group: '', status: 0 })).toEqual([])
    expect((await listTokens(core, { userId: bob, page: all })).items).toEqual([])
    expect(await rowOf(id)).toEqual(before)
    expect(published).toEqual([])
  })

  it('requires a name of 1 to 30 characters, counted as people do', async () => {
    await expect(make({ name: '' })).rejects.toEqual(code('token_name_required'))
    await expect(make({ name: '  \0 ' })).rejects.toEqual(code('token_name_required'))
    await expect(make({ name: 'x'.repeat(31) })).rejects.toEqual(code('token_name_required'))
    expect((await make({ name: '名'.repeat(30) })).name).toBe('名'.repeat(30))
    expect((await make({ name: '😀'.repeat(30) })).name).toBe('😀'.repeat(30))
    expect((await make({ name: 'a\0b\u0007c' })).name).toBe('ab c')
  })

  it('refuses quotas and expiries that are no sensible integers', () => {
    for (const remain_quota of [-1, 1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, '5'])
      expect(tokenInput.safeParse({ name: 'x', remain_quota }).success).toBe(false)
    for (const expired_time of [-2, 1.5, 1e300, 'tomorrow'])
      expect(tokenInput.safeParse({ name: 'x', expired_time }).success).toBe(false)
  })

  it('[T052] ignores input fields that the owner may not set', async () => {
    const token = await make({ user_id: bob, used_quota: 7, held: 7, status: 2, key: 'x', created_time: 1, deleted_at: 1 })
    expect(await rowOf(token.id)).toMatchObject({
      user_id: ada,
      used_quota: 0,
      held: 0,
      status: 1,
      created_time: nowSeconds,
      deleted_at: null,
    })
  })

  it('refuses groups that the owner may not use, but keeps one that was set before', async () => {
    const mayUse = (group: string) => group === ''
    await expect(createToken(core, { userId: ada, input: input({ group: 'vip' }), mayUse })).rejects.toEqual(
      code('group_forbidden'),
    )
    const token = await make({ group: 'vip' })
    expect((await edit(token.id, { name: 'renamed', group: 'vip' }, { mayUse })).name).toBe('renamed')
    await expect(edit(token.id, { group: 'gold' }, { mayUse })).rejects.toEqual(code('group_forbidden'))
  })

  it('refuses address lists with any entry that is no address or block, and names it', async () => {
    for (const [list, entry] of [
      ['10.0.0.1\n10.0.0.256', '10.0.0.256'],
      ['10.0.0.0/33', '10.0.0.0/33'],
      ['example.com', 'example.com'],
      ['::1/129', '::1/129'],
      ['10.0.0.0/8/8', '10.0.0.0/8/8'],
    ])
      await expect(make({ allow_ips: list })).rejects.toMatchObject({ code: 'address_list_invalid', params: { entry } })
    const token = await make({ allow_ips: ' 10.0.0.1, 192.168.0.0/16\r\n\n2001:db8::/32 ' })
    expect(token.allow_ips).toBe('10.0.0.1\n192.168.0.0/16\n2001:db8::/32')
    expect((await make({ allow_ips: null })).allow_ips).toBe('')
  })

  it('keeps model lists trimmed and each model once, and refuses a limit to no model', async () => {
    const token = await make({ model_limits_enabled: true, model_limits: ' gpt-4o,gpt-4o ,, claude-3\n' })
    expect(token.model_limits).toBe('gpt-4o,claude-3')
    await expect(make({ model_limits_enabled: true, model_limits: ' , ' })).rejects.toMatchObject({
      code: 'field_invalid',
      params: { field: 'model_limits' },
    })
    expect((await make({ model_limits_enabled: false, model_limits: '' })).model_limits).toBe('')
  })

  it('has its own limits, none by default, and refuses limits that no counter could hold', async () => {
    expect(await make()).toMatchObject({ limit_seconds: 60, limit_requests: 0, limit_tokens: 0, limit_concurrency: 0 })
    const limits = { limit_seconds: 3600, limit_requests: 100, limit_tokens: 200_000, limit_concurrency: 3 }
    const { id } = await make(limits)
    expect(await findToken(core, { userId: ada, id })).toMatchObject(limits)
    expect(await edit(id, { ...limits, limit_tokens: 0 })).toMatchObject({ ...limits, limit_tokens: 0 })
    // A console that does not know the limits omits them; this must not remove them.
    expect(await edit(id, { name: 'other' })).toMatchObject({ ...limits, limit_tokens: 0, name: 'other' })
    const strict = await make({ strict_translation: true, refuse_hosted_tools: true })
    expect(await edit(strict.id, {})).toMatchObject({ strict_translation: true, refuse_hosted_tools: true })
    for (const wrong of [{ limit_seconds: 0 }, { limit_seconds: 1e9 }, { limit_requests: -1 }, { limit_tokens: 0.5 }])
      expect(() => input(wrong)).toThrow()
  })

  it('writes all fields of an edit and leaves key, usage and holds alone', async () => {
    const token = await make({ group: 'vip', model_limits_enabled: true, model_limits: 'm', allow_ips: '10.0.0.1' })
    await setRow(token.id, { used_quota: 30, held: 20 })
    const edited = await edit(token.id, { name: 'two', remain_quota: 42 })
    expect(edited).toMatchObject({
      name: 'two',
      remain_quota: 42,
      group: '',
      model_limits_enabled: false,
      model_limits: '',
      allow_ips: '',
    })
    expect(edited.key).toBe(token.key)
    expect(await rowOf(token.id)).toMatchObject({ used_quota: 30, held: 20, status: 1, created_time: nowSeconds })
  })

  it('leaves a disabled token disabled through an edit, unless it is enabled by it', async () => {
    const { id } = await make()
    await status(id, 2)
    expect((await edit(id, { remain_quota: 900 })).status).toBe(2)
    expect((await edit(id, { remain_quota: 900 }, { status: 1 })).status).toBe(1)
    expect((await edit(id, { remain_quota: 900 }, { status: 2 })).status).toBe(2)
  })

  it('shows tokens as expired or exhausted from that moment on', async () => {
    const expiring = await make({ expired_time: nowSeconds + 10 })
    const spent = await make()
    await setRow(spent.id, { remain_quota: 0 })
    const unlimited = await make({ unlimited_quota: true, remain_quota: 0 })
    clock.nowMs = (nowSeconds + 10) * 1000
    const shown = async () => (await listTokens(core, { userId: ada, page: all })).items.map(({ id, status }) => [id, status])
    expect(await shown()).toEqual([
      [unlimited.id, 1],
      [spent.id, 4],
      [expiring.id, 1],
    ])
    clock.nowMs += 1000
    expect(await shown()).toEqual([
      [unlimited.id, 1],
      [spent.id, 4],
      [expiring.id, 3],
    ])
  })

  it('refuses to enable a token that is still expired or exhausted', async () => {
    const expired = await make({ expired_time: nowSeconds - 1 })
    const spent = await make({ remain_quota: 0 })
    const disabled = await make()
    await setRow(disabled.id, { status: 2, remain_quota: -5 })
    for (const { id } of [expired, spent, disabled]) {
      await expect(status(id, 1)).rejects.toEqual(code('token_not_enableable'))
      await status(id, 2)
    }
    await expect(edit(expired.id, { expired_time: nowSeconds - 1 }, { status: 1 })).rejects.toEqual(code('token_not_enableable'))
    expect((await edit(expired.id, { expired_time: nowSeconds + 1 }, { status: 1 })).status).toBe(1)
  })

  it('lets an edit set the quota of an enabled token to 0', async () => {
    const { id } = await make()
    expect((await edit(id, { remain_quota: 0 }, { status: 1 })).status).toBe(4)
  })

  it('enables an expired or exhausted token again when an edit makes it usable', async () => {
    for (const stored of [3, 4]) {
      const { id } = await make({ expired_time: nowSeconds - 1 })
      await setRow(id, { status: stored })
      expect((await edit(id, { expired_time: nowSeconds - 1 })).status).toBe(stored)
      expect((await edit(id, { expired_time: -1 })).status).toBe(1)
      expect((await rowOf(id)).status).toBe(1)
    }
  })

  it('hides deleted tokens from every call', async () => {
    const token = await make()
    await deleteToken(core, { userId: ada, id: token.id })
    const missing = code('not_found')
    await expect(findToken(core, { userId: ada, id: token.id })).rejects.toEqual(missing)
    await expect(edit(token.id)).rejects.toEqual(missing)
    await expect(deleteToken(core, { userId: ada, id: token.id })).rejects.toEqual(missing)
    expect(await search({ key: token.key })).toEqual([])
    expect((await listTokens(core, { userId: ada, page: all })).total).toBe(0)
    expect((await rowOf(token.id)).deleted_at).toBe(nowSeconds)
  })

  it('changes several at once and returns how many changed', async () => {
    const tokens = [await make(), await make(), await make({ expired_time: nowSeconds - 1 })]
    const ids = tokens.map(({ id }) => id)
    const foreign = await make({}, bob)
    const batch = (action: 'enable' | 'disable' | 'delete') =>
      changeTokens(core, { userId: ada, ids: [...ids, ...ids, foreign.id, 10 ** 9], action })
    published = []
    expect(await batch('disable')).toBe(3)
    expect(await batch('disable')).toBe(0)
    expect(await batch('enable')).toBe(2)
    expect(published.toSorted(ascending)).toEqual([...ids, ids[0], ids[1]].toSorted(ascending))
    expect(await batch('delete')).toBe(3)
    expect(await batch('delete')).toBe(0)
    expect((await rowOf(foreign.id)).status).toBe(1)
  })

  it('publishes every change after it is committed', async () => {
    const seen: Promise<unknown>[] = []
    const off = core.bus.on('token', (id) => void seen.push(rowOf(id)))
    const { id } = await make()
    await edit(id)
    await status(id, 2)
    await deleteToken(core, { userId: ada, id })
    off()
    expect(published).toEqual([id, id, id, id])
    expect(await Promise.all(seen)).toHaveLength(4)
  })

  it('publishes nothing when a change is refused', async () => {
    const { id } = await make({ remain_quota: 0 })
    published = []
    await expect(status(id, 1)).rejects.toEqual(code('token_not_enableable'))
    await expect(edit(id, { allow_ips: 'x' })).rejects.toEqual(code('address_list_invalid'))
    expect(published).toEqual([])
  })

  it('finds by part of the name, taken literally and in any case', async () => {
    for (const name of ['NextChat', '100%', 'a_b', 'axb', 'back\\slash']) await make({ name })
    const names = async (keyword: string) => (await search({ keyword })).map(({ name }) => name)
    expect(await names('chat')).toEqual(['NextChat'])
    expect(await names('%')).toEqual(['100%'])
    expect(await names('_')).toEqual(['a_b'])
    expect(await names('\\')).toEqual(['back\\slash'])
    expect(await names("' or 1=1 --")).toEqual([])
    expect(await names('')).toHaveLength(5)
  })

  it('finds by the whole key or a part, with or without sk-', async () => {
    const [one] = [await make({ name: 'one' }), await make({ name: 'two' })]
    const foreign = await make({}, bob)
    const ids = async (asked: Partial<TokenSearch>) => (await search(asked)).map(({ id }) => id)
    expect(await ids({ key: one.key })).toEqual([one.id])
    expect(await ids({ key: `sk-${one.key}` })).toEqual([one.id])
    expect(await ids({ key: one.key.slice(5, 20) })).toEqual([one.id])
    expect(await ids({ key: `sk-${one.key.slice(0, 8)}` })).toEqual([one.id])
    expect(await ids({ key: one.key, keyword: 'two' })).toEqual([])
    expect(await ids({ key: `${one.key}x` })).toEqual([])
    expect(await ids({ key: foreign.key })).toEqual([])
    expect(await ids({ key: foreign.key.slice(0, 20) })).toEqual([])
    expect(await ids({ key: '%' })).toEqual([])
  })

  it('finds by group and by the status shown', async () => {
    const vip = await make({ group: 'vip' })
    const expired = await make({ expired_time: nowSeconds - 1 })
    expect((await search({ group: 'vip' })).map(({ id }) => id)).toEqual([vip.id])
    expect((await search({ status: 3 })).map(({ id }) => id)).toEqual([expired.id])
    expect((await search({ status: 1 })).map(({ id }) => id)).toEqual([vip.id])
  })

  it('loses no change when two edits meet', async () => {
    const { id } = await make()
    await Promise.all([status(id, 2), edit(id, { name: 'renamed' }), setRow(id, { used_quota: 5 })])
    expect(await rowOf(id)).toMatchObject({ status: 2, name: 'renamed', used_quota: 5 })
  })
})
