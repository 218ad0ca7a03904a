import { hash } from 'node:crypto'
import { type IdentityProvider, identityProvider, type OAuthProvider } from '../../../../contract/entities/external-identity.ts'
import type { Language } from '../../../../contract/text.ts'
import { fail } from '../../../base/lib/failure.ts'
import { newSecret } from '../../../base/lib/secrets/ids.ts'
import type { Caller } from '../../../base/options/core.ts'
import type { LoginClient, SignedIn } from '../complete-login.ts'
import { consumeStep, type Step, storeStep } from '../login-steps.ts'
import { requireRecentLogin } from '../reauthenticate.ts'
import { bindIdentity } from './bindings.ts'
import { requireProviderEnabled } from './enabled-providers.ts'
import { github } from './github.ts'
import { linuxdo } from './linuxdo.ts'
import { type IdentityAccounts, type OAuthFlow, redirectUri } from './oauth-provider.ts'
import { oidc } from './oidc.ts'
import { loginByIdentity } from './sign-up.ts'

/** A login or a binding by OAuth: its start, and the callback when the provider has redirected the browser back. */

const oauthFlows: Readonly<Record<OAuthProvider, OAuthFlow>> = { github, linuxdo, oidc }
const stateMinutes = 10

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

  const state = newSecret()
  const way = provider && oauthFlowOf(provider)
  const verifier = way ? newSecret() : ''
  const nonce = provider === 'oidc' ? newSecret() : ''
  await storeStep(accounts, {
    kind: 'state',
    token: state,
    boundTo: binder?.sessionToken ?? browserToken,
    userId: binder?.caller.id ?? 0,
    detail: { provider: provider ?? '', verifier, nonce, affCode },
    minutes: stateMinutes,
  })
  if (!way) return { state, url: '' }
  const returnTo = redirectUri(accounts.options.current, way.name)
  return {
    state,
    url: await way.authorizeUrl(accounts, { state, challenge: challengeOf(verifier), nonce, redirectUri: returnTo }),
  }
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
  const { userId, detail } = await takeState(accounts, given, provider)
  if (code === '') fail('outside_failed')

  const returnTo = redirectUri(accounts.options.current, provider)
  const kept = { verifier: detail.verifier ?? '', nonce: detail.nonce ?? '' }
  const profile = await oauthFlows[provider].identify(accounts, { code, redirectUri: returnTo, ...kept })
  if (userId === 0) return loginByIdentity(accounts, { ...given, profile, affCode: detail.affCode ?? '' })
  if (given.caller?.id !== userId) return fail('outside_state_invalid')
  await bindIdentity(accounts, given.caller, { provider, profile })
  return 'bound'
}

/** The stored OAuth start of a state, bound to the browser and the provider and consumed by this call. Throws `outside_state_invalid`. */
export async function takeState(
  accounts: IdentityAccounts,
  { state, sessionToken, browserToken }: Pick<OAuthCallback, 'state' | 'sessionToken' | 'browserToken'>,
  provider: IdentityProvider,
): Promise<Step> {
  const holders = [sessionToken, browserToken].filter((token) => token !== undefined)
  const step = state === '' ? undefined : await consumeStep(accounts, { kind: 'state', token: state }, holders)
  // A client that built the authorization URL itself could not include the nonce.
  const fits = step && (step.detail.provider === provider || (step.detail.provider === '' && provider !== 'oidc'))
  return fits ? step : fail('outside_state_invalid')
}

function oauthFlowOf(provider: IdentityProvider): (OAuthFlow & { name: OAuthProvider }) | undefined {
  const name = identityProvider.exclude(['wechat', 'telegram']).safeParse(provider).data
  return name && { ...oauthFlows[name], name }
}

function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url')
}
