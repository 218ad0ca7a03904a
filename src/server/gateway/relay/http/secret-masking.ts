import { characterStart } from '../../../base/lib/bytes/text-slices.ts'

/**
 * The search for secrets in a text that arrives in slices: one pass for all secrets, and for members of JSON whose names are those of
 * secrets. What a slice leaves undecided is searched with the next one, so that a cut between slices hides nothing.
 */
export interface SecretPattern {
  /** Matches a secret, or (group 1) the name of a secret member. */
  readonly search: RegExp
  /** The length of the longest match. */
  readonly longest: number
}

const secretMember =
  '"(?:x[-_])?(?:api[-_]?key|authorization(?:[-_]token)?|access[-_]?token|refresh[-_]?token|id[-_]token|client[-_]secret|secret[-_]?(?:access[-_])?key|private[-_]key|password)"'
/**
 * In any case of letters. Not by the modifier `(?i:…)`, which was seen to be ignored in a process that had run for some time.
 */
const anyCaseMember = secretMember.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
const memberLengthMax = '"x-authorization-token"'.length

/** Shorter values are not treated as secrets: they would match ordinary text everywhere. */
const secretLengthMin = 8

/** The pattern of these secrets: as they are, in JSON and in URLs, also without the `sk-` and the channel that a key may have. */
export function secretPattern(secrets: Iterable<string>): SecretPattern {
  const forms = [...new Set(secrets)]
    .flatMap((secret) => [secret, secret.replace(/^sk-/, ''), secret.replace(/^sk-/, '').replace(/-\d+$/, '')])
    .filter((secret) => secret.length >= secretLengthMin)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())])
  // The longest first, because a shorter one may be its beginning.
  const known = [...new Set(forms)].sort((one, other) => other.length - one.length)
  return {
    search: new RegExp([`(${anyCaseMember})`, ...known.map(literal)].join('|'), 'g'),
    longest: Math.max(memberLengthMax, known[0]?.length ?? 0),
  }
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/** Where the search is: in a text, behind the name of a secret member, behind its colon, or in its value. */
type Place = 'text' | 'name' | 'colon' | 'value'

/** Masks the secrets of one text. */
export class Masking {
  readonly #pattern: SecretPattern
  readonly #mark: string
  #place: Place = 'text'
  #undecided = ''

  constructor(pattern: SecretPattern, mark: string) {
    this.#pattern = pattern
    this.#mark = mark
  }

  /** Returns as much of the masked text as this slice decides. */
  push(slice: string): string {
    return this.#mask(this.#undecided + slice, false)
  }

  /** Returns the rest of the masked text. */
  end(): string {
    return this.#mask(this.#undecided, true)
  }

  #mask(text: string, isEnd: boolean): string {
    this.#undecided = ''
    let masked = ''
    let at = 0
    while (at < text.length) {
      const step = this.#steps[this.#place](text, at, isEnd)
      masked += step.masked
      if (step.next === undefined) {
        this.#undecided = text.slice(step.end)
        break
      }
      this.#place = step.next
      at = step.end
    }
    return masked
  }

  readonly #steps: Readonly<Record<Place, (text: string, at: number, isEnd: boolean) => Step>> = {
    text: (text, at, isEnd) => this.#throughText(text, at, isEnd),
    name: (text, at) => throughSpace(text, at, { expected: ':', masked: ':', next: 'colon' }),
    colon: (text, at) => throughSpace(text, at, { expected: '"', masked: `"${this.#mark}`, next: 'value' }),
    value: (text, at, isEnd) => throughValue(text, at, isEnd),
  }

  #throughText(text: string, at: number, isEnd: boolean): Step {
    const { search, longest } = this.#pattern
    // A longer secret may begin where a shorter one was found, if the next slice continues it.
    const decided = isEnd ? text.length : Math.max(at, characterStart(text, text.length - longest + 1))
    search.lastIndex = at
    const found = search.exec(text)
    if (!found || found.index >= decided) return { masked: text.slice(at, decided), end: decided, next: undefined }
    const [match, name] = found
    const before = text.slice(at, found.index)
    const end = found.index + match.length
    return name === undefined ? { masked: before + this.#mark, end, next: 'text' } : { masked: before + name, end, next: 'name' }
  }
}

interface Step {
  readonly masked: string
  readonly end: number
  /** Undefined when the next slice decides. */
  readonly next: Place | undefined
}

/** White space, and then the expected character, or another one that ends the member. */
function throughSpace(
  text: string,
  at: number,
  { expected, masked, next }: { readonly expected: string; readonly masked: string; readonly next: Place },
): Step {
  const found = firstFrom(/\S/g, text, at)
  if (found < 0) return { masked: text.slice(at), end: text.length, next: undefined }
  const space = text.slice(at, found)
  if (text[found] !== expected) return { masked: space, end: found, next: 'text' }
  return { masked: space + masked, end: found + 1, next }
}

/** The value of a secret member up to its quote. */
function throughValue(text: string, at: number, isEnd: boolean): Step {
  for (let from = at; ; ) {
    const found = firstFrom(/["\\]/g, text, from)
    if (found < 0) return { masked: '', end: text.length, next: undefined }
    if (text[found] === '"') return { masked: '"', end: found + 1, next: 'text' }
    // The character behind a backslash is in the next slice.
    if (found + 1 === text.length && !isEnd) return { masked: '', end: found, next: undefined }
    from = found + 2
  }
}

function firstFrom(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.exec(text)?.index ?? -1
}
