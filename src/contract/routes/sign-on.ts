import { z } from 'zod'
import { domainConfirmation, domainsInput, rulesInput, signOn, signOnInput } from '../entities/sign-on.ts'
import { signedInUser } from '../entities/user.ts'
import { idParams } from '../envelope.ts'
import { organisationAccess } from '../organisation-roles.ts'
import { routes } from '../route.ts'

const { owners, insiders } = organisationAccess
const settings = { access: 'user', roles: owners, params: idParams, reply: signOn } as const

export const signOnRoutes = routes({
  'GET /api/sso/': {
    access: 'public',
    summary: 'Whether any organisation has a login of its own',
    reply: z.object({ offered: z.boolean() }),
    cacheSeconds: 60,
  },
  'POST /api/sso/': {
    access: 'public',
    summary: 'Start the login of an organisation, by its name or by a mail address; returns the address to go to',
    body: z.object({ login: z.string().trim().min(1).max(200) }),
    reply: z.object({ url: z.string() }),
  },
  'POST /api/sso/callback': {
    access: 'public',
    summary: 'Complete the login of an organisation with the code of its provider',
    body: z.object({ organisation_id: z.int().positive(), code: z.string().max(2000), state: z.string().max(200) }),
    reply: signedInUser,
  },
  'GET /api/organisation/:id/sign-on': {
    ...settings,
    summary: 'Get how the people of an organisation sign in, and what its directory may do',
  },
  'PUT /api/organisation/:id/sign-on': {
    ...settings,
    summary: 'Set the OpenID provider of an organisation; an absent secret stays; needs a fresh login',
    body: signOnInput,
  },
  'PUT /api/organisation/:id/sign-on/domains': {
    ...settings,
    summary: 'Set the mail domains of an organisation; new ones count when an admin of the site has confirmed them',
    body: domainsInput,
  },
  'POST /api/organisation/:id/sign-on/domains': {
    ...settings,
    access: 'admin',
    roles: insiders,
    summary: 'Confirm, as an admin of the site, that a mail domain is that of the organisation, or take it back',
    body: domainConfirmation,
  },
  'PUT /api/organisation/:id/sign-on/rules': {
    ...settings,
    summary: 'Set which roles and teams the groups of the directory give; it holds at once',
    body: rulesInput,
  },
  'POST /api/organisation/:id/scim': {
    ...settings,
    summary: 'Create the SCIM token of an organisation, shown once; an earlier one ends; needs a fresh login',
    reply: z.object({ token: z.string(), url: z.string() }),
  },
  'DELETE /api/organisation/:id/scim': { ...settings, summary: 'Delete the SCIM token of an organisation' },
})
