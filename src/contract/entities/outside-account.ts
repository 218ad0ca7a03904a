import { z } from 'zod'
import type { Text } from '../text.ts'

/** Where somebody may have an account that lets them in here. */
export const outsideProviders = ['github', 'linuxdo', 'wechat', 'telegram', 'oidc'] as const
export const outsideProvider = z.enum(outsideProviders)
export type OutsideProvider = z.output<typeof outsideProvider>

/** Those that a browser is sent to, and comes back from with a code. */
export const visitedProviders = ['github', 'linuxdo', 'oidc'] as const satisfies readonly OutsideProvider[]
export type VisitedProvider = (typeof visitedProviders)[number]

/** What people know them by. The site names its own OpenID provider itself. */
export const outsideNames: Readonly<Record<OutsideProvider, Text>> = {
  github: { zh: 'GitHub', en: 'GitHub' },
  linuxdo: { zh: 'LinuxDO', en: 'LinuxDO' },
  wechat: { zh: '微信', en: 'WeChat' },
  telegram: { zh: 'Telegram', en: 'Telegram' },
  oidc: { zh: 'OIDC', en: 'OIDC' },
}

/** One provider in the settings of a user: what is bound there, '' for nothing, and whether the site offers it now. */
export const binding = z.object({ provider: outsideProvider, account: z.string(), offered: z.boolean() })
export type Binding = z.output<typeof binding>

export const telegramFieldNames = ['id', 'first_name', 'last_name', 'username', 'photo_url', 'auth_date', 'hash', 'lang'] as const

/** What the Telegram widget hands over. https://core.telegram.org/widgets/login */
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
