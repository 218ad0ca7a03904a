import { z } from 'zod'
import { passkey, passkeyName } from '../entities/passkey.ts'
import { signedInUser } from '../entities/user.ts'
import { idParams } from '../envelope.ts'
import { routes } from '../route.ts'

/** WebAuthn's JSON forms: options for the browser, and its reply. */
const options = z.record(z.string(), z.unknown())
const answer = z.record(z.string(), z.unknown())

export const passkeyRoutes = routes({
  'POST /api/user/passkey/options': {
    access: 'user',
    summary: 'Get the options for creating a passkey; needs a fresh login',
    reply: options,
  },
  'POST /api/user/passkey': {
    access: 'user',
    summary: 'Store the passkey created by the browser',
    limit: 'critical',
    body: z.object({ name: passkeyName, answer }),
    reply: passkey,
  },
  'PUT /api/user/passkey/:id': {
    access: 'user',
    summary: 'Rename a passkey',
    params: idParams,
    body: z.object({ name: passkeyName }),
    reply: passkey,
  },
  'DELETE /api/user/passkey/:id': {
    access: 'user',
    summary: 'Delete a passkey; needs a fresh login',
    params: idParams,
    reply: z.null(),
  },
  'POST /api/user/login/passkey/options': {
    access: 'public',
    summary: 'Get the options for a login with a passkey',
    reply: options,
  },
  'POST /api/user/login/passkey': {
    access: 'public',
    summary: 'Log in with a passkey, which counts as both factors',
    limit: 'login',
    body: z.object({ answer }),
    reply: signedInUser,
  },
  'POST /api/user/verify/passkey/options': {
    access: 'user',
    summary: 'Get the options for reauthentication with a passkey',
    reply: options,
  },
  'POST /api/user/verify/passkey': {
    access: 'user',
    summary: 'Reauthenticate with a passkey: a fresh login, for ten minutes',
    limit: 'critical',
    body: z.object({ answer }),
    reply: z.null(),
  },
})
