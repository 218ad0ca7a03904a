import type { Handlers } from '../../../contract/route.ts'
import type { optionRoutes } from '../../../contract/routes/options.ts'
import { presentOptions, presentSecrets } from '../../base/options/present.ts'
import { testMail } from '../../people/accounts/notices.ts'
import { type Context, requireCaller } from './context.ts'

/** Compatible consoles show the message of a reset unchanged. */
const ratiosReset = { zh: '重置模型倍率成功', en: 'Model ratios reset' }

export const optionHandlers: Handlers<typeof optionRoutes, Context> = {
  'GET /api/option/': ({ app }) => presentOptions(app.options.current),

  'GET /api/option/secrets': ({ app }) => presentSecrets(app.options.current),

  async 'PUT /api/option/'(context, { body: { key, value, confirmed } }) {
    await context.app.options.save({ key, value, confirmed, caller: requireCaller(context) })
    return null
  },

  async 'POST /api/option/test_mail'({ app, language }, { body }) {
    await testMail(app, { email: body.email, language })
    return null
  },

  async 'POST /api/option/rest_model_ratio'(context) {
    await context.app.options.reset('ModelRatio', requireCaller(context))
    return { data: null, extra: { message: ratiosReset[context.language] } }
  },
}
