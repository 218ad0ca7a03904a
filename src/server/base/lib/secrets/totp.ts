import { createHmac, randomBytes } from 'node:crypto'
import { sameSecret } from './secrets.ts'

/**
 * Codes of authenticator apps by RFC 6238: HMAC-SHA1, six digits, a new one every thirty seconds. The standard allows other
 * parameters, but most apps ignore them.
 */
const periodSeconds = 30
const digits = 6
/** Clocks of phones are off by some seconds, and people type slowly: codes of the neighbouring periods are accepted too. */
const neighbours = [0, -1, 1] as const
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** 160 bits as base32, which people can type and apps accept. */
export function newTotpSecret(): string {
  return base32(randomBytes(20))
}

export function totpCode(secret: string, period: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(period))
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest()
  const offset = (mac[mac.length - 1] ?? 0) & 15
  const number = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits
  return String(number).padStart(digits, '0')
}

/** Number of the period that a time falls into. */
export function periodAt(nowSeconds: number): number {
  return Math.floor(nowSeconds / periodSeconds)
}

/** The period that the code belongs to, among the present one and its neighbours; otherwise undefined. */
export function findPeriod(secret: string, code: string, nowSeconds: number): number | undefined {
  const now = periodAt(nowSeconds)
  return neighbours.map((distance) => now + distance).find((period) => period >= 0 && sameSecret(totpCode(secret, period), code))
}

/** The URI in the QR code of a set-up. https://github.com/google/google-authenticator/wiki/Key-Uri-Format */
export function totpUri({ secret, site, account }: { secret: string; site: string; account: string }): string {
  // A colon would end the name of the site.
  const issuer = site.replaceAll(':', ' ')
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const parts = { secret, issuer, algorithm: 'SHA1', digits, period: periodSeconds }
  // Apps show a plus sign literally, so spaces must be encoded as %20.
  const query = Object.entries(parts).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `otpauth://totp/${label}?${query.join('&')}`
}

function base32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((group) => letters[Number.parseInt(group.padEnd(5, '0'), 2)]).join('')
}

function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
