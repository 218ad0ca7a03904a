import type { QueryClient } from '@tanstack/react-query'
import type { Organisation } from '../../contract/entities/organisation.ts'
import { type OrganisationCaller, organisationAccess, organisationHeader } from '../../contract/organisation-roles.ts'
import type { Line } from '../../contract/routes/index.ts'
import { rolesOf } from './payer-lines.ts'
import { tabJson } from './stored.ts'

/**
 * Who pays for what this tab shows and makes: the signed-in user, which is null, or an organisation that the user calls for. While an
 * organisation pays, the console is as its members see it, for an admin of the site too.
 */
export type Payer = Pick<Organisation, 'id' | 'name' | 'role' | 'member_id' | 'group'>

const payer = tabJson<Payer | null>('payer', null, isPayer)

function isPayer(value: unknown): value is Payer {
  return typeof value === 'object' && value !== null && 'id' in value && typeof value.id === 'number' && 'role' in value
}

export const currentPayer = payer.read
export const usePayer = payer.use
export const forgetPayer = (): void => payer.write(undefined)

/** The part of an organisation that a tab remembers. */
export function rememberPayer({ id, name, role, member_id, group }: Payer): void {
  payer.write({ id, name, role, member_id, group })
}

/** Makes another account pay in this tab, and loads again what is shown of it. */
export async function switchPayer(client: QueryClient, next: Payer | null): Promise<void> {
  if (next) rememberPayer(next)
  else forgetPayer()
  await client.resetQueries({ predicate: ({ queryKey: [line] }) => rolesOf(String(line)) !== undefined })
}

/** The header that names the paying organisation, for calls that take it. */
export function payerHeaders(line: string): Record<string, string> {
  const paying = currentPayer()
  return paying && rolesOf(line) ? { [organisationHeader]: String(paying.id) } : {}
}

/** Whether the paying account may be called for by this line; a personal account always. */
export function useMayCall(line: Line): boolean {
  const role = usePayer()?.role
  return role === undefined || isAmong(rolesOf(line), role)
}

/** Whether the caller decides about everything below the organisation. */
export function managesAll({ role }: Pick<Payer, 'role'>): boolean {
  return isAmong(organisationAccess.managers, role)
}

/** Whether the payer's role is among these; a screen without roles is about neither the user nor an organisation. */
export function isAmong(roles: readonly OrganisationCaller[] | undefined, role: OrganisationCaller): boolean {
  return roles?.includes(role) ?? false
}
