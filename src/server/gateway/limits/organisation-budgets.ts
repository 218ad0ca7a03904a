import { type Expression, type SqlBool, sql } from 'kysely'
import type { Budget, BudgetScope, OrganisationBudget, Raise } from '../../../contract/entities/budget.ts'
import { isAdmin } from '../../../contract/roles.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import { quotaText } from '../../money/ledger/quota-text.ts'
import { isReachable, type NotifierParts, notifyUser } from '../../people/accounts/notices.ts'
import {
  decidesAboutPlace,
  decidesAboutToken,
  findBudgetSubject,
  peopleDeciding,
  placesSeenBy,
} from '../../people/organisations/budget-subjects.ts'
import { lockOrganisation, type Membership, tokensWithin } from '../../people/organisations/membership.ts'
import { recordEventOf } from '../../usage/log/record-event.ts'
import { isOfOrganisation } from './budget-texts.ts'
import { type Acting, type BudgetParts, changed, idIn, nameOfSubject, overrideWithin, presentAll } from './manage-budgets.ts'

/** The tree of budgets of an organisation as its people see it, and their requests to raise one. */

/** The budgets of an organisation, its teams, members and tokens that the caller may see: the own path up, and what is managed. */
export async function listOrganisationBudgets(
  core: BudgetParts,
  caller: Acting,
  membership: Membership,
): Promise<OrganisationBudget[]> {
  const seen = await placesSeenBy(core.db, membership)
  const { id } = membership.payer
  const rows = await core.db
    .selectFrom('budgets')
    .selectAll()
    .where((row) => {
      const teams = row.selectFrom('organisation_teams').select('id').where('organisation_id', '=', id)
      const members = row.selectFrom('organisation_members').select('id').where('organisation_id', '=', id)
      const tokens = row.selectFrom('tokens').select('tokens.id').where('user_id', '=', id).where('deleted_at', 'is', null)
      const of = (scope: BudgetScope, ids: Expression<unknown>) =>
        row.and([row('scope', '=', scope), sql<SqlBool>`budgets.subject_id in ${ids}`])
      return row.or([
        row.and([row('scope', '=', 'organisation'), row('subject_id', '=', id)]),
        of(
          'team',
          teams.where('closed_at', 'is', null).$if(!seen.isAll, (query) => query.where('id', 'in', [0, ...seen.teamIds])),
        ),
        of(
          'member',
          members.where('left_at', 'is', null).$if(!seen.isAll, (query) => query.where('id', '=', seen.memberId)),
        ),
        of('token', tokens.where(tokensWithin({ memberId: seen.memberId, isAll: seen.isAll, teamIds: seen.managedTeamIds }))),
      ])
    })
    .orderBy('id')
    .execute()
  const shown = await presentAll(core, core.db, rows)
  return Promise.all(shown.map(async (budget) => ({ ...budget, may_manage: await mayChange(core.db, caller, budget) })))
}

async function mayChange(
  db: Queries,
  caller: Pick<Acting, 'id' | 'role'>,
  { scope, subject, set_by }: ChangedBudget,
): Promise<boolean> {
  if (set_by === 'admin' && !isAdmin(caller.role)) return false
  const id = idIn(scope, subject)
  if (isOfOrganisation(scope)) {
    return (await findBudgetSubject(db, scope, id)) !== undefined && decidesAboutPlace(db, caller, { scope, id })
  }
  return scope === 'token' && decidesAboutToken(db, caller, id)
}

/** Throws `not_found` for a budget of another payer, and of a place that the caller does not see. */
async function requireSeen(core: BudgetParts, caller: Acting, membership: Membership, id: number): Promise<OrganisationBudget> {
  const found = (await listOrganisationBudgets(core, caller, membership)).find((budget) => budget.id === id)
  return found ?? fail('not_found')
}

type Asked = { readonly caller: Acting; readonly membership: Membership }

/**
 * Asks those who decide about a budget for another amount until its window ends. One request of a member for a budget is open at a
 * time: the next one replaces it. Throws `not_found`, `nothing_changed` for an amount that is no more.
 */
export async function askForRaise(
  core: BudgetParts,
  { caller, membership }: Asked,
  { budget: id, amount, reason }: { budget: number; amount: number; reason: string },
): Promise<Raise> {
  const budget = await requireSeen(core, caller, membership, id)
  if (amount <= (budget.override?.amount ?? budget.amount)) fail('nothing_changed')
  const organisation_id = membership.payer.id
  const raise = await change(core, caller, async (within) => {
    await lockOrganisation(core, within, organisation_id)
    const mine = within.deleteFrom('budget_raises').where('budget_id', '=', id).where('user_id', '=', caller.id)
    await mine.where('answer', '=', '').execute()
    const values = { organisation_id, budget_id: id, user_id: caller.id, amount, reason, created_at: seconds(core.now()) }
    const made = await within.insertInto('budget_raises').values(values).returningAll().executeTakeFirstOrThrow()
    const { scope, subject, subject_name, name } = budget
    const about = { budget_id: id, name, scope, subject, subject_name }
    const payer = { organisation_id, organisation: membership.payer.username }
    const data = { ...payer, ...about, username: caller.username, amount, reason }
    await recordEventOf(core, within, { account: organisation_id, type: 'budget.raise_requested', data })
    return made
  })
  return presented(core, caller, raise)
}

/** Tells those who decide about the budget by mail or webhook, as their settings say. */
export async function tellOfRaise(parts: BudgetParts & NotifierParts, { payer }: Membership, raise: Raise): Promise<void> {
  const budget = await parts.db.selectFrom('budgets').selectAll().where('id', '=', raise.budget_id).executeTakeFirst()
  if (!budget) return
  // Only `manage-budgets.ts` writes them.
  const decides = (account: Pick<Acting, 'id' | 'role'>) => mayChange(parts.db, account, budget as ChangedBudget)
  const people = await peopleDeciding(parts.db, payer.id, decides)
  const { username: member, subject_name: subject, amount, reason } = raise
  const params = { organisation: payer.username, member, subject, amount: quotaText(parts, amount), reason: reason || '—' }
  const path = `/organisation?organisation=${payer.id}&tab=budgets`
  const notice = { kind: 'raiseRequested', type: 'raise_requested', params, path, values: [raise.budget_id, amount] } as const
  for (const person of people.filter(isReachable))
    await notifyUser(parts, person, notice).catch((error: unknown) => {
      parts.logger.warn({ error, user: person.id }, 'a person could not be told of a request for a greater budget')
    })
}

/** The requests of an organisation, newest first: all that the caller may answer, and the caller's own. */
export async function listRaises(core: BudgetParts, { caller, membership }: Asked): Promise<Raise[]> {
  const rows = await core.db
    .selectFrom('budget_raises')
    .selectAll()
    .where('organisation_id', '=', membership.payer.id)
    .orderBy('id', 'desc')
    .limit(listedMax)
    .execute()
  const raises = await Promise.all(rows.map(async (row) => ({ row, shown: await presented(core, caller, row) })))
  return raises.filter(({ row, shown }) => shown.may_answer || row.user_id === caller.id).map(({ shown }) => shown)
}

const listedMax = 100

/**
 * Grants the amount for the current window, or refuses it. A request is answered once. Throws `not_found`, and what `overrideBudget`
 * throws.
 */
export async function answerRaise(
  core: BudgetParts,
  { caller, membership }: Asked,
  { id, grants }: { id: number; grants: boolean },
): Promise<Raise> {
  const row = await findRaise(core.db, membership, id)
  if (!(await presented(core, caller, row)).may_answer) fail('organisation_role')
  const answered = await changed(core, caller, async (within, audit) => {
    const taken = await within
      .updateTable('budget_raises')
      .set({ answer: grants ? 'granted' : 'refused', answered_by: caller.username, answered_at: seconds(core.now()) })
      .where('id', '=', id)
      .where('answer', '=', '')
      .returningAll()
      .executeTakeFirst()
    const { budget_id, amount } = taken ?? fail('not_found')
    if (grants) await overrideWithin(core, within, audit, { caller, override: { id: budget_id, amount, windows: 1 } })
    return taken ?? fail('not_found')
  })
  return presented(core, caller, answered)
}

async function findRaise(db: Queries, { payer }: Membership, id: number): Promise<Row<'budget_raises'>> {
  const found = db.selectFrom('budget_raises').selectAll().where('id', '=', id).where('organisation_id', '=', payer.id)
  return (await found.executeTakeFirst()) ?? fail('not_found')
}

async function presented(core: BudgetParts, caller: Acting, row: Row<'budget_raises'>): Promise<Raise> {
  const budget = await core.db.selectFrom('budgets').selectAll().where('id', '=', row.budget_id).executeTakeFirst()
  const user = await core.db.selectFrom('users').select('username').where('id', '=', row.user_id).executeTakeFirst()
  const { id, budget_id, amount, reason, created_at, answer, answered_by } = row
  return {
    ...{ id, budget_id, amount, reason, created_at, answer, answered_by },
    scope: budget?.scope ?? '',
    subject_name: budget ? await nameOfSubject(core.db, budget) : '',
    username: user?.username ?? '',
    // Only `manage-budgets.ts` writes them.
    may_answer: budget !== undefined && answer === '' && (await mayChange(core.db, caller, budget as ChangedBudget)),
  }
}

type ChangedBudget = Pick<Budget, 'scope' | 'subject' | 'set_by'>

/** Throws `budget_subject_unknown` unless a budget would be of this organisation. */
export async function requireOwnSubject(
  db: Queries,
  { payer }: Membership,
  { scope, subject }: { readonly scope: BudgetScope; readonly subject: string },
): Promise<void> {
  const id = idIn(scope, subject)
  if (isOfOrganisation(scope)) {
    if ((await findBudgetSubject(db, scope, id))?.organisationId !== payer.id) fail('budget_subject_unknown')
    return
  }
  const token = db.selectFrom('tokens').select('id').where('id', '=', id).where('user_id', '=', payer.id)
  if (scope !== 'token' || !(await token.executeTakeFirst())) fail('budget_subject_unknown')
}
