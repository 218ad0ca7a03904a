import { parseUrl } from '../../base/lib/net/parse-url.ts'
import { providers } from './index.ts'
import type { Provider } from './provider.ts'

/** Of several kinds of channel with one address, the first that the console offers. */
const vendorsByHost = new Map(
  providers.toReversed().flatMap((provider) => (provider.baseUrl === '' ? [] : [[new URL(provider.baseUrl).host, provider]])),
)

/** Vendors with a separate host for each customer or region. */
const vendorDomains = [
  '.amazonaws.com',
  '.amazonaws.com.cn',
  '.googleapis.com',
  '.openai.azure.com',
  '.services.ai.azure.com',
  '.cognitiveservices.azure.com',
]

/** Whether a base URL is a vendor's own: the default address of a provider, or '' for the fixed address of a protocol. */
export function isVendorAddress(baseUrl: string): boolean {
  return baseUrl === '' || vendorAt(baseUrl) !== undefined
}

/**
 * The provider whose own address a base URL is, whatever the type of the channel; `given` where the address is fixed or a cloud's.
 * Undefined for all other addresses.
 */
export function vendorOf(baseUrl: string, given: Provider): Provider | undefined {
  if (baseUrl === '') return given
  const found = vendorAt(baseUrl)
  return found === 'cloud' ? given : found
}

function vendorAt(baseUrl: string): Provider | 'cloud' | undefined {
  const url = parseUrl(baseUrl)
  if (!url) return undefined
  const { host, hostname } = url
  return vendorsByHost.get(host) ?? (vendorDomains.some((domain) => hostname.endsWith(domain)) ? 'cloud' : undefined)
}
