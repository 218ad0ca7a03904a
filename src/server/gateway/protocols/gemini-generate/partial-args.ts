import { isObject, type JsonObject } from '../wire-format.ts'

/**
 * The arguments of a call that Gemini streams as values with their paths (`$.port`), in any order: only together are they valid JSON.
 * Invalid paths are ignored. Source: types of the official SDK 2.32, `PartialArg`.
 */
export class PartialArgs {
  readonly #root: Record<string, unknown>

  /** Starts with the arguments that were sent complete. */
  constructor(whole: JsonObject = {}) {
    this.#root = Object.assign(Object.create(null), structuredClone(whole))
  }

  add(pieces: readonly unknown[]): void {
    for (const piece of pieces) if (isObject(piece)) this.#put(piece)
  }

  get json(): string {
    return JSON.stringify(this.#root)
  }

  #put(piece: JsonObject): void {
    const path = readPath(piece.jsonPath)
    const last = path?.at(-1)
    if (!path || last === undefined) return
    let at: Container = this.#root
    for (const [step, key] of path.slice(0, -1).entries()) at = childOf(at, key, typeof path[step + 1] === 'number')
    const before = read(at, last)
    write(at, last, typeof piece.stringValue === 'string' ? textOf(before) + piece.stringValue : otherValue(piece))
  }
}

type Container = Record<string, unknown> | unknown[]

/** A path such as `$.a.b[0]['c d']` as keys and indexes. */
function readPath(path: unknown): (string | number)[] | undefined {
  if (typeof path !== 'string' || !path.startsWith('$') || path.length > pathLengthMax) return undefined
  return [...path.slice(1).matchAll(/\.([^.[\]]+)|\[(\d{1,4})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/g)].map(
    ([, name, position, single, double]) => (position === undefined ? (name ?? single ?? double ?? '') : Number(position)),
  )
}

const pathLengthMax = 1000

function childOf(at: Container, key: string | number, isList: boolean): Container {
  const child = read(at, key)
  if (isContainer(child)) return child
  const made: Container = isList ? [] : Object.create(null)
  write(at, key, made)
  return made
}

function isContainer(value: unknown): value is Container {
  return typeof value === 'object' && value !== null
}

function read(at: Container, key: string | number): unknown {
  return Array.isArray(at) ? at[Number(key)] : at[key]
}

function write(at: Container, key: string | number, value: unknown): void {
  if (!Array.isArray(at)) at[key] = value
  // A list grows by at most one element at a time: a large index would create millions.
  else if (typeof key === 'number' && key <= at.length) at[key] = value
}

function textOf(before: unknown): string {
  return typeof before === 'string' ? before : ''
}

function otherValue({ numberValue, boolValue }: JsonObject): unknown {
  return numberValue ?? boolValue ?? null
}
