import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hash,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/**
 * Encryption at rest. The master key wraps data keys; a data key encrypts fields. A sealed field is
 * `v1.<key id>.<nonce>.<tag>.<ciphertext>` and is bound to its place (table, column, row), so that it cannot be moved to another.
 * The rows of the key ring are stored by `base/db/key-ring.ts`; this file only computes.
 */
export interface DataKey {
  readonly id: string
  readonly key: Buffer
}

interface Place {
  readonly table: string
  readonly column: string
  readonly row: string | number
}

export interface Secrets {
  seal(plain: string, place: Place): string
  open(sealed: string, place: Place): string
  /** Like `seal`, for binary data. */
  sealBytes(plain: Buffer, place: Place): string
  openBytes(sealed: string, place: Place): Buffer
  /** HMAC-SHA256 in hex. Its key comes from the oldest data key, so that a MAC stays comparable when the active key is replaced. */
  mac(purpose: string, text: string): string
}

/** `keys` from the oldest to the newest. */
export function fieldSecrets(keys: readonly DataKey[], activeId: string): Secrets {
  const byId = new Map(keys.map((entry) => [entry.id, entry.key]))
  const active = byId.get(activeId)
  const [oldest] = keys
  if (!active || !oldest) throw new Error(`Key ring has no data key ${activeId}`)
  const macKey = Buffer.from(hkdfSync('sha256', oldest.key, 'sluice', 'mac', 32))

  const sealBytes = (plain: Buffer, place: Place) => `v1.${activeId}.${encrypt(active, plain, aad(place))}`
  const openBytes = (sealed: string, place: Place) => {
    const [version, id = '', nonce = '', tag = '', text = ''] = sealed.split('.')
    const key = byId.get(id)
    if (version !== 'v1' || !key)
      throw new Error(`Cannot open a sealed value of ${place.table}.${place.column}: unknown key or version`)
    return decrypt(key, { nonce, tag, text }, aad(place))
  }

  return {
    seal: (plain, place) => sealBytes(Buffer.from(plain), place),
    open: (sealed, place) => openBytes(sealed, place).toString(),
    sealBytes,
    openBytes,
    mac(purpose, text) {
      return createHmac('sha256', macKey).update(`${purpose}\0${text}`).digest('hex')
    },
  }
}

/** Derives the key that wraps data keys from the master key (HKDF-SHA256). */
export function wrappingKey(masterKey: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', masterKey, 'sluice', 'data-key-wrapping', 32))
}

export function wrapDataKey(wrapping: Buffer, dataKey: DataKey): string {
  return encrypt(wrapping, dataKey.key, Buffer.from(`data-key:${dataKey.id}`))
}

/** Throws when another master key wrapped this data key. */
export function unwrapDataKey(wrapping: Buffer, id: string, wrapped: string): DataKey {
  const [nonce = '', tag = '', text = ''] = wrapped.split('.')
  return { id, key: decrypt(wrapping, { nonce, tag, text }, Buffer.from(`data-key:${id}`)) }
}

export function newDataKey(): DataKey {
  return { id: randomBytes(6).toString('hex'), key: randomBytes(32) }
}

/** SHA-256 in hex. Enough for lookups of secrets that carry 128 bits or more of randomness. */
export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}

/** Compares in constant time; unequal lengths are unequal. */
export function sameSecret(a: string, b: string): boolean {
  const left = createHash('sha256').update(a).digest()
  const right = createHash('sha256').update(b).digest()
  return timingSafeEqual(left, right)
}

function aad(place: Place): Buffer {
  return Buffer.from(`${place.table}|${place.column}|${place.row}|v1`)
}

function encrypt(key: Buffer, plain: Buffer, bound: Buffer): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(bound)
  const text = Buffer.concat([cipher.update(plain), cipher.final()])
  return [nonce, cipher.getAuthTag(), text].map((part) => part.toString('base64url')).join('.')
}

function decrypt(key: Buffer, { nonce, tag, text }: Record<'nonce' | 'tag' | 'text', string>, bound: Buffer): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
  decipher.setAAD(bound).setAuthTag(Buffer.from(tag, 'base64url'))
  return Buffer.concat([decipher.update(Buffer.from(text, 'base64url')), decipher.final()])
}
