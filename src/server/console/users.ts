import { mayManage } from '../../contract/roles.ts'
import type { Handlers } from '../../contract/route.ts'
import type { userRoutes } from '../../contract/routes/users.ts'
import { findUser, presentUser } from '../accounts/users.ts'
import { fail } from '../lib/failure.ts'
import { type Context, requireCaller } from './context.ts'

export const userHandlers: Handlers<typeof userRoutes, Context> = {
  async 'GET /api/user/:id'(context, { params }) {
    const caller = requireCaller(context)
    const user = await findUser(context.app.db, params.id)
    if (user.id !== caller.id && !mayManage(caller.role, user.role)) fail('user_protected')
    return presentUser(user)
  },
}
