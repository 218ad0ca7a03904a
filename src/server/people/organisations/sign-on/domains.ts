import { isUniqueViolation } from '../../../base/db/failures.ts'
import type { Queries, Within } from '../../../base/db/open.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { canonicalEmail, mailDomain } from '../../accounts/email-address.ts'
import { lockOrganisation, type Membership } from '../membership.ts'

/**
 * Mail domains of organisations. An owner names them, and an admin of the site confirms them: whoever holds a domain may sign in as the
 * owner of any address in it.
 */

/** Sets the domains; those that stay keep their confirmation. Throws `domain_invalid`. */
export async function setDomains(core: Core, caller: Caller, { payer }: Membership, given: readonly string[]): Promise<void> {
  const domains = [...new Set(given.map((domain) => mailDomain(domain) ?? fail('domain_invalid', { domain })))]
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    const before = await domainsOf(within, payer.id)
    const gone = before.filter((domain) => !domains.includes(domain))
    const fresh = domains.filter((domain) => !before.includes(domain))
    if (gone.length === 0 && fresh.length === 0) return
    if (gone.length > 0)
      await within
        .deleteFrom('organisation_domains')
        .where('organisation_id', '=', payer.id)
        .where('domain', 'in', gone)
        .execute()
    await forgetLogins(within, payer.id, gone)
    const row = { organisation_id: payer.id, created_at: seconds(core.now()) }
    if (fresh.length > 0)
      await within
        .insertInto('organisation_domains')
        .values(fresh.map((domain) => ({ ...row, domain })))
        .execute()
    audit({ action: 'organisation.domains', target: `organisation:${payer.id}`, before, after: domains })
  })
}

/** Confirms a domain, as an admin of the site, or takes that back. Throws `not_found`, `domain_taken`. */
export async function confirmDomain(
  core: Core,
  caller: Caller,
  { payer }: Membership,
  { domain, is_confirmed }: { domain: string; is_confirmed: boolean },
): Promise<void> {
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    const changed = await within
      .updateTable('organisation_domains')
      .set({ confirmed_at: is_confirmed ? seconds(core.now()) : 0 })
      .where('organisation_id', '=', payer.id)
      .where('domain', '=', mailDomain(domain) ?? '')
      .returning('domain')
      .executeTakeFirst()
      .catch((error: unknown) => {
        if (isUniqueViolation(error)) fail('domain_taken', { domain }, { cause: error })
        throw error
      })
    const told = { domain: (changed ?? fail('not_found')).domain, is_confirmed }
    if (!is_confirmed) await forgetLogins(within, payer.id, [told.domain])
    audit({ action: 'organisation.domains', target: `organisation:${payer.id}`, after: told })
  })
}

/**
 * The provider of an organisation no longer signs in the users of addresses whose domain is not that of the organisation, unless it has
 * created their accounts.
 */
async function forgetLogins(within: Within, organisationId: number, domains: readonly string[]): Promise<void> {
  for (const domain of domains)
    await within
      .updateTable('directory_people')
      .set({ subject: '' })
      .where('organisation_id', '=', organisationId)
      .where('came_by_it', '=', 0)
      .where('user_id', 'in', (row) => row.selectFrom('users').select('id').where('email', 'like', `%@${domain}`))
      .execute()
}

async function domainsOf(db: Queries, organisationId: number): Promise<string[]> {
  const rows = db.selectFrom('organisation_domains').select('domain').where('organisation_id', '=', organisationId)
  return (await rows.orderBy('domain').execute()).map(({ domain }) => domain)
}

/** The canonical form of an address whose domain is confirmed for the organisation; undefined for any other. */
export async function confirmedAddress(db: Queries, organisationId: number, given: string): Promise<string | undefined> {
  const email = canonicalEmail(given)
  if (email === undefined) return undefined
  return (await confirmedBy(db, email)) === organisationId ? email : undefined
}

/** The organisation for which the domain of an address is confirmed. */
export async function confirmedBy(db: Queries, email: string): Promise<number | undefined> {
  const found = await db
    .selectFrom('organisation_domains')
    .select('organisation_id')
    .where('domain', '=', email.slice(email.lastIndexOf('@') + 1))
    .where('confirmed_at', '>', 0)
    .executeTakeFirst()
  return found?.organisation_id
}
