import type { Handlers } from '../../../contract/route.ts'
import type { budgetRoutes } from '../../../contract/routes/budgets.ts'
import { oneBased } from '../../base/db/page.ts'
import {
  changeBudget,
  createBudget,
  deleteBudget,
  listBudgets,
  overrideBudget,
  resetBudget,
} from '../../gateway/limits/manage-budgets.ts'
import { type Context, requireCaller } from './context.ts'

export const budgetHandlers: Handlers<typeof budgetRoutes, Context> = {
  async 'GET /api/budget/'(context, { query: { p, page_size, ...filter } }) {
    const found = await listBudgets(context.app, requireCaller(context), { filter, page: oneBased(p, page_size) })
    return { ...found, page: p, page_size }
  },
  'POST /api/budget/': (context, { body }) => createBudget(context.app, requireCaller(context), body),
  'PUT /api/budget/:id': (context, { params, body }) =>
    changeBudget(context.app, requireCaller(context), { id: params.id, change: body }),
  async 'DELETE /api/budget/:id'(context, { params }) {
    await deleteBudget(context.app, requireCaller(context), params.id)
    return null
  },
  'POST /api/budget/:id/reset': (context, { params }) => resetBudget(context.app, requireCaller(context), params.id),
  'POST /api/budget/:id/override': (context, { params, body }) =>
    overrideBudget(context.app, requireCaller(context), { id: params.id, ...body }),
}
