/**
 * The addresses of the console's pages, in the syntax of its router: `$id` is one part of a path. The server knows by them which addresses
 * exist; `web/screens.ts` has a screen for each.
 */
export const pages = [
  '/',
  '/pricing',
  '/status',
  '/about',
  '/login',
  '/register',
  '/reset',
  '/user/reset',
  '/invitation',
  '/oauth/github',
  '/oauth/linuxdo',
  '/oauth/oidc',
  '/oauth/telegram',
  '/oauth/sso/$id',
  '/sso',
  '/sso/$name',
  '/overview',
  '/playground',
  '/channel',
  '/channel/add',
  '/channel/edit/$id',
  '/chat',
  '/chat/$id',
  '/chat2link',
  '/token',
  '/budgets',
  '/connect',
  '/detail',
  '/redemption',
  '/order',
  '/topup',
  '/organisation',
  '/organisations',
  '/user',
  '/user/add',
  '/user/edit/$id',
  '/user/edit',
  '/log',
  '/midjourney',
  '/task',
  '/video',
  '/batch',
  '/file',
  '/alerts',
  '/quality',
  '/quality/$id',
  '/incident',
  '/setting',
] as const

export type PagePath = (typeof pages)[number]

const patterns = pages.map((path) => new RegExp(`^${path.replaceAll(/\$\w+/g, '[^/]+')}/?$`))

/** Whether the console has a page at a path, which has no query. */
export function isPage(path: string): boolean {
  return patterns.some((pattern) => pattern.test(path))
}
