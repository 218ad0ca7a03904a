import type { VisitedProvider } from '../../../contract/entities/outside-account.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import type { Core } from '../../options/core.ts'
import type { Accounts } from '../sign-in.ts'
import type { OidcKeys } from './oidc-keys.ts'
import type { Peers } from './peers.ts'

/** Who somebody is at a provider: an id that never changes hands, and how they are called, which may change any time. */
export interface Profile {
  readonly subject: string
  readonly name: string
}

/** What the ways of outside accounts need beside those of accounts. */
export interface OutsideParts {
  readonly peers: Peers
  readonly oidcKeys: OidcKeys
}

export type OutsideAccounts = Accounts & { readonly outside: OutsideParts }

/** The parts of a call to a provider. */
export type OutsideCore = Core & { readonly outside: OutsideParts }

/** What a visit to the provider's page is asked for. */
export interface Visit {
  readonly state: string
  /** PKCE, RFC 7636. Providers that do not know it pass over it. */
  readonly challenge: string
  readonly nonce: string
  /** Of the saved server address, whatever host a request names; '' leaves it to what is registered at the provider. */
  readonly returnTo: string
}

/** What a browser came back with, and what was kept for it. */
export interface Return {
  readonly code: string
  /** '' when the visit was begun by a client that cannot do PKCE. */
  readonly verifier: string
  readonly nonce: string
  readonly returnTo: string
}

/** One provider that browsers are sent to. Both throw `outside_failed`. */
export interface VisitedWay {
  authorizeUrl(core: OutsideCore, visit: Visit): Promise<string>
  /** Turns the code into the person, by calls from here. */
  identify(core: OutsideCore, given: Return): Promise<Profile>
}

/** The page of ours that the provider sends the browser back to. */
export function returnAddress({ ServerAddress }: Pick<OptionValues, 'ServerAddress'>, provider: VisitedProvider): string {
  return ServerAddress === '' ? '' : `${ServerAddress}/oauth/${provider}`
}

export function withQuery(url: string, query: Readonly<Record<string, string>>): string {
  const address = new URL(url)
  for (const [name, value] of Object.entries(query)) if (value !== '') address.searchParams.set(name, value)
  return address.href
}

/** What RFC 6749 and 7636 call the parameters. */
export function visitQuery(clientId: string, { state, challenge, returnTo }: Visit): Record<string, string> {
  return {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: returnTo,
    state,
    code_challenge: challenge,
    code_challenge_method: challenge === '' ? '' : 'S256',
  }
}

export function codeForm({ code, verifier, returnTo }: Return): Record<string, string> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: returnTo, code_verifier: verifier }
  return Object.fromEntries(Object.entries(form).filter(([, value]) => value !== ''))
}
