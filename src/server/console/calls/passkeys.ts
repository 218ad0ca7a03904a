import type { Handlers } from '../../../contract/route.ts'
import type { passkeyRoutes } from '../../../contract/routes/passkeys.ts'
import { fail } from '../../base/lib/failure.ts'
import { openSession } from '../../people/accounts/complete-login.ts'
import {
  addPasskey,
  askForPasskey,
  beginPasskey,
  removePasskey,
  renamePasskey,
  requirePasskey,
} from '../../people/accounts/passkeys.ts'
import { requireRecentLogin } from '../../people/accounts/reauthenticate.ts'
import { sendSecurityNotice } from '../../people/accounts/security-notice.ts'
import { type Context, requireBrowser, requireCaller } from './context.ts'
import { setLoginSession } from './session.ts'

export const passkeyHandlers: Handlers<typeof passkeyRoutes, Context> = {
  async 'POST /api/user/passkey/options'(context) {
    await requireRecentLogin(context.app, context.sessionToken)
    return beginPasskey(context.app, requireCaller(context), sessionOf(context))
  },

  async 'POST /api/user/passkey'(context, { body }) {
    const { app, language } = context
    const caller = requireCaller(context)
    const passkey = await addPasskey(app, caller, { ...body, sessionToken: sessionOf(context) })
    sendSecurityNotice(app, { id: caller.id, language }, 'passkeyAdded', { name: passkey.name })
    return passkey
  },

  'PUT /api/user/passkey/:id': (context, { params, body }) =>
    renamePasskey(context.app, requireCaller(context), { ...params, ...body }),

  async 'DELETE /api/user/passkey/:id'(context, { params }) {
    const { app, language, sessionToken } = context
    const caller = requireCaller(context)
    await requireRecentLogin(app, sessionToken)
    await removePasskey(app, caller, params.id)
    sendSecurityNotice(app, { id: caller.id, language }, 'passkeyRemoved')
    return null
  },

  'POST /api/user/login/passkey/options': (context) =>
    askForPasskey(context.app, { kind: 'passkey-login', token: requireBrowser(context) }),

  async 'POST /api/user/login/passkey'(context, { body: { answer } }) {
    const { app, language, browserToken: token = fail('passkey_refused') } = context
    const user = await requirePasskey(app, { kind: 'passkey-login', token, answer, language })
    return setLoginSession(context, await openSession(app, user, context))
  },

  'POST /api/user/verify/passkey/options': (context) =>
    askForPasskey(context.app, { kind: 'passkey-verify', token: sessionOf(context), userId: requireCaller(context).id }),

  async 'POST /api/user/verify/passkey'(context, { body: { answer } }) {
    const { app, language } = context
    const token = sessionOf(context)
    await requirePasskey(app, { kind: 'passkey-verify', token, userId: requireCaller(context).id, answer, language })
    await app.sessions.prove(token)
    return null
  },
}

/** An access token does not prove identity, so that it cannot create passkeys. */
function sessionOf({ sessionToken }: Context): string {
  return sessionToken ?? fail('fresh_login_required')
}
