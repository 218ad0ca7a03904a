import { expect, it } from 'vitest'
import { environmentProxy } from './environment-proxy.ts'

const proxies = { HTTPS_PROXY: 'http://tls.proxy:3128', HTTP_PROXY: 'http://plain.proxy:3128', NO_PROXY: '' }

function proxyOf(url: string, settings: Partial<typeof proxies> = {}): string | undefined {
  const { protocol, hostname, port } = new URL(url)
  return environmentProxy({ ...proxies, ...settings })?.({ protocol, hostname, port })
}

it('the proxy of a target follows its protocol; without one its connections are direct', () => {
  expect(proxyOf('https://api.test')).toBe(proxies.HTTPS_PROXY)
  expect(proxyOf('http://api.test:8080')).toBe(proxies.HTTP_PROXY)
  expect(proxyOf('http://api.test', { HTTP_PROXY: '' })).toBeUndefined()
  expect(environmentProxy({ HTTPS_PROXY: '', HTTP_PROXY: '', NO_PROXY: '*' })).toBeUndefined()
})

it.each([
  'https://localhost',
  'http://localhost:8080',
  'https://a.localhost',
  'http://127.0.0.1:1',
  'http://127.1.2.3',
  'http://[::1]:81',
  'http://[::ffff:127.0.0.1]',
])('%s is this machine, which no proxy is asked for', (url) => expect(proxyOf(url)).toBeUndefined())

it.each([
  ['*', ['https://api.test', 'http://10.0.0.1']],
  ['api.test', ['https://api.test', 'https://API.Test.', 'https://eu.api.test', 'https://api.test:8443']],
  ['.api.test', ['https://api.test', 'https://eu.api.test']],
  ['*.api.test', ['https://eu.api.test']],
  ['api.test:8443', ['https://api.test:8443', 'https://eu.api.test:8443']],
  ['api.test:443', ['https://api.test']],
  ['other.test, , api.test other.example', ['https://api.test', 'https://other.example']],
  ['10.1.2.3', ['http://10.1.2.3', 'http://10.1.2.3:8080', 'http://[::ffff:10.1.2.3]']],
  ['10.1.2.3:8080', ['http://10.1.2.3:8080']],
  ['10.0.0.0/8,fd00::/8', ['http://10.255.0.1', 'https://[fd00::1]:8443']],
  ['[fd00::1]:8443,fd00::2', ['https://[fd00::1]:8443', 'https://[fd00::2]']],
])('NO_PROXY=%s excepts its targets', (NO_PROXY, urls) => {
  for (const url of urls) expect(proxyOf(url, { NO_PROXY }), url).toBeUndefined()
})

it.each([
  ['api.test', ['https://myapi.test', 'https://api.test.example', 'https://test']],
  ['.api.test', ['https://myapi.test']],
  ['api.test:8443', ['https://api.test', 'https://api.test:84']],
  ['10.1.2.3', ['http://10.1.2.30', 'http://110.1.2.3', 'https://10.1.2.3.test']],
  ['10.0.0.0/8', ['http://11.0.0.1', 'https://10.test']],
  ['10.0.0.0/99, //, :80, [', ['http://10.0.0.1', 'https://api.test']],
])('NO_PROXY=%s excepts no other target', (NO_PROXY, urls) => {
  for (const url of urls) expect(proxyOf(url, { NO_PROXY }), url).toBeDefined()
})
