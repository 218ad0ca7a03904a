import type { Language, TextParams } from '../../../contract/text.ts'
import type { Row } from '../../base/db/schema.ts'
import { fail } from '../../base/lib/failure.ts'
import type { UpstreamAgents } from '../../base/lib/net/http-client.ts'
import type { Caller, Core } from '../../base/options/core.ts'
import type { Mailer } from '../notify/mailer.ts'
import { type MailKind, wordsOf, writeMail } from '../notify/mails.ts'
import { callWebhook } from '../notify/webhook.ts'
import { canonicalEmail } from './email-address.ts'
import { openWebhookSecret, readSetting } from './setting.ts'
import { findUser } from './users.ts'

/** Notices to a user by mail or by webhook, as their settings say. */
export type NotifierParts = Core & { readonly mailer: Mailer; readonly upstream: UpstreamAgents }

type Recipient = Pick<Row<'users'>, 'id' | 'username' | 'email' | 'setting'>

export interface UserNotice {
  readonly kind: MailKind
  /** The identifier for programs. */
  readonly type: string
  readonly params: TextParams
  readonly values: readonly (string | number)[]
  /** A path of the console. */
  readonly path?: string
}

/** Whether the user has an address or a webhook for notices. */
export function isReachable({ email, setting }: Recipient): boolean {
  const { notify_type, webhook_url, notification_email } = readSetting(setting)
  return notify_type === 'webhook' ? Boolean(webhook_url) : Boolean(notification_email || email)
}

/** Resolves when the mail server or the webhook has accepted the notice. Throws `notice_no_address`, `mail_unconfigured`, `mail_failed`, `webhook_failed`. */
export async function notifyUser(
  parts: NotifierParts,
  user: Recipient,
  { kind, type, params, values, path, language: asked, signal }: UserNotice & { language?: Language; signal?: AbortSignal },
): Promise<void> {
  if (!isReachable(user)) fail('notice_no_address')
  const setting = readSetting(user.setting)
  const language = setting.language ?? asked ?? 'zh'
  const { SystemName: site, ServerAddress } = parts.options.current
  const words = { site, username: user.username, ...params }

  if (setting.notify_type === 'webhook') {
    const webhook = { url: setting.webhook_url ?? '', secret: openWebhookSecret(parts, user.id, setting) }
    const notice = { type, ...wordsOf(kind, language, words), values }
    await callWebhook(parts, { webhook, notice, ...(signal ? { signal } : {}) })
    return
  }
  const to = setting.notification_email || user.email
  const link = path && ServerAddress !== '' ? { link: `${ServerAddress}${path}` } : {}
  await parts.mailer.send(writeMail(kind, { to, language, params: words, ...link }))
}

/** Sends the caller a test notice, which shows whether their settings work. Throws as `notifyUser`. */
export async function testNotice(parts: NotifierParts, caller: Caller, language: Language): Promise<void> {
  const user = await findUser(parts.db, caller.id)
  await notifyUser(parts, user, { kind: 'test', type: 'test', params: {}, values: [], language })
}

/** Sends an operator a test mail. Throws `email_invalid`, `mail_unconfigured`, `mail_failed`. */
export async function testMail(
  { mailer, options }: NotifierParts,
  { email, language }: { email: string; language: Language },
): Promise<void> {
  const to = canonicalEmail(email) ?? fail('email_invalid')
  await mailer.send(writeMail('test', { to, language, params: { site: options.current.SystemName } }))
}
