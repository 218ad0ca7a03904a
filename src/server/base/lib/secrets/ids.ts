import { randomBytes } from 'node:crypto'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const pool = { bytes: Buffer.alloc(0), used: 0 }

/** `length` letters and digits from the system's random source, without bias. */
export function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    const byte = nextByte()
    if (byte < 248) text += letters[byte % 62]
  }
  return text
}

/** 48 characters, 285 bits: the part of a token after `sk-`. */
export function newTokenKey(): string {
  return randomText(48)
}

/** A 256-bit secret for a session or a system access token. */
export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}

let lastSecond = 0
let lastPrefix = ''

/** A request id: UTC yyyyMMddHHmmss, milliseconds and 12 random characters. Ordered by time, so that indexes over it append. */
export function newRequestId(nowMs: number): string {
  const second = Math.floor(nowMs / 1000)
  if (second !== lastSecond) {
    lastSecond = second
    lastPrefix = new Date(nowMs).toISOString().slice(0, 19).replace(/[-T:]/g, '')
  }
  return `${lastPrefix}${String(nowMs % 1000).padStart(3, '0')}${randomText(12)}`
}

function nextByte(): number {
  if (pool.used >= pool.bytes.length) {
    pool.bytes = randomBytes(4096)
    pool.used = 0
  }
  return pool.bytes.readUInt8(pool.used++)
}
