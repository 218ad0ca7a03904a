import { shortHash } from './call-ids.ts'

/** The valid names of tools at an upstream: `allowed` is tested on each character. */
export interface ToolNameRule {
  readonly allowed: RegExp
  readonly lengthMax: number
  /** The first character has to be a letter or `_`. */
  readonly startsWithLetter?: boolean
}

export interface ToolNames {
  /** The name for the upstream. A name that is not in `names` is converted when it first occurs. */
  toUpstream(name: string): string
  /** The caller's name, by the changed name. */
  readonly toCaller: ReadonlyMap<string, string>
}

/**
 * Tool names in the form that an upstream accepts, unique and reversible. A valid name is kept. In others the invalid characters
 * become `_`; a name that is too long, or would be equal to another, ends in a hash of itself. A name depends as little as possible
 * on the others, so that prompt caches remain valid. `names` are all names in a request: of tools, tool choice and history. Source:
 * protocols notes 3.3.
 */
export function nameTools(names: readonly string[], rule: ToolNameRule): ToolNames {
  const toCaller = new Map<string, string>()
  const given = new Map<string, string>()
  const distinct = [...new Set(names)]
  const taken = new Set(distinct.filter((name) => plainName(name, rule) === name))
  const repeated = repeatedOf(distinct.map((name) => plainName(name, rule)))

  const toUpstream = (name: string): string => {
    const known = given.get(name)
    if (known !== undefined) return known
    const plain = plainName(name, rule)
    const chosen = plain === name && !toCaller.has(name) ? name : freeName(name, plain, { taken, repeated }, rule)
    taken.add(chosen)
    given.set(name, chosen)
    if (chosen !== name) toCaller.set(chosen, name)
    return chosen
  }
  for (const name of distinct) toUpstream(name)
  return { toUpstream, toCaller }
}

const hashLength = 6

function plainName(name: string, { allowed, lengthMax, startsWithLetter }: ToolNameRule): string {
  // A flag such as `g` would make the expression stateful.
  const isAllowed = new RegExp(allowed.source)
  const replaced = [...name].map((character) => (isAllowed.test(character) ? character : '_')).join('')
  const begun = replaced === '' || (startsWithLetter && !/^[a-zA-Z_]/.test(replaced)) ? `_${replaced}` : replaced
  return begun.length <= lengthMax ? begun : hashedName(name, begun, lengthMax)
}

function freeName(
  name: string,
  plain: string,
  { taken, repeated }: Record<'taken' | 'repeated', ReadonlySet<string>>,
  { lengthMax }: ToolNameRule,
): string {
  if (!taken.has(plain) && !repeated.has(plain)) return plain
  let hashed = hashedName(name, plain, lengthMax)
  for (let round = 2; taken.has(hashed); round++) hashed = hashedName(`${name} ${round}`, plain, lengthMax)
  return hashed
}

function hashedName(name: string, plain: string, lengthMax: number): string {
  return `${plain.slice(0, lengthMax - hashLength - 1)}_${shortHash(name, hashLength)}`
}

function repeatedOf(names: readonly string[]): Set<string> {
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (const name of names) (seen.has(name) ? repeated : seen).add(name)
  return repeated
}
