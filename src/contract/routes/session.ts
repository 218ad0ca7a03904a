import { z } from 'zod'
import { shownOrganisations, signedInUser, user } from '../entities/user.ts'
import { neededText } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

const groupInfo = z.object({ ratio: z.number(), desc: z.string() })

const logout = { access: 'public', summary: 'Log out', reply: z.null() } as const
const makeToken = {
  access: 'user',
  summary: 'Create a system access token, which replaces the old one',
  limit: 'critical',
  reply: z.string(),
} as const

export const sessionRoutes = routes({
  'POST /api/user/login': {
    access: 'public',
    summary: 'Log in with a password',
    limit: 'login',
    query: z.object({ turnstile: z.string().optional() }),
    body: z.object({ username: neededText(z.string().max(100)), password: neededText(z.string().max(100)) }),
    reply: signedInUser,
  },
  'GET /api/user/logout': { ...logout, writes: true },
  'POST /api/user/logout': logout,
  'GET /api/user/self': {
    access: 'user',
    summary: 'Get the own account',
    reply: user.extend({ default_password: z.boolean(), organisations: shownOrganisations }),
  },
  'PUT /api/user/self': {
    access: 'user',
    summary: 'Update own name or password; a new password needs the current one, or a login within the last ten minutes',
    limit: 'critical',
    body: z.object({
      username: z.string().trim().optional(),
      display_name: z.string().trim().max(20).optional(),
      password: z.string().optional(),
      current_password: z.string().max(100).optional(),
      original_password: z.string().max(100).optional(),
    }),
    reply: z.null(),
  },
  'GET /api/user/token': { ...makeToken, writes: true },
  'POST /api/user/token': makeToken,
  'GET /api/user/self/groups': {
    access: 'user',
    roles: organisationAccess.insiders,
    summary: 'List groups that the user may use',
    reply: z.record(z.string(), groupInfo),
  },
  'GET /api/user/groups': {
    access: 'public',
    summary: 'List groups that are public, unless prices are visible to users only',
    reply: z.record(z.string(), groupInfo),
  },
  'GET /api/user/models': {
    access: 'user',
    roles: organisationAccess.insiders,
    summary: 'List the models that the user may use',
    reply: z.array(z.string()),
  },
  'GET /api/user/model_ends': {
    access: 'user',
    roles: organisationAccess.insiders,
    summary: 'List the models that the user may use and that end, with the day (UTC) and what the vendor recommends instead',
    reply: z.record(z.string(), z.object({ date: z.string(), successor: z.string() })),
  },
  'GET /api/group/': { access: 'admin', summary: 'List the names of all groups', reply: z.array(z.string()) },
})
