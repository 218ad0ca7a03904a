import { z } from 'zod'
import { savedView, savedViewChange, savedViewInput } from '../entities/saved-view.ts'
import { idParams } from '../envelope.ts'
import { routes } from '../route.ts'

export const savedViewRoutes = routes({
  'GET /api/user/self/views': {
    access: 'user',
    summary: 'Own views of lists, by name',
    reply: z.array(savedView),
  },
  'POST /api/user/self/views': {
    access: 'user',
    summary: 'Keep a view of a list under a name',
    body: savedViewInput,
    reply: savedView,
  },
  'PUT /api/user/self/views/:id': {
    access: 'user',
    summary: 'Rename a view, change what it shows, or make it the one that its list opens with; what is absent stays',
    params: idParams,
    body: savedViewChange,
    reply: savedView,
  },
  'DELETE /api/user/self/views/:id': { access: 'user', summary: 'Forget a view', params: idParams, reply: z.null() },
})
