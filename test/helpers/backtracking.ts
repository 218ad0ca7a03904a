/**
 * The running time of a regular expression for a text that it does not match, derived from the expression alone: JavaScript tries
 * every path through it. If two places of it can loop over the same letters, one after the other, the number of paths is the square of
 * the text's length, or more. The search for a start position counts as such a loop.
 */

type Node =
  | { readonly kind: 'letter'; readonly atom: string }
  | { readonly kind: 'row' | 'either'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number }
  | { readonly kind: 'look'; readonly part: Node }
  | { readonly kind: 'begin' | 'end' | 'condition' }

/** More repetitions count as unbounded; fewer multiply the time by a constant. */
const withoutEnd = 1000
/** Bounded repetitions are shortened to these numbers: the ways to split a text are the same. */
const [leastMax, mostMax] = [3, 4]

class Parser {
  #at = 0
  readonly source: string

  constructor(source: string) {
    this.source = source
  }

  parse(): Node {
    const node = this.#either()
    if (this.#at < this.source.length) throw new Error(`not understood: ${this.source.slice(this.#at)} of ${this.source}`)
    return node
  }

  #either(): Node {
    const parts = [this.#row()]
    while (this.#take('|')) parts.push(this.#row())
    return parts.length === 1 && parts[0] ? parts[0] : { kind: 'either', parts }
  }

  #row(): Node {
    const parts: Node[] = []
    while (this.#at < this.source.length && !'|)'.includes(this.source.charAt(this.#at))) parts.push(this.#repeated(this.#one()))
    return { kind: 'row', parts }
  }

  #repeated(part: Node): Node {
    const [sign, least, comma, most] = this.#match(/[*+?]|\{(\d+)(,?)(\d*)\}/y) ?? []
    if (sign === undefined) return part
    this.#take('?')
    if (sign === '*') return { kind: 'repeat', part, least: 0, most: Infinity }
    if (sign === '+') return { kind: 'repeat', part, least: 1, most: Infinity }
    if (sign === '?') return { kind: 'repeat', part, least: 0, most: 1 }
    return { kind: 'repeat', part, least: Number(least), most: most ? Number(most) : comma ? Infinity : Number(least) }
  }

  #one(): Node {
    if (this.#match(/\\[1-9k]/y)) throw new Error(`what was matched before cannot be judged: ${this.source}`)
    if (this.#match(/\\[bB]/y)) return { kind: 'condition' }
    if (this.#take('^')) return { kind: 'begin' }
    if (this.#take('$')) return { kind: 'end' }
    const open = this.#match(/\((\?(?:<?[=!]|:|<\w+>))?/y)
    if (!open) return { kind: 'letter', atom: this.#letter() }
    const part = this.#either()
    if (!this.#take(')')) throw new Error(`a group without end: ${this.source}`)
    return /[=!]/.test(open[1] ?? '') ? { kind: 'look', part } : part
  }

  #letter(): string {
    const letter = this.#match(
      /\[(?:\\.|[^\]\\])*\]|\\(?:p\{[^}]*\}|P\{[^}]*\}|u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|c.|.)|[\s\S]/iuy,
    )
    return letter?.[0] ?? ''
  }

  #take(sign: string): boolean {
    if (!this.source.startsWith(sign, this.#at)) return false
    this.#at += sign.length
    return true
  }

  #match(sticky: RegExp): RegExpExecArray | null {
    sticky.lastIndex = this.#at
    const found = sticky.exec(this.source)
    this.#at += found?.[0].length ?? 0
    return found
  }
}

interface Edge {
  readonly to: number
  /** The condition for the step: a letter, the start or end of the text, another condition, or nothing. */
  readonly by: { readonly atom: string } | 'begin' | 'end' | 'condition' | 'nothing'
}

/** The expression as an automaton: places with edges between them; `accepts` is the accepting place. */
function placesOf(root: Node): { edges: Edge[][]; accepts: number } {
  const edges: Edge[][] = [[]]
  const place = () => edges.push([]) - 1
  const way = (from: number, to: number, by: Edge['by'] = 'nothing') => edges[from]?.push({ to, by })

  const add = (node: Node, from: number): number => {
    if (node.kind === 'row') return node.parts.reduce((at, part) => add(part, at), from)
    const to = place()
    if (node.kind === 'letter') way(from, to, { atom: node.atom })
    else if (node.kind === 'either') for (const part of node.parts) way(add(part, from), to)
    else if (node.kind === 'look') {
      // A lookaround is tried without consuming text; matching continues from its start.
      const inside = place()
      way(from, inside)
      add(node.part, inside)
      way(from, to, 'condition')
    } else if (node.kind !== 'repeat') way(from, to, node.kind)
    else return repeat(node, from, to)
    return to
  }
  const repeat = ({ part, least, most }: Node & { kind: 'repeat' }, from: number, to: number): number => {
    let at = from
    for (let time = 0; time < Math.min(least, leastMax); time++) at = add(part, at)
    if (most >= withoutEnd) {
      const loop = place()
      way(at, loop)
      way(add(part, loop), loop)
      way(loop, to)
      return to
    }
    way(at, to)
    for (let time = least; time < Math.min(most, least + mostMax); time++) {
      at = add(part, at)
      way(at, to)
    }
    return to
  }
  return { accepts: add(root, 0), edges }
}

/** Sample characters of every kind that expressions distinguish. */
const letters = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  ...['\x85', '\xa0', '¼', '×', 'é', 'É', 'ß', 'İ', 'ı', 'ſ', '\u0301', '\u200b', '\u2028', '中', '，', '١', '\ud800', '\ue000', '\ufeff', '😀', '\xff', '\xef', '\x89'],
] // biome-ignore format: one line reads as the list that it is

/** The places reachable after a letter, and one for which the search has passed the start of the text. */
interface Step {
  /** The places after the next letter, by its kind. A place that can be reached in two ways is listed twice. */
  readonly next: readonly (readonly number[])[]
  /** Whether the expression has matched here: for any remaining text, or only at its end. */
  readonly matches: 'surely' | 'at the end' | 'no'
}

const searching = -1

function stepsOf({ source, flags }: RegExp): { steps: Map<number, Step>; samples: string[] } {
  const { edges, accepts } = placesOf(new Parser(source).parse())
  const atoms = [...new Set(edges.flat().flatMap(({ by }) => (typeof by === 'object' ? [by.atom] : [])))]
  const tests = new Map(atoms.map((atom) => [atom, new RegExp(`^${atom}$`, flags.replace(/[gym]/g, ''))]))
  // Letters that no part of the expression distinguishes are of the same kind.
  const kinds = new Map(letters.map((letter) => [atoms.map((atom) => Number(tests.get(atom)?.test(letter))).join(''), letter]))
  const samples = [...kinds.values()]

  const step = (from: number): Step => {
    const isFirst = from === 0
    const next: number[][] = samples.map(() => [])
    let matches: Step['matches'] = 'no'
    const walk = (at: number, passed: readonly number[], condition: Step['matches']) => {
      // Listed twice, since a repetition of an optional part can split the same letters in several ways.
      if (passed.indexOf(at) !== passed.lastIndexOf(at)) return
      if (at === accepts && condition !== 'no' && matches !== 'surely') matches = condition
      for (const { to, by } of edges[at] ?? []) {
        if (typeof by === 'object') {
          for (const [kind, letter] of samples.entries()) if (tests.get(by.atom)?.test(letter)) next[kind]?.push(to)
        } else if (by === 'begin' && !isFirst && !flags.includes('m')) continue
        else walk(to, [...passed, at], by === 'end' && condition !== 'no' ? 'at the end' : by === 'nothing' ? condition : 'no')
      }
    }
    walk(from === searching ? 0 : from, [], 'surely')
    if ((isFirst || from === searching) && !flags.includes('y')) for (const places of next) places.push(searching)
    return { next, matches }
  }
  const steps = new Map<number, Step>()
  for (const waiting = [0]; waiting.length > 0; ) {
    const from = waiting.pop() ?? 0
    if (steps.has(from)) continue
    const made = step(from)
    steps.set(from, made)
    waiting.push(...made.next.flat())
  }
  return { steps, samples }
}

/** Letters whose repetition makes the expression take more than linear time; undefined if there are none. */
export function lettersOfSlowMatch(expression: RegExp): string | undefined {
  if (!/[*+]|,\}|\d{4}/.test(expression.source)) return undefined
  const { steps, samples } = stepsOf(expression)
  const after = (from: number, kind: number) => steps.get(from)?.next[kind] ?? []
  const nextOf = (from: number) => steps.get(from)?.next.flat() ?? []
  const reach = new Map([...steps.keys()].map((from) => [from, reachable(from, nextOf)]))
  const reaches = (from: number, to: number) => reach.get(from)?.has(to) === true

  const matchesOf = (place: number) => steps.get(place)?.matches ?? 'no'
  const unmatched = (from: number) => nextOf(from).filter((to) => matchesOf(to) !== 'surely')
  const loopsUnmatched = new Set(
    [...steps.keys()].filter((place) => matchesOf(place) !== 'surely' && reachable(place, unmatched).has(place)),
  )
  // From such a place a match cannot fail, or only a few letters later, so that no other path is tried.
  const isSafe = (place: number) => {
    const all = [place, ...(reach.get(place) ?? [])]
    return (
      all.every((at) => !loopsUnmatched.has(at)) ||
      all.every((at) => matchesOf(at) !== 'no' && steps.get(at)?.next.every((places) => places.length > 0))
    )
  }
  const risky = new Set([...steps.keys()].filter((place) => !isSafe(place)))
  const looping = [...risky].filter((place) => reaches(place, place))

  for (const first of looping) {
    const isInFirst = (place: number) => risky.has(place) && reaches(first, place) && reaches(place, first)
    for (const [kind, letter] of samples.entries()) {
      const places = after(first, kind).filter(isInFirst)
      if (new Set(places).size < places.length) return letter
    }
    for (const second of looping) {
      if (first === second || !reaches(first, second)) continue
      const isInSecond = (place: number) => risky.has(place) && reaches(second, place) && reaches(place, second)
      const word = pumped([first, first, second], [first, second, second], (at) => {
        const [one, way, two] = at
        return samples.flatMap((letter, kind) =>
          after(one, kind)
            .filter(isInFirst)
            .flatMap((a) =>
              after(way, kind)
                .filter((place) => risky.has(place) && reaches(place, second))
                .flatMap((b) =>
                  after(two, kind)
                    .filter(isInSecond)
                    .map((c) => ({ letter, to: [a, b, c] as Three })),
                ),
            ),
        )
      })
      if (word !== undefined) return word
    }
  }
  return undefined
}

type Three = readonly [number, number, number]

/** The letters that lead from three places to three others simultaneously. */
function pumped(from: Three, goal: Three, next: (at: Three) => readonly { letter: string; to: Three }[]): string | undefined {
  const seen = new Set<string>()
  let edge = [{ at: from, word: '' }]
  while (edge.length > 0) {
    const beyond: typeof edge = []
    for (const { at, word } of edge) {
      for (const { letter, to } of next(at)) {
        if (to.join() === goal.join()) return word + letter
        if (seen.has(to.join())) continue
        seen.add(to.join())
        beyond.push({ at: to, word: word + letter })
      }
    }
    edge = beyond
  }
  return undefined
}

function reachable(from: number, next: (at: number) => readonly number[]): ReadonlySet<number> {
  const found = new Set<number>()
  for (const waiting = [...next(from)]; waiting.length > 0; ) {
    const at = waiting.pop() ?? 0
    if (found.has(at)) continue
    found.add(at)
    waiting.push(...next(at))
  }
  return found
}
