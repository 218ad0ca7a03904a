import type { Handlers } from '../../../contract/route.ts'
import type { registrationRoutes } from '../../../contract/routes/registration.ts'
import { mailOwnCode } from '../../people/accounts/bind-email.ts'
import { mailRegistrationCode, register } from '../../people/accounts/register.ts'
import { mailResetLink, resetPassword } from '../../people/accounts/reset-password.ts'
import { type Context, requireCaller } from './context.ts'

export const registrationHandlers: Handlers<typeof registrationRoutes, Context> = {
  async 'POST /api/user/register'(context, { query: { turnstile }, body }) {
    const { app, address, language } = context
    await register(app, { ...body, turnstile, address, language })
    return null
  },

  'GET /api/verification': (context, { query }) => mailCode(context, query),
  'POST /api/verification': (context, { body }) => mailCode(context, body),
  'GET /api/reset_password': (context, { query }) => mailLink(context, query),
  'POST /api/reset_password': (context, { body }) => mailLink(context, body),

  'POST /api/user/reset': ({ app, language }, { body }) => resetPassword(app, { ...body, language }),
}

interface Asked {
  readonly email: string
  readonly turnstile?: string | undefined
}

async function mailCode(
  context: Context,
  { email, turnstile, purpose }: Asked & { readonly purpose?: 'register' | 'bind' | 'notify' | undefined },
): Promise<null> {
  const { app, address, language, caller } = context
  const wanted = purpose ?? (caller ? 'bind' : 'register')
  await app.human.require({ token: turnstile, address, action: wanted === 'register' ? 'register' : 'address' })
  if (wanted === 'register') await mailRegistrationCode(app, { email, language })
  else await mailOwnCode(app, requireCaller(context), { email, language, purpose: wanted })
  return null
}

async function mailLink({ app, address, language }: Context, { email, turnstile }: Asked): Promise<null> {
  await mailResetLink(app, { email, turnstile, address, language })
  return null
}
