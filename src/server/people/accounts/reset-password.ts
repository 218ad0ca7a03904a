import { logType } from '../../../contract/entities/log.ts'
import type { Language } from '../../../contract/text.ts'
import type { Row } from '../../base/db/schema.ts'
import { AppError, fail } from '../../base/lib/failure.ts'
import { newSecret, randomText } from '../../base/lib/secrets/ids.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import { recordLog } from '../../usage/log/log.ts'
import { writeMail } from '../notify/mails.ts'
import { canonicalEmail } from './email-address.ts'
import { type CodeKey, consumeCode, countMail, linkMinutes, requireCode, storeCode } from './mailed-codes.ts'
import { setPassword } from './set-password.ts'
import { readSetting } from './setting.ts'
import type { Accounts } from './sign-in.ts'
import { findByEmail, isActive } from './users.ts'

const passwordLength = 16

/**
 * Mails a link that resets the password, to the address of an active account; for any other address it does the same except for the
 * mail, and returns as quickly. Throws `email_invalid`, `code_too_soon`, `human_check_failed`, `mail_unconfigured`.
 */
export async function mailResetLink(
  accounts: Accounts,
  given: { email: string; turnstile: string | undefined; address: string; language: Language },
): Promise<void> {
  await accounts.human.require({ token: given.turnstile, address: given.address, action: 'reset' })
  const email = canonicalEmail(given.email) ?? fail('email_invalid')
  const { ServerAddress, SystemName } = accounts.options.current
  accounts.mailer.requireConfigured()
  if (ServerAddress === '') fail('mail_unconfigured', {}, { detail: 'ServerAddress is empty, so that a link leads nowhere' })
  await countMail(accounts, email)

  const user = await findActive(accounts, email)
  const token = newSecret()
  await storeCode(accounts, { key: keyOf(email, user), code: user && token, minutes: linkMinutes })
  if (!user) return

  const link = `${ServerAddress}/user/reset?${new URLSearchParams({ email, token })}`
  const params = { site: SystemName, minutes: linkMinutes, username: user.username }
  accounts.mailer.sendLater(writeMail('reset', { to: email, language: given.language, params, link }))
}

/**
 * Sets a new random password by the token of a mailed link and returns it. It has to be changed; sessions, the access token, and
 * other codes and links of the user become invalid. Throws `reset_link_invalid`.
 */
export async function resetPassword(
  accounts: Accounts,
  given: { email: string; token: string; language: Language },
): Promise<string> {
  const email = canonicalEmail(given.email) ?? fail('reset_link_invalid')
  const user = await findActive(accounts, email)
  const key = keyOf(email, user)
  await refuseAsLink(requireCode(accounts, key, given.token))
  if (!user) return fail('reset_link_invalid')

  const password = randomText(passwordLength)
  const password_hash = await accounts.passwords.hash(password)
  await change(accounts, undefined, async (within, report) => {
    await refuseAsLink(consumeCode(accounts, within, key, given.token))
    await setPassword(within, user.id, { password_hash, mustChange: true })
    const content = '通过邮件重置了密码 / The password was reset by mail'
    const at = seconds(accounts.now())
    await recordLog(within, { type: logType.system, at, userId: user.id, username: user.username, content })
    report({ topic: 'user', id: user.id })
  })

  const params = { site: accounts.options.current.SystemName, username: user.username }
  const language = readSetting(user.setting).language ?? given.language
  accounts.mailer.sendLater(writeMail('passwordReset', { to: email, language, params }))
  return password
}

async function findActive(accounts: Accounts, email: string): Promise<Row<'users'> | undefined> {
  const user = await findByEmail(accounts.db, email)
  return user && isActive(user) ? user : undefined
}

function keyOf(email: string, user: Row<'users'> | undefined): CodeKey {
  return { purpose: 'reset', email, userId: user?.id ?? 0 }
}

async function refuseAsLink(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (error instanceof AppError && error.code === 'code_wrong') fail('reset_link_invalid')
    throw error
  }
}
