import { z } from 'zod'
import { ownSession } from '../entities/user.ts'
import { settingInput } from '../entities/user-setting.ts'
import { idParams, queryEmail, queryFlag, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const bind = {
  access: 'user',
  summary: 'Set the email address, with the code mailed to it; needs a fresh login',
  limit: 'critical',
  reply: z.null(),
} as const

export const ownAccountRoutes = routes({
  'DELETE /api/user/self': {
    access: 'user',
    summary: 'Permanently delete the own account; needs a fresh login',
    limit: 'critical',
    reply: z.null(),
  },
  'POST /api/user/verify': {
    access: 'user',
    summary: 'Reauthenticate with the password or a code of the second factor: a fresh login, for ten minutes',
    limit: 'critical',
    body: z.object({ password: z.string().max(100).optional(), code: z.string().trim().max(40).optional() }),
    reply: z.null(),
  },
  'PUT /api/user/setting': {
    access: 'user',
    summary: 'Update own notification settings; absent members stay unchanged',
    body: settingInput,
    reply: z.null(),
    extra: z.object({ message: z.string() }),
  },
  'POST /api/user/setting/test': {
    access: 'user',
    summary: 'Send a test notification by the own settings',
    limit: 'critical',
    reply: z.null(),
  },
  'GET /api/oauth/email/bind': { ...bind, writes: true, query: z.object({ email: queryEmail, code: queryText }) },
  'POST /api/oauth/email/bind': { ...bind, body: z.object({ email: z.string().max(300), code: z.string().max(100) }) },
  'GET /api/user/aff': { access: 'user', summary: 'Get the own invite code', reply: z.string() },
  'GET /api/user/sessions': { access: 'user', summary: 'List own sessions', reply: z.array(ownSession) },
  'DELETE /api/user/sessions': {
    access: 'user',
    summary: 'Log out all other sessions; with all=true this one too',
    query: z.object({ all: queryFlag }),
    reply: z.null(),
  },
  'DELETE /api/user/sessions/:id': { access: 'user', summary: 'Log out one session', params: idParams, reply: z.null() },
  'DELETE /api/user/token': { access: 'user', summary: 'Revoke the system access token', limit: 'critical', reply: z.null() },
})
