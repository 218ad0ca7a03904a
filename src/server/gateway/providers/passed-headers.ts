import type { PassableHeader } from '../../../contract/entities/channel.ts'
import type { CallerHeaders, Upstream } from './provider.ts'

/** Caller headers that a family of vendors reads, and the hosts at which they decide on billing. */
interface Family {
  readonly plain: readonly PassableHeader[]
  readonly account: readonly PassableHeader[]
  /** The vendor's own hosts, or a gateway that only forwards to it. */
  readonly vendor: RegExp
  /** Whether a header that is not listed passes too. */
  readonly isOpen?: (name: string) => boolean
}

/**
 * Anthropic adds headers without notice, and its clients expect a gateway to pass them on. The provider itself writes version and
 * betas. The last one tells of a browser, which has not made this request: Anthropic refuses it for some organizations.
 */
export function isOpenToAnthropic(name: string): boolean {
  return name.startsWith('anthropic-') && !writtenByProvider.has(name)
}

const writtenByProvider: ReadonlySet<string> = new Set([
  'anthropic-version',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
])

/** The turn state of Codex: a response header that the client sends back with its next request. */
export const turnStateHeader = 'x-codex-turn-state'

const families = {
  openai: {
    plain: ['session_id', turnStateHeader],
    account: ['openai-organization', 'openai-project'],
    vendor: /^https?:\/\/([\w-]+\.)*(openai\.com|openai\.azure\.com|gateway\.ai\.cloudflare\.com)(:\d+)?(\/|$)/i,
  },
  anthropic: {
    plain: ['session_id'],
    account: ['anthropic-workspace-id', 'anthropic-user-profile-id'],
    vendor: /^https?:\/\/([\w-]+\.)*(anthropic\.com|gateway\.ai\.cloudflare\.com)(:\d+)?(\/|$)/i,
    isOpen: isOpenToAnthropic,
  },
} as const satisfies Record<string, Family>

/** Headers that are passed to every vendor of a family. `request-target.ts` replaces the caller's idempotency key. */
const always = ['openai-beta', 'idempotency-key', 'x-client-request-id'] as const

/**
 * The caller headers that the vendor reads. Headers that decide who pays at the vendor pass only when the channel lists them; all
 * others pass unless the channel lists some.
 */
export function passedHeaders(family: keyof typeof families, upstream: Upstream, caller: CallerHeaders): Record<string, string> {
  const { plain, account, isOpen }: Family = families[family]
  const given: Readonly<Record<string, string | undefined>> = caller
  const listed = [...always, ...plain, ...account]
  const named = listed.filter((name) => isAlways(name) || passesHeader(family, upstream, name))
  const isLimited = isOpen === undefined || upstream.setting.passed_headers !== undefined
  const open = isLimited ? [] : Object.keys(given).filter((name) => isOpen(name) && !listed.some((each) => each === name))
  const passed: Record<string, string> = {}
  for (const name of [...named, ...open]) {
    const value = given[name]
    if (value !== undefined && isVisible.test(value)) passed[name] = value
  }
  return passed
}

/** Whether a channel lets a header pass, in requests and in replies. */
export function passesHeader(
  family: keyof typeof families,
  { baseUrl, setting }: Pick<Upstream, 'baseUrl' | 'setting'>,
  name: PassableHeader,
): boolean {
  const { account, vendor }: Family = families[family]
  return setting.passed_headers?.includes(name) ?? !(account.includes(name) && vendor.test(baseUrl))
}

function isAlways(name: string): name is (typeof always)[number] {
  return (always as readonly string[]).includes(name)
}

/** The valid characters of a passed header. */
export const isVisible = /^[\x20-\x7e]{1,4096}$/
