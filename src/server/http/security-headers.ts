import type { OptionValues } from '../../contract/options/index.ts'

/** Headers that tell browsers what our answers may do. They are built from parsed origins, never from the text of an option. */

export function commonHeaders(options: OptionValues): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    ...(options.ServerAddress.startsWith('https://') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
}

/** For answers that are data: nothing in them may ever run or be framed, and nobody may keep them. */
export const dataHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/** For the page of the console. The component library writes inline styles; scripts come from our files alone. */
export function pageHeaders(options: OptionValues): Record<string, string> {
  const checks = options.TurnstileCheckEnabled ? ['https://challenges.cloudflare.com'] : []
  const telegram = options.TelegramOAuthEnabled ? ['https://telegram.org'] : []
  const telegramFrame = options.TelegramOAuthEnabled ? ['https://oauth.telegram.org'] : []
  const frames = [...chatAddresses(options), options.About, options.HomePageContent].flatMap(httpsOrigin)
  const payment = originOf(options.PayAddress)

  const policy = {
    'default-src': ["'self'"],
    'script-src': ["'self'", ...checks, ...telegram],
    'style-src': ["'self'", "'unsafe-inline'"],
    'img-src': ["'self'", 'data:', 'blob:', 'https:'],
    // Songs stand at their upstreams, and are loaded when they are played.
    'media-src': ["'self'", 'https:'],
    'connect-src': ["'self'"],
    // Our own files are downloaded through frames; our own pages and data let nobody frame them.
    'frame-src': unique(["'self'", ...checks, ...telegramFrame, ...frames]),
    'object-src': ["'none'"],
    'base-uri': ["'none'"],
    'form-action': ["'self'", ...payment],
    'frame-ancestors': ["'none'"],
  }

  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, sources]) => `${directive} ${sources.length > 0 ? sources.join(' ') : "'none'"}`)
      .join('; '),
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
    'cache-control': 'no-cache',
  }
}

/** Chat pages may be embedded: those of the list, and the two single ones. */
function chatAddresses(options: OptionValues): string[] {
  return [...options.Chats.flatMap((chat) => Object.values(chat)), options.ChatLink, options.ChatLink2]
}

function httpsOrigin(url: string): string[] {
  return originOf(url).filter((origin) => origin.startsWith('https://'))
}

/** `https://host:port`; nothing for what is no web address. */
function originOf(url: string): string[] {
  const text = url.trim()
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return []
  return [new URL(text).origin]
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
