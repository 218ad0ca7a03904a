import { type BudgetScope, budgetScopeLabels } from '../../contract/entities/budget.ts'
import type { Row } from '../db/schema.ts'
import { readBudgetUse, shareOf } from '../limits/budget-use.ts'
import { periodText } from '../limits/budgets.ts'
import { nameOfSubject } from '../limits/manage-budgets.ts'
import type { App } from '../parts.ts'
import type { Measured } from './measures.ts'

const listedMax = 200
/** Only what may fire soon is kept for the preview. */
const notedFrom = 20

/** In percent, what the current windows of budgets have charged, the most used first. */
export async function measureBudgets(app: App): Promise<Measured[]> {
  const rows = await app.db.selectFrom('budgets').selectAll().execute()
  const uses = await readBudgetUse(app, app.db, rows)
  const shares = rows.flatMap((row) => {
    const use = uses.get(row.id)
    const value = use && shareOf(use)
    return value === undefined ? [] : [{ row, value }]
  })
  const most = shares.toSorted((one, other) => other.value - one.value).slice(0, listedMax)
  return Promise.all(
    most.map(async ({ row, value }) => ({ subject: `budget:${row.id}`, name: await budgetName(app, row), value })),
  )
}

/** What is kept of them by the hour. */
export async function notedBudgets(app: App): Promise<Measured[]> {
  return (await measureBudgets(app)).filter(({ value }) => value >= notedFrom)
}

/** `User ada, 10 dollars a day`, in the language of programs. */
export async function budgetName(app: App, row: Row<'budgets'>): Promise<string> {
  // Only `manage-budgets.ts` writes them, with these types.
  const [scope, period] = [row.scope as BudgetScope, row.period as Parameters<typeof periodText>[0]['period']]
  const subject = (await nameOfSubject(app.db, row)) || row.subject
  const own = row.name === '' ? periodText({ period, seconds: row.seconds }).en : row.name
  return `${budgetScopeLabels[scope].en} ${subject}, ${own}`
}
