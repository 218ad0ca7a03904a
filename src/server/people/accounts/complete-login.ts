import type { SignedInUser } from '../../../contract/entities/user.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import { newSecret } from '../../base/lib/secrets/ids.ts'
import type { Core } from '../../base/options/core.ts'
import { lockUser } from './lock-user.ts'
import { consumeStep, storeStep, tryStep } from './login-steps.ts'
import { requireWayIn } from './require-way-in.ts'
import type { Sessions } from './sessions.ts'
import { hasTwoFactor, requireSecondFactor } from './two-factor.ts'
import { type Account, findUser, isActive } from './users.ts'

type Parts = Core & { readonly sessions: Sessions }

/** The client of a login, for any login method. */
export interface LoginClient {
  readonly address: string
  readonly userAgent: string
  /** The organisation whose directory has signed the user in; absent for the personal login. */
  readonly organisationId?: number | undefined
  /** Sets the token with which the browser continues, when a second factor is required. */
  keepBrowser?(token: string): void
}

export interface SignedIn {
  readonly token: string
  readonly user: SignedInUser
}

/** The time limit of the second factor. */
const secondFactorMinutes = 5

/**
 * Completes a login after the first factor. If the user has a second one, the browser is partially logged in: it may present that
 * factor and nothing else. Throws `second_factor_required`, and what `openSession` throws.
 */
export async function completeLogin(parts: Parts, user: Row<'users'>, client: LoginClient): Promise<SignedIn> {
  if (!(await hasTwoFactor(parts.db, user.id))) return openSession(parts, user, client)
  // A new token for each login, so that it cannot have been planted before.
  const token = newSecret()
  await storeStep(parts, {
    kind: 'second',
    token,
    boundTo: token,
    userId: user.id,
    detail: { organisation: String(client.organisationId ?? '') },
    minutes: secondFactorMinutes,
  })
  client.keepBrowser?.(token)
  return fail('second_factor_required')
}

/**
 * Completes a login with the second factor: a code of the authenticator app, or a backup code. Throws `second_factor_wrong`,
 * `login_throttled`, and `login_step_lost` when it took too long, after five wrong codes, and in a browser that did not begin the login.
 */
export async function completeWithSecondFactor(
  parts: Parts,
  { code, browserToken, ...client }: LoginClient & { readonly code: string; readonly browserToken: string | undefined },
): Promise<SignedIn> {
  const name = { kind: 'second', token: browserToken ?? '' } as const
  const tried = browserToken === undefined ? undefined : await tryStep(parts, name)
  if (!tried) return fail('login_step_lost')

  const user = await findUser(parts.db, tried.userId).catch(() => fail('login_step_lost'))
  if (!isActive(user)) fail('login_step_lost')
  await requireSecondFactor(parts, user, code)
  // A ban or a new password in between has deleted the step.
  if (!(await consumeStep(parts, name, [name.token]))) fail('login_step_lost')
  const { organisation = '' } = tried.detail
  return openSession(parts, user, { ...client, organisationId: organisation === '' ? undefined : Number(organisation) })
}

/**
 * Creates the session after all factors, for the user as read before they were checked. A password that was changed since has ended all
 * sessions and ends this login too: throws `login_step_lost`, and what `requireWayIn` throws.
 */
export async function openSession(
  parts: Parts,
  user: Row<'users'>,
  { address, userAgent, organisationId }: LoginClient,
): Promise<SignedIn> {
  const token = await parts.db.transaction().execute(async (within) => {
    // Who switches a user off locks the row too, and ends the sessions that are there then.
    const { password_hash } = await lockUser(parts, within, user.id)
    if (password_hash !== user.password_hash) fail('login_step_lost')
    await requireWayIn(within, user, organisationId)
    return parts.sessions.create({ userId: user.id, address, userAgent }, within)
  })
  return { token, user: presentSignedIn(user) }
}

function presentSignedIn(user: Account): SignedInUser {
  const { id, username, display_name, role, status, group } = user
  return { id, username, display_name, role, status, group, default_password: user.must_change_password === 1 }
}
