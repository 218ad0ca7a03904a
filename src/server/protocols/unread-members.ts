import { isObject, type JsonObject } from './wire-format.ts'

/** The members of an object that a reader understands, and those that ask for nothing. */
export type Known = ReadonlySet<string>

/** A set out of names in one line. */
export function known(names: string): Known {
  return new Set(names.split(' '))
}

/**
 * Collects the members inside a request that its reader does not read, by the names under which they are reported as dropped:
 * `tools.input_examples`. Members that ask for nothing (null, false, an empty list) are passed over.
 */
export class UnreadMembers {
  readonly #names = new Set<string>()
  readonly #spell: (name: string) => string

  /** `spell` gives the one spelling of a member's name where a format has two. */
  constructor(spell: (name: string) => string = (name) => name) {
    this.#spell = spell
  }

  /** Undefined when everything is read. */
  get names(): { unread?: readonly string[] } {
    return this.#names.size === 0 ? {} : { unread: [...this.#names].slice(0, namesMax) }
  }

  /** `value` is looked at when it is an object. */
  note(place: string, value: unknown, members: Known): void {
    if (!isObject(value)) return
    for (const key in value) {
      if (members.has(key)) continue
      const name = this.#spell(key)
      if (!members.has(name) && asksForSomething(value[key])) this.#names.add(`${place}.${name}`)
    }
  }

  /** Each entry of a list; `membersOf` says what of an entry is read, undefined when it is read or refused as a whole. */
  each(place: string, list: unknown, membersOf: (entry: JsonObject) => Known | undefined): void {
    if (!Array.isArray(list)) return
    for (const entry of list) {
      const members = isObject(entry) ? membersOf(entry) : undefined
      if (members) this.note(place, entry, members)
    }
  }
}

/** More names than this are never shown. */
const namesMax = 200

/** Whether a member of a request is more than a way to say nothing. */
export function asksForSomething(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0)
}
