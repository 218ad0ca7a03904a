import { decodeComponent } from '../../lib/parse-url.ts'

/**
 * Secrets that recordings leave out: keys, tokens, cookies and passwords in headers, in the query and in members of JSON, and every
 * key of the call anywhere in a text.
 */
const mark = '[redacted]'

/** Headers whose names do not show that they hold a secret. */
const secretHeaders: ReadonlySet<string> = new Set(['api-key', 'x-goog-api-key', 'mj-api-secret', 'sec-websocket-protocol'])
const secretName =
  /(?:^|[-_])(?:api-?keys?|access-?keys?|keys?|token|secret|auth|authorization|authenticate|cookie2?|signature|password|passwd|credentials?|session|jwt|assertion)(?:$|[-_])/i
/** Headers with similar names that are public. */
const publicHeaders: ReadonlySet<string> = new Set(['idempotency-key', 'x-codex-session-id', 'session-id', 'x-session-id'])

const secretMembers =
  /("(?:x[-_])?(?:api[-_]?key|authorization(?:[-_]token)?|access[-_]?token|refresh[-_]?token|id[-_]token|client[-_]secret|secret[-_]?(?:access[-_])?key|private[-_]key|password)"\s*:\s*)"(?:[^"\\]|\\.)*"/gi
const secretParams =
  /([?&](?:key|api[-_]?key|token|access[-_]token|code|password|secret|signature|sig|authorization|x-amz-[a-z-]+)=)[^&\s"]+/gi

/** Shorter values are not treated as secrets: they would match ordinary text everywhere. */
const secretLengthMin = 8

export type HeaderMap = Readonly<Record<string, string | number | readonly string[] | undefined>>

export function isSecretHeader(name: string): boolean {
  return secretHeaders.has(name) || (secretName.test(name) && !publicHeaders.has(name))
}

/** The values of headers and query parameters that hold secrets, also without the scheme before them (`Bearer`). */
export function secretsIn(headers: HeaderMap, url: string): string[] {
  const values = Object.entries(headers).flatMap(([name, value]) => (isSecretHeader(name.toLowerCase()) ? valuesOf(value) : []))
  const query = [...url.matchAll(/[?&](?:key|api[-_]?key|token|access[-_]token)=([^&\s]+)/gi)].map(([, value = '']) =>
    decodeComponent(value),
  )
  return [...values, ...query].flatMap((value) => [value, ...value.split(/[\s,;]+/)])
}

/** Removes secrets from texts. */
export class Redactor {
  readonly #secrets: readonly string[]

  constructor(secrets: Iterable<string>) {
    const forms = [...secrets]
      .flatMap((secret) => [secret, secret.replace(/^sk-/, ''), secret.replace(/^sk-/, '').replace(/-\d+$/, '')])
      .filter((secret) => secret.length >= secretLengthMin)
      .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    // The longest first, because a shorter one may be a part of it.
    this.#secrets = [...new Set(forms)].sort((one, other) => other.length - one.length)
  }

  text(text: string): string {
    const known = this.#secrets.reduce((safe, secret) => safe.replaceAll(secret, mark), text)
    return known.replace(secretMembers, `$1"${mark}"`)
  }

  url(url: string): string {
    return this.text(url.replace(secretParams, `$1${mark}`))
  }

  headers(headers: HeaderMap): [string, string][] {
    return Object.entries(headers).flatMap(([name, value]) =>
      valuesOf(value).map((text): [string, string] => [name, isSecretHeader(name.toLowerCase()) ? mark : this.url(text)]),
    )
  }
}

function valuesOf(value: HeaderMap[string]): string[] {
  if (value === undefined) return []
  return typeof value === 'object' ? [...value] : [String(value)]
}
