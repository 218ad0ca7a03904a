import type { FastifyRequest } from 'fastify'
import { organisationHeader } from '../../../contract/organisation-roles.ts'
import type { Route } from '../../../contract/route.ts'
import { fail } from '../../base/lib/failure.ts'
import type { Caller } from '../../base/options/core.ts'
import { findMembership, type Membership } from '../../people/organisations/membership.ts'
import { isSuspended } from '../../people/organisations/organisations.ts'
import type { App } from '../../watch/parts.ts'

/** The lines whose path names the organisation. */
const organisationPath = '/api/organisation/:id'

/**
 * The organisation that a call is for, and the caller's role in it: of the path, else of the header; undefined for a personal call.
 * Throws `not_found` for strangers, `organisation_role`, `organisation_suspended`, and `payer_refused` for a header that the
 * route does not take.
 */
export async function organisationOf(
  { db }: Pick<App, 'db'>,
  { line, route, request }: { line: string; route: Route; request: FastifyRequest },
  account: Pick<Caller, 'id' | 'role'> | undefined,
): Promise<Membership | undefined> {
  const isInPath = line.includes(` ${organisationPath}`)
  const named = isInPath ? idIn(request.params) : request.headers[organisationHeader]
  if (named === undefined || !account || route.access === 'public') return undefined
  if (!route.roles) return fail('payer_refused')
  return requireMembership({ db }, { account, organisation: String(named), route, isInPath })
}

/** The same for a call that names the organisation in its body. */
export async function requireMembership(
  { db }: Pick<App, 'db'>,
  {
    account,
    organisation,
    route,
    isInPath = false,
  }: { account: { id: number; role: number }; organisation: string; route: Pick<Route, 'roles'>; isInPath?: boolean },
): Promise<Membership> {
  const id = /^[1-9]\d{0,14}$/.test(organisation) ? Number(organisation) : 0
  const membership = await findMembership(db, account, id)
  if (!membership) return fail('not_found')
  if (!route.roles?.includes(membership.role)) fail('organisation_role')
  if (isSuspended(membership.payer) && membership.role !== 'operator' && !isInPath) fail('organisation_suspended')
  return membership
}

/** Undefined for an id that the schema of the route refuses. */
function idIn(params: unknown): string | undefined {
  const id = typeof params === 'object' && params !== null && 'id' in params ? String(params.id) : ''
  return /^[1-9]\d{0,14}$/.test(id) ? id : undefined
}
