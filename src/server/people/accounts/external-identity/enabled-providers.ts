import type { IdentityProvider } from '../../../../contract/entities/external-identity.ts'
import type { OptionValues } from '../../../../contract/options/index.ts'
import { fail } from '../../../base/lib/failure.ts'
import type { IdentityColumn } from '../users.ts'

/** Settings that are required besides the switch. With an empty secret anyone could forge a signature. */
const needed = {
  github: ['GitHubClientId', 'GitHubClientSecret'],
  linuxdo: ['LinuxDOClientId', 'LinuxDOClientSecret'],
  wechat: ['WeChatServerAddress', 'WeChatServerToken'],
  telegram: ['TelegramBotName', 'TelegramBotToken'],
  oidc: ['oidc.client_id', 'oidc.client_secret', 'oidc.well_known', 'ServerAddress'],
} as const satisfies Record<IdentityProvider, readonly (keyof OptionValues)[]>

const switches = {
  github: 'GitHubOAuthEnabled',
  linuxdo: 'LinuxDOOAuthEnabled',
  wechat: 'WeChatAuthEnabled',
  telegram: 'TelegramOAuthEnabled',
  oidc: 'oidc.enabled',
} as const satisfies Record<IdentityProvider, keyof OptionValues>

export const identityColumns = {
  github: 'github_id',
  linuxdo: 'linux_do_id',
  wechat: 'wechat_id',
  telegram: 'telegram_id',
  oidc: 'oidc_id',
} as const satisfies Record<IdentityProvider, IdentityColumn>

/** Whether the site offers a provider: enabled and completely configured. */
export function isProviderEnabled(options: OptionValues, provider: IdentityProvider): boolean {
  return options[switches[provider]] && needed[provider].every((key) => options[key] !== '')
}

/** Throws `outside_off`. */
export function requireProviderEnabled(options: OptionValues, provider: IdentityProvider): void {
  if (!isProviderEnabled(options, provider)) fail('outside_off')
}
