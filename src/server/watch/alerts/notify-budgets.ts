import type { BudgetPeriod, BudgetScope } from '../../../contract/entities/budget.ts'
import { userStatus } from '../../../contract/entities/user.ts'
import type { Text } from '../../../contract/text.ts'
import type { Queries } from '../../base/db/open.ts'
import type { Row } from '../../base/db/schema.ts'
import { notifyOnce, notifySuperAdmins, type OnceNotice } from '../../gateway/channels/health/notify-super-admins.ts'
import { isOfOrganisation, periodText } from '../../gateway/limits/budget-texts.ts'
import { type BudgetUse, readBudgetUse } from '../../gateway/limits/budget-use.ts'
import { nameOfSubject, sharesOf } from '../../gateway/limits/manage-budgets.ts'
import { quotaText } from '../../money/ledger/quota-text.ts'
import { isReachable } from '../../people/accounts/notices.ts'
import { decidesAboutPlace, findBudgetSubject, peopleDeciding } from '../../people/organisations/budget-subjects.ts'
import { recordEventOf } from '../../usage/log/record-event.ts'
import type { App } from '../parts.ts'

/**
 * Announces budgets whose current window has reached one of their shares: once for each share and window as an event for webhooks,
 * and as a notice to the owner of a user or token, or to the super admins. A notice that could not be sent is retried while the
 * window lasts. Returns the number of announced shares.
 */
export async function notifyBudgets(app: App, signal: AbortSignal): Promise<number> {
  const rows = await app.db.selectFrom('budgets').selectAll().where('shares', '<>', '').execute()
  if (rows.length === 0) return 0
  const uses = await readBudgetUse(app, app.db, rows)
  let announced = 0
  for (const row of rows) {
    const use = uses.get(row.id)
    if (!use || signal.aborted) continue
    const fresh = await announce(app, row, use)
    if (fresh) announced++
    const last = fresh ?? use.noticed.at(-1)
    if (last) await tell(app, { row, use, signal, ...last })
  }
  return announced
}

interface Reached {
  /** The start of the window that reached the share. */
  readonly start: number
  readonly share: number
}

/** Records the highest share reached and its event; returns it if this call was the first. */
async function announce(app: App, row: Row<'budgets'>, use: BudgetUse): Promise<Reached | undefined> {
  const { spent, amount, lastStart } = use
  if (lastStart === undefined || spent <= 0) return undefined
  const before = Math.max(0, ...use.noticed.map(({ share }) => share))
  const share = sharesOf(row).findLast((each) => spent * 100 >= amount * each)
  if (share === undefined || share <= before) return undefined
  const subject_name = await nameOfSubject(app.db, row)
  return app.db.transaction().execute(async (within) => {
    const mine = await within
      .updateTable('budget_sums')
      .set({ noticed: share })
      .where('budget_id', '=', row.id)
      .where('start', '=', lastStart)
      .where('noticed', '<', share)
      .returning('budget_id')
      .executeTakeFirst()
    if (!mine) return undefined
    const data = {
      ...{ budget_id: row.id, name: row.name, scope: row.scope, subject: row.subject, subject_name },
      ...{ period: row.period, seconds: row.seconds, is_hard: row.is_hard === 1, share, spent, amount },
      renews_at: app.budgets.renewsAt(row) ?? 0,
    }
    await recordEventOf(app, within, { account: await accountOf(within, row), type: 'budget.reached', data })
    return { start: lastStart, share }
  })
}

async function tell(
  app: App,
  { row, use, start, share, signal }: Reached & { readonly row: Row<'budgets'>; readonly use: BudgetUse; signal: AbortSignal },
): Promise<void> {
  // Only `manage-budgets.ts` writes these columns, with these types.
  const [scope, period] = [row.scope as BudgetScope, row.period as BudgetPeriod]
  const people = await recipientsOf(app, scope, row.subject_id)
  const { spent, amount } = use
  const subjectName = (await nameOfSubject(app.db, row)) || row.subject
  const ofPeriod = periodText({ period, seconds: row.seconds })
  const notice: OnceNotice = {
    subject: `budget:${row.id}`,
    kind: `budget:${row.id}:${start}:${share}`,
    // Each share and window has its own `kind`, which is sent once.
    dueSince: 0,
    notice: {
      kind: 'budgetReached',
      type: 'budget_reached',
      params: {
        ...{ share, subject: subjectOf(scope, subjectName), effect: row.is_hard === 1 ? effects.hard : effects.soft },
        budget: row.name === '' ? ofPeriod : { zh: `${row.name}，${ofPeriod.zh}`, en: `${row.name}, ${ofPeriod.en}` },
        ...{ spent: quotaText(app, spent, 'up'), amount: quotaText(app, amount) },
      },
      values: [row.id, share, spent, amount],
      path: '/budgets',
    },
  }
  if (!people) await notifySuperAdmins(app, [notice], signal)
  else for (const person of people) if (isReachable(person)) await notifyOnce(app, { person, notice, signal })
}

/** The account whose spending a budget bounds; 0 where it bounds that of many. */
async function accountOf(db: Queries, { scope, subject_id: id }: Row<'budgets'>): Promise<number> {
  // Only `manage-budgets.ts` writes it.
  const of = scope as BudgetScope
  if (of === 'user') return id
  if (isOfOrganisation(of)) return (await findBudgetSubject(db, of, id))?.organisationId ?? 0
  if (of !== 'token') return 0
  const token = await db.selectFrom('tokens').select('user_id').where('id', '=', id).executeTakeFirst()
  return token?.user_id ?? 0
}

/** Who is told of a budget; undefined for the super admins. Of an organisation, those who decide about it. */
async function recipientsOf(app: App, scope: BudgetScope, id: number) {
  if (isOfOrganisation(scope)) {
    const subject = await findBudgetSubject(app.db, scope, id)
    return subject ? peopleDeciding(app.db, subject.organisationId, (one) => decidesAboutPlace(app.db, one, { scope, id })) : []
  }
  if (scope !== 'user' && scope !== 'token') return undefined
  const owner = await ownerOf(app, scope, id)
  return owner ? [owner] : []
}

function ownerOf({ db }: App, scope: 'user' | 'token', id: number) {
  const users = db
    .selectFrom('users')
    .select(['users.id', 'users.username', 'users.email', 'users.setting'])
    .where('users.status', '=', userStatus.active)
    .where('users.deleted_at', 'is', null)
  if (scope === 'user') return users.where('users.id', '=', id).executeTakeFirst()
  return users.innerJoin('tokens', 'tokens.user_id', 'users.id').where('tokens.id', '=', id).executeTakeFirst()
}

function subjectOf(scope: BudgetScope, name: string): Text {
  const of: Readonly<Record<BudgetScope, Text>> = {
    user: { zh: `账户 ${name}`, en: `the account ${name}` },
    token: { zh: `令牌 ${name}`, en: `the API key ${name}` },
    group: { zh: `分组 ${name}`, en: `the group ${name}` },
    model: { zh: `模型 ${name}`, en: `the model ${name}` },
    channel: { zh: `渠道 ${name}`, en: `the channel ${name}` },
    organisation: { zh: `组织 ${name}`, en: `the organisation ${name}` },
    team: { zh: `团队 ${name}`, en: `the team ${name}` },
    member: { zh: `成员 ${name}`, en: `the member ${name}` },
  }
  return of[scope]
}

const effects = {
  hard: { zh: '用尽后请求将被拒绝，直到预算更新。', en: 'Calls that do not fit are refused until it renews.' },
  soft: { zh: '该预算只提醒，不会拒绝请求。', en: 'This budget only notifies; no call is refused.' },
} as const satisfies Record<string, Text>
