import { parseUrl } from '../lib/parse-url.ts'
import { providers } from './index.ts'

const vendorHosts = new Set(providers.flatMap(({ baseUrl }) => (baseUrl === '' ? [] : [new URL(baseUrl).host])))

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
  if (baseUrl === '') return true
  const url = parseUrl(baseUrl)
  if (!url) return false
  const { host, hostname } = url
  return vendorHosts.has(host) || vendorDomains.some((domain) => hostname.endsWith(domain))
}
