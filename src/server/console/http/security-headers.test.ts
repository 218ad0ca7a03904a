import { describe, expect, it } from 'vitest'
import { defaults } from '../../../contract/options/defaults.ts'
import type { OptionValues } from '../../../contract/options/index.ts'
import { newLogger } from '../../base/lib/log/logger.ts'
import { requirePolicyHosts } from '../../base/options/policy-sources.ts'
import { pageHeaders } from './security-headers.ts'

const hostile = [
  'https://evil.example;script-src',
  "https://a'unsafe-eval'",
  'https://a,b.example',
  'https://*.example',
  'https://{key}.example',
  'https://under_score.example',
  'https://[::1]:8443',
  // This character becomes a semicolon when the URL is parsed.
  'https://evil；script-src',
]
const good = ['https://chat.example', 'https://chat-2.example:8443', 'https://127.0.0.1', 'https://xn--bcher-kva.example']
const optionsWith = (more: object): OptionValues => ({ ...defaults, Chats: [], ...more })

function headersOf(options: OptionValues) {
  const lines: string[] = []
  const logger = newLogger('warn', { write: (line) => void lines.push(line) })
  const core = { options: { current: options }, logger } as unknown as Parameters<typeof pageHeaders>[0]
  const [headers, again] = [pageHeaders(core), pageHeaders(core)]
  expect(again).toBe(headers)
  return { policy: headers['content-security-policy'] ?? '', lines }
}

const settings = {
  Chats: (link: string) => ({ Chats: [{ a: 'https://first.example' }, { b: `${link}/#/?key={key}` }] }),
  ChatLink: (link: string) => ({ ChatLink: link }),
  ChatLink2: (link: string) => ({ ChatLink2: `${link}/page` }),
  About: (link: string) => ({ About: link }),
  HomePageContent: (link: string) => ({ HomePageContent: ` ${link}/ ` }),
  PayAddress: (link: string) => ({ PayAddress: link }),
} as const

describe.each(Object.entries(settings))('an address in %s', (option, withLink) => {
  const key = option as keyof typeof settings

  it('becomes a source of the content policy when its host has only letters, digits, dots and hyphens', () => {
    for (const link of good) {
      const { policy, lines } = headersOf(optionsWith(withLink(link)))
      expect(policy).toMatch(new RegExp(`(frame-src|form-action) [^;]*${link.replaceAll('.', '\\.')}( |;|$)`))
      expect(lines).toEqual([])
      expect(() => requirePolicyHosts(optionsWith(withLink(link)), key)).not.toThrow()
    }
    expect(headersOf(optionsWith(withLink('https://BÜCHER.example'))).policy).toContain('https://xn--bcher-kva.example')
  })

  it('is refused from any other host, and a saved one is left out, with one line in the log', () => {
    const usual = headersOf(optionsWith(withLink('ftp://x'))).policy
    for (const link of hostile) {
      expect(() => requirePolicyHosts(optionsWith(withLink(link)), key), link).toThrow(/letters, digits, dots and hyphens/)
      const { policy, lines } = headersOf(optionsWith(withLink(link)))
      expect(policy).toBe(usual)
      expect(lines.map((line) => JSON.parse(line).options)).toEqual([[option]])
    }
  })
})

it('addresses that are not policy sources are not checked: applications, texts, and frames without TLS', () => {
  const links = ['ama://{key}', 'Our site is https://a;b', 'https://a;b is a text', '<p>https://a;b</p>']
  for (const About of links) expect(() => requirePolicyHosts(optionsWith({ About }), 'About')).not.toThrow()
  expect(headersOf(optionsWith({ PayAddress: 'http://pay.example' })).policy).toContain("form-action 'self' http://pay.example")
  expect(headersOf(optionsWith({ ChatLink: 'http://chat.example' })).policy).not.toContain('chat.example')
})
