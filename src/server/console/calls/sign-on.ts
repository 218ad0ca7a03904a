import type { Handlers } from '../../../contract/route.ts'
import type { signOnRoutes } from '../../../contract/routes/sign-on.ts'
import { requireRecentLogin } from '../../people/accounts/reauthenticate.ts'
import { createScimToken, deleteScimToken } from '../../people/organisations/scim/token.ts'
import { setRules } from '../../people/organisations/sign-on/apply-rules.ts'
import { confirmDomain, setDomains } from '../../people/organisations/sign-on/domains.ts'
import { finishSignOn, startSignOn } from '../../people/organisations/sign-on/login.ts'
import { offersSignOn, readSignOn, setSignOn } from '../../people/organisations/sign-on/settings.ts'
import { type Context, requireBrowser, requireCaller, requireOrganisation } from './context.ts'
import { setLoginSession } from './session.ts'

export const signOnHandlers: Handlers<typeof signOnRoutes, Context> = {
  async 'GET /api/sso/'(context) {
    return { offered: await offersSignOn(context.app) }
  },
  async 'POST /api/sso/'(context, { body: { login } }) {
    return { url: await startSignOn(context.app, { login, browserToken: requireBrowser(context) }) }
  },
  async 'POST /api/sso/callback'(context, { body: { organisation_id: organisationId, code, state } }) {
    return setLoginSession(context, await finishSignOn(context.app, { ...context, organisationId, code, state }))
  },

  'GET /api/organisation/:id/sign-on': (context) => shown(context),
  async 'PUT /api/organisation/:id/sign-on'(context, { body }) {
    await requireRecentLogin(context.app, context.sessionToken)
    await setSignOn(context.app, requireCaller(context), requireOrganisation(context), body)
    return shown(context)
  },
  async 'PUT /api/organisation/:id/sign-on/domains'(context, { body: { domains } }) {
    await setDomains(context.app, requireCaller(context), requireOrganisation(context), domains)
    return shown(context)
  },
  async 'POST /api/organisation/:id/sign-on/domains'(context, { body }) {
    await confirmDomain(context.app, requireCaller(context), requireOrganisation(context), body)
    return shown(context)
  },
  async 'PUT /api/organisation/:id/sign-on/rules'(context, { body: { rules } }) {
    await setRules(context.app, requireCaller(context), requireOrganisation(context), rules)
    return shown(context)
  },
  async 'POST /api/organisation/:id/scim'(context) {
    await requireRecentLogin(context.app, context.sessionToken)
    const token = await createScimToken(context.app, requireCaller(context), requireOrganisation(context))
    return { token, url: (await shown(context)).scim_url }
  },
  async 'DELETE /api/organisation/:id/scim'(context) {
    await deleteScimToken(context.app, requireCaller(context), requireOrganisation(context))
    return shown(context)
  },
}

const shown = (context: Context) => readSignOn(context.app, requireOrganisation(context))
