import { fail } from '../../../base/lib/failure.ts'
import {
  type AuthorizationRequest,
  type AuthorizationResponse,
  authorizationQuery,
  codeForm,
  type IdentityParts,
  type OAuthFlow,
  withQuery,
} from './oauth-provider.ts'
import type { OidcProvider } from './oidc-keys.ts'
import { basicAuth, type ProviderAnswer, requireText, textOf } from './read-profile.ts'

const subjectLengthMax = 255

/** This site as a client of an OpenID provider. */
export interface OidcClient {
  readonly provider: OidcProvider
  readonly clientId: string
  readonly secret: string
  readonly scope: string
  /** Scopes that are asked for where the provider offers them. */
  readonly scopesIfOffered?: readonly string[]
  /** Whether the claims that the provider keeps out of the ID token are read too. */
  readonly readsUserInfo?: boolean
}

/** The address of the provider's login page for one authorization request. Throws `outside_failed`. */
export async function oidcAuthorizeUrl(
  { oidcKeys }: IdentityParts,
  { provider, clientId, scope, scopesIfOffered = [] }: Omit<OidcClient, 'secret'>,
  request: AuthorizationRequest,
): Promise<string> {
  const site = await oidcKeys.site(provider)
  const scopes = [scope, ...scopesIfOffered.filter((each) => site.scopes.includes(each))].join(' ')
  return withQuery(site.authorize, { ...authorizationQuery(clientId, request), scope: scopes, nonce: request.nonce })
}

/**
 * Exchanges a code for the verified claims of its ID token. `subject` has the issuer in it, so that the same subject at another
 * provider is another person. Throws `outside_failed`.
 */
export async function oidcIdentify(
  { oidcKeys, providers }: IdentityParts,
  { provider, clientId, secret, readsUserInfo = false }: Omit<OidcClient, 'scope'>,
  given: AuthorizationResponse,
): Promise<{ readonly subject: string; readonly issuer: string; readonly claims: ProviderAnswer }> {
  const site = await oidcKeys.site(provider)
  const form = codeForm(given)
  const { isUntrusted } = provider
  const answer = await providers.call(
    site.secretInForm
      ? { url: site.token, isUntrusted, form: { ...form, client_id: clientId, client_secret: secret } }
      : { url: site.token, isUntrusted, form, headers: { authorization: basicAuth(clientId, secret) } },
  )
  const idToken = requireText(answer, 'id_token', 64 * 1024)
  const claims = await oidcKeys.verify(site, { idToken, clientId, nonce: given.nonce })
  const sub = requireText(claims, 'sub', subjectLengthMax)
  const told = readsUserInfo && site.userInfo !== '' ? await readUserInfo({ providers }, site, { answer, sub }) : {}
  return { subject: `${site.issuer} ${sub}`, issuer: site.issuer, claims: { ...told, ...claims } }
}

/** Throws `outside_failed`, also for the claims of another person. */
async function readUserInfo(
  { providers }: Pick<IdentityParts, 'providers'>,
  { userInfo: url, isUntrusted }: { readonly userInfo: string; readonly isUntrusted: boolean },
  { answer, sub }: { readonly answer: ProviderAnswer; readonly sub: string },
): Promise<ProviderAnswer> {
  const headers = { authorization: `Bearer ${requireText(answer, 'access_token', 64 * 1024)}` }
  const told = await providers.call({ url, isUntrusted, headers })
  return textOf(told, 'sub') === sub ? told : fail('outside_failed', {}, { detail: 'user info of another subject' })
}

/** The OpenID provider of the site, by its discovery document. */
export const oidc: OAuthFlow = {
  authorizeUrl({ options, identity }, request) {
    const { 'oidc.well_known': address, 'oidc.client_id': clientId } = options.current
    return oidcAuthorizeUrl(identity, { provider: { address, isUntrusted: false }, clientId, scope: 'openid profile' }, request)
  },

  async identify({ options, identity }, given) {
    const { 'oidc.well_known': address, 'oidc.client_id': clientId, 'oidc.client_secret': secret } = options.current
    const { subject, claims } = await oidcIdentify(
      identity,
      { provider: { address, isUntrusted: false }, clientId, secret },
      given,
    )
    const username = textOf(claims, 'preferred_username')
    return { subject, name: textOf(claims, 'name') || username, username }
  },
}
