import type { SignedInUser } from '../../../contract/entities/user.ts'
import type { Handlers } from '../../../contract/route.ts'
import type { sessionRoutes } from '../../../contract/routes/session.ts'
import { fail } from '../../base/lib/failure.ts'
import { listedModels } from '../../gateway/channels/index/listed-models.ts'
import { endsOfModels } from '../../gateway/channels/row/model-ends.ts'
import { usableGroups } from '../../money/pricing/groups.ts'
import { makeAccessToken } from '../../people/accounts/access-tokens.ts'
import { changeSelf } from '../../people/accounts/change-self.ts'
import type { SignedIn } from '../../people/accounts/complete-login.ts'
import { signIn } from '../../people/accounts/sign-in.ts'
import { findUser, presentUser } from '../../people/accounts/users.ts'
import { organisationsShown } from '../../people/organisations/membership.ts'
import { type Context, payerOf, requireCaller } from './context.ts'

export const sessionHandlers: Handlers<typeof sessionRoutes, Context> = {
  async 'POST /api/user/login'(context, { query: { turnstile }, body }) {
    const { address, userAgent, keepBrowser } = context
    return setLoginSession(context, await signIn(context.app, { ...body, turnstile, address, userAgent, keepBrowser }))
  },

  'GET /api/user/logout': signOut,
  'POST /api/user/logout': signOut,

  async 'GET /api/user/self'(context) {
    const { db } = context.app
    const user = await findUser(db, requireCaller(context).id)
    const organisations = await organisationsShown(db, user)
    return { ...presentUser(user), default_password: context.mustChangePassword, organisations }
  },

  async 'PUT /api/user/self'(context, { body }) {
    await changeSelf(context.app, requireCaller(context), body, context.sessionToken)
    return null
  },

  'GET /api/user/token': (context) => makeAccessToken(context.app, { userId: requireCaller(context).id }),
  'POST /api/user/token': (context) => makeAccessToken(context.app, { userId: requireCaller(context).id }),

  'GET /api/user/self/groups': (context) => usableGroups(context.app.options.current, payerOf(context).group),

  'GET /api/user/groups'({ app: { options } }) {
    if (!options.current.PricingPublicEnabled) fail('prices_for_members')
    return usableGroups(options.current, '')
  },

  'GET /api/user/models'(context) {
    const groups = Object.keys(usableGroups(context.app.options.current, payerOf(context).group))
    return listedModels(context.app, groups)
  },

  'GET /api/user/model_ends'(context) {
    const { app } = context
    const groups = Object.keys(usableGroups(app.options.current, payerOf(context).group))
    return endsOfModels(app.channels.current, listedModels(app, groups))
  },

  'GET /api/group/': (context) => Object.keys(context.app.options.current.GroupRatio),
}

/** Sets the session cookie of the browser, and ends an earlier session. */
export async function setLoginSession(context: Context, { token, user }: SignedIn): Promise<SignedInUser> {
  if (context.sessionToken) await context.app.sessions.end(context.sessionToken)
  context.setSession(token)
  return { ...user, organisations: await organisationsShown(context.app.db, user) }
}

async function signOut(context: Context): Promise<null> {
  if (context.sessionToken) await context.app.sessions.end(context.sessionToken)
  context.clearSession()
  return null
}
