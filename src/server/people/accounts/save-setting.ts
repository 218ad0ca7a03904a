import type { SettingInput } from '../../../contract/entities/user-setting.ts'
import type { Language } from '../../../contract/text.ts'
import { fail } from '../../base/lib/failure.ts'
import { parseUrl } from '../../base/lib/net/parse-url.ts'
import { change } from '../../base/options/change.ts'
import type { Caller } from '../../base/options/core.ts'
import { readEmail } from './email-address.ts'
import { lockUser } from './lock-user.ts'
import { type CodeKey, consumeCode, requireCode } from './mailed-codes.ts'
import { readSetting, type Setting, sealWebhookSecret, withSetting } from './setting.ts'
import type { Accounts } from './sign-in.ts'
import { findUser } from './users.ts'

/**
 * Saves a user's notice settings; absent members stay unchanged. An address other than the account's own has to be verified by a
 * code, or anyone could make the server mail strangers. An empty secret keeps the stored one, null removes it. Throws
 * `webhook_url_invalid`, `email_invalid`, `notification_email_unverified`, `code_wrong`.
 */
export async function saveSetting(
  accounts: Accounts,
  caller: Caller,
  { input, language }: { input: SettingInput; language: Language },
): Promise<void> {
  const user = await findUser(accounts.db, caller.id)
  const before = readSetting(user.setting)
  const { webhook_secret, notification_email: givenEmail, notification_code: code = '', ...plain } = input
  const email = givenEmail === undefined ? undefined : readOwnEmail(accounts, givenEmail, user.email)
  const proved = email && email !== before.notification_email ? await requireProved(accounts, caller, email, code) : undefined

  await change(accounts, caller, async (within, report) => {
    if (proved) await consumeCode(accounts, within, proved, code)
    const { setting } = await lockUser(accounts, within, caller.id)
    requireGoodWebhook({ ...readSetting(setting), ...plain })
    const changes = {
      ...plain,
      language,
      ...(email === undefined ? {} : { notification_email: email }),
      ...secretChange(accounts, caller.id, webhook_secret),
    }
    await within
      .updateTable('users')
      .set({ setting: withSetting(setting, changes) })
      .where('id', '=', caller.id)
      .execute()
    report({ topic: 'user', id: caller.id })
  })
}

function requireGoodWebhook({ notify_type, webhook_url = '' }: Setting): void {
  if (webhook_url === '' && notify_type !== 'webhook') return
  const url = parseUrl(webhook_url)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') fail('webhook_url_invalid')
  // Lower ports belong to mail servers and similar services, which must not be reachable through this server.
  if (url.port !== '' && Number(url.port) < 1024) fail('webhook_url_invalid')
}

/** '' means the address of the account, also when that address is given. */
function readOwnEmail(accounts: Accounts, given: string, ownEmail: string): string {
  const email = given.trim() === '' ? '' : readEmail(accounts, given)
  return email === ownEmail ? '' : email
}

async function requireProved(accounts: Accounts, caller: Caller, email: string, code: string): Promise<CodeKey> {
  if (code.trim() === '') fail('notification_email_unverified')
  const key = { purpose: 'notify', email, userId: caller.id } as const
  await requireCode(accounts, key, code)
  return key
}

function secretChange(
  accounts: Accounts,
  userId: number,
  secret: string | null | undefined,
): { webhook_secret_sealed?: string | undefined } {
  if (secret === null) return { webhook_secret_sealed: undefined }
  return secret ? { webhook_secret_sealed: sealWebhookSecret(accounts, userId, secret) } : {}
}
