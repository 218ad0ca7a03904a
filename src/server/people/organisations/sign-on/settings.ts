import type { SignOn, SignOnInput } from '../../../../contract/entities/sign-on.ts'
import type { Queries } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { change } from '../../../base/options/change.ts'
import type { Caller, Core } from '../../../base/options/core.ts'
import type { IdentityParts } from '../../accounts/external-identity/oauth-provider.ts'
import type { OidcClient } from '../../accounts/external-identity/oidc.ts'
import { lockOrganisation, type Membership } from '../membership.ts'

/**
 * How the people of an organisation sign in. This folder owns `organisation_sign_on`, `organisation_domains` and `directory_*`; what
 * links a person to a directory, and which rule wins, is in docs/decisions/0058-signing-in-to-organisations.md.
 */

type SignOnRow = Row<'organisation_sign_on'>

/** What owners see of it: never the secret, nor the token of SCIM. */
export async function readSignOn(core: Core, { payer }: Pick<Membership, 'payer'>): Promise<SignOn> {
  const { db } = core
  const row = await findRow(db, payer.id)
  const domains = await db.selectFrom('organisation_domains').selectAll().where('organisation_id', '=', payer.id).execute()
  const rules = await db.selectFrom('directory_rules').selectAll().where('organisation_id', '=', payer.id).orderBy('id').execute()
  const { ServerAddress: site } = core.options.current
  return {
    is_enabled: row?.is_enabled === 1,
    issuer: row?.issuer ?? '',
    client_id: row?.client_id ?? '',
    has_secret: (row?.secret_sealed ?? '') !== '',
    group_claim: row?.group_claim ?? '',
    creates_accounts: row?.creates_accounts === 1,
    is_only_way: row?.is_only_way === 1,
    redirect_uri: signOnRedirectUri(core, payer.id),
    login_url: site === '' ? '' : `${site}/sso/${encodeURIComponent(payer.username.slice(1))}`,
    domains: domains
      .map(({ domain, confirmed_at }) => ({ domain, is_confirmed: confirmed_at > 0 }))
      .toSorted((one, other) => (one.domain < other.domain ? -1 : 1)),
    rules: rules.map(({ directory_group, role, team_id, is_manager }) => ({
      directory_group,
      // Only `setRules` writes them.
      role: role as SignOn['rules'][number]['role'],
      team_id,
      is_manager: is_manager === 1,
    })),
    scim_url: site === '' ? '' : `${site}${scimPath}`,
    scim_created_at: row?.scim_created_at ?? 0,
    scim_used_at: row?.scim_used_at ?? 0,
  }
}

export const scimPath = '/scim/v2'

/**
 * The page of this site to which the provider of an organisation sends the browser; '' while the site has no address. It names the
 * organisation, so that the code of one provider never reaches another.
 */
export function signOnRedirectUri({ options }: Pick<Core, 'options'>, organisationId: number): string {
  const { ServerAddress: site } = options.current
  return site === '' ? '' : `${site}/oauth/sso/${organisationId}`
}

function findRow(db: Queries, organisationId: number): Promise<SignOnRow | undefined> {
  return db.selectFrom('organisation_sign_on').selectAll().where('organisation_id', '=', organisationId).executeTakeFirst()
}

/**
 * Sets the provider. It is asked for its configuration first, so that a wrong issuer is noticed here. Throws `sign_on_incomplete`,
 * `sign_on_provider`.
 */
export async function setSignOn(
  core: Core & { readonly identity: IdentityParts },
  caller: Caller,
  { payer }: Membership,
  { client_secret, ...input }: SignOnInput,
): Promise<void> {
  const before = await findRow(core.db, payer.id)
  const hasSecret = client_secret === undefined ? (before?.secret_sealed ?? '') !== '' : client_secret !== ''
  const isComplete = input.issuer !== '' && input.client_id !== '' && hasSecret && signOnRedirectUri(core, payer.id) !== ''
  if (input.is_enabled && !isComplete) fail('sign_on_incomplete')
  if (input.is_enabled) await requireProvider(core, input.issuer)

  await change(core, caller, async (within, audit) => {
    await lockOrganisation(core, within, payer.id)
    const values = {
      issuer: input.issuer,
      client_id: input.client_id,
      group_claim: input.group_claim,
      is_enabled: Number(input.is_enabled),
      creates_accounts: Number(input.creates_accounts),
      is_only_way: Number(input.is_only_way),
      ...(client_secret === undefined ? {} : { secret_sealed: sealed(core, payer.id, client_secret) }),
    }
    await within
      .insertInto('organisation_sign_on')
      .values({ organisation_id: payer.id, ...values })
      .onConflict((conflict) => conflict.column('organisation_id').doUpdateSet(values))
      .execute()
    const told = { ...input, ...(client_secret === undefined ? {} : { secret: client_secret === '' ? 'removed' : 'set' }) }
    audit({ action: 'organisation.sign-on', target: `organisation:${payer.id}`, before: toldOf(before), after: told })
  })
}

async function requireProvider({ identity }: { identity: IdentityParts }, issuer: string): Promise<void> {
  await identity.oidcKeys.site({ address: issuer, isUntrusted: true }).catch((error: unknown) => {
    if (error instanceof AppError) fail('sign_on_provider', { issuer }, { detail: error.detail })
    throw error
  })
}

function toldOf(row: SignOnRow | undefined): object {
  if (!row) return {}
  const { issuer, client_id, group_claim, is_enabled, creates_accounts, is_only_way } = row
  return {
    issuer,
    client_id,
    group_claim,
    is_enabled: is_enabled === 1,
    creates_accounts: creates_accounts === 1,
    is_only_way: is_only_way === 1,
  }
}

function sealed({ secrets }: Core, organisationId: number, secret: string): string {
  return secret === '' ? '' : secrets.seal(secret, placeOf(organisationId))
}

function placeOf(organisationId: number) {
  return { table: 'organisation_sign_on', column: 'secret_sealed', row: organisationId }
}

/** An organisation with a login of its own. */
export interface SignOnProvider {
  readonly organisationId: number
  readonly client: OidcClient
  readonly groupClaim: string
  readonly createsAccounts: boolean
}

/** The enabled login of an organisation. Throws `sign_on_unknown`. */
export async function requireSignOn(core: Core, organisationId: number): Promise<SignOnProvider> {
  const row = await core.db
    .selectFrom('organisation_sign_on')
    .innerJoin('users', 'users.id', 'organisation_sign_on.organisation_id')
    .selectAll('organisation_sign_on')
    .where('organisation_id', '=', organisationId)
    .where('is_enabled', '=', 1)
    .where('users.deleted_at', 'is', null)
    .executeTakeFirst()
  if (!row || signOnRedirectUri(core, organisationId) === '') return fail('sign_on_unknown')
  return {
    organisationId,
    client: {
      provider: { address: row.issuer, isUntrusted: true },
      clientId: row.client_id,
      secret: row.secret_sealed === '' ? '' : core.secrets.open(row.secret_sealed, placeOf(organisationId)),
      scope: 'openid profile email',
      readsUserInfo: true,
      scopesIfOffered: row.group_claim === '' ? [] : ['groups'],
    },
    groupClaim: row.group_claim,
    createsAccounts: row.creates_accounts === 1,
  }
}

/** Whether any organisation has a login of its own: then the login page shows it. */
export async function offersSignOn({ db }: Pick<Core, 'db'>): Promise<boolean> {
  const found = await db
    .selectFrom('organisation_sign_on')
    .innerJoin('users', 'users.id', 'organisation_sign_on.organisation_id')
    .select('organisation_id')
    .where('is_enabled', '=', 1)
    .where('users.deleted_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
