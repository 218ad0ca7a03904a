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
    summary: 'What a browser needs to make a passkey; needs a fresh login',
    reply: options,
  },
  'POST /api/user/passkey': {
    access: 'user',
    summary: 'Keep the passkey that the browser has made',
    limit: 'critical',
    body: z.object({ name: passkeyName, answer }),
    reply: passkey,
  },
  'PUT /api/user/passkey/:id': {
    access: 'user',
    summary: 'Give a passkey another name',
    params: idParams,
    body: z.object({ name: passkeyName }),
    reply: passkey,
  },
  'DELETE /api/user/passkey/:id': {
    access: 'user',
    summary: 'Remove a passkey; needs a fresh login',
    params: idParams,
    reply: z.null(),
  },
  'POST /api/user/login/passkey/options': {
    access: 'public',
    summary: 'What a browser needs to sign in with a passkey',
    reply: options,
  },
  'POST /api/user/login/passkey': {
    access: 'public',
    summary: 'Sign in with a passkey, which is both factors at once',
    limit: 'login',
    body: z.object({ answer }),
    reply: signedInUser,
  },
  'POST /api/user/verify/passkey/options': {
    access: 'user',
    summary: 'What a browser needs to prove with a passkey who is behind the session',
    reply: options,
  },
  'POST /api/user/verify/passkey': {
    access: 'user',
    summary: 'Prove with a passkey who is behind the session: a fresh login, for ten minutes',
    limit: 'critical',
    body: z.object({ answer }),
    reply: z.null(),
  },
})
