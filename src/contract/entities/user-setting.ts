import { z } from 'zod'

/** A low-quota warning is sent at most once in this time. */
export const warningPauseSeconds = 2 * 60 * 60

/** A user's own settings. Absent members stay unchanged. */
export const settingInput = z.object({
  notify_type: z.enum(['email', 'webhook']).optional(),
  /** Units; consoles send it as a number or as text. */
  quota_warning_threshold: z
    .preprocess((given) => (typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given), z.int().positive())
    .optional(),
  webhook_url: z.string().trim().max(2000).optional(),
  /** Empty keeps the stored secret, null removes it. */
  webhook_secret: z.string().max(500).nullish(),
  /** Empty means the address of the account. Another address requires a code that was mailed to it for `notify`. */
  notification_email: z.string().max(300).optional(),
  notification_code: z.string().max(100).optional(),
  accept_unset_model_ratio_model: z.boolean().optional(),
})
export type SettingInput = z.output<typeof settingInput>
