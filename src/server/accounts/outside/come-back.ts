import { hash } from 'node:crypto'
import { type OutsideProvider, outsideProvider, type VisitedProvider } from '../../../contract/entities/outside-account.ts'
import type { Language } from '../../../contract/text.ts'
import { fail } from '../../lib/failure.ts'
import { newSecret } from '../../lib/ids.ts'
import type { Caller } from '../../options/core.ts'
import type { Arrival, SignedIn } from '../enter.ts'
import { keepStep, type Step, takeStep } from '../login-steps.ts'
import { requireFresh } from '../step-up.ts'
import { bindOutside } from './bindings.ts'
import { github } from './github.ts'
import { enterByOutside } from './join.ts'
import { linuxdo } from './linuxdo.ts'
import { requireOffered } from './offered.ts'
import { oidc } from './oidc.ts'
import { type OutsideAccounts, returnAddress, type VisitedWay } from './visit.ts'

/** A login or a binding that leads over the page of a provider: how it begins, and what is made of it when the browser comes back. */

const ways: Readonly<Record<VisitedProvider, VisitedWay>> = { github, linuxdo, oidc }
const stateMinutes = 10

export interface Start {
  /** Absent where the client makes the address of the provider's page itself. */
  readonly provider?: OutsideProvider | undefined
  readonly affCode: string
  /** Who binds; absent for a login. */
  readonly binder?: { readonly caller: Caller; readonly sessionToken: string | undefined } | undefined
  readonly browserToken: string
}

/**
 * Begins a visit: a state that is good once, for ten minutes, in this browser or session alone, and the address to go to, '' where there
 * is none. A binding needs a fresh login. Throws `outside_off`, `outside_failed`, `fresh_login_required`.
 */
export async function startVisit(
  accounts: OutsideAccounts,
  { provider, affCode, binder, browserToken }: Start,
): Promise<{ state: string; url: string }> {
  if (provider) requireOffered(accounts.options.current, provider)
  if (binder) await requireFresh(accounts, binder.sessionToken)

  const state = newSecret()
  const way = provider && wayOf(provider)
  const verifier = way ? newSecret() : ''
  const nonce = provider === 'oidc' ? newSecret() : ''
  await keepStep(accounts, {
    kind: 'state',
    token: state,
    boundTo: binder?.sessionToken ?? browserToken,
    userId: binder?.caller.id ?? 0,
    detail: { provider: provider ?? '', verifier, nonce, affCode },
    minutes: stateMinutes,
  })
  if (!way) return { state, url: '' }
  const returnTo = returnAddress(accounts.options.current, way.name)
  return { state, url: await way.authorizeUrl(accounts, { state, challenge: challengeOf(verifier), nonce, returnTo }) }
}

export interface ComeBack extends Arrival {
  readonly provider: VisitedProvider
  readonly code: string
  readonly state: string
  readonly caller: Caller | undefined
  readonly sessionToken: string | undefined
  readonly browserToken: string | undefined
  readonly language: Language
}

/**
 * Ends a visit: signs in, registers, or binds when it was begun for that. Throws `outside_off`, `outside_state_invalid`,
 * `outside_failed` and what `enterByOutside` and `bindOutside` throw.
 */
export async function comeBack(accounts: OutsideAccounts, given: ComeBack): Promise<SignedIn | 'bound'> {
  const { provider, code } = given
  requireOffered(accounts.options.current, provider)
  const { userId, detail } = await takeState(accounts, given, provider)
  if (code === '') fail('outside_failed')

  const returnTo = returnAddress(accounts.options.current, provider)
  const kept = { verifier: detail.verifier ?? '', nonce: detail.nonce ?? '' }
  const profile = await ways[provider].identify(accounts, { code, returnTo, ...kept })
  if (userId === 0) return enterByOutside(accounts, { ...given, profile, affCode: detail.affCode ?? '' })
  if (given.caller?.id !== userId) return fail('outside_state_invalid')
  await bindOutside(accounts, given.caller, { provider, profile })
  return 'bound'
}

/** What was kept for the state; it is good for nobody else, no other provider, and never again. Throws `outside_state_invalid`. */
export async function takeState(
  accounts: OutsideAccounts,
  { state, sessionToken, browserToken }: Pick<ComeBack, 'state' | 'sessionToken' | 'browserToken'>,
  provider: OutsideProvider,
): Promise<Step> {
  const holders = [sessionToken, browserToken].filter((token) => token !== undefined)
  const step = state === '' ? undefined : await takeStep(accounts, { kind: 'state', token: state }, holders)
  // A client that made the address itself could not give a nonce along.
  const fits = step && (step.detail.provider === provider || (step.detail.provider === '' && provider !== 'oidc'))
  return fits ? step : fail('outside_state_invalid')
}

function wayOf(provider: OutsideProvider): (VisitedWay & { name: VisitedProvider }) | undefined {
  const name = outsideProvider.exclude(['wechat', 'telegram']).safeParse(provider).data
  return name && { ...ways[name], name }
}

function challengeOf(verifier: string): string {
  return hash('sha256', verifier, 'base64url')
}
