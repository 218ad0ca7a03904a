import { z } from 'zod'
import { savedView, savedViewChange, savedViewInput } from '../entities/saved-view.ts'
import { idParams } from '../envelope.ts'
import { routes } from '../route.ts'

export const savedViewRoutes = routes({
  'GET /api/user/self/views': {
    access: 'user',
    summary: 'List own saved views, by name',
    reply: z.array(savedView),
  },
  'POST /api/user/self/views': {
    access: 'user',
    summary: 'Save a view of a list',
    body: savedViewInput,
    reply: savedView,
  },
  'PUT /api/user/self/views/:id': {
    access: 'user',
    summary: "Update a view's name, content or default flag; absent members stay unchanged",
    params: idParams,
    body: savedViewChange,
    reply: savedView,
  },
  'DELETE /api/user/self/views/:id': { access: 'user', summary: 'Delete a saved view', params: idParams, reply: z.null() },
})
