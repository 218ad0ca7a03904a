import type { CallerHeaders, Upstream } from './provider.ts'

/**
 * Headers of the caller that OpenAI's interface knows. The organization and the project decide who pays at OpenAI itself, so that they only pass
 * there when the channel allows it.
 */
export function passedToOpenai({ baseUrl, setting }: Upstream, caller: CallerHeaders): Record<string, string> {
  const names = setting.pass_account_headers || !isOpenai(baseUrl) ? [...plainNames, ...accountNames] : plainNames
  const passed: Record<string, string> = {}
  for (const name of names) {
    const value = caller[name]
    if (value !== undefined && isVisible.test(value)) passed[name] = value
  }
  return passed
}

const plainNames = ['idempotency-key', 'x-client-request-id'] as const
const accountNames = ['openai-organization', 'openai-project'] as const

const isVisible = /^[\x21-\x7e]{1,512}$/

/** OpenAI, or a gateway that only passes on to a vendor. */
function isOpenai(baseUrl: string): boolean {
  return /^https?:\/\/([\w-]+\.)*(openai\.com|openai\.azure\.com|gateway\.ai\.cloudflare\.com)(:\d+)?(\/|$)/i.test(baseUrl)
}
