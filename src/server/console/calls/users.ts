import type { Handlers } from '../../../contract/route.ts'
import type { userRoutes } from '../../../contract/routes/users.ts'
import { oneBased } from '../../base/db/page.ts'
import { adjustQuota } from '../../people/accounts/adjust-quota.ts'
import { editByAdmin } from '../../people/accounts/edit-user.ts'
import { exportUsers } from '../../people/accounts/export-users.ts'
import { findUserFor, listUsers } from '../../people/accounts/find-users.ts'
import { manageUser, manageUsers } from '../../people/accounts/manage-user.ts'
import { presentUser } from '../../people/accounts/users.ts'
import { listTokensOf } from '../../people/tokens/tokens.ts'
import { type Context, requireCaller } from './context.ts'
import { createUser } from './create-user.ts'

export const userHandlers: Handlers<typeof userRoutes, Context> = {
  'GET /api/user/': (context, { query }) => list(context, query),
  'GET /api/user/search': (context, { query }) => list(context, query),
  'GET /api/user/export.csv': (context, { query }) => exportUsers(context.app, { caller: requireCaller(context), search: query }),
  'GET /api/user/:id': (context, { params }) => findUserFor(context.app, requireCaller(context), params.id),
  async 'GET /api/user/:id/tokens'(context, { params, query: { p, page_size } }) {
    const asked = { caller: requireCaller(context), userId: params.id, page: oneBased(p, page_size) }
    return { ...(await listTokensOf(context.app, asked)), page: p, page_size }
  },

  'POST /api/user/': (context, { body }) => createUser(context.app, requireCaller(context), body),
  'PUT /api/user/': (context, { body }) => editByAdmin(context.app, requireCaller(context), body),

  'POST /api/user/:id/quota': (context, { params, body }) =>
    adjustQuota(context.app, requireCaller(context), { id: params.id, ...body }),

  'POST /api/user/manage': async (context, { body }) => presentUser(await manageUser(context.app, requireCaller(context), body)),

  'POST /api/user/batch': (context, { body }) =>
    manageUsers(context.app, requireCaller(context), { batch: body, language: context.language }),

  async 'DELETE /api/user/:id'(context, { params }) {
    await manageUser(context.app, requireCaller(context), { id: params.id, action: 'delete' })
    return null
  },
}

async function list(context: Context, { p, page_size, ...search }: { p: number; page_size: number }) {
  const asked = { caller: requireCaller(context), search, page: oneBased(p, page_size) }
  return { ...(await listUsers(context.app, asked)), page: p, page_size }
}
