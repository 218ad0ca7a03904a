import { afterEach, beforeEach, expect, it } from 'vitest'
import { type AccountNode, addUser, startAccounts } from '../../../../test/helpers/accounts.ts'
import { eachDatabase, type TestDatabase } from '../../../../test/helpers/databases.ts'
import { outcome, tally } from '../../../../test/helpers/ledger.ts'
import { retryWhileBusy } from '../../../../test/helpers/retry-while-busy.ts'
import { allowance, invitationInput } from '../../../contract/entities/organisation.ts'
import { type TokenInput, tokenInput } from '../../../contract/entities/token.ts'
import { reconcile } from '../../money/ledger/reconcile.ts'
import { findUserFor, listUsers } from '../accounts/find-users.ts'
import { findByLogin } from '../accounts/users.ts'
import { openAuthenticator } from '../tokens/authenticate.ts'
import { moveToken } from '../tokens/place.ts'
import { createToken, deleteToken, findToken, listTokens } from '../tokens/tokens.ts'
import { readBounds, setAllowance } from './allowances.ts'
import { answerInvitation, invite, listInvitations, showInvitation, withdrawInvitation } from './invitations.ts'
import { acceptTransfer, changeRole, offerTransfer, removeMember } from './members.ts'
import { findMembership, type Membership, reachOf } from './membership.ts'
import { closeOrganisation, editOrganisation, foundOrganisation, fundOrganisation, listOrganisations } from './organisations.ts'
import { closeTeam, createTeam, editTeam, listTeams, putInTeam } from './teams.ts'

type Added = Awaited<ReturnType<typeof addUser>>

eachDatabase('organisations', (fresh) => {
  let test: TestDatabase
  let node: AccountNode
  let root: Added
  let ada: Added
  let bob: Added
  let eve: Added
  let acme: number

  beforeEach(async () => {
    test = await fresh()
    node = await startAccounts(test)
    root = await addUser(node, 'root', { role: 100 })
    ada = await addUser(node, 'ada')
    bob = await addUser(node, 'bob')
    eve = await addUser(node, 'eve')
    acme = (await foundOrganisation(node, root.caller, { name: 'Acme', group: '', quota: 5000 })).id
  })
  afterEach(async () => {
    await node.close()
    await test.drop()
  })

  const membershipOf = async ({ caller }: Added): Promise<Membership> => {
    const found = await findMembership(node.db, caller, acme)
    if (!found) throw new Error(`${caller.username} does not belong to it`)
    return found
  }
  const join = async (who: Added, role: 'owner' | 'admin' | 'billing' | 'member' = 'member', team_id = 0) => {
    const membership = await membershipOf(root)
    const input = invitationInput.parse({ role, team_id })
    const { secret } = await invite(node, root.caller, { membership, input, language: 'en' })
    await answerInvitation(node, who.caller, { secret, accepts: true })
    return (await membershipOf(who)).memberId
  }
  const tokenFor = async (who: Added, more: { team?: number; member?: number; input?: Partial<TokenInput> } = {}) => {
    const membership = await membershipOf(who)
    const reach = await reachOf(node.db, membership)
    const within = { membership, reach, memberId: more.member ?? membership.memberId, teamId: more.team ?? 0 }
    const input = { ...tokenInput.parse({ name: 'key', unlimited_quota: true }), ...more.input }
    return createToken(node, { userId: acme, input, mayUse: () => true, within })
  }
  const team = async (name: string, parent = 0, who = root) =>
    createTeam(node, who.caller, { membership: await membershipOf(who), name, parent })
  const refusal = (step: () => Promise<unknown>) => outcome(async () => void (await step()))
  const rowOf = (id: number) => node.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

  it('have a balance of the ledger and a name of their own, and are no users', async () => {
    expect(await rowOf(acme)).toMatchObject({ username: '@Acme', display_name: 'Acme', quota: 5000, kind: 'organisation' })
    expect(await reconcile(node)).toEqual([])
    // A person may have the same name.
    await addUser(node, 'Acme')
    expect(await refusal(() => foundOrganisation(node, root.caller, { name: 'ACME', group: '', quota: 0 }))).toBe(
      'organisation_name_taken',
    )
    expect(await refusal(() => foundOrganisation(node, root.caller, { name: 'a@b', group: '', quota: 0 }))).toBe(
      'organisation_name_characters',
    )
    const admin = await addUser(node, 'admin', { role: 10 })
    expect(await refusal(() => foundOrganisation(node, admin.caller, { name: 'Rich', group: '', quota: 1 }))).toBe(
      'permission_denied',
    )

    const { items } = await listUsers(node, { caller: root.caller, search: { keyword: 'acme' }, page: { offset: 0, limit: 10 } })
    expect(items.map(({ username }) => username)).toEqual(['Acme'])
    expect(await refusal(() => findUserFor(node, root.caller, acme))).toBe('not_found')
    for (const login of ['@Acme', '@acme', 'ACME']) expect((await findByLogin(node.db, login))?.id).not.toBe(acme)
  })

  it('are given what no table lets them have: a password, an identity, a session, a passkey or a token of the console', async () => {
    const { db } = node
    const refused = [
      ...['password_hash', 'email', 'github_id', 'wechat_id', 'telegram_id', 'linux_do_id', 'oidc_id', 'access_token_hash'].map(
        (column) => () =>
          db
            .updateTable('users')
            .set({ [column]: 'x' })
            .where('id', '=', acme)
            .execute(),
      ),
      ...[{ role: 10 }, { must_change_password: 1 }, { username_key: 'acme' }, { kind: 'person' }].map(
        (values) => () => db.updateTable('users').set(values).where('id', '=', acme).execute(),
      ),
      () => db.updateTable('users').set({ kind: 'organisation' }).where('id', '=', ada.id).execute(),
      () => node.sessions.create({ userId: acme, address: '192.0.2.1', userAgent: 'test' }),
      () => db.updateTable('sessions').set({ user_id: acme }).where('user_id', '=', ada.id).execute(),
      () => db.insertInto('two_factor').values({ user_id: acme, secret_sealed: 'x' }).execute(),
      () => db.insertInto('backup_codes').values({ user_id: acme, code_mac: 'x' }).execute(),
      () =>
        db
          .insertInto('passkeys')
          .values({ user_id: acme, credential_id: 'x', public_key: 'x', name: 'x', created_at: 1 })
          .execute(),
      () =>
        db
          .insertInto('login_steps')
          .values({ key: 'x', user_id: acme, bound_to: '', detail_sealed: '', expires_at: 1 })
          .execute(),
      () => db.insertInto('mailed_codes').values({ key: 'x', code_hash: '', user_id: acme, expires_at: 1 }).execute(),
    ]
    const before = await rowOf(acme)
    for (const [at, act] of refused.entries()) await expect(act(), `no. ${at}`).rejects.toThrow()
    expect(await rowOf(acme)).toEqual(before)
    expect((await rowOf(ada.id)).kind).toBe('person')
  })

  it('are joined by an invitation that is answered once, before it expires or is withdrawn', async () => {
    const membership = await membershipOf(root)
    const send = (more: object = {}) =>
      invite(node, root.caller, { membership, input: invitationInput.parse(more), language: 'en' })
    const { secret } = await send({ role: 'admin' })
    expect(await showInvitation(node, secret)).toMatchObject({ organisation: 'Acme', role: 'admin', answer: '' })
    const tries = await Promise.all(
      [ada, bob, eve].map(({ caller }) =>
        outcome(() => retryWhileBusy(async () => void (await answerInvitation(node, caller, { secret, accepts: true })))),
      ),
    )
    expect(tally(tries)).toEqual({ ok: 1, invitation_invalid: 2 })
    const withdrawn = await send()
    await withdrawInvitation(node, root.caller, { membership, id: withdrawn.invitation.id })
    const late = await send({ days: 1 })
    const declined = await send()
    await answerInvitation(node, eve.caller, { secret: declined.secret, accepts: false })
    node.clock.passSeconds(86_401)
    for (const each of [withdrawn, late, declined, { secret: 'made up' }])
      expect(await refusal(() => answerInvitation(node, eve.caller, { secret: each.secret, accepts: true }))).toBe(
        'invitation_invalid',
      )
    const answers = (await listInvitations(node, membership)).map(({ answer }) => answer)
    expect(answers).toEqual(['declined', 'expired', 'withdrawn', 'accepted'])
    const again = await send()
    const member = [ada, bob, eve][tries.indexOf('ok')] ?? ada
    expect(await refusal(() => answerInvitation(node, member.caller, { secret: again.secret, accepts: true }))).toBe(
      'organisation_member_already',
    )
  })

  it('always have an owner, whom only owners make; one hands them over to another who accepts', async () => {
    const [adaId, bobId] = [await join(ada, 'admin'), await join(bob)]
    const [owner, admin] = [await membershipOf(root), await membershipOf(ada)]
    const change = (membership: Membership, id: number, role: 'owner' | 'member') => () =>
      changeRole(node, ada.caller, { membership, id, role })
    expect(await refusal(change(admin, adaId, 'owner'))).toBe('organisation_role')
    expect(await refusal(change(admin, owner.memberId, 'member'))).toBe('organisation_role')
    expect(await refusal(change(owner, owner.memberId, 'member'))).toBe('organisation_owner_needed')
    expect(await refusal(() => removeMember(node, root.caller, { membership: owner, id: owner.memberId }))).toBe(
      'organisation_owner_needed',
    )

    await offerTransfer(node, root.caller, { membership: owner, id: bobId })
    expect(await refusal(async () => acceptTransfer(node, ada.caller, admin))).toBe('not_found')
    await acceptTransfer(node, bob.caller, await membershipOf(bob))
    expect([(await membershipOf(bob)).role, (await membershipOf(root)).role]).toEqual(['owner', 'admin'])
    expect(await refusal(async () => acceptTransfer(node, bob.caller, await membershipOf(bob)))).toBe('not_found')
  })

  it('nest teams to five levels, never within themselves; a manager manages what is below', async () => {
    const ids = [await team('1')]
    for (const name of ['2', '3', '4', '5']) ids.push(await team(name, ids.at(-1)))
    const [first = 0, second = 0, , fourth = 0, fifth = 0] = ids
    const membership = await membershipOf(root)
    expect(await refusal(() => team('6', fifth))).toBe('teams_too_deep')
    expect(await refusal(() => editTeam(node, root.caller, { membership, id: first, parent: fourth }))).toBe('team_within_itself')
    const other = await team('other')
    expect(await refusal(() => editTeam(node, root.caller, { membership, id: first, parent: other }))).toBe('teams_too_deep')

    const member = await join(ada)
    await putInTeam(node, root.caller, { membership, team: second, member, isManager: true })
    expect(await refusal(() => team('beside', first, ada))).toBe('organisation_role')
    expect(await refusal(() => team('top', 0, ada))).toBe('organisation_role')
    const below = await team('below', fourth, ada)
    await closeTeam(node, ada.caller, { membership: await membershipOf(ada), id: fourth })
    const teams = await listTeams(node.db, await membershipOf(ada))
    expect(teams.filter(({ may_manage }) => may_manage).map(({ name }) => name)).toEqual(['2', '3', '5', 'below'])
    expect(teams.find(({ id }) => id === below)?.parent_id).toBe(ids[2])
  })

  it('pay for tokens within the reach of their holders; the key of a member is the member’s', async () => {
    const [top, side] = [await team('top'), await team('side')]
    const low = await team('low', top)
    const [adaId, bobId] = [await join(ada, 'member', top), await join(bob, 'member', low)]
    const membership = await membershipOf(root)
    await putInTeam(node, root.caller, { membership, team: top, member: adaId, isManager: true })
    const own = await tokenFor(bob, { team: low })
    const plain = await tokenFor(bob)
    expect(own).toMatchObject({ user_id: acme, member_id: bobId, team_id: low, key: expect.stringMatching(/^\w{48}$/) })
    expect(await refusal(() => tokenFor(bob, { team: side }))).toBe('organisation_role')
    expect(await refusal(() => tokenFor(bob, { member: adaId }))).toBe('organisation_role')
    expect(await refusal(() => tokenFor(bob, { team: 999 }))).toBe('not_found')
    const shared = await tokenFor(root, { member: 0 })

    const seenBy = async (who: Added) => {
      const asked = { userId: acme, reach: await reachOf(node.db, await membershipOf(who)), page: { offset: 0, limit: 10 } }
      return (await listTokens(node, asked)).items.map(({ id, key }) => [id, key !== ''])
    }
    expect(await seenBy(bob)).toEqual([
      [plain.id, true],
      [own.id, true],
    ])
    // The manager of the team above sees the token, not its key.
    expect(await seenBy(ada)).toEqual([[own.id, false]])
    expect(await seenBy(root)).toEqual([
      [shared.id, true],
      [plain.id, false],
      [own.id, false],
    ])
    const asAda = { userId: acme, reach: await reachOf(node.db, await membershipOf(ada)) }
    expect(await refusal(() => findToken(node, { ...asAda, id: plain.id }))).toBe('not_found')
    expect(await refusal(() => deleteToken(node, { ...asAda, id: plain.id }))).toBe('not_found')
    // Without the organisation nobody finds it.
    expect(await refusal(() => findToken(node, { userId: bob.id, id: own.id }))).toBe('not_found')

    await moveToken(node, { membership, id: own.id, memberId: bobId, teamId: side })
    const places = await node.db.selectFrom('token_places').select('team_id').where('token_id', '=', own.id).execute()
    // Both in one second are one place: the last.
    expect(places.map(({ team_id }) => team_id)).toEqual([side])
    node.clock.passSeconds(5)
    await moveToken(node, { membership, id: own.id, memberId: bobId, teamId: low })
    expect(await node.db.selectFrom('token_places').select('team_id').where('token_id', '=', own.id).execute()).toHaveLength(2)
  })

  it('refer to defaults: a change holds for every token at its next call, the narrowest wins, and the refusal names the place', async () => {
    const top = await team('R&D')
    const bobId = await join(bob, 'member', top)
    const membership = await membershipOf(root)
    const allow = (scope: 'organisation' | 'team' | 'member', subject_id: number, more: object) =>
      setAllowance(node, root.caller, membership, allowance.parse({ scope, subject_id, ...more }))
    const authenticator = openAuthenticator(node)
    const { id, key } = await tokenFor(bob, { team: top })
    const caller = async () => authenticator.authenticate([`sk-${key}`], '192.0.2.1')
    expect((await caller()).modelLimits).toBe(null)
    await allow('organisation', acme, { models: ['a', 'b', 'c'], groups: ['default'], days_max: 30 })
    await allow('team', top, { models: ['b', 'c'], is_strict: true })
    await allow('member', bobId, { models: ['c', 'd'], tokens_max: 1, days_max: 2 })
    const bounded = await caller()
    expect([...(bounded.modelLimits ?? [])]).toEqual(['c'])
    expect(bounded).toMatchObject({ isStrict: true, organisation: { memberId: bobId, teamIds: [top] } })
    expect(['a', 'b', 'c', 'd'].map((model) => bounded.organisation?.forbidsModel(model)?.en)).toEqual([
      'the settings of the member',
      'the settings of the member',
      undefined,
      'the team “R&D”',
    ])
    expect(bounded.forbidsGroup?.('vip')?.en).toBe('the settings of the organisation')
    expect(await refusal(() => tokenFor(bob))).toBe('organisation_tokens_max')
    await allow('member', bobId, { days_max: 2 })
    expect(await refusal(() => tokenFor(bob))).toBe('organisation_days_max')
    const expired_time = Math.floor(node.clock.now() / 1000) + 86_400
    expect(await refusal(() => tokenFor(bob, { input: { expired_time, group: 'vip' } }))).toBe('organisation_group_forbidden')
    expect(await refusal(() => tokenFor(bob, { input: { expired_time } }))).toBe('ok')
    node.clock.passSeconds(2 * 86_400 + 2)
    expect(await refusal(caller)).toBe('token_expired')
    const bounds = await readBounds(node.db, { organisationId: acme, memberId: bobId, teamId: 0 })
    expect(bounds.daysMax).toMatchObject({ max: 2 })

    await allow('member', bobId, {})
    expect(await refusal(caller)).toBe('ok')
    // Who holds the token decides too, and a key does not outlive the membership.
    await node.db.updateTable('users').set({ status: 2 }).where('id', '=', bob.id).execute()
    node.bus.publish('user', bob.id)
    expect(await refusal(caller)).toBe('user_banned')
    await node.db.updateTable('users').set({ status: 1 }).where('id', '=', bob.id).execute()
    node.bus.publish('user', bob.id)
    expect(await refusal(caller)).toBe('ok')
    await editOrganisation(node, root.caller, membership, { id: acme, status: 2 })
    expect(await refusal(caller)).toBe('user_banned')
    await editOrganisation(node, root.caller, membership, { id: acme, status: 1 })
    await removeMember(node, root.caller, { membership, id: bobId })
    expect(await refusal(caller)).toBe('token_invalid')
    expect(
      (await node.db.selectFrom('tokens').select('deleted_at').where('id', '=', id).executeTakeFirstOrThrow()).deleted_at,
    ).not.toBe(null)
    expect(await findMembership(node.db, bob.caller, acme)).toBe(undefined)
    await authenticator.close()
  })

  it('let a manager bound teams and members below, never the own team', async () => {
    const top = await team('top')
    const low = await team('low', top)
    const [adaId, bobId] = [await join(ada, 'member', top), await join(bob, 'member', low)]
    await putInTeam(node, root.caller, { membership: await membershipOf(root), team: top, member: adaId, isManager: true })
    const asAda = await membershipOf(ada)
    const set = (scope: 'organisation' | 'team' | 'member', subject_id: number) => () =>
      setAllowance(node, ada.caller, asAda, allowance.parse({ scope, subject_id, tokens_max: 3 }))
    expect(await refusal(set('team', low))).toBe('ok')
    expect(await refusal(set('member', bobId))).toBe('ok')
    for (const act of [set('team', top), set('organisation', acme), set('member', adaId)])
      expect(await refusal(act)).toBe('organisation_role')
    expect(await refusal(set('team', 999))).toBe('not_found')
  })

  it('have a bounded number of teams and open invitations', async () => {
    const [membership, created_at] = [await membershipOf(root), Math.floor(node.clock.now() / 1000)]
    const rows = Array.from({ length: 500 }, (_, at) => ({ organisation_id: acme, created_at, at }))
    const teams = rows.map(({ at, ...row }) => ({ ...row, name: `team ${at}` }))
    await node.db.insertInto('organisation_teams').values(teams).execute()
    expect(await refusal(() => team('one more'))).toBe('teams_too_many')
    const open = { role: 'member', invited_by: root.id, expires_at: created_at + 100 }
    const invitations = rows.map(({ at, ...row }) => ({ ...row, ...open, token_hash: `hash ${at}` }))
    await node.db.insertInto('organisation_invitations').values(invitations).execute()
    const send = () => invite(node, root.caller, { membership, input: invitationInput.parse({}), language: 'en' })
    expect(await refusal(send)).toBe('invitations_too_many')
    node.clock.passSeconds(101)
    expect(await refusal(send)).toBe('ok')
  })

  it('are funded, listed and closed by the site', async () => {
    await join(ada)
    await fundOrganisation(node, root.caller, { id: acme, change: -1000, reason: 'too much' })
    expect(await refusal(() => fundOrganisation(node, root.caller, { id: acme, change: -5000, reason: '' }))).toBe(
      'quota_below_zero',
    )
    expect(await refusal(() => fundOrganisation(node, root.caller, { id: ada.id, change: 5, reason: '' }))).toBe('not_found')
    const list = async (who: Added, all = false) =>
      (await listOrganisations(node, who.caller, { all, keyword: '', page: { offset: 0, limit: 10 } })).items
    expect(await list(ada)).toMatchObject([{ name: 'Acme', quota: 4000, members: 2, role: 'member' }])
    expect(await list(eve)).toEqual([])
    const admin = await addUser(node, 'admin', { role: 10 })
    expect(await list(admin, true)).toMatchObject([{ role: 'operator', member_id: 0 }])
    expect(await refusal(async () => editOrganisation(node, ada.caller, await membershipOf(ada), { id: acme, status: 2 }))).toBe(
      'permission_denied',
    )
    await closeOrganisation(node, root.caller, acme)
    expect(await list(ada)).toEqual([])
    expect(await findMembership(node.db, ada.caller, acme)).toBe(undefined)
    expect(await reconcile(node)).toEqual([])
  })
})
