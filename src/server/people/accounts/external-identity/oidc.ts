import { authorizationQuery, codeForm, type OAuthFlow, withQuery } from './oauth-provider.ts'
import { basicAuth, requireText, textOf } from './read-profile.ts'

const subjectLengthMax = 255

/**
 * Any OpenID provider, by its discovery document. Matched by issuer and subject, so that the same subject at another provider is
 * another person.
 */
export const oidc: OAuthFlow = {
  async authorizeUrl({ options, identity }, request) {
    const { 'oidc.well_known': address, 'oidc.client_id': clientId } = options.current
    const site = await identity.oidcKeys.site(address)
    return withQuery(site.authorize, { ...authorizationQuery(clientId, request), scope: 'openid profile', nonce: request.nonce })
  },

  async identify({ options, identity: { oidcKeys, providers } }, given) {
    const { 'oidc.well_known': address, 'oidc.client_id': clientId, 'oidc.client_secret': secret } = options.current
    const site = await oidcKeys.site(address)
    const form = codeForm(given)
    const answer = await providers.call(
      site.secretInForm
        ? { url: site.token, form: { ...form, client_id: clientId, client_secret: secret } }
        : { url: site.token, form, headers: { authorization: basicAuth(clientId, secret) } },
    )
    const idToken = requireText(answer, 'id_token', 64 * 1024)
    const claims = await oidcKeys.verify(site, { idToken, clientId, nonce: given.nonce })
    const subject = requireText(claims, 'sub', subjectLengthMax)
    const username = textOf(claims, 'preferred_username')
    return { subject: `${site.issuer} ${subject}`, name: textOf(claims, 'name') || username, username }
  },
}
