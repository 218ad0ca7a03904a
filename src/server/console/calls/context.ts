import type { Language } from '../../../contract/text.ts'
import { fail } from '../../base/lib/failure.ts'
import { newSecret } from '../../base/lib/secrets/ids.ts'
import type { Caller } from '../../base/options/core.ts'
import { type Membership, managesAll, type Payer, type Reach, reachOf } from '../../people/organisations/membership.ts'
import { tokensInReach } from '../../people/tokens/tokens.ts'
import type { App } from '../../watch/parts.ts'

/** The context of a console call for its handler. */
export interface Context {
  readonly app: App
  /** The caller. On public routes present when the caller is signed in. */
  readonly caller: Caller | undefined
  /** The organisation that the call is for, with the caller's role in it; undefined for a personal call. */
  readonly organisation: Membership | undefined
  /** Whether the caller still uses the well-known default password, or one that somebody else has set. */
  readonly mustChangePassword: boolean
  /** Token of the live session of the caller; calls with an access token have none. */
  readonly sessionToken: string | undefined
  /** Identifies the browser during a login of several steps. */
  readonly browserToken: string | undefined
  readonly address: string
  readonly userAgent: string
  /** The payment provider's signature of the body; '' if absent. */
  readonly signature: string
  readonly language: Language
  readonly requestId: string
  /** The line of the route, as the contract names it. */
  readonly route: string
  /** Aborted when the connection of the caller closes. */
  readonly disconnected: AbortSignal
  setSession(token: string): void
  clearSession(): void
  /** Sets a short-lived cookie with a token that continues the login. */
  keepBrowser(token: string): void
  /** Sets `X-Total-Count`: the number of all rows, for a page that is a bare array. */
  setTotal(rows: number): void
}

/** The token of the browser, which is created if absent, and valid for some minutes from now. */
export function requireBrowser(context: Context): string {
  const token = context.browserToken ?? newSecret()
  context.keepBrowser(token)
  return token
}

/** The caller, on routes that are not public, where it always exists. */
export function requireCaller(context: Context): Caller {
  return context.caller ?? fail('not_signed_in')
}

/** The organisation of the path, on routes that have one. */
export function requireOrganisation({ organisation }: Context): Membership {
  return organisation ?? fail('not_found')
}

/** The account that a call is about: that of the organisation it is for, else the caller's own. */
export function payerOf(context: Context): Pick<Payer, 'id' | 'username' | 'group'> {
  return context.organisation?.payer ?? requireCaller(context)
}

/** Who is credited for a payment or a code: the organisation, in a call for one. */
export function payingCaller(context: Context): Caller {
  const { id, username, group } = payerOf(context)
  return { ...requireCaller(context), id, username, group }
}

/** Whose tokens a call may be about. */
export async function ownerOf(context: Context): Promise<{ userId: number; reach?: Reach }> {
  const { organisation, app } = context
  if (!organisation) return { userId: requireCaller(context).id }
  return { userId: organisation.payer.id, reach: await reachOf(app.db, organisation) }
}

/** The filter for rows of the log that a call may be about: of an organisation, a member sees those of the tokens within reach. */
export async function logOwnerOf(context: Context): Promise<{ userId: number; tokenIds?: readonly number[] }> {
  const { organisation, app } = context
  if (!organisation) return { userId: requireCaller(context).id }
  const userId = organisation.payer.id
  if (managesAll(organisation) || organisation.role === 'billing') return { userId }
  return { userId, tokenIds: await tokensInReach(app.db, { userId, reach: await reachOf(app.db, organisation) }) }
}

/** A page of a list, or its rows alone, with the number of all rows in a header, for scripts that do not ask for pages. */
export function listed<Item>(
  { setTotal }: Context,
  { items, total }: { items: Item[]; total: number },
  { isPaged, page, size }: { readonly isPaged: boolean | undefined; readonly page: number; readonly size: number },
) {
  if (isPaged) return { items, total, page, page_size: size }
  setTotal(total)
  return items
}
