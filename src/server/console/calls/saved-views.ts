import type { Handlers } from '../../../contract/route.ts'
import type { savedViewRoutes } from '../../../contract/routes/saved-views.ts'
import { changeSavedView, createSavedView, deleteSavedView, listSavedViews } from '../../people/accounts/saved-views.ts'
import { type Context, requireCaller } from './context.ts'

export const savedViewHandlers: Handlers<typeof savedViewRoutes, Context> = {
  'GET /api/user/self/views': (context) => listSavedViews(context.app, requireCaller(context).id),
  'POST /api/user/self/views': (context, { body }) => createSavedView(context.app, requireCaller(context).id, body),
  'PUT /api/user/self/views/:id': (context, { params, body }) =>
    changeSavedView(context.app, requireCaller(context).id, { id: params.id, change: body }),
  async 'DELETE /api/user/self/views/:id'(context, { params }) {
    await deleteSavedView(context.app, requireCaller(context).id, params.id)
    return null
  },
}
