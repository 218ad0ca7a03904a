import type { OptionKey, OptionValues } from '../../../contract/options/index.ts'
import type { Text } from '../../../contract/text.ts'
import { fail } from '../lib/failure.ts'

/** An option that may be switched on, or filled in, only while another is filled in. */
interface Requirement {
  readonly option: OptionKey
  readonly needs: OptionKey
  readonly name: Text
}

export const requirements: readonly Requirement[] = [
  { option: 'GitHubOAuthEnabled', needs: 'GitHubClientId', name: { zh: ' GitHub Client ID', en: 'the GitHub client ID' } },
  { option: 'LinuxDOOAuthEnabled', needs: 'LinuxDOClientId', name: { zh: ' LinuxDO Client ID', en: 'the LinuxDO client ID' } },
  {
    option: 'WeChatAuthEnabled',
    needs: 'WeChatServerAddress',
    name: { zh: '微信服务器地址', en: 'the address of the WeChat server' },
  },
  {
    option: 'TelegramOAuthEnabled',
    needs: 'TelegramBotToken',
    name: { zh: ' Telegram Bot Token', en: 'the Telegram bot token' },
  },
  {
    option: 'TurnstileCheckEnabled',
    needs: 'TurnstileSiteKey',
    name: { zh: ' Turnstile Site Key', en: 'the Turnstile site key' },
  },
  {
    option: 'TurnstileCheckEnabled',
    needs: 'TurnstileSecretKey',
    name: { zh: ' Turnstile Secret Key', en: 'the Turnstile secret key' },
  },
  {
    option: 'EmailDomainRestrictionEnabled',
    needs: 'EmailDomainWhitelist',
    name: { zh: '邮箱域名白名单', en: 'the e-mail domain whitelist' },
  },
  {
    option: 'oidc.enabled',
    needs: 'oidc.client_id',
    name: { zh: ' OIDC Client ID', en: 'the OIDC client ID' },
  },
  {
    option: 'oidc.enabled',
    needs: 'oidc.client_secret',
    name: { zh: ' OIDC Client Secret', en: 'the OIDC client secret' },
  },
  {
    option: 'oidc.enabled',
    needs: 'oidc.well_known',
    name: { zh: ' OIDC 发现文档地址', en: 'the address of the OIDC discovery document' },
  },
  { option: 'oidc.enabled', needs: 'ServerAddress', name: { zh: '服务器地址', en: 'the server address' } },
  { option: 'PayAddress', needs: 'ServerAddress', name: { zh: '服务器地址', en: 'the server address' } },
  { option: 'StripeApiSecret', needs: 'ServerAddress', name: { zh: '服务器地址', en: 'the server address' } },
]

/** Throws `option_needs` when the new value of `key` leaves a requirement unmet, whichever of the two options it is. */
export function requireConsistent(values: OptionValues, key: OptionKey): void {
  const broken = requirements.find(
    (requirement) => [requirement.option, requirement.needs].includes(key) && isUnmet(values, requirement),
  )
  if (broken) fail('option_needs', { needs: broken.name })
}

export function isUnmet(values: Readonly<Record<string, unknown>>, { option, needs }: Requirement): boolean {
  return isSet(values[option]) && !isSet(values[needs])
}

function isSet(value: unknown): boolean {
  return value !== false && value !== ''
}
