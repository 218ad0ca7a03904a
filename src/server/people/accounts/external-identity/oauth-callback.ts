import { type IdentityProvider, identityProvider, type OAuthProvider } from '../../../../contract/entities/external-identity.ts'
import type { Language } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { Caller } from '../../../base/options/core.ts'
import type { LoginClient, SignedIn } from '../complete-login.ts'
import { requireRecentLogin } from '../reauthenticate.ts'
import { bindIdentity } from './bindings.ts'
import { requireProviderEnabled } from './enabled-providers.ts'
import { github } from './github.ts'
import { linuxdo } from './linuxdo.ts'
import { type IdentityAccounts, type OAuthFlow, redirectUri } from './oauth-provider.ts'
import { keptOf, storeState, takeState } from './oauth-state.ts'
import { oidc } from './oidc.ts'
import { loginByIdentity } from './sign-up.ts'

/** A login or a binding by OAuth: its start, and the callback when the provider has redirected the browser back. */

const oauthFlows: Readonly<Record<OAuthProvider, OAuthFlow>> = { github, linuxdo, oidc }

interface OAuthStart {
  /** Absent when the client builds the authorization URL itself. */
  readonly provider?: IdentityProvider | undefined
  readonly affCode: string
  /** The user that binds an identity; absent for a login. */
  readonly binder?: { readonly caller: Caller; readonly sessionToken: string | undefined } | undefined
  readonly browserToken: string
}

/**
 * Starts OAuth: a state that is valid once, for ten minutes, in this browser or session only, and the authorization URL ('' without
 * a provider). A binding needs a fresh login. Throws `outside_off`, `outside_failed`, `fresh_login_required`.
 */
export async function startOAuth(
  accounts: IdentityAccounts,
  { provider, affCode, binder, browserToken }: OAuthStart,
): Promise<{ state: string; url: string }> {
  if (provider) requireProviderEnabled(accounts.options.current, provider)
  if (binder) await requireRecentLogin(accounts, binder.sessionToken)

  const way = provider && oauthFlowOf(provider)
  const { state, challenge, nonce } = await storeState(accounts, {
    provider: provider ?? '',
    boundTo: binder?.sessionToken ?? browserToken,
    userId: binder?.caller.id ?? 0,
    affCode,
    hasNonce: provider === 'oidc',
  })
  if (!way) return { state, url: '' }
  const returnTo = redirectUri(accounts.options.current, way.name)
  return { state, url: await way.authorizeUrl(accounts, { state, challenge, nonce, redirectUri: returnTo }) }
}

interface OAuthCallback extends LoginClient {
  readonly provider: OAuthProvider
  readonly code: string
  readonly state: string
  readonly caller: Caller | undefined
  readonly sessionToken: string | undefined
  readonly browserToken: string | undefined
  readonly language: Language
}

/**
 * Handles the callback: signs in, signs up, or binds, depending on the purpose for which OAuth was started. Throws `outside_off`,
 * `outside_state_invalid`, `outside_failed` and what `loginByIdentity` and `bindIdentity` throw.
 */
export async function handleCallback(accounts: IdentityAccounts, given: OAuthCallback): Promise<SignedIn | 'bound'> {
  const { provider, code } = given
  requireProviderEnabled(accounts.options.current, provider)
  const step = await takeState(accounts, given, provider)
  const { userId, detail } = step
  if (code === '') fail('outside_failed')

  const returnTo = redirectUri(accounts.options.current, provider)
  const profile = await oauthFlows[provider].identify(accounts, { code, redirectUri: returnTo, ...keptOf(step) })
  if (userId === 0) return loginByIdentity(accounts, { ...given, profile, affCode: detail.affCode ?? '' })
  if (given.caller?.id !== userId) return fail('outside_state_invalid')
  await bindIdentity(accounts, given.caller, { provider, profile })
  return 'bound'
}

function oauthFlowOf(provider: IdentityProvider): (OAuthFlow & { name: OAuthProvider }) | undefined {
  const name = identityProvider.exclude(['wechat', 'telegram']).safeParse(provider).data
  return name && { ...oauthFlows[name], name }
}
