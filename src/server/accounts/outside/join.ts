import { randomInt } from 'node:crypto'
import type { OutsideProvider } from '../../../contract/entities/outside-account.ts'
import { displayNameLengthMax, usernameLengthMax } from '../../../contract/entities/user.ts'
import { role } from '../../../contract/roles.ts'
import type { Language } from '../../../contract/text.ts'
import type { Row } from '../../db/schema.ts'
import { AppError, fail } from '../../lib/failure.ts'
import { type Arrival, enter, type SignedIn } from '../enter.ts'
import { findInviter, giveWelcome } from '../gifts.ts'
import { withSetting } from '../setting.ts'
import type { Accounts } from '../sign-in.ts'
import { createUser, isActive } from '../users.ts'
import { identityColumns } from './offered.ts'
import type { Profile } from './visit.ts'

export interface Comer extends Arrival {
  readonly provider: OutsideProvider
  readonly profile: Profile
  readonly affCode: string
  readonly language: Language
}

/** Telegram's data prove little, so that a Telegram account has to be bound before it lets anybody in. */
const mayRegister: readonly OutsideProvider[] = ['github', 'linuxdo', 'wechat', 'oidc']
const triesMax = 5

/**
 * Lets in whom a provider has identified, and registers who is new where the site is open. Addresses that a provider names are passed
 * over: they prove nothing here. Throws `user_deleted`, `user_banned`, `registration_closed`, `outside_unbound`,
 * `second_factor_required`.
 */
export async function enterByOutside(accounts: Accounts, comer: Comer): Promise<SignedIn> {
  const user = (await findByOutside(accounts, comer)) ?? (await join(accounts, comer))
  if (user.deleted_at !== null) fail('user_deleted')
  if (!isActive(user)) fail('user_banned')
  return enter(accounts, user, comer)
}

function findByOutside({ db }: Accounts, { provider, profile }: Comer): Promise<Row<'users'> | undefined> {
  return db.selectFrom('users').selectAll().where(identityColumns[provider], '=', profile.subject).executeTakeFirst()
}

/** A drawn name may be taken, and the same person may come by two doors at once: then it is looked up anew. */
async function join(accounts: Accounts, comer: Comer): Promise<Row<'users'>> {
  if (!mayRegister.includes(comer.provider)) fail('outside_unbound')
  if (!accounts.options.current.RegisterEnabled) fail('registration_closed')
  for (let tries = 1; ; tries++) {
    try {
      await register(accounts, comer)
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'username_taken' || tries === triesMax) throw error
    }
    const user = await findByOutside(accounts, comer)
    if (user) return user
  }
}

async function register(accounts: Accounts, { provider, profile, affCode, language }: Comer): Promise<void> {
  const username = drawName(provider)
  const id = await accounts.db.transaction().execute(async (within) => {
    const inviter_id = await findInviter(within, affCode.trim())
    const more = { inviter_id, setting: withSetting('', { language }), [identityColumns[provider]]: profile.subject }
    // No password fits an empty hash.
    const user = { username, displayName: displayName(profile.name), password_hash: '', role: role.ordinary, at: accounts.now() }
    const userId = await createUser(within, { ...user, more })
    await giveWelcome(accounts, within, { userId, username, inviterId: inviter_id })
    return userId
  })
  accounts.bus.publish('user', id)
}

/** `github_48213`: as long as names may be. */
function drawName(provider: OutsideProvider): string {
  const start = `${provider}_`
  const digits = Math.min(8, usernameLengthMax - start.length)
  return `${start}${String(randomInt(10 ** digits)).padStart(digits, '0')}`
}

/** What cannot be seen is left out, and a name that is too long is cut. '' means the user name. */
function displayName(name: string): string {
  const visible = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu, '').trim()
  return [...visible].slice(0, displayNameLengthMax).join('').trim()
}
