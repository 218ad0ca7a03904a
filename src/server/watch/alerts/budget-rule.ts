import { type BudgetScope, budgetScopeLabels } from '../../../contract/entities/budget.ts'
import type { Row } from '../../base/db/schema.ts'
import { periodText } from '../../gateway/limits/budget-texts.ts'
import { readBudgetUse, shareOf } from '../../gateway/limits/budget-use.ts'
import { nameOfSubject } from '../../gateway/limits/manage-budgets.ts'
import type { App } from '../parts.ts'
import type { Measured } from './measures.ts'

const listedMax = 200
/** Only budgets that may fire soon are recorded for the preview: from this percentage on. */
const notedFrom = 20

/** The used percentage of the current windows of budgets, the most used first. */
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

/** The values that are recorded every hour. */
export async function notedBudgets(app: App): Promise<Measured[]> {
  return (await measureBudgets(app)).filter(({ value }) => value >= notedFrom)
}

/** The name of a budget in English: `User ada, 10 dollars a day`. */
async function budgetName(app: App, row: Row<'budgets'>): Promise<string> {
  // Only `manage-budgets.ts` writes these columns, with these types.
  const [scope, period] = [row.scope as BudgetScope, row.period as Parameters<typeof periodText>[0]['period']]
  const subject = (await nameOfSubject(app.db, row)) || row.subject
  const own = row.name === '' ? periodText({ period, seconds: row.seconds }).en : row.name
  return `${budgetScopeLabels[scope].en} ${subject}, ${own}`
}
