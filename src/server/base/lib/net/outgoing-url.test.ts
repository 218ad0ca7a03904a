import { describe, expect, it } from 'vitest'
import { addresses } from '../../../../../test/helpers/addresses.ts'
import { AppError } from '../failure.ts'
import { isForbiddenForChannels, isPublicAddress, literalHost, parseChannelUrl } from './outgoing-url.ts'

describe('addresses', () => {
  it('[T192] have at least 120 cases', () => expect(addresses.length).toBeGreaterThanOrEqual(120))

  it.each(addresses)('$address: $why', ({ address, isPublic, forbidden }) => {
    expect(isPublicAddress(address)).toBe(isPublic)
    expect(isForbiddenForChannels(address, { blockPrivate: false })).toBe(forbidden)
    expect(isForbiddenForChannels(address, { blockPrivate: true })).toBe(!isPublic)
  })

  it('refuses the empty text', () => {
    expect(isPublicAddress('')).toBe(false)
    expect(isForbiddenForChannels('', { blockPrivate: false })).toBe(true)
  })
})

describe('hosts as URLs write them', () => {
  const loopback = [
    '127.1',
    '0x7f.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '0177.0.0.1',
    '127.0.0.1.',
    '①②⑦.0.0.1',
    '１２７.0.0.1',
    '127。0。0。1',
    '127.0.1',
    '%31%32%37.0.0.1',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[0:0:0:0:0:0:0:1]',
    '[64:ff9b::7f00:1]',
  ]
  const metadata = [
    '169.254.169.254',
    '0xa9fea9fe',
    '2852039166',
    '0251.0376.0251.0376',
    '169.16689662',
    '169.254.43518',
    '①⑥⑨.254.169.254',
    '169.254.169.254.',
    '[::ffff:169.254.169.254]',
    '[::a9fe:a9fe]',
    '[2002:a9fe:a9fe::]',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '0',
    '0.0.0.0',
    '0x0',
    '00000',
    '[::]',
    '255.255.255.255',
    '0xffffffff',
    '224.1',
  ]

  it.each(loopback)('recognises loopback in %s', (host) => {
    const { hostname } = new URL(`https://${host}/`)
    expect(isPublicAddress(literalHost(hostname))).toBe(false)
    expect(() => parseChannelUrl(`https://${host}/v1`)).not.toThrow()
    expect(() => parseChannelUrl(`https://${host}/v1`, { blockPrivate: true })).toThrow(AppError)
  })

  it.each(metadata)('[T192] refuses %s for every channel', (host) => {
    expect(isPublicAddress(literalHost(new URL(`http://${host}/`).hostname))).toBe(false)
    expect(() => parseChannelUrl(`http://${host}/`)).toThrow(AppError)
  })
})

describe('base URLs of channels', () => {
  it.each([
    ['https://api.example.com', 'https://api.example.com'],
    [' https://api.example.com/// ', 'https://api.example.com'],
    ['https://API.Example.com:443/v1/', 'https://api.example.com/v1'],
    ['http://192.168.1.5:11434/', 'http://192.168.1.5:11434'],
    ['http://[fd00::5]:8000/v1', 'http://[fd00::5]:8000/v1'],
    ['HTTP://ollama:11434', 'http://ollama:11434'],
    ['https://host/path/{model}/chat', 'https://host/path/{model}/chat'],
    ['https://host/a@b', 'https://host/a@b'],
    ['https://例え.jp/v1', 'https://xn--r8jz45g.jp/v1'],
  ])('reads %j', (text, expected) => expect(parseChannelUrl(text)).toBe(expected))

  it.each([
    '',
    'api.example.com',
    '//api.example.com',
    'ftp://api.example.com',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_x',
    'javascript:alert(1)',
    'data:text/html,x',
    'https://',
    'https:///host',
    'https:host',
    'https://user:password@host',
    'https://user@host/v1',
    'https://@host',
    'https://good.example@evil.example/',
    'https://host/v1?key=1',
    'https://host/v1?',
    'https://host/#x',
    'https://host/a b',
    'https://host/a\tb',
    'https://ho\nst/',
    'https://host\\@evil.example/',
    'https://host/../admin',
    'https://host/%2e%2E/admin',
    'https://host/.%2e/admin',
    'https://host\u0000.example/',
    'https://host:99999',
    'https://[::1',
    'https://ho%00st/',
    `https://host/${'a'.repeat(2000)}`,
  ])('refuses %j', (text) => {
    expect(() => parseChannelUrl(text)).toThrow(expect.objectContaining({ code: 'channel_url_invalid' }))
  })
})
