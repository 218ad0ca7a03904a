import { randomInt } from 'node:crypto'
import type { IdentityProvider } from '../../../../contract/entities/external-identity.ts'
import { displayNameLengthMax, usernameLengthMax } from '../../../../contract/entities/user.ts'
import { role } from '../../../../contract/roles.ts'
import type { Language } from '../../../../contract/text.ts'
import type { Row } from '../../../base/db/schema.ts'
import { AppError, fail } from '../../../base/lib/failure.ts'
import { change } from '../../../base/options/change.ts'
import { completeLogin, type LoginClient, type SignedIn } from '../complete-login.ts'
import { withSetting } from '../setting.ts'
import type { Accounts } from '../sign-in.ts'
import { findInviter, grantSignUpBonus } from '../sign-up-bonus.ts'
import { readUsername } from '../usernames.ts'
import { createUser, isActive } from '../users.ts'
import { identityColumns } from './enabled-providers.ts'
import type { Profile } from './oauth-provider.ts'

interface ExternalLogin extends LoginClient {
  readonly provider: IdentityProvider
  readonly profile: Profile
  readonly affCode: string
  readonly language: Language
}

/** Telegram's data are weak evidence, so a Telegram account must be bound before it can log in. */
const mayRegister: readonly IdentityProvider[] = ['github', 'linuxdo', 'wechat', 'oidc']
const triesMax = 5

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
  for (let tries = 1; ; tries++) {
    try {
      await register(accounts, login, tries)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'username_taken' || tries === triesMax) throw error
    }
    const user = await findByIdentity(accounts, login)
    if (user) return user
  }
}

async function register(
  accounts: Accounts,
  { provider, profile, affCode, language }: ExternalLogin,
  tries: number,
): Promise<void> {
  const username = preferredName(profile, tries) ?? drawName(provider)
  await change(accounts, undefined, async (within, report) => {
    const inviter_id = await findInviter(within, affCode.trim())
    const more = { inviter_id, setting: withSetting('', { language }), [identityColumns[provider]]: profile.subject }
    // No password matches an empty hash.
    const user = { username, displayName: displayName(profile.name), password_hash: '', role: role.ordinary, at: accounts.now() }
    const userId = await createUser(within, { ...user, more })
    await grantSignUpBonus(accounts, within, { userId, username, inviterId: inviter_id })
    report({ topic: 'user', id: userId })
  })
}

/**
 * The preferred name of the provider's directory, without the domain of a mail address; from the second try on with digits, because
 * another account has it. Undefined when no account may have such a name.
 */
function preferredName({ username = '' }: Profile, tries: number): string | undefined {
  const digits = tries === 1 ? '' : `_${randomInt(1000)}`
  const [local = ''] = username.split('@', 1)
  const shortened = [...local.trim()].slice(0, usernameLengthMax - digits.length).join('')
  try {
    return shortened === '' ? undefined : readUsername(shortened + digits)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** A name such as `github_48213`, within the length limit of names. */
function drawName(provider: IdentityProvider): string {
  const start = `${provider}_`
  const digits = Math.min(8, usernameLengthMax - start.length)
  return `${start}${String(randomInt(10 ** digits)).padStart(digits, '0')}`
}

/** Invisible characters are removed, and a name that is too long is truncated. '' means the user name. */
function displayName(name: string): string {
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu, '').trim()
  return [...visible].slice(0, displayNameLengthMax).join('').trim()
}
