import { z } from 'zod'

/**
 * The version of the interface that compatible scripts and tools read from `version` of the status. It identifies the interface and
 * never changes; the version of this program is `sluice_version`.
 */
export const interfaceVersion = '0.4.8.9.6'

/** The public status object that the console stores locally. */
export const status = z.object({
  version: z.string(),
  sluice_version: z.string(),
  start_time: z.int(),
  system_name: z.string(),
  logo: z.string(),
  footer_html: z.string(),
  server_address: z.string(),
  quota_per_unit: z.number(),
  display_in_currency: z.boolean(),
  enable_drawing: z.boolean(),
  enable_task: z.boolean(),
  enable_data_export: z.boolean(),
  enable_online_topup: z.boolean(),
  data_export_default_time: z.string(),
  /** Always true, because charges are committed in batches; tools of this family read it. */
  enable_batch_update: z.boolean(),
  default_collapse_sidebar: z.boolean(),
  mj_notify_enabled: z.boolean(),
  chats: z.array(z.record(z.string(), z.string())),
  chat_link: z.string(),
  chat_link2: z.string(),
  price: z.number(),
  min_topup: z.number(),
  top_up_link: z.string(),
  turnstile_check: z.boolean(),
  turnstile_site_key: z.string(),
  github_oauth: z.boolean(),
  github_client_id: z.string(),
  linuxdo_oauth: z.boolean(),
  linuxdo_client_id: z.string(),
  wechat_login: z.boolean(),
  wechat_qrcode: z.string(),
  telegram_oauth: z.boolean(),
  telegram_bot_name: z.string(),
  oidc_enabled: z.boolean(),
  oidc_client_id: z.string(),
  oidc_name: z.string(),
  passkey_login: z.boolean(),
  email_verification: z.boolean(),
  register_enabled: z.boolean(),
  password_register_enabled: z.boolean(),
  password_login_enabled: z.boolean(),
  self_use_mode_enabled: z.boolean(),
  demo_site_enabled: z.boolean(),
  /** Guests may see the status page. */
  status_page_enabled: z.boolean(),
})

export type Status = z.output<typeof status>
