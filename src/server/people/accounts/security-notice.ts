import { type IdentityProvider, providerNames } from '../../../contract/entities/external-identity.ts'
import { fill, type Language, type Text, type TextParams } from '../../../contract/text.ts'
import { AppError } from '../../base/lib/failure.ts'
import { background } from '../../base/lib/log/logger.ts'
import type { Core } from '../../base/options/core.ts'
import type { Mailer } from '../notify/mailer.ts'
import { writeMail } from '../notify/mails.ts'
import { readSetting } from './setting.ts'

/**
 * Notifies the owner of an account about changes of its login methods, and of a copied passkey: an attacker who made such a change can
 * log in, or lock the owner out.
 */
const changes = {
  twoFactorOn: { zh: '开启了两步验证', en: 'two-factor authentication was switched on' },
  twoFactorOff: { zh: '关闭了两步验证', en: 'two-factor authentication was switched off' },
  backupCodes: { zh: '更换了备用验证码', en: 'new backup codes were made' },
  passkeyAdded: { zh: '添加了通行密钥「{name}」', en: 'the passkey “{name}” was added' },
  passkeyCopied: {
    zh: '拒绝了通行密钥「{name}」的一次使用：它可能已被复制，请删除它',
    en: 'a use of the passkey “{name}” was refused, because it may have been copied: remove it',
  },
  passkeyRemoved: { zh: '删除了一个通行密钥', en: 'a passkey was removed' },
  outsideBound: { zh: '绑定了 {zh} 账户', en: 'an account at {en} was bound' },
  outsideUnbound: { zh: '解绑了 {zh} 账户', en: 'the account at {en} was unbound' },
  factorsReset: { zh: '管理员清除了两步验证和通行密钥', en: 'an admin removed the second factor and the passkeys' },
} as const satisfies Record<string, Text>

export type AccountChange = keyof typeof changes

/**
 * Mails the owner a notice of a change of the login methods, to the verified address of the account; without one, or on a site without
 * mail, nothing is sent. The mail is sent in the background after the change; a failure is logged.
 */
export function sendSecurityNotice(
  parts: Core & { readonly mailer: Mailer },
  owner: { readonly id: number; readonly language?: Language },
  change: AccountChange,
  params: TextParams = {},
): void {
  background(parts.logger, 'sending a security notice', mailOwner(parts, owner, change, params))
}

/** The names of a provider, for the text of a notice. */
export function namesOf(provider: IdentityProvider): TextParams {
  return { ...providerNames[provider] }
}

async function mailOwner(
  { db, mailer, options }: Core & { readonly mailer: Mailer },
  { id, language: asked }: { readonly id: number; readonly language?: Language },
  change: AccountChange,
  more: TextParams,
): Promise<void> {
  const user = await db
    .selectFrom('users')
    .select(['username', 'email', 'setting'])
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!user || user.email === '') return
  const language = readSetting(user.setting).language ?? asked ?? 'zh'
  const said = fill(changes[change][language], more, language)
  const params = { site: options.current.SystemName, username: user.username, change: said }
  try {
    await mailer.send(writeMail('loginMethodsChanged', { to: user.email, language, params }))
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'mail_unconfigured')) throw error
  }
}
