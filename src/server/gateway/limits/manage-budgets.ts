import {
  type Budget,
  type BudgetChange,
  type BudgetInput,
  type BudgetPeriod,
  type BudgetScope,
  budgetLimits,
  type OrganisationBudgetScope,
} from '../../../contract/entities/budget.ts'
import { isAdmin, isRoot, mayManage } from '../../../contract/roles.ts'
import { locked } from '../../base/db/locked.ts'
import type { Queries, Within } from '../../base/db/open.ts'
import { type PageOf, readPage } from '../../base/db/page.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { spanOf } from '../../base/lib/time/calendar.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change, type Report, type Step } from '../../base/options/change.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import { decidesAboutPlace, decidesAboutToken, findBudgetSubject } from '../../people/organisations/budget-subjects.ts'
import { isOfOrganisation } from './budget-texts.ts'
import { type BudgetUse, readBudgetUse } from './budget-use.ts'
import { type Budgets, namedBy } from './budgets.ts'

/**
 * Budgets as owners and admins set them. Owners may set budgets of their tokens; a budget that an admin has set can only be changed
 * by those who may manage the owner, so that nobody can loosen a budget that limits themselves.
 */
export interface BudgetParts extends Core {
  readonly budgets: Budgets
}

export type Acting = Pick<Caller, 'id' | 'role' | 'username' | 'address'>

interface BudgetFilter {
  readonly scope: BudgetScope | ''
  readonly subject: string
}

/** The budgets that the caller may see, newest first. */
export async function listBudgets(
  core: BudgetParts,
  caller: Acting,
  { filter, page }: { filter: BudgetFilter; page: PageOf },
): Promise<{ items: Budget[]; total: number }> {
  const wanted = visibleTo(core.db, caller)
    .$if(filter.scope !== '', (query) => query.where('budgets.scope', '=', filter.scope))
    .$if(filter.subject !== '', (query) => query.where('budgets.subject', '=', filter.subject))
  const { rows, total } = await readPage(wanted.orderBy('budgets.id', 'desc'), page)
  return { items: await presentAll(core, core.db, rows), total }
}

/** Throws `budget_subject_unknown`, `budget_period_invalid`, `budgets_too_many`, `permission_denied` or `user_protected`. */
export function createBudget(core: BudgetParts, caller: Acting, input: BudgetInput): Promise<Budget> {
  return changed(core, caller, (within, audit) => addBudget(core, within, audit, { caller, input }))
}

/**
 * Adds a budget in the transaction of a caller who reports the topic `budgets`, and refreshes this node's after the commit. Throws the
 * same as `createBudget`.
 */
export async function addBudget(
  core: BudgetParts,
  within: Within,
  audit: Report,
  { caller, input }: { caller: Acting; input: BudgetInput },
): Promise<Budget> {
  const { scope, subject, period, seconds: length } = input
  if ((period === 'sliding') !== length > 0) fail('budget_period_invalid')
  const right = await rightTo(core, within, caller, { scope, subject })
  if (right === 'none') fail('budget_subject_unknown')
  if (right === 'owner') await requireRoom(core, within, subject)
  const values = {
    ...{ scope, subject, subject_id: idIn(scope, subject), period, seconds: length },
    ...{ set_by: right, name: input.name, amount: input.amount, is_hard: Number(input.is_hard) },
    ...{ shares: input.shares.join(','), created_at: seconds(core.now()) },
  }
  const { id } = await within.insertInto('budgets').values(values).returning('id').executeTakeFirstOrThrow()
  return report(core, within, audit, { id, action: 'create', right })
}

/** Throws `not_found`, `budget_of_admin`. */
export function changeBudget(
  core: BudgetParts,
  caller: Acting,
  { id, change }: { id: number; change: BudgetChange },
): Promise<Budget> {
  const { is_hard: isHard, shares, ...plain } = change
  const values = {
    ...plain,
    ...(isHard === undefined ? {} : { is_hard: Number(isHard) }),
    ...(shares === undefined ? {} : { shares: shares.join(',') }),
  }
  return changed(core, caller, async (within, audit) => {
    const right = await requireRight(within, caller, id)
    const before = summaryOf(await findBudget(within, id))
    if (Object.keys(values).length > 0) await within.updateTable('budgets').set(values).where('id', '=', id).execute()
    return report(core, within, audit, { id, action: 'update', right, before })
  })
}

/** Throws `not_found`, `budget_of_admin`. */
export function deleteBudget(core: BudgetParts, caller: Acting, id: number): Promise<void> {
  return changed(core, caller, async (within, audit) => {
    const right = await requireRight(within, caller, id)
    const before = summaryOf(await findBudget(within, id))
    await within.deleteFrom('budgets').where('id', '=', id).execute()
    await within.deleteFrom('budget_sums').where('budget_id', '=', id).execute()
    await within.deleteFrom('budget_charges').where('budget_id', '=', id).execute()
    if (right === 'admin') audit({ action: 'budget.delete', target: `budget:${id}`, before })
  })
}

/** Resets the current window to zero. Throws `not_found`, `budget_of_admin`. */
export function resetBudget(core: BudgetParts, caller: Acting, id: number): Promise<Budget> {
  return changed(core, caller, async (within, audit) => {
    await requireAdmin(within, caller, id)
    const { since, until } = core.budgets.windowOf(await findBudget(within, id))
    const before = summaryOf(await present(core, within, await findBudget(within, id)))
    await within
      .updateTable('budget_sums')
      .set((eb) => ({ forgiven: eb.ref('charged'), noticed: 0 }))
      .where('budget_id', '=', id)
      .where('start', '>=', since)
      .where('start', '<=', until)
      .execute()
    // The notices of its shares are sent again.
    await within.deleteFrom('user_notices').where('kind', 'like', `budget:${id}:%`).execute()
    return report(core, within, audit, { id, action: 'reset', right: 'admin', before })
  })
}

/**
 * Sets another amount for this many `windows`, beginning with the current one; 0 ends the override. Throws `not_found`,
 * `budget_of_admin`.
 */
export function overrideBudget(core: BudgetParts, caller: Acting, override: Override): Promise<Budget> {
  return changed(core, caller, (within, audit) => overrideWithin(core, within, audit, { caller, override }))
}

interface Override {
  readonly id: number
  readonly amount: number
  readonly windows: number
}

/** The same in the transaction of a caller, by `changed`. */
export async function overrideWithin(
  core: BudgetParts,
  within: Within,
  audit: Report,
  { caller, override: { id, amount, windows } }: { caller: Acting; override: Override },
): Promise<Budget> {
  await requireAdmin(within, caller, id)
  const row = await findBudget(within, id)
  const override = { has_override: Number(windows > 0), override_amount: windows > 0 ? amount : 0 }
  const until = windows > 0 ? endOfWindows(core, row, windows) : 0
  await within
    .updateTable('budgets')
    .set({ ...override, override_until: until })
    .where('id', '=', id)
    .execute()
  return report(core, within, audit, { id, action: 'override', right: 'admin', before: summaryOf(row) })
}

/** The end of the last of `windows`; 0 when the window never ends. */
function endOfWindows({ now, options }: Core, row: Row<'budgets'>, windows: number): number {
  // Only this file writes them.
  const period = row.period as BudgetPeriod
  let end = seconds(now())
  if (period === 'total') return 0
  if (period === 'sliding') return end + windows * row.seconds
  for (let count = 0; count < windows; count++) end = spanOf(period, options.current.SiteTimeZone, end).end
  return end
}

/** Every node applies the change, also one by an owner, which is not in the audit log. */
export async function changed<Result>(core: BudgetParts, caller: Acting, step: Step<Result>): Promise<Result> {
  const result = await change(core, caller, (within, audit) => {
    audit({ topic: 'budgets' })
    return step(within, audit)
  })
  await core.budgets.refresh()
  return result
}

/** Reports a change of a budget by an admin. Returns the budget. */
async function report(
  core: BudgetParts,
  within: Within,
  audit: Report,
  { id, action, right, before }: { id: number; action: string; right: Right; before?: object },
): Promise<Budget> {
  const after = await present(core, within, await findBudget(within, id))
  if (right === 'admin') audit({ action: `budget.${action}`, target: `budget:${id}`, before, after: summaryOf(after) })
  return after
}

function summaryOf(budget: object): object {
  const { created_at, id, subject_name, ...shown } = budget as Record<string, unknown>
  return shown
}

/** `owner`: the budget is of the caller's own token. `admin`: the caller may manage the user whom it limits. */
type Right = 'admin' | 'owner' | 'none'

async function rightTo(
  core: Core,
  within: Within,
  caller: Acting,
  { scope, subject }: { scope: BudgetScope; subject: string },
): Promise<Right> {
  if (scope === 'group' || scope === 'model' || scope === 'channel') {
    if (!isAdmin(caller.role)) fail('permission_denied')
    return (await exists(core, within, scope, subject)) ? 'admin' : 'none'
  }
  if (isOfOrganisation(scope)) {
    if (!(await findBudgetSubject(within, scope, idIn(scope, subject)))) return 'none'
    if (!(await decidesAboutPlace(within, caller, { scope, id: idIn(scope, subject) }))) fail('organisation_role')
    return isAdmin(caller.role) ? 'admin' : 'owner'
  }
  const owner = await ownerOf(within, scope, subject)
  if (!owner) return 'none'
  const isOwn = owner.id === caller.id
  if (isAdmin(caller.role) && mayManage(caller.role, owner.role)) return isOwn && scope === 'token' ? 'owner' : 'admin'
  if (isOwn && scope === 'token') return 'owner'
  if (scope === 'token' && (await decidesAboutToken(within, caller, idIn(scope, subject)))) return 'owner'
  if (isOwn || isAdmin(caller.role)) fail('user_protected')
  return 'none'
}

async function ownerOf(within: Within, scope: BudgetScope, subject: string): Promise<{ id: number; role: number } | undefined> {
  const id = idIn(scope, subject)
  const users = within.selectFrom('users').where('users.deleted_at', 'is', null).select(['users.id', 'users.role'])
  if (scope === 'user') return users.where('users.id', '=', id).executeTakeFirst()
  return users
    .innerJoin('tokens', 'tokens.user_id', 'users.id')
    .where('tokens.id', '=', id)
    .where('tokens.deleted_at', 'is', null)
    .executeTakeFirst()
}

/** The id of a subject; 0 for names, and for texts that are not an id. */
export function idIn(scope: BudgetScope, subject: string): number {
  return namedBy[scope] === 'id' && /^[1-9]\d{0,14}$/.test(subject) ? Number(subject) : 0
}

async function exists(core: Core, within: Within, scope: 'group' | 'model' | 'channel', subject: string): Promise<boolean> {
  if (scope === 'model') return true
  if (scope === 'group') return Object.hasOwn(core.options.current.GroupRatio, subject)
  return (
    (await within.selectFrom('channels').select('id').where('id', '=', idIn(scope, subject)).executeTakeFirst()) !== undefined
  )
}

/** Throws `not_found`, `budget_of_admin`. */
async function requireRight(within: Within, caller: Acting, id: number): Promise<'admin' | 'owner'> {
  const row = await findBudget(within, id)
  // Only this file writes them.
  const scope = row.scope as BudgetScope
  if (namedBy[scope] === 'name' || scope === 'channel') {
    // For callers who are not admins the budget does not exist.
    if (!isAdmin(caller.role)) fail('not_found')
    return 'admin'
  }
  if (isOfOrganisation(scope)) return requireRightBelow(within, caller, { row, scope })
  const owner = await ownerOf(within, scope, row.subject)
  if (owner && isAdmin(caller.role) && mayManage(caller.role, owner.role)) return row.set_by === 'owner' ? 'owner' : 'admin'
  if (owner?.id !== caller.id && !(scope === 'token' && (await decidesAboutToken(within, caller, row.subject_id))))
    fail('not_found')
  if (row.set_by === 'admin') fail('budget_of_admin')
  return 'owner'
}

/** Throws `not_found`, `organisation_role`, and `budget_of_admin` for a budget that the site has set. */
async function requireRightBelow(
  within: Within,
  caller: Acting,
  { row, scope }: { row: Row<'budgets'>; scope: OrganisationBudgetScope },
): Promise<'admin' | 'owner'> {
  const decides = await decidesAboutPlace(within, caller, { scope, id: row.subject_id })
  if (!decides) fail('organisation_role')
  if (isAdmin(caller.role)) return row.set_by === 'owner' ? 'owner' : 'admin'
  if (row.set_by === 'admin') fail('budget_of_admin')
  return 'owner'
}

async function requireAdmin(within: Within, caller: Acting, id: number): Promise<void> {
  const right = await requireRight(within, caller, id)
  if (right === 'owner' && !isAdmin(caller.role) && !isOfOrganisation(await scopeOf(within, id))) fail('permission_denied')
}

async function scopeOf(within: Within, id: number): Promise<BudgetScope> {
  // Only this file writes them.
  return (await findBudget(within, id)).scope as BudgetScope
}

/** The token of this id has room for one more budget. Its row is locked, so that the number stays. Throws `budgets_too_many`. */
async function requireRoom(core: Core, within: Within, subject: string): Promise<void> {
  await locked(core, within.selectFrom('tokens').select('id').where('id', '=', Number(subject))).execute()
  const { count } = await within
    .selectFrom('budgets')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('scope', '=', 'token')
    .where('subject', '=', subject)
    .executeTakeFirstOrThrow()
  if (Number(count) >= budgetLimits.ofTokenMax) fail('budgets_too_many', { max: budgetLimits.ofTokenMax })
}

async function findBudget(db: Queries, id: number): Promise<Row<'budgets'>> {
  return (await db.selectFrom('budgets').selectAll().where('id', '=', id).executeTakeFirst()) ?? fail('not_found')
}

function visibleTo(db: Queries, caller: Acting) {
  return db
    .selectFrom('budgets')
    .leftJoin('tokens', (join) => join.on('budgets.scope', '=', 'token').onRef('tokens.id', '=', 'budgets.subject_id'))
    .leftJoin('users', (join) =>
      join.on((on) =>
        on(
          'users.id',
          '=',
          on.case().when('budgets.scope', '=', 'user').then(on.ref('budgets.subject_id')).else(on.ref('tokens.user_id')).end(),
        ),
      ),
    )
    .selectAll('budgets')
    .where('tokens.deleted_at', 'is', null)
    .where((row) => {
      const isOwn = row('users.id', '=', caller.id)
      if (!isAdmin(caller.role)) return row.and([isOwn, row('budgets.scope', 'in', ['user', 'token'])])
      if (isRoot(caller.role)) return row.lit(true)
      return row.or([
        isOwn,
        row('budgets.scope', 'in', ['group', 'model', 'channel', 'organisation', 'team', 'member']),
        row('users.role', '<', caller.role),
      ])
    })
}

export async function presentAll(core: BudgetParts, db: Queries, rows: readonly Row<'budgets'>[]): Promise<Budget[]> {
  const uses = await readBudgetUse(core, db, rows)
  return Promise.all(rows.map(async (row) => presented(core, row, await nameOfSubject(db, row), uses.get(row.id))))
}

async function present(core: BudgetParts, db: Queries, row: Row<'budgets'>): Promise<Budget> {
  const uses = await readBudgetUse(core, db, [row])
  return presented(core, row, await nameOfSubject(db, row), uses.get(row.id))
}

function presented(core: BudgetParts, row: Row<'budgets'>, subjectName: string, use: BudgetUse | undefined): Budget {
  const { has_override, override_amount, override_until, shares, subject_id: _, ...shown } = row
  return {
    ...shown,
    // Only this file writes them.
    scope: row.scope as BudgetScope,
    period: row.period as BudgetPeriod,
    set_by: row.set_by as Budget['set_by'],
    subject_name: subjectName,
    is_hard: row.is_hard === 1,
    shares: sharesOf(row),
    override: has_override === 1 ? { amount: override_amount, until: override_until } : null,
    spent: use?.spent ?? 0,
    held: use?.held ?? 0,
    renews_at: core.budgets.renewsAt(row) ?? 0,
  }
}

/** Ascending. */
export function sharesOf({ shares }: Pick<Row<'budgets'>, 'shares'>): number[] {
  return shares === '' ? [] : shares.split(',').map(Number)
}

/** The name of the user, token or channel of a budget; '' when it is deleted. */
export async function nameOfSubject(db: Queries, { scope, subject, subject_id: id }: Row<'budgets'>): Promise<string> {
  if (id === 0) return subject
  // Only this file writes them.
  const place = scope as BudgetScope
  if (isOfOrganisation(place)) return (await findBudgetSubject(db, place, id))?.name ?? ''
  const found =
    scope === 'user'
      ? await db.selectFrom('users').select('username as name').where('id', '=', id).executeTakeFirst()
      : await db
          .selectFrom(scope === 'token' ? 'tokens' : 'channels')
          .select('name')
          .where('id', '=', id)
          .executeTakeFirst()
  return found?.name ?? ''
}
