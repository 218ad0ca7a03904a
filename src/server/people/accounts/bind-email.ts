import { logType } from '../../../contract/entities/log.ts'
import type { Language } from '../../../contract/text.ts'
import { fail } from '../../base/lib/failure.ts'
import { seconds } from '../../base/lib/time/clock.ts'
import { change } from '../../base/options/change.ts'
import type { Caller } from '../../base/options/core.ts'
import { recordLog } from '../../usage/log/log.ts'
import { writeMail } from '../notify/mails.ts'
import { readEmail } from './email-address.ts'
import { consumeCode, deleteCodes, requireCode } from './mailed-codes.ts'
import { requireRecentLogin } from './reauthenticate.ts'
import { mailCode } from './register.ts'
import type { Accounts } from './sign-in.ts'
import { findUser, refuseTaken } from './users.ts'

interface Asked {
  readonly email: string
  readonly language: Language
}

/** Mails a code to an address that the caller wants to bind or to use for notices. Throws as `mailCode` and `readEmail`. */
export async function mailOwnCode(
  accounts: Accounts,
  caller: Caller,
  { email, language, purpose }: Asked & { readonly purpose: 'bind' | 'notify' },
): Promise<void> {
  await mailCode(accounts, { purpose, email: readEmail(accounts, email), userId: caller.id }, language)
}

/**
 * Binds an address that was verified by a code and notifies the previous address. Other codes and links of the user become invalid.
 * Throws `fresh_login_required`, `email_required`, `email_invalid`, `code_wrong`, `email_taken`.
 */
export async function bindEmail(
  accounts: Accounts,
  caller: Caller,
  { email: given, code, language, sessionToken }: Asked & { readonly code: string; readonly sessionToken: string | undefined },
): Promise<void> {
  await requireRecentLogin(accounts, sessionToken)
  if (given.trim() === '' || code.trim() === '') fail('email_required')
  const key = { purpose: 'bind', email: readEmail(accounts, given), userId: caller.id } as const
  await requireCode(accounts, key, code)

  const before = await change(accounts, caller, async (within, report) => {
    await consumeCode(accounts, within, key, code)
    const { email: old } = await findUser(within, caller.id)
    await within.updateTable('users').set({ email: key.email }).where('id', '=', caller.id).execute().catch(refuseTaken)
    await deleteCodes(within, caller.id)
    const content = `绑定邮箱 ${key.email} / Bound the e-mail address ${key.email}`
    const at = seconds(accounts.now())
    await recordLog(within, { type: logType.system, at, userId: caller.id, username: caller.username, content })
    report({ topic: 'user', id: caller.id })
    return old
  })

  if (before === '' || before === key.email) return
  const params = { site: accounts.options.current.SystemName, username: caller.username }
  accounts.mailer.sendLater(writeMail('emailChanged', { to: before, language, params }))
}
