import { sql } from 'kysely'
import type { Handlers } from '../../../contract/route.ts'
import type { siteRoutes } from '../../../contract/routes/site.ts'
import { interfaceVersion, type Status } from '../../../contract/status.ts'
import { isProviderEnabled } from '../../people/accounts/external-identity/enabled-providers.ts'
import { findPasskeySite } from '../../people/accounts/passkey-site.ts'
import type { App } from '../../watch/parts.ts'
import type { Context } from './context.ts'

const running = { zh: '服务运行正常', en: 'Server is running' }

export const siteHandlers: Handlers<typeof siteRoutes, Context> = {
  'GET /api/status': ({ app }) => readStatus(app),
  async 'GET /api/status/test'({ app, language }) {
    await sql`select 1`.execute(app.db)
    return { data: null, extra: { message: running[language] } }
  },
  'GET /api/notice': ({ app }) => app.options.current.Notice,
  'GET /api/about': ({ app }) => app.options.current.About,
  'GET /api/home_page_content': ({ app }) => app.options.current.HomePageContent,
}

/** Public facts about this site. No option is added automatically: each field is named. */
export function readStatus({ version, startedAt, options }: Pick<App, 'version' | 'startedAt' | 'options'>): Status {
  const values = options.current
  return {
    version: interfaceVersion,
    sluice_version: version,
    start_time: startedAt,
    system_name: values.SystemName,
    logo: values.Logo,
    footer_html: values.Footer,
    server_address: values.ServerAddress,
    quota_per_unit: values.QuotaPerUnit,
    display_in_currency: values.DisplayInCurrencyEnabled,
    enable_drawing: values.DrawingEnabled,
    enable_task: values.TaskEnabled,
    enable_data_export: values.DataExportEnabled,
    enable_online_topup: [values.PayAddress, values.EpayId, values.EpayKey].every((setting) => setting !== ''),
    enable_batch_update: true,
    data_export_default_time: values.DataExportDefaultTime,
    default_collapse_sidebar: values.DefaultCollapseSidebar,
    mj_notify_enabled: values.MjNotifyEnabled,
    chats: [...values.Chats],
    chat_link: values.ChatLink,
    chat_link2: values.ChatLink2,
    price: values.Price,
    min_topup: values.MinTopUp,
    top_up_link: values.TopUpLink,
    turnstile_check: values.TurnstileCheckEnabled,
    turnstile_site_key: values.TurnstileSiteKey,
    github_oauth: isProviderEnabled(values, 'github'),
    github_client_id: values.GitHubClientId,
    linuxdo_oauth: isProviderEnabled(values, 'linuxdo'),
    linuxdo_client_id: values.LinuxDOClientId,
    wechat_login: isProviderEnabled(values, 'wechat'),
    wechat_qrcode: values.WeChatAccountQRCodeImageURL,
    telegram_oauth: isProviderEnabled(values, 'telegram'),
    telegram_bot_name: values.TelegramBotName,
    oidc_enabled: isProviderEnabled(values, 'oidc'),
    oidc_client_id: values['oidc.client_id'],
    oidc_name: values['oidc.display_name'],
    passkey_login: findPasskeySite(values) !== undefined,
    email_verification: values.EmailVerificationEnabled,
    register_enabled: values.RegisterEnabled,
    password_register_enabled: values.PasswordRegisterEnabled,
    password_login_enabled: values.PasswordLoginEnabled,
    self_use_mode_enabled: values.SelfUseModeEnabled,
    demo_site_enabled: values.DemoSiteEnabled,
    status_page_enabled: values.StatusPagePublicEnabled,
  }
}
