import { z } from 'zod'
import { passkey } from '../entities/passkey.ts'
import { signedInUser } from '../entities/user.ts'
import { routes } from '../route.ts'

const code = z.string().trim().min(1).max(40)

/** The login methods of the user, and the second factor. */
const security = z.object({
  /** Whether there is a password at all; an account that signed up through a provider has none at first. */
  password: z.boolean(),
  two_factor: z.boolean(),
  /** The number of unused backup codes. */
  backup_codes: z.int(),
  passkeys: z.array(passkey),
  /** Whether this site can take passkeys. */
  passkeys_offered: z.boolean(),
})

export const secondFactorRoutes = routes({
  'POST /api/user/login/second': {
    access: 'public',
    summary: 'Complete a login with a code of the authenticator app, or a backup code',
    limit: 'login',
    body: z.object({ code }),
    reply: signedInUser,
  },
  'GET /api/user/security': { access: 'user', summary: 'Get own login methods and second factor', reply: security },
  'POST /api/user/two_factor': {
    access: 'user',
    summary: 'Create a secret for an authenticator app; needs a fresh login',
    limit: 'critical',
    reply: z.object({ secret: z.string(), uri: z.string() }),
  },
  'POST /api/user/two_factor/confirm': {
    access: 'user',
    summary: 'Enable the second factor with a first code; returns the backup codes, once',
    limit: 'critical',
    body: z.object({ code }),
    reply: z.array(z.string()),
  },
  'POST /api/user/two_factor/backup_codes': {
    access: 'user',
    summary: 'Replace the backup codes; needs a fresh login',
    limit: 'critical',
    reply: z.array(z.string()),
  },
  'DELETE /api/user/two_factor': {
    access: 'user',
    summary: 'Disable the second factor; needs a fresh login',
    limit: 'critical',
    reply: z.null(),
  },
})
