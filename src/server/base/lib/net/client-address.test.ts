import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { clientReader, riskyProxies } from './client-address.ts'

const proxies = '10.0.0.0/8, 2001:db8::/32'

it.each([
  ['203.0.113.9', '', proxies, '203.0.113.9', false],
  ['127.0.0.1', '', proxies, '127.0.0.1', true],
  ['::ffff:127.0.0.1', '', '', '127.0.0.1', true],
  ['::1', '', '', '::1', true],
  // No proxy is trusted by default; then the header only shows that there is one.
  ['127.0.0.1', '198.51.100.1', '', '127.0.0.1', false],
  ['203.0.113.9', '127.0.0.1', proxies, '203.0.113.9', false],
  ['10.0.0.1', '198.51.100.1', proxies, '198.51.100.1', false],
  ['::ffff:10.0.0.1', '198.51.100.1', proxies, '198.51.100.1', false],
  // The client's own entries are to the left of the proxies' entries.
  ['10.0.0.1', '192.0.2.7, 127.0.0.1, 198.51.100.1, 10.2.2.2', proxies, '198.51.100.1', false],
  ['10.0.0.1', '10.1.1.1, 10.2.2.2', proxies, '10.1.1.1', false],
  ['10.0.0.1', '198.51.100.1:5678', proxies, '198.51.100.1', false],
  ['2001:db8::1', '[2001:4860::9]:443', proxies, '2001:4860::9', false],
  ['10.0.0.1', 'unknown', proxies, '10.0.0.1', false],
  ['10.0.0.1', '198.51.100.1, junk, 10.2.2.2', proxies, '10.2.2.2', false],
])('peer %s with X-Forwarded-For %j and trusted proxies %j is client %s', (remoteAddress, forwarded, trusted, address, local) => {
  const headers = forwarded === '' ? {} : { 'x-forwarded-for': forwarded }
  // Only the two fields that `clientReader` reads.
  const request = { socket: { remoteAddress }, headers } as unknown as IncomingMessage
  expect(clientReader(trusted)(request)).toEqual({ address, local })
})

it('names the trusted entries behind which everybody may name an address: all addresses, and a gateway of this machine', () => {
  const gateways = ['172.28.7.1']
  expect(riskyProxies('172.28.7.2, 10.0.0.0/8 2001:db8::/32', gateways)).toEqual([])
  expect(riskyProxies('0.0.0.0/0, 172.28.7.0/24 172.28.7.1,::/0', gateways)).toEqual([
    '0.0.0.0/0',
    '172.28.7.0/24',
    '172.28.7.1',
    '::/0',
  ])
  expect(riskyProxies('', gateways)).toEqual([])
})

it('throws when the list of trusted proxies has an invalid entry', () => {
  expect(() => clientReader('10.0.0.0/8, example.com')).toThrow('TRUSTED_PROXIES: example.com')
})
