import type { Queries } from '../../../base/db/open.ts'
import { newSecret } from '../../../base/lib/secrets/ids.ts'
import { sha256 } from '../../../base/lib/secrets/secrets.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import { lockOrganisation, type Membership } from '../membership.ts'

/** The token with which the directory of an organisation calls SCIM. Only its hash is stored. */

const usedEverySeconds = 60

/** Replaces the token. Returns the new one, which cannot be read again. */
export async function createScimToken(core: Core, caller: Caller, { payer }: Membership): Promise<string> {
  const token = newSecret()
  await replace(core, caller, { organisationId: payer.id, hash: sha256(token) })
  return token
}

export function deleteScimToken(core: Core, caller: Caller, { payer }: Membership): Promise<void> {
  return replace(core, caller, { organisationId: payer.id, hash: null })
}

async function replace(
  core: Core,
  caller: Caller,
  { organisationId, hash }: { organisationId: number; hash: string | null },
): Promise<void> {
  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, organisationId)
    const values = { scim_hash: hash, scim_created_at: hash === null ? 0 : seconds(core.now()), scim_used_at: 0 }
    await within
      .insertInto('organisation_sign_on')
      .values({ organisation_id: organisationId, ...values })
      .onConflict((conflict) => conflict.column('organisation_id').doUpdateSet(values))
      .execute()
    const after = { token: hash === null ? 'removed' : 'set' }
    audit({ action: 'organisation.scim', target: `organisation:${organisationId}`, after })
  })
}

/** The organisation of a token; undefined for an unknown one, and for one of an organisation that was closed. */
export async function findScimOrganisation(core: Core, token: string): Promise<number | undefined> {
  const row = await findByHash(core.db, sha256(token))
  if (!row) return undefined
  const now = seconds(core.now())
  if (now - row.scim_used_at >= usedEverySeconds)
    await core.db
      .updateTable('organisation_sign_on')
      .set({ scim_used_at: now })
      .where('organisation_id', '=', row.organisation_id)
      .execute()
  return row.organisation_id
}

function findByHash(db: Queries, hash: string) {
  return db
    .selectFrom('organisation_sign_on')
    .innerJoin('users', 'users.id', 'organisation_sign_on.organisation_id')
    .select(['organisation_id', 'scim_used_at'])
    .where('scim_hash', '=', hash)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst()
}
