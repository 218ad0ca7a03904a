import type { IdentityProvider, OAuthProvider, TelegramFields } from '../../../contract/entities/external-identity.ts'
import type { SignedInUser } from '../../../contract/entities/user.ts'
import type { Handlers } from '../../../contract/route.ts'
import type { externalIdentityRoutes } from '../../../contract/routes/external-identity.ts'
import { bindIdentity, listBindings, unbindIdentity } from '../../people/accounts/external-identity/bindings.ts'
import { requireProviderEnabled } from '../../people/accounts/external-identity/enabled-providers.ts'
import { handleCallback, startOAuth } from '../../people/accounts/external-identity/oauth-callback.ts'
import type { Profile } from '../../people/accounts/external-identity/oauth-provider.ts'
import { takeState } from '../../people/accounts/external-identity/oauth-state.ts'
import { loginByIdentity } from '../../people/accounts/external-identity/sign-up.ts'
import { identifyTelegram } from '../../people/accounts/external-identity/telegram.ts'
import { identifyWechat } from '../../people/accounts/external-identity/wechat.ts'
import { requireRecentLogin } from '../../people/accounts/reauthenticate.ts'
import { namesOf, sendSecurityNotice } from '../../people/accounts/security-notice.ts'
import { type Context, requireBrowser, requireCaller } from './context.ts'
import { setLoginSession } from './session.ts'

export const externalIdentityHandlers: Handlers<typeof externalIdentityRoutes, Context> = {
  async 'GET /api/oauth/state'(context, { query: { aff } }) {
    const { caller, sessionToken } = context
    const binder = caller && { caller, sessionToken }
    return (await startOAuth(context.app, { affCode: aff, binder, browserToken: requireBrowser(context) })).state
  },

  'POST /api/oauth/state': (context, { body: { provider, aff } }) =>
    startOAuth(context.app, { provider, affCode: aff, browserToken: requireBrowser(context) }),

  'GET /api/oauth/github': (context, { query }) => callback(context, 'github', query),
  'POST /api/oauth/github': (context, { body }) => callback(context, 'github', body),
  'GET /api/oauth/linuxdo': (context, { query }) => callback(context, 'linuxdo', query),
  'POST /api/oauth/linuxdo': (context, { body }) => callback(context, 'linuxdo', body),
  'GET /api/oauth/oidc': (context, { query }) => callback(context, 'oidc', query),
  'POST /api/oauth/oidc': (context, { body }) => callback(context, 'oidc', body),

  'GET /api/oauth/wechat': (context, { query }) => loginByWechat(context, query),
  'POST /api/oauth/wechat': (context, { body }) => loginByWechat(context, body),
  'GET /api/oauth/wechat/bind': (context, { query }) => bindWechat(context, query.code),
  'POST /api/oauth/wechat/bind': (context, { body }) => bindWechat(context, body.code),

  'GET /api/oauth/telegram/login': (context, { query }) => loginByTelegram(context, query),
  async 'POST /api/oauth/telegram/login'(context, { body: { state, ...fields } }) {
    await takeState(context.app, { ...context, state }, 'telegram')
    return loginByTelegram(context, fields)
  },
  'GET /api/oauth/telegram/bind': (context, { query }) => bindTelegram(context, query),
  async 'POST /api/oauth/telegram/bind'(context, { body: { state, ...fields } }) {
    // First, so that a refused request does not use up the state.
    await requireRecentLogin(context.app, context.sessionToken)
    await takeState(context.app, { ...context, state }, 'telegram')
    return bindTelegram(context, fields)
  },

  'GET /api/user/binding': (context) => listBindings(context.app, requireCaller(context).id),

  'POST /api/user/binding': (context, { body: { provider } }) => {
    const binder = { caller: requireCaller(context), sessionToken: context.sessionToken }
    return startOAuth(context.app, { provider, affCode: '', binder, browserToken: '' })
  },

  async 'DELETE /api/user/binding/:provider'(context, { params: { provider } }) {
    await requireRecentLogin(context.app, context.sessionToken)
    await unbindIdentity(context.app, requireCaller(context), provider)
    tell(context, 'outsideUnbound', provider)
    return null
  },
}

async function callback(context: Context, provider: OAuthProvider, { code, state }: { code: string; state: string }) {
  const result = await handleCallback(context.app, { ...context, provider, code, state })
  if (result === 'bound') {
    tell(context, 'outsideBound', provider)
    return { data: null, extra: { message: 'bind' } }
  }
  return { data: await setLoginSession(context, result), extra: { message: '' } }
}

async function loginByWechat(context: Context, { code, aff }: { code: string; aff: string }): Promise<SignedInUser> {
  requireProviderEnabled(context.app.options.current, 'wechat')
  return loginBy(context, 'wechat', { profile: await identifyWechat(context.app, code), affCode: aff })
}

async function bindWechat(context: Context, code: string): Promise<null> {
  requireProviderEnabled(context.app.options.current, 'wechat')
  await requireRecentLogin(context.app, context.sessionToken)
  return bind(context, 'wechat', await identifyWechat(context.app, code))
}

async function loginByTelegram(context: Context, fields: TelegramFields): Promise<SignedInUser> {
  requireProviderEnabled(context.app.options.current, 'telegram')
  return loginBy(context, 'telegram', { profile: await identifyTelegram(context.app, fields), affCode: '' })
}

async function bindTelegram(context: Context, fields: TelegramFields): Promise<null> {
  requireProviderEnabled(context.app.options.current, 'telegram')
  await requireRecentLogin(context.app, context.sessionToken)
  return bind(context, 'telegram', await identifyTelegram(context.app, fields))
}

async function loginBy(
  context: Context,
  provider: IdentityProvider,
  who: { profile: Profile; affCode: string },
): Promise<SignedInUser> {
  return setLoginSession(context, await loginByIdentity(context.app, { ...context, provider, ...who }))
}

async function bind(context: Context, provider: IdentityProvider, profile: Profile): Promise<null> {
  await bindIdentity(context.app, requireCaller(context), { provider, profile })
  tell(context, 'outsideBound', provider)
  return null
}

function tell(context: Context, change: 'outsideBound' | 'outsideUnbound', provider: IdentityProvider): void {
  sendSecurityNotice(context.app, { id: requireCaller(context).id, language: context.language }, change, namesOf(provider))
}
