import { z } from 'zod'
import type { Text } from '../text.ts'

/** External identity providers. */
export const identityProviders = ['github', 'linuxdo', 'wechat', 'telegram', 'oidc'] as const
export const identityProvider = z.enum(identityProviders)
export type IdentityProvider = z.output<typeof identityProvider>

/** Providers with the OAuth authorization code flow. */
export const oauthProviders = ['github', 'linuxdo', 'oidc'] as const satisfies readonly IdentityProvider[]
export type OAuthProvider = (typeof oauthProviders)[number]

/** Display names. The site configures the name of its own OpenID provider. */
export const providerNames: Readonly<Record<IdentityProvider, Text>> = {
  github: { zh: 'GitHub', en: 'GitHub' },
  linuxdo: { zh: 'LinuxDO', en: 'LinuxDO' },
  wechat: { zh: '微信', en: 'WeChat' },
  telegram: { zh: 'Telegram', en: 'Telegram' },
  oidc: { zh: 'OIDC', en: 'OIDC' },
}

/** One provider in the settings of a user: the bound identity, '' for none, and whether the site offers it now. */
export const binding = z.object({ provider: identityProvider, account: z.string(), offered: z.boolean() })
export type Binding = z.output<typeof binding>

export const telegramFieldNames = ['id', 'first_name', 'last_name', 'username', 'photo_url', 'auth_date', 'hash', 'lang'] as const

/** The data of the Telegram widget. https://core.telegram.org/widgets/login */
export const telegramFields = {
  id: z.string().regex(/^\d{1,20}$/),
  first_name: z.string().max(300).optional(),
  last_name: z.string().max(300).optional(),
  username: z.string().max(100).optional(),
  photo_url: z.string().max(1000).optional(),
  auth_date: z.string().regex(/^\d{1,12}$/),
  hash: z.string().regex(/^[0-9a-f]{64}$/i),
  lang: z.string().max(20).optional(),
} as const satisfies Readonly<Record<(typeof telegramFieldNames)[number], z.ZodType>>
export type TelegramFields = z.output<z.ZodObject<typeof telegramFields>>
