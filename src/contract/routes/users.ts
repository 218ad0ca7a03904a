import { z } from 'zod'
import { displayNameLengthMax, manageActions, user, userEdit } from '../entities/user.ts'
import { idParams, oneBasedPage, page, queryFlag, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const managed = user.pick({ id: true, username: true, role: true, status: true, DeletedAt: true })

export const userRoutes = routes({
  'GET /api/user/': {
    access: 'admin',
    summary: 'Users of lower roles and oneself, deleted ones too, newest first',
    query: z.object(oneBasedPage),
    reply: page(user),
  },
  'GET /api/user/search': {
    access: 'admin',
    summary:
      'Users by part of name, shown name or address, by id, group, role or status, or deleted ones, in the order of a figure',
    query: z.object({
      keyword: queryText,
      group: queryText,
      role: queryInt,
      status: queryInt,
      deleted: queryFlag,
      sort: queryText,
      ascending: queryFlag,
      ...oneBasedPage,
    }),
    reply: page(user),
  },
  'GET /api/user/:id': { access: 'admin', summary: 'One user of a lower role', params: idParams, reply: user },
  'POST /api/user/': {
    access: 'admin',
    summary: 'Make an ordinary user, with the gift of new users',
    body: z.object({
      username: z.string().max(100),
      display_name: z.string().trim().max(displayNameLengthMax).default(''),
      password: z.string().max(100),
    }),
    reply: user,
  },
  'PUT /api/user/': {
    access: 'admin',
    summary: 'Change names, group, quota or password of a user of a lower role; what is absent or empty stays',
    body: userEdit,
    reply: user,
  },
  'POST /api/user/:id/quota': {
    access: 'admin',
    summary: 'Add units to the balance of a user, or take some away, with a reason',
    params: idParams,
    body: z.object({ change: z.int(), reason: z.string().trim().min(1).max(200) }),
    reply: user,
  },
  'POST /api/user/manage': {
    access: 'admin',
    summary: 'Enable, disable, promote, demote, sign out or delete a user of a lower role',
    body: z.object({ id: z.int().positive(), action: z.enum(manageActions) }),
    reply: managed,
  },
  'DELETE /api/user/:id': {
    access: 'admin',
    summary: 'Delete a user of a lower role for good',
    params: idParams,
    reply: z.null(),
  },
})
