import type { Language } from '../../../contract/text.ts'
import { isObject, readJson } from '../../base/lib/bytes/read-json.ts'
import type { Core } from '../../base/options/core.ts'

/** A user's own settings, stored as JSON in `users.setting`. Members of other programs are preserved. */
export interface Setting {
  readonly notify_type?: 'email' | 'webhook'
  /** Quota units. */
  readonly quota_warning_threshold?: number
  readonly webhook_url?: string
  readonly webhook_secret_sealed?: string
  /** Verified by a code; '' or absent means the address of the account. */
  readonly notification_email?: string
  readonly accept_unset_model_ratio_model?: boolean
  /** Language of mails that are not requested in a browser. */
  readonly language?: Language
}

/** Reads well-formed members and ignores the rest. */
export function readSetting(text: string): Setting {
  const { notify_type: type, quota_warning_threshold: threshold, language, ...rest } = parse(text)
  const textOf = (name: string) => (typeof rest[name] === 'string' ? { [name]: rest[name] } : {})
  return {
    ...(type === 'email' || type === 'webhook' ? { notify_type: type } : {}),
    ...(typeof threshold === 'number' && Number.isSafeInteger(threshold) && threshold > 0
      ? { quota_warning_threshold: threshold }
      : {}),
    ...(language === 'zh' || language === 'en' ? { language } : {}),
    ...(rest.accept_unset_model_ratio_model === true ? { accept_unset_model_ratio_model: true } : {}),
    ...textOf('webhook_url'),
    ...textOf('webhook_secret_sealed'),
    ...textOf('notification_email'),
  }
}

/** The settings with some of them replaced; `undefined` removes one. */
export function withSetting(text: string, change: { readonly [Name in keyof Setting]: Setting[Name] | undefined }): string {
  return JSON.stringify({ ...parse(text), ...change })
}

/** Settings as the owner and admins see them: without the secret, but with whether there is one. */
export function presentSetting(text: string): string {
  if (text === '') return ''
  const { webhook_secret: _plain, webhook_secret_sealed: sealed, ...shown } = parse(text)
  return JSON.stringify({ ...shown, ...(sealed ? { webhook_secret_set: true } : {}) })
}

export function sealWebhookSecret({ secrets }: Pick<Core, 'secrets'>, userId: number, secret: string): string {
  return secrets.seal(secret, webhookPlace(userId))
}

export function openWebhookSecret(
  { secrets }: Pick<Core, 'secrets'>,
  userId: number,
  { webhook_secret_sealed }: Setting,
): string {
  return webhook_secret_sealed ? secrets.open(webhook_secret_sealed, webhookPlace(userId)) : ''
}

function webhookPlace(userId: number) {
  return { table: 'users', column: 'setting.webhook_secret', row: userId }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  const value = readJson(text)
  return isObject(value) ? value : {}
}
