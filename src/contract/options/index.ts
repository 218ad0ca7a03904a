import { appearance } from './appearance.ts'
import { automation } from './automation.ts'
import { claude } from './claude.ts'
import type { Merged, Option, Place, ValuesOf, Writer } from './define.ts'
import { drawing } from './drawing.ts'
import { emailDomains, smtp } from './email.ts'
import { gemini } from './gemini.ts'
import { github, linuxdo, login, oidc, telegram, turnstile, wechat } from './login.ts'
import { dashboard, logs } from './logs.ts'
import { moderation } from './moderation.ts'
import { payment, stripe } from './payment.ts'
import { groups, prices } from './pricing.ts'
import { quotas } from './quota.ts'
import { rateLimit } from './rate-limit.ts'
import { responses } from './responses.ts'
import { server, updates, worker } from './server.ts'
import { chats, general } from './site.ts'

/**
 * Every option of the product, by settings section in the order of the screens. A new option is one entry in its section. This module
 * is light enough for the web: the default price tables are in `defaults.ts`, which only the server reads.
 */
export const sections = [
  general,
  drawing,
  moderation,
  logs,
  dashboard,
  automation,
  quotas,
  chats,
  groups,
  prices,
  rateLimit,
  gemini,
  claude,
  responses,
  server,
  worker,
  payment,
  stripe,
  login,
  emailDomains,
  smtp,
  github,
  wechat,
  telegram,
  turnstile,
  linuxdo,
  oidc,
  appearance,
  updates,
] as const

type AllOptions = Merged<typeof sections>
export type OptionKey = keyof AllOptions
/** The typed values of all options. */
export type OptionValues = ValuesOf<AllOptions>

/** Key to declaration. */
// The object holds exactly the entries of the sections, whose keys `checkOptions` finds unique.
export const allOptions = Object.freeze(Object.assign({}, ...sections.map(({ options }) => options))) as AllOptions

const places = new Map<string, Place>(
  sections.flatMap(({ place, options }) => Object.keys(options).map((key) => [key, place] as const)),
)

export interface FoundOption {
  readonly key: OptionKey
  readonly option: Option
  readonly place: Place
  readonly writer: Writer
}

/** The declaration behind a key that came from outside. */
export function findOption(key: string): FoundOption | undefined {
  const place = places.get(key)
  if (!place) return undefined
  // A key with a place is one of the declared ones.
  const known = key as OptionKey
  const option: Option = allOptions[known]
  return { key: known, option, place, writer: option.writer ?? place.writer }
}
