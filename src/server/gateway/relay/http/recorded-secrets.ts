import { Masking, type SecretPattern, secretPattern } from './secret-masking.ts'

/**
 * Secrets that recordings leave out. Headers, query parameters and members of JSON with the name of a secret are masked where they
 * stand. Anywhere else in a text, only secrets that the server knows are masked: a value that a caller may choose is never searched
 * for, because it would cost time in each body, and would mask any text that the caller repeats in a header.
 */
export const mark = '[redacted]'

/** Headers whose names do not show that they hold a secret. */
const secretHeaders: ReadonlySet<string> = new Set(['api-key', 'x-goog-api-key', 'mj-api-secret', 'sec-websocket-protocol'])
const secretName =
  /(?:^|[-_])(?:api-?keys?|access-?keys?|keys?|token|secret|auth|authorization|authenticate|cookie2?|signature|password|passwd|credentials?|session|jwt|assertion)(?:$|[-_])/i
/** Headers with similar names that are public. */
const publicHeaders: ReadonlySet<string> = new Set(['idempotency-key', 'x-codex-session-id', 'session-id', 'x-session-id'])

const secretParams =
  /([?&](?:key|api[-_]?key|token|access[-_]token|code|password|secret|signature|sig|authorization|x-amz-[a-z-]+)=)[^&\s"]+/gi

export type HeaderMap = Readonly<Record<string, string | number | readonly string[] | undefined>>

function isSecretHeader(name: string): boolean {
  return secretHeaders.has(name) || (secretName.test(name) && !publicHeaders.has(name))
}

/** The forms in which a text can contain the key of a channel, or the token that its vendor gives for it. */
export function secretsOfKey(key: string): string[] {
  return [key, ...key.split('|').map((part) => part.trim())]
}

/**
 * The secrets in the headers of a request to a channel: overrides of the operator, and signatures and tokens made from the key.
 * Headers that the caller sent as well are passed on, and are not secrets of the server.
 */
export function secretsOfChannelIn(sent: HeaderMap, received: HeaderMap): string[] {
  return Object.entries(sent)
    .filter(([name, value]) => isSecretHeader(name) && value !== received[name])
    .flatMap(([, value]) => valuesOf(value))
    .flatMap(partsOf)
}

/** Of a signed header, the names around the signature are public. */
function partsOf(value: string): string[] {
  const signature = /\bsignature=([^\s,]+)/i.exec(value)?.[1]
  return signature === undefined ? [value, ...value.split(/[\s,;]+/)] : [value, signature]
}

/** Masks secrets in the parts of a recording. */
export class Redactor {
  readonly #pattern: SecretPattern

  /** `secrets` are those that the server knows: at most some for each channel that the call reached. */
  constructor(secrets: Iterable<string>) {
    this.#pattern = secretPattern(secrets)
  }

  /** Masks a body, slice by slice. */
  masking(): Masking {
    return new Masking(this.#pattern, mark)
  }

  /** For the short texts of heads. */
  text(text: string): string {
    const masking = this.masking()
    return masking.push(text) + masking.end()
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
