import { z } from 'zod'
import { neededText, queryEmail } from '../envelope.ts'
import { routes } from '../route.ts'

const turnstile = { turnstile: z.string().optional() }
const email = z.string().max(300)
const optionalText = z
  .string()
  .max(300)
  .nullish()
  .transform((text) => text ?? '')

/** The purpose of a code. Absent: `bind` for signed-in users, `register` for others. */
const purpose = z.enum(['register', 'bind', 'notify']).optional()

const mailCode = {
  access: 'public',
  summary: 'Mail a verification code to an address',
  limit: 'critical',
  reply: z.null(),
} as const
const mailLink = {
  access: 'public',
  summary: 'Mail a link that resets the password',
  limit: 'critical',
  reply: z.null(),
} as const

export const registrationRoutes = routes({
  'POST /api/user/register': {
    access: 'public',
    summary: 'Register with a password; address and code are required if the site verifies addresses',
    limit: 'critical',
    query: z.object(turnstile),
    body: z.object({
      username: neededText(z.string().max(100)),
      password: neededText(z.string().max(100)),
      password2: z.string().max(100).optional(),
      email: optionalText,
      verification_code: optionalText,
      aff_code: optionalText,
    }),
    reply: z.null(),
  },
  'GET /api/verification': { ...mailCode, writes: true, query: z.object({ email: queryEmail, purpose, ...turnstile }) },
  'POST /api/verification': { ...mailCode, body: z.object({ email, purpose, ...turnstile }) },
  'GET /api/reset_password': { ...mailLink, writes: true, query: z.object({ email: queryEmail, ...turnstile }) },
  'POST /api/reset_password': { ...mailLink, body: z.object({ email, ...turnstile }) },
  'POST /api/user/reset': {
    access: 'public',
    summary: 'Reset the password with the token of a mailed link; returns the new password, which has to be changed',
    limit: 'critical',
    body: z.object({ email, token: neededText(z.string().max(200)) }),
    reply: z.string(),
  },
})
