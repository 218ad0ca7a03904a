import type { OptionKey, OptionValues } from '../../../contract/options/index.ts'
import { fail } from '../lib/failure.ts'
import { parseUrl } from '../lib/net/parse-url.ts'

/**
 * The addresses in options that the content policy of the console allows: pages that it frames and the form that it sends payments
 * to. A host may contain characters that are separators in a policy, so only hosts of letters, digits, dots and hyphens are
 * accepted.
 */
interface PolicySource {
  readonly option: OptionKey
  readonly use: 'frame' | 'form'
  /** `https://host:port`; undefined when the host has other characters. */
  readonly origin: string | undefined
}

/** The sources that the options name. Texts that are not web addresses, and frames without TLS, are left out. */
export function policySources(options: OptionValues): PolicySource[] {
  const chats = options.Chats.flatMap((chat) => Object.values(chat))
  return [
    ...chats.flatMap((link) => sourceOf('Chats', 'frame', link)),
    ...sourceOf('ChatLink', 'frame', options.ChatLink),
    ...sourceOf('ChatLink2', 'frame', options.ChatLink2),
    // A text that only begins with an address is not a page.
    ...(['About', 'HomePageContent'] as const).flatMap((option) =>
      /\s/.test(options[option].trim()) ? [] : sourceOf(option, 'frame', options[option]),
    ),
    ...sourceOf('PayAddress', 'form', options.PayAddress),
  ]
}

/** Throws `option_invalid` when the value of this option names a source with another host. */
export function requirePolicyHosts(options: OptionValues, key: OptionKey): void {
  if (policySources(options).every(({ option, origin }) => option !== key || origin !== undefined)) return
  const reason = {
    zh: '主机名只能包含字母、数字、点和连字符',
    en: 'the host may only have letters, digits, dots and hyphens',
  }
  fail('option_invalid', { key, reason })
}

function sourceOf(option: OptionKey, use: PolicySource['use'], link: string): PolicySource[] {
  const text = link.trim()
  const isWeb = use === 'frame' ? /^https:\/\//i.test(text) : /^https?:\/\//i.test(text)
  const url = isWeb ? parseUrl(text) : undefined
  if (!url) return []
  const { origin, hostname } = url
  return [{ option, use, origin: /^[a-z0-9.-]+$/.test(hostname) ? origin : undefined }]
}
