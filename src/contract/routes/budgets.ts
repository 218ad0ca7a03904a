import { z } from 'zod'
import { budget, budgetChange, budgetInput, budgetOverride, budgetScopes } from '../entities/budget.ts'
import { idParams, oneBasedPage, page, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

export const budgetRoutes = routes({
  'GET /api/budget/': {
    access: 'user',
    summary:
      'List budgets with what their current windows count, newest first: own ones, and for admins those that they may change',
    query: z.object({
      ...oneBasedPage,
      scope: z
        .enum([...budgetScopes, ''])
        .catch('')
        .default(''),
      subject: queryText,
    }),
    reply: page(budget),
  },
  'POST /api/budget/': {
    access: 'user',
    summary: 'Create a budget: of an own token, and as an admin of any user, group, token, model or channel',
    body: budgetInput,
    reply: budget,
  },
  'PUT /api/budget/:id': {
    access: 'user',
    summary: 'Update a budget; absent members stay unchanged, and its window is fixed',
    params: idParams,
    body: budgetChange,
    reply: budget,
  },
  'DELETE /api/budget/:id': { access: 'user', summary: 'Delete a budget', params: idParams, reply: z.null() },
  'POST /api/budget/:id/reset': {
    access: 'admin',
    summary: 'Count the current window of a budget from zero',
    params: idParams,
    reply: budget,
  },
  'POST /api/budget/:id/override': {
    access: 'admin',
    summary: 'Give a budget another amount for its current and next windows; 0 windows end that',
    params: idParams,
    body: budgetOverride,
    reply: budget,
  },
})
