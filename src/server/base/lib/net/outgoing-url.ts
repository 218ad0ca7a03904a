import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import type { Text } from '../../../../contract/text.ts'
import { withoutTrailing } from '../../../../contract/trailing.ts'
import { fail } from '../failure.ts'
import { parseUrl } from './parse-url.ts'

/**
 * The addresses to which the server may connect. Two rules: an address from a user or an upstream must be on the public internet
 * (`isPublicAddress`); a channel's address may be private, since models run on the LAN, but never one that serves the machine's own
 * credentials (`isForbiddenForChannels`). Names are checked at connect time, by the addresses that they resolve to: see
 * `guarded-connect.ts`.
 */

/** Platform services at addresses that look public or merely shared: metadata and host services of cloud vendors. */
const platform = blocks('168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254 fd20:ce::254')

/** Refused for everybody. Metadata services live in the link-local block, 169.254.0.0/16. */
const never = blocks('0.0.0.0/8 169.254.0.0/16 224.0.0.0/4 255.255.255.255 :: fe80::/10 ff00::/8')

/**
 * Not global unicast by the IANA special-purpose address registries. Strict where the registry has exceptions: no image is fetched
 * from an anycast address of a protocol assignment. https://www.iana.org/assignments/iana-ipv4-special-registry
 */
const special4 = blocks(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24
  192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`)

/** Inside of the global unicast space 2000::/3. https://www.iana.org/assignments/iana-ipv6-special-registry */
const global6 = blocks('2000::/3')
const special6 = blocks('2001::/23 2001:db8::/32 2620:4f:8000::/48 3fff::/20')

/** Whether an address belongs to the public internet. False for everything that is not an address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 0 || address.includes('%') || platform.has(address)) return false
  if (family === 4) return !special4.has(address)

  const inner = innerAddress(address)
  if (inner !== undefined && !isPublicAddress(inner)) return false
  return isTransparent(address) || (global6.has(address) && !special6.has(address))
}

/** Whether a channel must not connect to an address. True for everything that is not an address. */
export function isForbiddenForChannels(address: string, { blockPrivate }: { blockPrivate: boolean }): boolean {
  const bare = withoutZone(address)
  if (isIP(bare) === 0 || never.has(bare) || platform.has(bare)) return true
  if (blockPrivate) return !isPublicAddress(bare)

  const inner = innerAddress(bare)
  return inner !== undefined && isForbiddenForChannels(inner, { blockPrivate })
}

/**
 * Reads the base URL of a channel: http or https, a host, perhaps a port and a path. Returns it in its normal form without trailing
 * slashes; the placeholder `{model}` is preserved. Throws `channel_url_invalid`, also for a literal address that channels must not
 * reach.
 */
export function parseChannelUrl(text: string, { blockPrivate = false }: { blockPrivate?: boolean } = {}): string {
  const trimmed = text.trim()
  if (trimmed.length > 2000) refuse({ zh: '不能超过 2000 个字符', en: 'it is longer than 2000 characters' })
  if (!/^https?:\/\/[^/]/i.test(trimmed))
    refuse({ zh: '须以 http:// 或 https:// 开头', en: 'it must begin with http:// or https://' })
  // URL would silently drop tabs and line ends, turn backslashes into slashes and resolve dots.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\s\\\u0000-\u001f\u007f]/.test(trimmed)) refuse({ zh: '不能包含空格或反斜杠', en: 'it contains a space or a backslash' })
  if (/[?#]/.test(trimmed)) refuse({ zh: '不能包含查询参数或片段', en: 'it contains a query or a fragment' })
  if (/(\.|%2e){2}/i.test(trimmed)) refuse({ zh: '不能包含“..”', en: 'it contains ".."' })
  if (trimmed.split('/', 3)[2]?.includes('@')) refuse({ zh: '不能包含用户名或密码', en: 'it contains credentials' })

  const url = parseUrl(trimmed) ?? refuse({ zh: '格式错误', en: 'it is not a URL' })
  const host = literalHost(url.hostname)
  if (isIP(host) !== 0 && isForbiddenForChannels(host, { blockPrivate }))
    refuse({ zh: '不允许访问该地址', en: 'this address is not allowed' })
  return withoutTrailing(`${url.origin}${url.pathname}`.replaceAll('%7Bmodel%7D', '{model}'), '/')
}

/** The host of a URL in the form that `net` accepts: IPv6 without brackets. */
export function literalHost(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function refuse(reason: Text): never {
  fail('channel_url_invalid', { reason })
}

/** The IPv4 address that is embedded in an IPv6 address, or undefined. */
export function innerAddress(address: string): string | undefined {
  const bytes = addressBytes(address)
  if (bytes.length === 4) return undefined
  const prefix = bytes.toString('hex')
  const last = bytes.subarray(12)

  if (/^0{20}ffff|^0{16}ffff0000/.test(prefix)) return dotted(last) // mapped ::ffff:0:0/96, translated ::ffff:0:0:0/96
  if (prefix.startsWith('0'.repeat(24)) && last[0] !== 0) return dotted(last) // compatible ::/96, except :: and ::1
  if (prefix.startsWith('0064ff9b0000000000000000')) return dotted(last) // NAT64 64:ff9b::/96
  if (prefix.startsWith('0064ff9b0001')) return dotted(localNat64(bytes)) // NAT64 64:ff9b:1::/48
  if (prefix.startsWith('2002')) return dotted(bytes.subarray(2, 6)) // 6to4 2002::/16
  if (prefix.startsWith('20010000')) return dotted(last.map((byte) => byte ^ 0xff)) // Teredo 2001::/32, the client's address
  return undefined
}

/** Whether an IPv6 address only stands for an IPv4 address: mapped, or under the well-known NAT64 prefix. */
function isTransparent(address: string): boolean {
  return /^0{20}ffff|^0064ff9b0{16}/.test(addressBytes(address).toString('hex'))
}

/** RFC 6052: after a /48 the four bytes are around byte 8, followed by zeros; networks also use /96 prefixes inside of the /48. */
function localNat64(bytes: Buffer): Buffer {
  const around = Buffer.of(bytes.readUInt8(6), bytes.readUInt8(7), bytes.readUInt8(9), bytes.readUInt8(10))
  const zeros = bytes.readUInt8(8) === 0 && bytes.subarray(11).every((byte) => byte === 0)
  return zeros ? around : bytes.subarray(12)
}

/** The 4 or 16 bytes of an address. Throws for anything else. */
export function addressBytes(address: string): Buffer {
  const bare = withoutZone(address)
  if (isIPv4(bare)) return Buffer.from(bare.split('.').map(Number))
  if (!isIPv6(bare)) throw new TypeError('Not an address')

  const hex = bare.replace(/(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...groups) => {
    const bytes = Buffer.from(groups.slice(0, 4).map(Number))
    return `${bytes.readUInt16BE(0).toString(16)}:${bytes.readUInt16BE(2).toString(16)}`
  })
  const [head = '', tail] = hex.split('::')
  const front = groupsOf(head)
  const back = groupsOf(tail ?? '')
  const middle: string[] = Array(8 - front.length - back.length).fill('0000')
  return Buffer.from([...front, ...middle, ...back].join(''), 'hex')
}

function groupsOf(text: string): string[] {
  return text === '' ? [] : text.split(':').map((group) => group.padStart(4, '0'))
}

function dotted(bytes: Uint8Array): string {
  return bytes.join('.')
}

function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? ''
}

function blocks(text: string): { has(address: string): boolean } {
  const list = new BlockList()
  for (const entry of text.trim().split(/\s+/)) {
    const [address = '', bits] = entry.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    list.addSubnet(address, Number(bits ?? (family === 'ipv6' ? 128 : 32)), family)
  }
  return { has: (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4') }
}
