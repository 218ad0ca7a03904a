import { hash } from 'node:crypto'
import { fail } from '../../../base/lib/failure.ts'
import { newSecret } from '../../../base/lib/secrets/ids.ts'
import type { Core } from '../../../base/options/core.ts'
import { consumeStep, type Step, storeStep } from '../login-steps.ts'

/** The stored start of an authorization: a state that is valid once, for ten minutes, in this browser or session only. */

const stateMinutes = 10

interface NewState {
  /** Where the browser is sent; '' when the client builds the authorization URL itself, then without PKCE. */
  readonly provider: string
  /** The token of the browser or session that may come back. */
  readonly boundTo: string
  /** The user that binds an identity; 0 for a login. */
  readonly userId: number
  readonly affCode: string
  readonly hasNonce: boolean
}

/** Stores a state, and returns what the authorization request sends of it. */
export async function storeState(
  core: Core,
  { provider, boundTo, userId, affCode, hasNonce }: NewState,
): Promise<{ state: string; challenge: string; nonce: string }> {
  const state = newSecret()
  const verifier = provider === '' ? '' : newSecret()
  const nonce = hasNonce ? newSecret() : ''
  const detail = { provider, verifier, nonce, affCode }
  await storeStep(core, { kind: 'state', token: state, boundTo, userId, detail, minutes: stateMinutes })
  return { state, challenge: hash('sha256', verifier, 'base64url'), nonce }
}

/** Providers whose authorization URL a client may build itself: it could not include a nonce. */
const withoutNonce = ['github', 'linuxdo', 'wechat', 'telegram']

/** The stored state, bound to the browser and the provider and consumed by this call. Throws `outside_state_invalid`. */
export async function takeState(
  core: Core,
  { state, sessionToken, browserToken }: { state: string; sessionToken: string | undefined; browserToken: string | undefined },
  provider: string,
): Promise<Step> {
  const holders = [sessionToken, browserToken].filter((token) => token !== undefined)
  const step = state === '' ? undefined : await consumeStep(core, { kind: 'state', token: state }, holders)
  const isUnnamed = step?.detail.provider === '' && withoutNonce.includes(provider)
  return step && (step.detail.provider === provider || isUnnamed) ? step : fail('outside_state_invalid')
}

/** What the exchange of the code needs of a stored state. */
export function keptOf({ detail }: Step): { readonly verifier: string; readonly nonce: string } {
  return { verifier: detail.verifier ?? '', nonce: detail.nonce ?? '' }
}
