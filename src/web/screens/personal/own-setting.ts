import type { useForm } from '@mantine/form'
import type { SettingInput } from '../../../contract/entities/user-setting.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'

/** The values of the notice form. */
export interface NoticeValues {
  notify_type: 'email' | 'webhook'
  /** Units, or the invalid text that was typed; '' while the threshold of the site applies. */
  quota_warning_threshold: string
  webhook_url: string
  /** A new secret; the stored one is never shown. */
  webhook_secret: string
  notification_email: string
  notification_code: string
  accept_unset_model_ratio_model: boolean
}

/** The context of the parts of the form. */
export type NoticeForm = Pick<ReturnType<typeof useForm<NoticeValues>>, 'values' | 'getInputProps' | 'setFieldValue'>

/** Units. */
export const thresholdPresets = [100_000, 500_000, 1_000_000, 5_000_000] as const

/** The settings of the user's own account as the server sends them: JSON in a text, with members of other programs too. */
export function readOwnSetting(text: string): NoticeValues & { hasSecret: boolean } {
  const setting = parse(text)
  const textOf = (name: string) => (typeof setting[name] === 'string' ? setting[name] : '')
  const threshold = Number(setting.quota_warning_threshold)
  return {
    notify_type: setting.notify_type === 'webhook' ? 'webhook' : 'email',
    quota_warning_threshold: threshold > 0 ? String(threshold) : '',
    webhook_url: textOf('webhook_url'),
    webhook_secret: '',
    notification_email: textOf('notification_email'),
    notification_code: '',
    accept_unset_model_ratio_model: setting.accept_unset_model_ratio_model === true,
    hasSecret: setting.webhook_secret_set === true,
  }
}

/** The request body: only members of the chosen method, so that the other keeps its own, and no threshold unless one is set. */
export function inputOf(values: NoticeValues): SettingInput {
  const { notify_type, quota_warning_threshold, accept_unset_model_ratio_model } = values
  const threshold = quota_warning_threshold === '' ? {} : { quota_warning_threshold: Number(quota_warning_threshold) }
  const common = { notify_type, ...threshold, accept_unset_model_ratio_model }
  const { webhook_url, webhook_secret, notification_email, notification_code } = values
  return notify_type === 'webhook'
    ? { ...common, webhook_url: webhook_url.trim(), webhook_secret }
    : { ...common, notification_email: notification_email.trim(), notification_code: notification_code.trim() }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text)
  return isJsonObject(value) ? value : {}
}
