import { role } from '../../../contract/roles.ts'
import type { Language } from '../../../contract/text.ts'
import { fail } from '../../base/lib/failure.ts'
import { change } from '../../base/options/change.ts'
import { writeMail } from '../notify/mails.ts'
import { readEmail } from './email-address.ts'
import { type CodeKey, codeMinutes, consumeCode, countMail, newCode, requireCode, storeCode } from './mailed-codes.ts'
import { requireGoodPassword } from './passwords.ts'
import { withSetting } from './setting.ts'
import type { Accounts } from './sign-in.ts'
import { findInviter, grantSignUpBonus } from './sign-up-bonus.ts'
import { readUsername } from './usernames.ts'
import { createUser, findByEmail } from './users.ts'

export interface Registration {
  readonly username: string
  readonly password: string
  /** The repeated password, from clients that send it. */
  readonly password2?: string | undefined
  readonly email: string
  readonly verification_code: string
  readonly aff_code: string
  readonly turnstile: string | undefined
  readonly address: string
  readonly language: Language
}

/**
 * Creates an ordinary user with the sign-up bonus of the options. The mail address is required, verified and stored only when the
 * options require verification. Throws `registration_closed`, `human_check_failed`, the failures of names, passwords and addresses,
 * `passwords_differ`, `email_required`, `code_wrong`, `username_taken`, `email_taken`.
 */
export async function register(accounts: Accounts, given: Registration): Promise<{ userId: number }> {
  requireOpen(accounts)
  await accounts.human.require({ token: given.turnstile, address: given.address, action: 'register' })
  const username = readUsername(given.username)
  requireGoodPassword(given.password, username)
  if (given.password2 !== undefined && given.password2 !== given.password) fail('passwords_differ')

  const proved = accounts.options.current.EmailVerificationEnabled ? await requireProved(accounts, given) : undefined
  const password_hash = await accounts.passwords.hash(given.password)

  const userId = await change(accounts, undefined, async (within, report) => {
    if (proved) await consumeCode(accounts, within, proved, given.verification_code)
    const inviter_id = await findInviter(within, given.aff_code.trim())
    const setting = withSetting('', { language: given.language })
    const more = { inviter_id, setting, ...(proved ? { email: proved.email } : {}) }
    const user = { username, displayName: username, password_hash, role: role.ordinary, at: accounts.now(), more }
    const id = await createUser(within, user)
    await grantSignUpBonus(accounts, within, { userId: id, username, inviterId: inviter_id })
    report({ topic: 'user', id })
    return id
  })
  return { userId }
}

/** Mails a code for a registration; if the address has an account, it mails a notice of that instead. The response is the same. */
export async function mailRegistrationCode(
  accounts: Accounts,
  { email: given, language }: { email: string; language: Language },
): Promise<void> {
  requireOpen(accounts)
  if (!accounts.options.current.EmailVerificationEnabled) fail('email_code_unneeded')
  await mailCode(accounts, { purpose: 'register', email: readEmail(accounts, given), userId: 0 }, language)
}

/** Mails a code for an address without an account. Throws `code_too_soon`, `mail_unconfigured`, `mail_failed`. */
export async function mailCode(accounts: Accounts, key: CodeKey, language: Language): Promise<void> {
  accounts.mailer.requireConfigured()
  await countMail(accounts, key.email)
  const isTaken = key.purpose !== 'notify' && (await findByEmail(accounts.db, key.email)) !== undefined
  const code = newCode()
  await storeCode(accounts, { key, code: isTaken ? undefined : code, minutes: codeMinutes })

  const params = { site: accounts.options.current.SystemName, minutes: codeMinutes }
  const letter = { to: key.email, language, params }
  await accounts.mailer.send(isTaken ? writeMail('taken', letter) : writeMail('code', { ...letter, code }))
}

function requireOpen({ options }: Accounts): void {
  const { RegisterEnabled, PasswordRegisterEnabled } = options.current
  if (!RegisterEnabled || !PasswordRegisterEnabled) fail('registration_closed')
}

/** The verified address. Checked before the password is hashed, so that wrong codes cost little. */
async function requireProved(accounts: Accounts, given: Registration): Promise<CodeKey> {
  if (given.email.trim() === '' || given.verification_code.trim() === '') fail('email_required')
  const key = { purpose: 'register', email: readEmail(accounts, given.email), userId: 0 } as const
  await requireCode(accounts, key, given.verification_code)
  return key
}
