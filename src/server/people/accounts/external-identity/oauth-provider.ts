import type { OAuthProvider } from '../../../../contract/entities/external-identity.ts'
import type { OptionValues } from '../../../../contract/options/index.ts'
import type { Core } from '../../../base/options/core.ts'
import type { Accounts } from '../sign-in.ts'
import type { ProviderClient } from './endpoints.ts'
import type { OidcKeys } from './oidc-keys.ts'

/** A person at a provider: an id that is never reassigned, and a display name that may change. */
export interface Profile {
  readonly subject: string
  readonly name: string
  /** The user name that the provider's directory prefers, if it has one that an account may take. */
  readonly username?: string
}

/** The parts that external identities need besides those of accounts. */
export interface IdentityParts {
  readonly providers: ProviderClient
  readonly oidcKeys: OidcKeys
}

export type IdentityAccounts = Accounts & { readonly identity: IdentityParts }

/** The parts of a call to a provider. */
export type IdentityCore = Core & { readonly identity: IdentityParts }

/** The authorization request of RFC 6749: the query parameters of the provider's page. */
export interface AuthorizationRequest {
  readonly state: string
  /** PKCE, RFC 7636. Providers that do not support it ignore it. */
  readonly challenge: string
  readonly nonce: string
  /** Built from the saved server address, never from the Host header; '' leaves it to the URI registered at the provider. */
  readonly redirectUri: string
}

/** The code with which the browser came to the redirect URI, and the stored OAuth start. */
export interface AuthorizationResponse {
  readonly code: string
  /** The PKCE verifier; '' when a client began the login without PKCE. */
  readonly verifier: string
  readonly nonce: string
  readonly redirectUri: string
}

/** The authorization code flow of one provider. Both functions throw `outside_failed`. */
export interface OAuthFlow {
  authorizeUrl(core: IdentityCore, request: AuthorizationRequest): Promise<string>
  /** Exchanges the code for a token, and reads the profile with it. */
  identify(core: IdentityCore, response: AuthorizationResponse): Promise<Profile>
}

/** The redirect URI: the page of this site that the provider sends the browser to. */
export function redirectUri({ ServerAddress }: Pick<OptionValues, 'ServerAddress'>, provider: OAuthProvider): string {
  return ServerAddress === '' ? '' : `${ServerAddress}/oauth/${provider}`
}

export function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) if (value !== '') address.searchParams.set(name, value)
  return address.href
}

/** Parameter names of RFC 6749 and 7636. */
export function authorizationQuery(
  clientId: string,
  { state, challenge, redirectUri: returnTo }: AuthorizationRequest,
): Record<string, string> {
  return {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: returnTo,
    state,
    code_challenge: challenge,
    code_challenge_method: challenge === '' ? '' : 'S256',
  }
}

export function codeForm({ code, verifier, redirectUri: returnTo }: AuthorizationResponse): Record<string, string> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: returnTo, code_verifier: verifier }
  return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''))
}
