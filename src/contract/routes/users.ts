import { z } from 'zod'
import { displayNameLengthMax, manageActions, user, userBatch, userBatchResult, userEdit } from '../entities/user.ts'
import { idParams, longPageSize, neededText, oneBasedPage, page, queryFlag, queryInt, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const search = { keyword: queryText, group: queryText, role: queryInt, status: queryInt, deleted: queryFlag }
const managed = user.pick({ id: true, username: true, role: true, status: true, DeletedAt: true })

export const userRoutes = routes({
  'GET /api/user/': {
    access: 'admin',
    summary: 'Users of lower roles and oneself, deleted ones too, newest first',
    query: z.object({ ...oneBasedPage, page_size: longPageSize }),
    reply: page(user),
  },
  'GET /api/user/search': {
    access: 'admin',
    summary:
      'Users by part of name, shown name or address, by id, group, role or status, or deleted ones, in the order of a figure',
    query: z.object({ ...search, sort: queryText, ascending: queryFlag, ...oneBasedPage, page_size: longPageSize }),
    reply: page(user),
  },
  'GET /api/user/export.csv': {
    access: 'admin',
    summary: 'The users that match, as CSV, newest first; the audit tells who took them',
    query: z.object(search),
    reply: z.string(),
    text: { type: 'text/csv', fileName: 'users.csv' },
  },
  'GET /api/user/:id': { access: 'admin', summary: 'One user of a lower role', params: idParams, reply: user },
  'POST /api/user/': {
    access: 'admin',
    summary: 'Make an ordinary user, with the gift of new users',
    body: z.object({
      username: neededText(z.string().max(100)),
      display_name: z.string().trim().max(displayNameLengthMax).default(''),
      password: neededText(z.string().max(100)),
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
  'POST /api/user/batch': {
    access: 'admin',
    summary: 'Enable, disable or delete users of lower roles, or set their group, each by itself; answers what became of each',
    body: userBatch,
    reply: z.array(userBatchResult),
  },
  'DELETE /api/user/:id': {
    access: 'admin',
    summary: 'Delete a user of a lower role for good',
    params: idParams,
    reply: z.null(),
  },
})
