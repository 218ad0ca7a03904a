import { user } from '../entities/user.ts'
import { idParams } from '../envelope.ts'
import { routes } from '../route.ts'

export const userRoutes = routes({
  'GET /api/user/:id': { access: 'admin', summary: 'One user of a lower role', params: idParams, reply: user },
})
