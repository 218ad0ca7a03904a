import { isObject, type JsonObject } from './wire-format.ts'

/**
 * The members of an object that a reader reads, and those without effect. A member with `null` is read entirely; for the others,
 * the nested members are checked too.
 */
export type Known = ReadonlyMap<string, Inner | null>

/** The members read of an object, or of each object of a list; undefined for one that is read or refused entirely. */
export type Inner = Known | ((value: JsonObject) => Known | undefined)

/** `names`, separated by spaces, are read entirely; `inner` are members whose own members are declared. */
export function known(names: string, inner: Readonly<Record<string, Inner>> = {}): Known {
  return new Map<string, Inner | null>([...names.split(' ').map((name) => [name, null] as const), ...Object.entries(inner)])
}

/**
 * Collects nested members of a request that its reader does not read, by the names under which they are reported as dropped:
 * `tools.input_examples`. Members without effect (null, false, an empty list) are ignored. If everything is read, nothing is
 * allocated.
 */
export class UnreadMembers {
  readonly #names = new Set<string>()
  readonly #spell: (name: string) => string
  /** The path of the object that is being checked. */
  readonly #path: string[] = []

  /** `spell` returns the canonical spelling of a member's name, where a format has two. */
  constructor(spell: (name: string) => string = (name) => name) {
    this.#spell = spell
  }

  /** Without `unread` when everything is read. */
  get names(): { unread?: readonly string[] } {
    return this.#names.size === 0 ? {} : { unread: [...this.#names] }
  }

  /** Adds the name of a member that is not carried over. */
  add(name: string): void {
    if (this.#names.size < namesMax) this.#names.add(name)
  }

  /** Reports the unread members of an object, or of the objects of a list, at `place` in the request. */
  note(place: string, value: unknown, inner: Inner): void {
    this.#path.push(place)
    this.#note(value, inner)
    this.#path.pop()
  }

  #note(value: unknown, inner: Inner): void {
    if (Array.isArray(value)) for (const entry of value) this.#noteObject(entry, inner)
    else this.#noteObject(value, inner)
  }

  #noteObject(value: unknown, inner: Inner): void {
    if (!isObject(value) || this.#path.length > depthMax) return
    const members = typeof inner === 'function' ? inner(value) : inner
    if (!members) return
    for (const key in value) {
      const member = value[key]
      const name = members.has(key) ? key : this.#spell(key)
      const within = members.get(name)
      if (within === undefined) {
        if (asksForSomething(member)) this.add(`${this.#path.join('.')}.${name}`)
      } else if (within !== null && typeof member === 'object') {
        this.#path.push(name)
        this.#note(member, within)
        this.#path.pop()
      }
    }
  }
}

/** The maximum number of reported names. */
const namesMax = 200
/** Tool results contain blocks, which contain documents, which contain blocks. */
const depthMax = 12

/** Whether a member of a request has an effect. */
export function asksForSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
}
