import { z } from 'zod'
import { budgetLimits } from '../entities/budget.ts'
import { listedToken } from '../entities/token.ts'
import { displayNameLengthMax, manageActions, user, userBatch, userBatchResult, userEdit } from '../entities/user.ts'
import { idParams, longPageSize, neededText, oneBasedPage, page, queryFlag, queryInt, queryText } from '../envelope.ts'
import { nameText } from '../name-text.ts'
import { quotaMax } from '../quota.ts'
import { routes } from '../route.ts'

const search = { keyword: queryText, group: queryText, role: queryInt, status: queryInt, deleted: queryFlag }
const managed = user.pick({ id: true, username: true, role: true, status: true, DeletedAt: true })

/** What a new user gets, apart from the members of a user, which programs send back whole. */
const provision = z.object({
  /** '' for the default group. */
  group: z.string().trim().max(64).default(''),
  /** Units beyond the bonus. */
  quota: z.int().min(0).max(quotaMax).default(0),
  /** Units that the user may spend in a day; 0 for no budget. */
  daily_budget: z.int().min(0).max(budgetLimits.amountMax).default(0),
  /** The name of a token to create; '' for none. */
  token_name: z.string().max(1000).transform(nameText).default(''),
})

export const userRoutes = routes({
  'GET /api/user/': {
    access: 'admin',
    summary: 'List users of lower roles and oneself, including deleted ones, newest first',
    query: z.object({ ...oneBasedPage, page_size: longPageSize }),
    reply: page(user),
  },
  'GET /api/user/search': {
    access: 'admin',
    summary:
      'Search users by part of username, display name or email address, by id, group, role or status, or deleted ones, sorted by a column',
    query: z.object({ ...search, sort: queryText, ascending: queryFlag, ...oneBasedPage, page_size: longPageSize }),
    reply: page(user),
  },
  'GET /api/user/export.csv': {
    access: 'admin',
    summary: 'Export matching users as CSV, newest first; recorded in the audit log',
    query: z.object(search),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'users.csv' },
  },
  'GET /api/user/:id': { access: 'admin', summary: 'Get a user of a lower role', params: idParams, reply: user },
  'GET /api/user/:id/tokens': {
    access: 'admin',
    summary: 'List the tokens of a user of a lower role, newest first, without their keys',
    params: idParams,
    query: z.object(oneBasedPage),
    reply: page(listedToken),
  },
  'POST /api/user/': {
    access: 'admin',
    summary: 'Create an ordinary user, with the bonus of new users, and with quota, a budget and a token if they are given',
    body: z.object({
      username: neededText(z.string().max(100)),
      display_name: z.string().trim().max(displayNameLengthMax).default(''),
      password: neededText(z.string().max(100)),
      provision: provision.prefault({}),
    }),
    /** The key of the new token, without `sk-`. */
    reply: user.extend({ token_key: z.string().optional() }),
  },
  'PUT /api/user/': {
    access: 'admin',
    summary: 'Update names, group, quota or password of a user of a lower role; absent and empty members stay unchanged',
    body: userEdit,
    reply: user,
  },
  'POST /api/user/:id/quota': {
    access: 'admin',
    summary: 'Add units to the balance of a user, or deduct units, with a reason',
    params: idParams,
    body: z.object({ change: z.int(), reason: z.string().trim().min(1).max(200) }),
    reply: user,
  },
  'POST /api/user/manage': {
    access: 'admin',
    summary: 'Enable, disable, promote, demote, log out or delete a user of a lower role',
    body: z.object({ id: z.int().positive(), action: z.enum(manageActions) }),
    reply: managed,
  },
  'POST /api/user/batch': {
    access: 'admin',
    summary: 'Enable, disable or delete users of lower roles, or set their group, each separately; returns the result for each',
    body: userBatch,
    reply: z.array(userBatchResult),
  },
  'DELETE /api/user/:id': {
    access: 'admin',
    summary: 'Permanently delete a user of a lower role',
    params: idParams,
    reply: z.null(),
  },
})
