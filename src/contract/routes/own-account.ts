import { z } from 'zod'
import { ownSession } from '../entities/user.ts'
import { settingInput } from '../entities/user-setting.ts'
import { idParams, queryEmail, queryFlag, queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const bind = {
  access: 'user',
  summary: 'Bind an address with the code that was mailed there; needs a fresh login',
  limit: 'critical',
  reply: z.null(),
} as const

export const ownAccountRoutes = routes({
  'DELETE /api/user/self': {
    access: 'user',
    summary: 'Delete the own account for good; needs a fresh login',
    limit: 'critical',
    reply: z.null(),
  },
  'POST /api/user/verify': {
    access: 'user',
    summary:
      'Prove again who is behind the session, with the password or a code of the second factor: a fresh login, for ten minutes',
    limit: 'critical',
    body: z.object({ password: z.string().max(100).optional(), code: z.string().trim().max(40).optional() }),
    reply: z.null(),
  },
  'PUT /api/user/setting': {
    access: 'user',
    summary: 'Change how and when the own account is told of things; what is absent stays',
    body: settingInput,
    reply: z.null(),
    extra: z.object({ message: z.string() }),
  },
  'POST /api/user/setting/test': {
    access: 'user',
    summary: 'Send a test notice the way the own settings say',
    limit: 'critical',
    reply: z.null(),
  },
  'GET /api/oauth/email/bind': { ...bind, writes: true, query: z.object({ email: queryEmail, code: queryText }) },
  'POST /api/oauth/email/bind': { ...bind, body: z.object({ email: z.string().max(300), code: z.string().max(100) }) },
  'GET /api/user/aff': { access: 'user', summary: 'Own invite code', reply: z.string() },
  'GET /api/user/sessions': { access: 'user', summary: 'Where the own account is signed in', reply: z.array(ownSession) },
  'DELETE /api/user/sessions': {
    access: 'user',
    summary: 'Sign out everywhere else; with all=true here too',
    query: z.object({ all: queryFlag }),
    reply: z.null(),
  },
  'DELETE /api/user/sessions/:id': { access: 'user', summary: 'Sign out one place', params: idParams, reply: z.null() },
  'DELETE /api/user/token': { access: 'user', summary: 'Take the system access token back', limit: 'critical', reply: z.null() },
})
