import type { OptionValues } from '../../../contract/options/index.ts'
import type { Core } from '../../base/options/core.ts'
import { policySources } from '../../base/options/policy-sources.ts'

/** Security headers. They are built from parsed origins, never from the text of an option. */

export function commonHeaders(options: OptionValues): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin-allow-popups',
    'cross-origin-resource-policy': 'same-origin',
    ...(options.ServerAddress.startsWith('https://') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  }
}

/** For answers that are data: they must not be executed, framed or cached. */
export const dataHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/**
 * For the page of the console. The component library writes inline styles; scripts are loaded only from the files of the console.
 * Built once for each snapshot of the options; sources that the policy cannot express are left out and logged.
 */
export function pageHeaders({
  options: { current },
  logger,
}: Pick<Core, 'options' | 'logger'>): Readonly<Record<string, string>> {
  const made = headersOf.get(current)
  if (made) return made
  const left = policySources(current).flatMap(({ option, origin }) => (origin === undefined ? [option] : []))
  if (left.length > 0) logger.warn({ options: unique(left) }, 'a host with unusual signs is left out of the content policy')
  const headers = makePageHeaders(current)
  headersOf.set(current, headers)
  return headers
}

const headersOf = new WeakMap<OptionValues, Readonly<Record<string, string>>>()

function makePageHeaders(options: OptionValues): Record<string, string> {
  const checks = options.TurnstileCheckEnabled ? ['https://challenges.cloudflare.com'] : []
  const telegram = options.TelegramOAuthEnabled ? ['https://telegram.org'] : []
  const telegramFrame = options.TelegramOAuthEnabled ? ['https://oauth.telegram.org'] : []
  const sources = policySources(options)
  const originsOf = (wanted: 'frame' | 'form') =>
    sources.flatMap(({ use, origin }) => (use === wanted && origin !== undefined ? [origin] : []))

  const policy = {
    'default-src': ["'self'"],
    'script-src': ["'self'", ...checks, ...telegram],
    'style-src': ["'self'", "'unsafe-inline'"],
    'img-src': ["'self'", 'data:', 'blob:', 'https:'],
    // Songs are hosted by their upstreams, and loaded when they are played.
    'media-src': ["'self'", 'https:'],
    'connect-src': ["'self'"],
    // The console downloads its own files through frames; other sites must not frame its pages and data.
    'frame-src': unique(["'self'", ...checks, ...telegramFrame, ...originsOf('frame')]),
    'object-src': ["'none'"],
    'base-uri': ["'none'"],
    'form-action': ["'self'", ...originsOf('form')],
    'frame-ancestors': ["'none'"],
  }

  return {
    'content-security-policy': Object.entries(policy)
      .map(([directive, words]) => `${directive} ${words.length > 0 ? words.join(' ') : "'none'"}`)
      .join('; '),
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=()',
    'cache-control': 'no-cache',
  }
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
