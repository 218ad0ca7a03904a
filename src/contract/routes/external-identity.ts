import { z } from 'zod'
import { binding, identityProvider, telegramFields } from '../entities/external-identity.ts'
import { signedInUser } from '../entities/user.ts'
import { queryText } from '../envelope.ts'
import { routes } from '../route.ts'

const affCode = z
  .string()
  .max(100)
  .nullish()
  .transform((text) => text ?? '')
const code = z.string().max(2000).default('')
const state = z.string().max(200).default('')

/** `message` is `bind` when an identity was bound to the signed-in user; then there is no user. */
const comeBack = {
  access: 'public',
  summary: 'OAuth callback of a provider: log in, register, or bind',
  limit: 'critical',
  reply: signedInUser.nullable(),
  extra: z.object({ message: z.string() }),
} as const
const back = z.object({ code, state })

const wechatLogin = {
  access: 'public',
  summary: 'Log in or register with the code of the WeChat account',
  limit: 'critical',
  reply: signedInUser,
} as const
const wechatBind = {
  access: 'user',
  summary: 'Bind the WeChat account of a code; needs a fresh login',
  limit: 'critical',
  reply: z.null(),
} as const
const telegramLogin = {
  access: 'public',
  summary: 'Log in with the data of the Telegram widget',
  limit: 'critical',
  reply: signedInUser,
} as const
const telegramBind = {
  access: 'user',
  summary: 'Bind the Telegram account confirmed by the widget; needs a fresh login',
  limit: 'critical',
  reply: z.null(),
} as const

const oauthStart = z.object({ state: z.string(), url: z.string() })

export const externalIdentityRoutes = routes({
  'GET /api/oauth/state': {
    access: 'public',
    summary: "Create an OAuth state, for clients that build the provider's URL themselves; binds when logged in",
    limit: 'critical',
    writes: true,
    query: z.object({ aff: queryText }),
    reply: z.string(),
  },
  'POST /api/oauth/state': {
    access: 'public',
    summary: 'Start a login at a provider; returns the state, and the authorization URL if there is one',
    limit: 'critical',
    body: z.object({ provider: identityProvider, aff: affCode }),
    reply: oauthStart,
  },
  'GET /api/oauth/github': { ...comeBack, writes: true, query: back },
  'POST /api/oauth/github': { ...comeBack, body: back },
  'GET /api/oauth/linuxdo': { ...comeBack, writes: true, query: back },
  'POST /api/oauth/linuxdo': { ...comeBack, body: back },
  'GET /api/oauth/oidc': { ...comeBack, writes: true, query: back },
  'POST /api/oauth/oidc': { ...comeBack, body: back },
  'GET /api/oauth/wechat': { ...wechatLogin, writes: true, query: z.object({ code: queryText, aff: queryText }) },
  'POST /api/oauth/wechat': { ...wechatLogin, body: z.object({ code, aff: affCode }) },
  'GET /api/oauth/wechat/bind': { ...wechatBind, writes: true, query: z.object({ code: queryText }) },
  'POST /api/oauth/wechat/bind': { ...wechatBind, body: z.object({ code }) },
  'GET /api/oauth/telegram/login': { ...telegramLogin, writes: true, query: z.object(telegramFields) },
  'POST /api/oauth/telegram/login': { ...telegramLogin, body: z.object({ state, ...telegramFields }) },
  'GET /api/oauth/telegram/bind': { ...telegramBind, writes: true, query: z.object(telegramFields) },
  'POST /api/oauth/telegram/bind': { ...telegramBind, body: z.object({ state, ...telegramFields }) },
  'GET /api/user/binding': {
    access: 'user',
    summary: 'List own external identities, including providers without one',
    reply: z.array(binding),
  },
  'POST /api/user/binding': {
    access: 'user',
    summary: 'Start binding an external identity; needs a fresh login',
    limit: 'critical',
    body: z.object({ provider: identityProvider }),
    reply: oauthStart,
  },
  'DELETE /api/user/binding/:provider': {
    access: 'user',
    summary: 'Unbind an external identity, unless it is the last login method; needs a fresh login',
    limit: 'critical',
    params: z.object({ provider: identityProvider }),
    reply: z.null(),
  },
})
