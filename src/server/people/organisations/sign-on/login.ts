import { isAdmin } from '../../../../contract/roles.ts'
import type { Queries } from '../../../base/db/open.ts'
import type { Row } from '../../../base/db/schema.ts'
import { isObject } from '../../../base/lib/bytes/read-json.ts'
import { fail } from '../../../base/lib/failure.ts'
import { seconds } from '../../../base/lib/time/clock.ts'
import { change } from '../../../base/options/change.ts'
import { completeLogin, type LoginClient, type SignedIn } from '../../accounts/complete-login.ts'
import { canonicalEmail } from '../../accounts/email-address.ts'
import { withFreeName } from '../../accounts/external-identity/new-account.ts'
import { type IdentityAccounts, withQuery } from '../../accounts/external-identity/oauth-provider.ts'
import { keptOf, storeState, takeState } from '../../accounts/external-identity/oauth-state.ts'
import { oidcAuthorizeUrl, oidcIdentify } from '../../accounts/external-identity/oidc.ts'
import { type ProviderAnswer, textOf } from '../../accounts/external-identity/read-profile.ts'
import { usernameKey } from '../../accounts/usernames.ts'
import { accountKind, findByEmail, isActive } from '../../accounts/users.ts'
import { confirmedAddress, confirmedBy } from './domains.ts'
import { addPerson, applyToPerson, type Directory, lockDirectory, type Person, peopleIn, switchOn } from './people.ts'
import { requireSignOn, type SignOnProvider, signOnRedirectUri } from './settings.ts'

/** The login of an organisation by its OpenID provider: its start, and the return of the browser. */

const nameOfState = (organisationId: number) => `organisation:${organisationId}`

/**
 * Starts the login of the organisation of this name, or of the domain of this mail address; returns the address of the provider's login.
 * Throws `sign_on_unknown`, `outside_failed`.
 */
export async function startSignOn(
  accounts: IdentityAccounts,
  { login, browserToken }: { login: string; browserToken: string },
): Promise<string> {
  const { organisationId, client } = await requireSignOn(accounts, await findOrganisationId(accounts.db, login))
  const { state, challenge, nonce } = await storeState(accounts, {
    provider: nameOfState(organisationId),
    boundTo: browserToken,
    userId: 0,
    affCode: '',
    hasNonce: true,
  })
  const request = { state, challenge, nonce, redirectUri: signOnRedirectUri(accounts, organisationId) }
  const url = await oidcAuthorizeUrl(accounts.identity, client, request)
  return withQuery(url, { login_hint: canonicalEmail(login) ?? '' })
}

/** 0 for none. */
async function findOrganisationId(db: Queries, login: string): Promise<number> {
  const email = canonicalEmail(login)
  if (email !== undefined) return (await confirmedBy(db, email)) ?? 0
  const found = await db
    .selectFrom('users')
    .select('id')
    .where('username_key', '=', `@${usernameKey(login)}`)
    .where('kind', '=', accountKind.organisation)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  return found?.id ?? 0
}

interface SignOnReturn extends LoginClient {
  readonly organisationId: number
  readonly code: string
  readonly state: string
  readonly sessionToken: string | undefined
  readonly browserToken: string | undefined
}

/**
 * Completes the login: finds or adds the person, gives the roles and teams of the groups, and opens a session. Throws
 * `outside_state_invalid`, `outside_failed`, `sign_on_unknown`, `sign_on_person_unknown`, `sign_on_inactive`, `sign_on_admin`,
 * `user_banned`, `user_deleted`, `second_factor_required`.
 */
export async function finishSignOn(accounts: IdentityAccounts, given: SignOnReturn): Promise<SignedIn> {
  const { organisationId, code } = given
  const step = await takeState(accounts, given, nameOfState(organisationId))
  const provider = await requireSignOn(accounts, organisationId)
  if (code === '') fail('outside_failed')
  const redirectUri = signOnRedirectUri(accounts, organisationId)
  const identified = await oidcIdentify(accounts.identity, provider.client, { code, redirectUri, ...keptOf(step) })

  const user = await withFreeName((tries) =>
    change(accounts, undefined, async (within, report) => {
      const directory = { core: accounts, within, report, organisationId }
      await lockDirectory(directory)
      return admit(directory, provider, { ...identified, tries })
    }),
  )
  return completeLogin(accounts, user, given)
}

interface Identified {
  readonly subject: string
  readonly issuer: string
  readonly claims: ProviderAnswer
  readonly tries: number
}

/** The user of the person who has come. */
async function admit(directory: Directory, provider: SignOnProvider, identified: Identified): Promise<Row<'users'>> {
  const { within, core } = directory
  const { subject, claims } = identified
  const email = await verifiedAddress(directory, claims)
  const known = await findPerson(directory, identified, email)
  const person = known ?? (await admitUnknown(directory, provider, { ...identified, email }))
  const user = await within.selectFrom('users').selectAll().where('id', '=', person.user_id).executeTakeFirstOrThrow()
  if (isAdmin(user.role)) fail('sign_on_admin')
  if (user.deleted_at !== null) fail('user_deleted')
  if (!isActive(user)) fail('user_banned')

  const groups = groupsIn(claims, provider.groupClaim)
  const claimed = groups === undefined ? {} : { claimed_groups: JSON.stringify(groups) }
  await within
    .updateTable('directory_people')
    .set({ subject, updated_at: seconds(core.now()), ...claimed })
    .where('id', '=', person.id)
    .execute()
  await applyToPerson(directory, person)
  return user
}

/**
 * The address of the person, where the provider says that it is theirs and its domain is that of the organisation; '' otherwise. Entra ID
 * says so in a claim of its own.
 */
async function verifiedAddress({ within, organisationId }: Directory, claims: ProviderAnswer): Promise<string> {
  const says = [claims.email_verified, claims.xms_edov].some((value) => value === true || value === 'true' || value === '1')
  return (says ? await confirmedAddress(within, organisationId, textOf(claims, 'email')) : undefined) ?? ''
}

/**
 * The person of a subject; else one that SCIM has added, or who came by an earlier provider, by their id in the directory or their
 * verified address. A person who has another subject of this provider is another person, and an account that was somebody's before
 * is theirs only while its address is in a confirmed domain.
 */
async function findPerson(
  { within, organisationId }: Directory,
  { subject, issuer, claims }: Identified,
  email: string,
): Promise<Person | undefined> {
  const people = within.selectFrom('directory_people').selectAll().where('organisation_id', '=', organisationId)
  const same = await people.where('subject', '=', subject).executeTakeFirst()
  if (same) return same
  const ids = [textOf(claims, 'sub'), textOf(claims, 'oid')].filter((id) => id !== '')
  const known = peopleIn(within, organisationId)
  const byId = await known.where('external_id', 'in', ids).execute()
  const byAddress =
    email === ''
      ? []
      : await known.where((row) => row.or([row('user_name_key', '=', email), row('users.email', '=', email)])).execute()
  for (const person of [...byId, ...byAddress]) {
    const isOurs = person.came_by_it === 1 || (await confirmedAddress(within, organisationId, person.email)) !== undefined
    if (isOurs && !person.subject.startsWith(`${issuer} `)) return person
  }
  return undefined
}

/** Throws `sign_on_person_unknown`, `sign_on_admin`. */
async function admitUnknown(
  directory: Directory,
  { createsAccounts }: SignOnProvider,
  { subject, claims, email, tries }: Identified & { readonly email: string },
): Promise<Person> {
  const { within, organisationId } = directory
  const owner = email === '' ? undefined : await findByEmail(within, email)
  if (owner && isAdmin(owner.role)) fail('sign_on_admin')
  if (!createsAccounts && !(await isMember(within, organisationId, owner?.id ?? 0))) fail('sign_on_person_unknown')
  const username = textOf(claims, 'preferred_username') || textOf(claims, 'email')
  const person = await addPerson(directory, {
    name: textOf(claims, 'name') || username,
    username,
    addresses: email === '' ? [] : [email],
    row: { subject },
    tries,
  })
  await switchOn(directory, person)
  return person
}

async function isMember(db: Queries, organisationId: number, userId: number): Promise<boolean> {
  const found = await db
    .selectFrom('organisation_members')
    .select('id')
    .where('organisation_id', '=', organisationId)
    .where('user_id', '=', userId)
    .where('left_at', 'is', null)
    .executeTakeFirst()
  return found !== undefined
}

const groupsMax = 1000
const groupLengthMax = 300

/**
 * The groups that the claim lists, by its name or its path (`realm_access.roles`). None without the claim; undefined when the provider
 * says that they are too many for the token, as Entra ID does: then those of the last login stay.
 */
function groupsIn(claims: ProviderAnswer, claim: string): string[] | undefined {
  if (claim === '') return []
  if (isObject(claims._claim_names) && Object.hasOwn(claims._claim_names, claim)) return undefined
  const value = Object.hasOwn(claims, claim)
    ? claims[claim]
    : claim
        .split('.')
        .reduce<unknown>((inner, name) => (isObject(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined), claims)
  const all = Array.isArray(value) ? value : [value]
  return all.filter((each) => typeof each === 'string' && each !== '' && each.length <= groupLengthMax).slice(0, groupsMax)
}
