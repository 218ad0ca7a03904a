import { createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto'
import { fail } from '../../base/lib/failure.ts'
import { isObject, textAt } from '../protocols/wire-format.ts'
import type { TokenExchange } from './provider.ts'

/**
 * The members of a service account's JSON that are used. Its `token_uri` is ignored, since the owner of the key could name any
 * host.
 */
interface GoogleAccount {
  readonly projectId: string
  readonly clientEmail: string
  readonly privateKey: string
  readonly privateKeyId: string
}

/** Throws `upstream_failed` with a reason that contains no part of the key. */
export function readGoogleAccount(key: string): GoogleAccount {
  const account = parse(key)
  if (!isObject(account))
    refuse({ zh: '渠道密钥不是服务账号的 JSON', en: 'the key of the channel is no JSON of a service account' })
  const [projectId, clientEmail, privateKey] = ['project_id', 'client_email', 'private_key'].map((member) => {
    const value = textAt(account, member)
    if (value === '') refuse({ zh: `服务账号的 JSON 缺少 ${member}`, en: `the JSON of the service account lacks ${member}` })
    return value
  })
  return {
    projectId: projectId ?? '',
    clientEmail: clientEmail ?? '',
    privateKey: privateKey ?? '',
    privateKeyId: textAt(account, 'private_key_id'),
  }
}

/**
 * Obtains an access token for a service account: a JWT signed by the account, exchanged at Google's own token host. Source: Google
 * Identity, "Using OAuth 2.0 for Server to Server Applications", and protocols notes 2.6.
 */
export function googleTokenExchange(account: GoogleAccount, nowMs: number): TokenExchange {
  return {
    cacheKey: `google ${createHash('sha256').update(`${account.clientEmail} ${account.privateKey}`).digest('base64')}`,
    url: tokenUrl,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    // A getter, because signing takes a millisecond and most calls find a cached token by `cacheKey`.
    get body() {
      const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion: assertionOf(account, nowMs) }
      return new URLSearchParams(grant).toString()
    },
    read(reply) {
      if (!isObject(reply)) return undefined
      const token = textAt(reply, 'access_token')
      const expiresInSeconds = reply.expires_in
      return token === '' || typeof expiresInSeconds !== 'number' ? undefined : { token, expiresInSeconds }
    },
  }
}

const tokenUrl = 'https://oauth2.googleapis.com/token'
const lifetimeSeconds = 3600

function assertionOf({ clientEmail, privateKey, privateKeyId }: GoogleAccount, nowMs: number): string {
  const issuedAt = Math.floor(nowMs / 1000)
  const header = { alg: 'RS256', typ: 'JWT', ...(privateKeyId === '' ? {} : { kid: privateKeyId }) }
  const claims = {
    iss: clientEmail,
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: tokenUrl,
    iat: issuedAt,
    exp: issuedAt + lifetimeSeconds,
  }
  const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), rsaKey(privateKey)).toString('base64url')}`
}

/** OpenSSL's error is dropped: it only matters that the key cannot be read, and the error must not reach a log. */
function rsaKey(pem: string): KeyObject {
  let key: KeyObject | undefined
  try {
    // In JSON that was copied through a shell or a form, line ends may be escaped twice.
    key = createPrivateKey(pem.replaceAll('\\n', '\n'))
  } catch {
    key = undefined
  }
  if (key?.asymmetricKeyType !== 'rsa')
    refuse({
      zh: '服务账号的 private_key 不是可用的 RSA 私钥',
      en: 'the private_key of the service account is no usable RSA key',
    })
  return key
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refuse(reason: { zh: string; en: string }): never {
  fail('upstream_failed', { reason })
}
