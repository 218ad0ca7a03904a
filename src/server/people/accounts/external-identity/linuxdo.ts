import { fail } from '../../../base/lib/failure.ts'
import { authorizationQuery, codeForm, type OAuthFlow, withQuery } from './oauth-provider.ts'
import { basicAuth, numericId, requireText, textOf } from './read-profile.ts'

/** Matched by the numeric id. Accounts that the forum has closed are refused. */
export const linuxdo: OAuthFlow = {
  async authorizeUrl({ options, identity }, request) {
    return withQuery(identity.providers.endpoints.linuxdo.authorize, authorizationQuery(options.current.LinuxDOClientId, request))
  },

  async identify({ options, identity: { providers } }, given) {
    const { LinuxDOClientId: id, LinuxDOClientSecret: secret } = options.current
    const answer = await providers.call({
      url: providers.endpoints.linuxdo.token,
      headers: { authorization: basicAuth(id, secret) },
      form: codeForm(given),
    })
    const user = await providers.call({
      url: providers.endpoints.linuxdo.user,
      headers: { authorization: `Bearer ${requireText(answer, 'access_token')}` },
    })
    if (user.active === false) fail('outside_failed', {}, { detail: 'the account is not active' })
    return { subject: numericId(user), name: textOf(user, 'name') || textOf(user, 'username') }
  },
}
