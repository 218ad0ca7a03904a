import { authorizationQuery, codeForm, type OAuthFlow, withQuery } from './oauth-provider.ts'
import { numericId, requireText, textOf } from './read-profile.ts'

/**
 * Matched by the numeric id: login names are released and reused by others. The public profile is enough, so that no scope is
 * requested.
 */
export const github: OAuthFlow = {
  async authorizeUrl({ options, identity }, request) {
    return withQuery(identity.providers.endpoints.github.authorize, authorizationQuery(options.current.GitHubClientId, request))
  },

  async identify({ options, identity: { providers } }, given) {
    const { GitHubClientId: client_id, GitHubClientSecret: client_secret } = options.current
    const answer = await providers.call({
      url: providers.endpoints.github.token,
      form: { client_id, client_secret, ...codeForm(given) },
    })
    const user = await providers.call({
      url: providers.endpoints.github.user,
      headers: { authorization: `Bearer ${requireText(answer, 'access_token')}` },
    })
    return { subject: numericId(user), name: textOf(user, 'name') || textOf(user, 'login') }
  },
}
