import type { OutsideProvider, TelegramFields, VisitedProvider } from '../../contract/entities/outside-account.ts'
import type { SignedInUser } from '../../contract/entities/user.ts'
import type { Handlers } from '../../contract/route.ts'
import type { outsideRoutes } from '../../contract/routes/outside.ts'
import { bindOutside, listBindings, unbindOutside } from '../accounts/outside/bindings.ts'
import { comeBack, startVisit, takeState } from '../accounts/outside/come-back.ts'
import { enterByOutside } from '../accounts/outside/join.ts'
import { requireOffered } from '../accounts/outside/offered.ts'
import { identifyTelegram } from '../accounts/outside/telegram.ts'
import type { Profile } from '../accounts/outside/visit.ts'
import { identifyWechat } from '../accounts/outside/wechat.ts'
import { requireFresh } from '../accounts/step-up.ts'
import { namesOf, tellOwner } from '../accounts/tell-owner.ts'
import { type Context, requireBrowser, requireCaller } from './context.ts'
import { completeLogin } from './session.ts'

export const outsideHandlers: Handlers<typeof outsideRoutes, Context> = {
  async 'GET /api/oauth/state'(context, { query: { aff } }) {
    const { caller, sessionToken } = context
    const binder = caller && { caller, sessionToken }
    return (await startVisit(context.app, { affCode: aff, binder, browserToken: requireBrowser(context) })).state
  },

  'POST /api/oauth/state': (context, { body: { provider, aff } }) =>
    startVisit(context.app, { provider, affCode: aff, browserToken: requireBrowser(context) }),

  'GET /api/oauth/github': (context, { query }) => back(context, 'github', query),
  'POST /api/oauth/github': (context, { body }) => back(context, 'github', body),
  'GET /api/oauth/linuxdo': (context, { query }) => back(context, 'linuxdo', query),
  'POST /api/oauth/linuxdo': (context, { body }) => back(context, 'linuxdo', body),
  'GET /api/oauth/oidc': (context, { query }) => back(context, 'oidc', query),
  'POST /api/oauth/oidc': (context, { body }) => back(context, 'oidc', body),

  'GET /api/oauth/wechat': (context, { query }) => enterByWechat(context, query),
  'POST /api/oauth/wechat': (context, { body }) => enterByWechat(context, body),
  'GET /api/oauth/wechat/bind': (context, { query }) => bindWechat(context, query.code),
  'POST /api/oauth/wechat/bind': (context, { body }) => bindWechat(context, body.code),

  'GET /api/oauth/telegram/login': (context, { query }) => enterByTelegram(context, query),
  async 'POST /api/oauth/telegram/login'(context, { body: { state, ...fields } }) {
    await takeState(context.app, { ...context, state }, 'telegram')
    return enterByTelegram(context, fields)
  },
  'GET /api/oauth/telegram/bind': (context, { query }) => bindTelegram(context, query),
  async 'POST /api/oauth/telegram/bind'(context, { body: { state, ...fields } }) {
    // First, or a visit would be used up in vain.
    await requireFresh(context.app, context.sessionToken)
    await takeState(context.app, { ...context, state }, 'telegram')
    return bindTelegram(context, fields)
  },

  'GET /api/user/binding': (context) => listBindings(context.app, requireCaller(context).id),

  'POST /api/user/binding': (context, { body: { provider } }) => {
    const binder = { caller: requireCaller(context), sessionToken: context.sessionToken }
    return startVisit(context.app, { provider, affCode: '', binder, browserToken: '' })
  },

  async 'DELETE /api/user/binding/:provider'(context, { params: { provider } }) {
    await requireFresh(context.app, context.sessionToken)
    await unbindOutside(context.app, requireCaller(context), provider)
    tell(context, 'outsideUnbound', provider)
    return null
  },
}

async function back(context: Context, provider: VisitedProvider, { code, state }: { code: string; state: string }) {
  const came = await comeBack(context.app, { ...context, provider, code, state })
  if (came === 'bound') {
    tell(context, 'outsideBound', provider)
    return { data: null, extra: { message: 'bind' } }
  }
  return { data: await completeLogin(context, came), extra: { message: '' } }
}

async function enterByWechat(context: Context, { code, aff }: { code: string; aff: string }): Promise<SignedInUser> {
  requireOffered(context.app.options.current, 'wechat')
  return enterBy(context, 'wechat', { profile: await identifyWechat(context.app, code), affCode: aff })
}

async function bindWechat(context: Context, code: string): Promise<null> {
  requireOffered(context.app.options.current, 'wechat')
  await requireFresh(context.app, context.sessionToken)
  return bind(context, 'wechat', await identifyWechat(context.app, code))
}

async function enterByTelegram(context: Context, fields: TelegramFields): Promise<SignedInUser> {
  requireOffered(context.app.options.current, 'telegram')
  return enterBy(context, 'telegram', { profile: await identifyTelegram(context.app, fields), affCode: '' })
}

async function bindTelegram(context: Context, fields: TelegramFields): Promise<null> {
  requireOffered(context.app.options.current, 'telegram')
  await requireFresh(context.app, context.sessionToken)
  return bind(context, 'telegram', await identifyTelegram(context.app, fields))
}

async function enterBy(
  context: Context,
  provider: OutsideProvider,
  who: { profile: Profile; affCode: string },
): Promise<SignedInUser> {
  return completeLogin(context, await enterByOutside(context.app, { ...context, provider, ...who }))
}

async function bind(context: Context, provider: OutsideProvider, profile: Profile): Promise<null> {
  await bindOutside(context.app, requireCaller(context), { provider, profile })
  tell(context, 'outsideBound', provider)
  return null
}

function tell(context: Context, change: 'outsideBound' | 'outsideUnbound', provider: OutsideProvider): void {
  tellOwner(context.app, { id: requireCaller(context).id, language: context.language }, change, namesOf(provider))
}
