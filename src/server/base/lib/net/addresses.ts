import { BlockList, isIP } from 'node:net'

/** A list of addresses and CIDR blocks, IPv4 and IPv6. */
export interface AddressList {
  has(address: string): boolean
}

/** `::ffff:a.b.c.d` is the IPv4 address a.b.c.d; a zone is dropped. */
export function normaliseAddress(address: string): string {
  const bare = address.split('%', 1)[0] ?? ''
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(bare)
  return mapped?.[1] ?? bare
}

/** Reads a list separated by lines, commas or spaces. Returns the first entry that is neither address nor block as `invalid`. */
export function readAddressList(text: string): { list: AddressList; size: number } | { invalid: string } {
  const blocks = new BlockList()
  const entries = text.split(/[\s,]+/).filter((entry) => entry !== '')

  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/')
    const family = isIP(address)
    const bits = prefix === undefined ? (family === 4 ? 32 : 128) : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
    if (family === 0 || rest.length > 0 || bits < 0 || bits > (family === 4 ? 32 : 128)) return { invalid: entry }
    blocks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6')
  }

  return {
    size: entries.length,
    list: {
      has: (address) => {
        const normal = normaliseAddress(address)
        const family = isIP(normal)
        return family !== 0 && blocks.check(normal, family === 4 ? 'ipv4' : 'ipv6')
      },
    },
  }
}

/** The block that limits count as one client: an IPv4 address, or the /64 of an IPv6 address. */
export function addressBlock(address: string): string {
  const normal = normaliseAddress(address)
  if (isIP(normal) !== 6) return normal
  const [head = '', tail = ''] = normal.split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const after = tail.split(':').filter((group) => group !== '')
  while (groups.length + after.length < 8) groups.push('0')
  return `${[...groups, ...after].slice(0, 4).join(':')}::/64`
}
