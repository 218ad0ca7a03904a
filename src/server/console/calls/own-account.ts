import type { Handlers } from '../../../contract/route.ts'
import type { ownAccountRoutes } from '../../../contract/routes/own-account.ts'
import { dropAccessToken } from '../../people/accounts/access-tokens.ts'
import { bindEmail } from '../../people/accounts/bind-email.ts'
import { testNotice } from '../../people/accounts/notices.ts'
import { reauthenticate } from '../../people/accounts/reauthenticate.ts'
import { deleteAccount } from '../../people/accounts/remove-user.ts'
import { saveSetting } from '../../people/accounts/save-setting.ts'
import { findUser } from '../../people/accounts/users.ts'
import { type Context, requireCaller } from './context.ts'

const saved = { zh: '设置已更新', en: 'The settings are saved' }

export const ownAccountHandlers: Handlers<typeof ownAccountRoutes, Context> = {
  async 'DELETE /api/user/self'(context) {
    await deleteAccount(context.app, requireCaller(context), context.sessionToken)
    context.clearSession()
    return null
  },

  async 'POST /api/user/verify'(context, { body }) {
    await reauthenticate(context.app, requireCaller(context), { ...body, sessionToken: context.sessionToken })
    return null
  },

  async 'PUT /api/user/setting'(context, { body }) {
    await saveSetting(context.app, requireCaller(context), { input: body, language: context.language })
    return { data: null, extra: { message: saved[context.language] } }
  },

  async 'POST /api/user/setting/test'(context) {
    await testNotice(context.app, requireCaller(context), context.language)
    return null
  },

  'GET /api/oauth/email/bind': (context, { query }) => bind(context, query),
  'POST /api/oauth/email/bind': (context, { body }) => bind(context, body),

  async 'GET /api/user/aff'(context) {
    return (await findUser(context.app.db, requireCaller(context).id)).aff_code
  },

  'GET /api/user/sessions': (context) => context.app.sessions.list(requireCaller(context).id, context.sessionToken),

  async 'DELETE /api/user/sessions'(context, { query: { all } }) {
    await context.app.sessions.endAll(requireCaller(context).id, all ? '' : context.sessionToken)
    if (all) context.clearSession()
    return null
  },

  async 'DELETE /api/user/sessions/:id'(context, { params }) {
    await context.app.sessions.endOne(requireCaller(context).id, params.id)
    return null
  },

  async 'DELETE /api/user/token'(context) {
    await dropAccessToken(context.app, requireCaller(context).id)
    return null
  },
}

async function bind(context: Context, { email, code }: { email: string; code: string }): Promise<null> {
  const { app, language, sessionToken } = context
  await bindEmail(app, requireCaller(context), { email, code, language, sessionToken })
  return null
}
