import type { IdentityProvider } from '../../../../contract/entities/external-identity.ts'
import type { Language } from '../../../../contract/text.ts'
import type { Row } from '../../../base/db/schema.ts'
import { fail } from '../../../base/lib/failure.ts'
import { change } from '../../../base/options/change.ts'
import { completeLogin, type LoginClient, type SignedIn } from '../complete-login.ts'
import { withSetting } from '../setting.ts'
import type { Accounts } from '../sign-in.ts'
import { findInviter, grantSignUpBonus } from '../sign-up-bonus.ts'
import { isActive } from '../users.ts'
import { identityColumns } from './enabled-providers.ts'
import { createFromProfile, withFreeName } from './new-account.ts'
import type { Profile } from './oauth-provider.ts'

interface ExternalLogin extends LoginClient {
  readonly provider: IdentityProvider
  readonly profile: Profile
  readonly affCode: string
  readonly language: Language
}

/** Telegram's data are weak evidence, so a Telegram account must be bound before it can log in. */
const mayRegister: readonly IdentityProvider[] = ['github', 'linuxdo', 'wechat', 'oidc']

/**
 * Logs in the user of an external identity, and signs a new one up where registration is open. Email addresses from the provider are
 * ignored: they are not verified here. Throws `user_deleted`, `user_banned`, `registration_closed`, `outside_unbound`,
 * `second_factor_required`.
 */
export async function loginByIdentity(accounts: Accounts, login: ExternalLogin): Promise<SignedIn> {
  const user = (await findByIdentity(accounts, login)) ?? (await signUp(accounts, login))
  if (user.deleted_at !== null) fail('user_deleted')
  if (!isActive(user)) fail('user_banned')
  return completeLogin(accounts, user, login)
}

function findByIdentity({ db }: Accounts, { provider, profile }: ExternalLogin): Promise<Row<'users'> | undefined> {
  return db.selectFrom('users').selectAll().where(identityColumns[provider], '=', profile.subject).executeTakeFirst()
}

/** A random name may be taken, and two sign-ups of the same person may race: then the user is read again. */
async function signUp(accounts: Accounts, login: ExternalLogin): Promise<Row<'users'>> {
  if (!mayRegister.includes(login.provider)) fail('outside_unbound')
  if (!accounts.options.current.RegisterEnabled) fail('registration_closed')
  await withFreeName((tries) => register(accounts, login, tries)).catch(async (error: unknown) => {
    if (!(await findByIdentity(accounts, login))) throw error
  })
  return (await findByIdentity(accounts, login)) ?? fail('not_found')
}

async function register(
  accounts: Accounts,
  { provider, profile, affCode, language }: ExternalLogin,
  tries: number,
): Promise<void> {
  await change(accounts, undefined, async (within, report) => {
    const inviter_id = await findInviter(within, affCode.trim())
    const more = { inviter_id, setting: withSetting('', { language }), [identityColumns[provider]]: profile.subject }
    const { id: userId, username } = await createFromProfile(accounts, within, { profile, prefix: provider, tries, more })
    await grantSignUpBonus(accounts, within, { userId, username, inviterId: inviter_id })
    report({ topic: 'user', id: userId })
  })
}
