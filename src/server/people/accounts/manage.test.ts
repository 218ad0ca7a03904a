import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, goodPassword, startAccounts } from '../../../../test/helpers/accounts.ts'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { outcome, tally } from '../../../../test/helpers/ledger.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import type { ManageAction, UserEdit } from '../../../contract/entities/user.ts'
import { verifyAudit } from '../../base/options/audit.ts'
import { credit } from '../../money/ledger/credit.ts'
import { reconcile } from '../../money/ledger/reconcile.ts'
import { findByAccessToken, makeAccessToken } from './access-tokens.ts'
import { adjustQuota } from './adjust-quota.ts'
import { createByAdmin, editByAdmin } from './edit-user.ts'
import { findUserFor, listUsers } from './find-users.ts'
import { manageUser } from './manage-user.ts'
import { signIn } from './sign-in.ts'
import { findUser } from './users.ts'

const nothingElse = async () => undefined

type Added = Awaited<ReturnType<typeof addUser>>

eachDatabase('user management', (fresh, kind) => {
  const cleanups: (() => Promise<void>)[] = []
  let test: TestDatabase
  let node: AccountNode
  let root: Added
  let admin: Added
  let peer: Added
  let ada: Added

  beforeEach(async () => {
    test = await fresh()
    cleanups.push(() => test.drop())
    node = await startAccounts(test)
    cleanups.push(() => node.close())
    root = await addUser(node, 'root', { role: 100 })
    admin = await addUser(node, 'admin', { role: 10 })
    peer = await addUser(node, 'peer', { role: 10 })
    ada = await addUser(node, 'ada', { email: 'ada@example.com' })
  })
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  })

  async function otherNode(): Promise<AccountNode> {
    if (kind === 'sqlite') return node
    const other = await startAccounts(test, { clock: node.clock })
    cleanups.push(() => other.close())
    return other
  }

  const manage = ({ caller }: Added, { id }: { id: number }, action: ManageAction, on = node) =>
    outcome(() => retryWhileBusy(async () => void (await manageUser(on, caller, { id, action }))))
  const edit = ({ caller }: Added, change: UserEdit) => outcome(async () => void (await editByAdmin(node, caller, change)))
  const adjust = (change: number, reason = 'a reason', by = admin, on = node, id = ada.id) =>
    outcome(() => retryWhileBusy(async () => void (await adjustQuota(on, by.caller, { id, change, reason }))))
  const rowOf = ({ id }: { id: number }) => node.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const audits = () => node.db.selectFrom('audit').select(['actor_id', 'action', 'target', 'before', 'after']).execute()
  const logs = () => node.db.selectFrom('logs').select(['user_id', 'type', 'content', 'quota']).execute()
  const spend = async (amount: number) => {
    await node.db.transaction().execute(async (within) => {
      await credit(within, { userId: ada.id, kind: 'adjust', amount: -amount, reference: `spent:${Math.random()}`, at: 0 })
      await within
        .updateTable('users')
        .set((row) => ({ used_quota: row('used_quota', '+', amount) }))
        .where('id', '=', ada.id)
        .execute()
    })
  }
  const enter = (username: string, password = goodPassword) =>
    outcome(async () => void (await signIn(node, { username, password, address: '192.0.2.1', userAgent: 'test' })))

  /** The outcome of each action, by the roles of the caller and of the target. */
  const rules: [ManageAction, Record<string, string>][] = [
    ['disable', { 'root>root': 'root_protected', 'root>admin': 'ok', 'root>user': 'ok', 'admin>user': 'ok' }],
    ['enable', { 'root>root': 'ok', 'root>admin': 'ok', 'root>user': 'ok', 'admin>user': 'ok' }],
    ['delete', { 'root>root': 'root_protected', 'root>admin': 'ok', 'root>user': 'ok', 'admin>user': 'ok' }],
    ['sign_out', { 'root>root': 'ok', 'root>admin': 'ok', 'root>user': 'ok', 'admin>user': 'ok' }],
    ['promote', { 'root>root': 'role_unchanged', 'root>admin': 'role_unchanged', 'root>user': 'ok', 'admin>user': 'promote_forbidden' }],
    ['demote', { 'root>root': 'root_protected', 'root>admin': 'ok', 'root>user': 'role_unchanged', 'admin>user': 'role_unchanged' }],
    ['unlock', { 'root>root': 'nothing_changed', 'root>admin': 'nothing_changed', 'root>user': 'nothing_changed', 'admin>user': 'permission_denied' }],
  ] // biome-ignore format: one table

  it.each(rules)('%s follows the roles', async (action, outcomes) => {
    const cases = { 'root>root': [root, root], 'root>admin': [root, peer], 'root>user': [root, ada], 'admin>user': [admin, ada] }
    for (const [name, [by, target]] of Object.entries(cases)) {
      if (!by || !target) continue
      const before = await rowOf(target)
      expect([name, await manage(by, target, action)]).toEqual([name, outcomes[name]])
      const { role, status, deleted_at } = before
      await node.db.updateTable('users').set({ role, status, deleted_at }).where('id', '=', target.id).execute()
    }
    const untouched = await node.db.selectFrom('users').selectAll().execute()
    for (const target of [root, peer, admin]) expect(await manage(admin, target, action)).toBe('user_protected')
    expect(await manage(root, { id: 99_999 }, action)).toBe('not_found')
    expect(await node.db.selectFrom('users').selectAll().execute()).toEqual(untouched)
  })

  it("writes each action to the user's log and the audit log in its own transaction", async () => {
    await manage(admin, ada, 'disable')
    expect(await logs()).toEqual([{ user_id: ada.id, type: 3, content: '管理员封禁了账户 / Banned by an admin', quota: 0 }])
    expect(await audits()).toEqual([
      {
        actor_id: admin.id,
        action: 'user.disable',
        target: `user:${ada.id}`,
        before: '{"role":1,"status":1}',
        after: '{"role":1,"status":2}',
      },
    ])
    expect(await manage(admin, peer, 'disable')).toBe('user_protected')
    expect([await logs(), await audits()].map((rows) => rows.length)).toEqual([1, 1])
    expect((await verifyAudit(node)).brokenAt).toBeUndefined()
  })

  it('[T035] ends sessions and login of a banned user at once on every node, and lets an enabled one log in again', async () => {
    const other = await otherNode()
    expect(await other.sessions.find(ada.token)).toBeDefined()
    await manage(admin, ada, 'disable')
    expect(await node.sessions.find(ada.token)).toBeUndefined()
    node.clock.passSeconds(1)
    expect(await other.sessions.find(ada.token)).toBeUndefined()
    expect(await enter('ada')).toBe('credentials_wrong')
    await manage(admin, ada, 'enable')
    expect(await node.sessions.find(ada.token)).toBeUndefined()
    expect(await enter('ada')).toBe('ok')
  })

  it('lets only the super admin change a locked user', async () => {
    await node.db.updateTable('users').set({ status: 3 }).where('id', '=', ada.id).execute()
    expect([await manage(admin, ada, 'enable'), await manage(root, ada, 'enable')]).toEqual(['user_locked', 'user_locked'])
    expect([await manage(admin, ada, 'unlock'), await manage(root, ada, 'unlock')]).toEqual(['permission_denied', 'ok'])
    expect((await rowOf(ada)).status).toBe(1)
  })

  it('[T034] gives a promoted user the new role at the next call, and the old one after a demotion', async () => {
    await manage(root, ada, 'promote')
    expect((await node.sessions.find(ada.token))?.account.role).toBe(10)
    expect(await manage(admin, ada, 'disable')).toBe('user_protected')
    await manage(root, ada, 'demote')
    expect((await node.sessions.find(ada.token))?.account.role).toBe(1)
  })

  it('deletes permanently: the user cannot be changed any more, and the name stays taken', async () => {
    const access = await makeAccessToken(node, { userId: ada.id })
    expect(await manage(admin, ada, 'delete')).toBe('ok')
    expect([await node.sessions.find(ada.token), await findByAccessToken(node, access)]).toEqual([undefined, undefined])
    for (const action of ['enable', 'promote', 'delete'] as const) expect(await manage(root, ada, action)).toBe('not_found')
    expect([await edit(root, { id: ada.id, quota: 5 }), await adjust(5)]).toEqual(['not_found', 'not_found'])
    expect(await outcome(async () => void (await addUser(node, 'ADA')))).toBe('username_taken')
    const { items } = await listUsers(node, { caller: admin.caller, search: { keyword: 'ada' }, page: { offset: 0, limit: 10 } })
    expect(items[0]).toMatchObject({ id: ada.id, DeletedAt: expect.stringMatching(/^20\d\d-/) })
  })

  it('[T054] performs each action once when many callers request it at the same time', async () => {
    const other = await otherNode()
    const acts: ManageAction[] = ['delete', 'disable', 'enable', 'promote', 'demote', 'delete', 'sign_out', 'delete']
    const outcomes = await Promise.all(acts.map((action, n) => manage(root, ada, action, n % 2 ? node : other)))
    expect(tally(acts.map((action, n) => `${action} ${outcomes[n]}`))['delete ok']).toBe(1)
    expect(await audits()).toHaveLength(outcomes.filter((code) => code === 'ok').length)
    expect((await verifyAudit(node)).brokenAt).toBeUndefined()
  })

  it('creates ordinary users with the sign-up bonus', async () => {
    await node.set({ QuotaForNewUser: '900' })
    const grace = { username: ' Grace ', display_name: 'G. H.', password: goodPassword }
    const { user: made } = await createByAdmin(node, admin.caller, grace, nothingElse)
    expect(made).toMatchObject({ username: 'Grace', display_name: 'G. H.', role: 1, quota: 900, inviter_id: 0 })
    expect(await enter('grace')).toBe('ok')
    expect(await audits()).toMatchObject([{ action: 'user.create', target: `user:${made.id}`, after: '{"username":"Grace"}' }])
    const refusals = [
      ['', goodPassword, 'user_fields_required'],
      ['x', '', 'user_fields_required'],
      ['ADA', goodPassword, 'username_taken'],
      ['thirteen-long', goodPassword, 'username_length'],
      ['x', 'short', 'password_length'],
    ] as const
    for (const [username, password, code] of refusals) {
      const made = createByAdmin(node, admin.caller, { username, display_name: '', password }, nothingElse)
      await expect(made).rejects.toMatchObject({ code })
    }
  })

  it('changes only members that are given and differ', async () => {
    await node.set({ GroupRatio: '{"default":1,"vip":2}' })
    const whole = {
      ...(await findUserFor(node, admin.caller, ada.id)),
      group: 'vip',
      role: 100,
      status: 2,
      email: 'x@y.test',
      password: '',
    }
    expect(await edit(admin, whole)).toBe('ok')
    expect(await rowOf(ada)).toMatchObject({
      username: 'ada',
      group: 'vip',
      role: 1,
      status: 1,
      email: 'ada@example.com',
      quota: 0,
    })
    expect(await edit(admin, { id: ada.id, username: 'Lovelace', display_name: '' })).toBe('ok')
    expect(await rowOf(ada)).toMatchObject({ username: 'Lovelace', username_key: 'lovelace', display_name: 'ada', group: 'vip' })
    expect(await edit(admin, { id: ada.id })).toBe('ok')
    expect(await audits()).toMatchObject([
      { action: 'user.edit', before: '{"group":"default"}', after: '{"group":"vip"}' },
      { action: 'user.edit', before: '{"username":"ada"}', after: '{"username":"Lovelace"}' },
    ])
    expect(await node.sessions.find(ada.token)).toMatchObject({ account: { username: 'Lovelace', group: 'vip' } })
  })

  it.each([
    [{ username: 'PEER' }, 'username_taken'],
    [{ username: 'a@b' }, 'username_characters'],
    [{ display_name: 'x'.repeat(21) }, 'display_name_length'],
    [{ group: 'unknown' }, 'group_unknown'],
    [{ group: 'toString' }, 'group_unknown'],
    [{ password: 'short' }, 'password_length'],
    [{ quota: -1 }, 'quota_below_zero'],
    [{ group: 'default', username: 'fine', quota: -1 }, 'quota_below_zero'],
  ])('refuses the edit %j as %s, and changes nothing', async (change, code) => {
    const before = await rowOf(ada)
    expect(await edit(admin, { id: ada.id, ...change })).toBe(code)
    expect([await rowOf(ada), await audits(), await logs()]).toEqual([before, [], []])
  })

  it('keeps unchanged names and groups that newer rules would refuse', async () => {
    const old = { username: 'github_12345678', username_key: 'github_12345678', group: 'gone', display_name: 'x'.repeat(40) }
    await node.db.updateTable('users').set(old).where('id', '=', ada.id).execute()
    const loaded = await findUserFor(node, admin.caller, ada.id)
    expect(await edit(admin, { ...loaded, quota: 7 })).toBe('ok')
    expect(await rowOf(ada)).toMatchObject({ ...old, quota: 7 })
  })

  it('sets a password that has to be changed, signs the user out, and refuses to set that of the caller', async () => {
    expect(await edit(admin, { id: ada.id, password: 'new horse 12' })).toBe('ok')
    expect(await node.sessions.find(ada.token)).toBeUndefined()
    expect([await enter('ada'), await enter('ada', 'new horse 12')]).toEqual(['credentials_wrong', 'ok'])
    expect((await rowOf(ada)).must_change_password).toBe(1)
    expect(JSON.stringify(await audits())).not.toMatch(/argon2|new horse/)
    expect(await edit(root, { id: root.id, password: 'new horse 12' })).toBe('own_password')
    for (const target of [root, peer, admin])
      expect(await edit(admin, { id: target.id, display_name: 'x' })).toBe('user_protected')
  })

  it('changes a balance by an amount with a reason: ledger, log and audit agree', async () => {
    expect([await adjust(1_000_000, 'paid by transfer'), await adjust(-250_000, 'refund')]).toEqual(['ok', 'ok'])
    expect((await rowOf(ada)).quota).toBe(750_000)
    const ledger = await node.db.selectFrom('ledger').select(['kind', 'amount', 'detail']).execute()
    expect(ledger).toEqual([
      { kind: 'adjust', amount: 1_000_000, detail: 'paid by transfer' },
      { kind: 'adjust', amount: -250_000, detail: 'refund' },
    ])
    expect(await logs()).toMatchObject([
      { type: 3, quota: 1_000_000, content: expect.stringContaining('+$2.00') },
      { type: 3, quota: -250_000, content: expect.stringContaining('refund') },
    ])
    expect(await audits()).toMatchObject([
      { action: 'user.quota', before: '0', after: '{"quota":1000000,"change":1000000,"reason":"paid by transfer"}' },
      { action: 'user.quota', before: '1000000' },
    ])
    expect(await reconcile(node)).toEqual([])
    expect([await adjust(0), await adjust(-750_001), await adjust(1.5), await adjust(2 ** 53)]).toEqual([
      'nothing_changed',
      'quota_below_zero',
      'amount_out_of_range',
      'amount_out_of_range',
    ])
    expect([await adjust(5, 'x', admin, node, peer.id), await adjust(5, 'x', admin, node, admin.id)]).toEqual([
      'user_protected',
      'user_protected',
    ])
  })

  it('adds up concurrent changes on two nodes, and never goes below zero', async () => {
    await adjust(100)
    const other = await otherNode()
    const outcomes = await Promise.all(
      Array.from({ length: 60 }, (_, n) => adjust(n % 3 === 0 ? 10 : -10, 'x', admin, n % 2 ? node : other)),
    )
    const sum = 100 + outcomes.reduce((total, code, n) => total + (code !== 'ok' ? 0 : n % 3 === 0 ? 10 : -10), 0)
    expect((await rowOf(ada)).quota).toBe(sum)
    expect(sum).toBeGreaterThanOrEqual(0)
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'quota_below_zero']))
    expect(await reconcile(node)).toEqual([])
  })

  it('reports a committed change while many others wait for the database', async () => {
    const { database } = node
    // With SQLite every caller waits for its turn, without a timeout.
    if (database.dialect === 'sqlite') return
    const occupy = () =>
      new Promise<() => void>((taken) => void node.db.connection().execute(() => new Promise<void>((leave) => taken(leave))))
    const first = await Promise.all(Array.from({ length: database.pool.options.max }, occupy))
    const adjusted = outcome(async () => void (await adjustQuota(node, admin.caller, { id: ada.id, change: 100, reason: 'x' })))
    const edited = edit(admin, { id: ada.id, display_name: 'Countess' })
    await expect.poll(() => database.pool.waitingCount).toBe(2)
    const next = first.map(occupy)
    for (const leave of first) leave()
    const told = await Promise.all([adjusted, edited])
    for (const leave of await Promise.all(next)) leave()
    expect(told).toEqual(['ok', 'ok'])
    expect(await rowOf(ada)).toMatchObject({ quota: 100, display_name: 'Countess' })
  })

  it('keeps quota that was spent between loading a user and saving the form', async () => {
    await adjust(1000)
    const { quota, used_quota } = await findUserFor(node, admin.caller, ada.id)
    await spend(300)
    expect(await edit(admin, { id: ada.id, quota, used_quota, display_name: 'Countess' })).toBe('ok')
    expect((await rowOf(ada)).quota).toBe(700)
    await spend(100)
    expect(await edit(admin, { id: ada.id, quota: quota + 500, used_quota, reason: 'topped up' })).toBe('ok')
    expect((await rowOf(ada)).quota).toBe(1100)
    expect(await edit(admin, { id: ada.id, quota: 5 })).toBe('ok')
    expect((await rowOf(ada)).quota).toBe(5)
    expect(await reconcile(node)).toEqual([])
  })

  it('finds users by part of names and address, id, group, role and status, and never users above the caller', async () => {
    const odd = await addUser(node, '100%_a\\b')
    await node.db.updateTable('users').set({ group: 'vip', status: 2, display_name: 'Ödd' }).where('id', '=', odd.id).execute()
    const find = async (search: object, { caller }: Added = admin) => {
      const { items, total } = await listUsers(node, { caller, search, page: { offset: 0, limit: 100 } })
      expect(total).toBe(items.length)
      return items.map(({ username }) => username)
    }
    expect(await find({})).toEqual(['100%_a\\b', 'ada', 'admin'])
    expect(await find({}, root)).toEqual(['100%_a\\b', 'ada', 'peer', 'admin', 'root'])
    expect(await find({ keyword: 'AD' })).toEqual(['ada', 'admin'])
    expect(await find({ keyword: 'example.com' })).toEqual(['ada'])
    expect(await find({ keyword: 'Ödd' })).toEqual(['100%_a\\b'])
    expect(await find({ keyword: String(ada.id) })).toContain('ada')
    expect(await find({ keyword: String(root.id) })).not.toContain('root')
    for (const keyword of ['%', '_', '\\', '0%_a\\']) expect(await find({ keyword })).toEqual(['100%_a\\b'])
    expect(await find({ keyword: "' or 1=1 --" })).toEqual([])
    expect(await find({ keyword: '99999999999999999999' })).toEqual([])
    expect([await find({ group: 'vip' }), await find({ status: 2 }), await find({ role: 10 })]).toEqual([
      ['100%_a\\b'],
      ['100%_a\\b'],
      ['admin'],
    ])
    const page = await listUsers(node, { caller: root.caller, search: {}, page: { offset: 1, limit: 2 } })
    expect([page.total, page.items.map(({ username }) => username)]).toEqual([5, ['ada', 'peer']])
  })

  it('sorts users by a column, in the same order on every page, and lists deleted ones separately', async () => {
    const names = async (search: object, page = { offset: 0, limit: 100 }) =>
      (await listUsers(node, { caller: root.caller, search, page })).items.map(({ username }) => username)
    const set = (id: number, values: { used_quota?: number; deleted_at?: number }) =>
      node.db.updateTable('users').set(values).where('id', '=', id).execute()
    await set(ada.id, { used_quota: 7 })
    await set(admin.id, { used_quota: 9 })
    expect(await names({ sort: 'used_quota' })).toEqual(['admin', 'ada', 'peer', 'root'])
    expect(await names({ sort: 'used_quota', ascending: true })).toEqual(['peer', 'root', 'ada', 'admin'])
    const pages = await Promise.all([0, 1, 2, 3].map((offset) => names({ sort: 'request_count' }, { offset, limit: 1 })))
    expect(pages.flat()).toEqual(await names({}))
    expect(await names({ sort: 'password_hash' })).toEqual(await names({}))

    await set(ada.id, { deleted_at: 5 })
    expect([await names({ deleted: true }), await names({ status: 1 })]).toEqual([['ada'], ['peer', 'admin', 'root']])
  })

  it('[T055] returns a user without any secret', async () => {
    await makeAccessToken(node, { userId: ada.id })
    const shown = JSON.stringify(await findUserFor(node, admin.caller, ada.id))
    const { password_hash, access_token_hash } = await findUser(node.db, ada.id)
    for (const secret of [password_hash, access_token_hash ?? '', 'hash', 'held']) expect(shown).not.toContain(secret)
    await expect(findUserFor(node, admin.caller, peer.id)).rejects.toMatchObject({ code: 'user_protected' })
    expect((await findUserFor(node, admin.caller, admin.id)).username).toBe('admin')
  })
})
