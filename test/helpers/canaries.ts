import { allOptions } from '../../src/contract/options/index.ts'

/**
 * The records of a run that looks for secrets in one test file: the secrets, and the texts that must not contain any. Secrets are
 * recognized by their place: a header, a field or a part of a URL that holds one, and everything that is encrypted. `canary-taps.ts`
 * collects them.
 */
export const isWatched = process.env.CANARIES === '1'

/** The places that must not contain secrets. */
type Place = 'logs' | 'refusals' | 'metrics' | 'output of processes'

interface Seen {
  readonly secrets: Map<string, string>
  readonly texts: Map<Place, string[]>
  /** Texts that tests put into every place, and that are also in public fields. */
  readonly spread: Set<string>
}

/** Shared by all copies of this module in a worker. */
const kept = globalThis as typeof globalThis & { seenByCanaries?: Seen }
kept.seenByCanaries ??= { secrets: new Map(), texts: new Map(), spread: new Set() }
const { secrets, texts, spread } = kept.seenByCanaries

export function note(place: Place, text: string): void {
  const before = texts.get(place)
  if (before) before.push(text)
  else texts.set(place, [text])
}

/** Marks a text that a test puts into every place, including those of secrets, as not secret. */
export function spreadText(text: string): string {
  spread.add(text)
  return text
}

const lengthMax = 4096

/** Records a secret with its source. A value that looks like a word is skipped, because it could not be distinguished from others. */
export function keep(source: string, secret: unknown): void {
  if (typeof secret !== 'string' || secret.length > lengthMax || secrets.has(secret)) return
  const isCode = /^\d{6}$/.test(secret)
  const isSecret = secret.length >= 8 && /[^a-z_ ]/.test(secret) && new Set(secret).size > 4
  if (isCode || isSecret) secrets.set(secret, source)
}

const secretHeaders =
  /^(?:(?:proxy-)?authorization|x-api-key|x-goog-api-key|api-key|mj-api-secret|stripe-signature|cookie|set-cookie)$/i

/** Records the value of a header, if it is one that holds secrets. */
export function keepHeader(name: string, value: string): void {
  if (!secretHeaders.test(name)) return
  if (/cookie$/i.test(name)) {
    for (const [, cookie, secret] of value.matchAll(/(?:^|;\s*)((?:__Host-)?(?:session|browser)\w*)=([^;\s]+)/g))
      keep(`cookie ${cookie}`, secret)
    return
  }
  const bare = value.replace(/^(?:bearer|basic)\s+/i, '').trim()
  keep(`header ${name}`, bare)
  keep(`header ${name}`, bare.replace(/^sk-/, ''))
}

const secretQueries = ['key', 'token', 'access_token', 'code', 'password', 'secret', 'client_secret', 'state', 'sign', 'hash']

/** Records the secret parts of a URL. */
export function keepAddress(address: string): void {
  const at = address.indexOf('?')
  if (at < 0) return
  const query = new URLSearchParams(address.slice(at))
  for (const name of secretQueries) for (const value of query.getAll(name)) keepNamed(`query ${name}`, name, value)
}

const secretFields = new Set([
  ...['password', 'password2', 'original_password', 'key', 'token', 'access_token', 'refresh_token', 'id_token', 'secret'],
  ...['client_secret', 'webhook_secret', 'private_key', 'code', 'verification_code', 'state', 'backup_codes', 'api_key'],
])
/** A quick check, because most parsed texts have none of the fields. */
export const mayHoldSecret = new RegExp(`"(?:proxy|${[...secretFields].join('|')})"`)

/** Records the secret fields of parsed JSON. */
export function keepFields(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > 4) return
  const isOption = 'key' in value && 'value' in value
  if (isOption) keepOption(value)
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'object') keepFields(inner, depth + 1)
    else if (name === 'proxy') keepPassword(inner)
    else if (secretFields.has(name) && !(isOption && name === 'key')) keepNamed(`field ${name}`, name, inner)
  }
}

function keepPassword(url: unknown): void {
  if (typeof url === 'string' && URL.canParse(url)) keep('password of a proxy', decodeURIComponent(new URL(url).password))
}

function keepOption({ key, value }: { key: unknown; value: unknown }): void {
  const option = Object.entries(allOptions).find(([name]) => name === key)?.[1]
  if (option && 'secret' in option) keep(`option ${key}`, value)
}

/** Errors have codes too, and lists have keys. */
function keepNamed(source: string, name: string, value: unknown): void {
  const isWord = typeof value === 'string' && /^[a-z_]+$/i.test(value)
  if (!(isWord && (name === 'code' || name === 'key' || name === 'state'))) keep(source, value)
}

/** The encodings in which a secret may occur in a text. */
function formsOf(secret: string): Set<string> {
  return new Set([
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
  ])
}

interface Finding {
  readonly source: string
  readonly secret: string
  readonly place: Place
  readonly around: string
}

const headLength = 6

/** Looks for every secret in every text, in one pass over the texts, and forgets both. */
export function search(): { found: Finding[]; secrets: number; bytes: Record<string, number> } {
  const byHead = new Map<string, { secret: string; form: string; source: string }[]>()
  for (const [secret, source] of secrets) {
    if ([...spread].some((text) => text.includes(secret))) continue
    for (const form of formsOf(secret)) {
      const head = form.slice(0, headLength)
      byHead.set(head, [...(byHead.get(head) ?? []), { secret, form, source }])
    }
  }
  const found: Finding[] = []
  const bytes: Record<string, number> = {}
  for (const [place, pieces] of texts) {
    const text = pieces.join('\n')
    bytes[place] = text.length
    for (let at = 0; at + headLength <= text.length; at++) {
      for (const { secret, form, source } of byHead.get(text.slice(at, at + headLength)) ?? []) {
        if (!text.startsWith(form, at)) continue
        // Six separate digits are a code; within a longer number they are a coincidence.
        if (form.length === headLength && /[\w.]/.test(`${text[at - 1] ?? ''}${text[at + headLength] ?? ''}`)) continue
        found.push({ source, secret, place, around: text.slice(Math.max(0, at - 150), at + form.length + 80) })
      }
    }
  }
  const count = secrets.size
  secrets.clear()
  texts.clear()
  spread.clear()
  return { found, secrets: count, bytes }
}
