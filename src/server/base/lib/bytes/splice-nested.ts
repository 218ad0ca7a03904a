import { entriesOf, membersOf } from './splice-json.ts'

/**
 * Changes within a JSON value, by the key of a member or the index of an entry: undefined removes it, a JSON text replaces it, and
 * further edits change what is in it.
 */
export type Edits = ReadonlyMap<string | number, Edit>
type Edit = undefined | string | Edits

/** Edits at paths, put together one by one. */
export class EditList {
  readonly #edits = new Map<string | number, Edit>()

  get edits(): Edits {
    return this.#edits
  }

  get isEmpty(): boolean {
    return this.#edits.size === 0
  }

  /** The edit of a value whose parent is already removed or replaced has no effect. */
  set(path: readonly [string, ...(string | number)[]], edit?: string): void {
    let level = this.#edits
    for (const key of path.slice(0, -1)) {
      const within = level.has(key) ? level.get(key) : new Map<string | number, Edit>()
      if (!(within instanceof Map)) return
      level.set(key, within)
      level = within
    }
    // A path has at least one key.
    level.set(path.at(-1) as string | number, edit)
  }
}

/**
 * A JSON object with changes at any depth; all other bytes stay unchanged. A removal applies to every duplicate of a key, any other
 * change to the last of them, which is the one that JSON.parse reads.
 */
export function spliceNested(text: Buffer, edits: Edits): Buffer {
  const parts: Buffer[] = []
  let from = 0
  cutWithin(text, { valueStart: 0, end: text.length }, edits, (start, end, instead = '') => {
    parts.push(text.subarray(from, start), Buffer.from(instead))
    from = end
  })
  return Buffer.concat([...parts, text.subarray(from)])
}

/** The same changes in a parsed value, of which only the changed objects and lists are copied. */
export function editNested(value: unknown, edits: Edits): unknown {
  if (Array.isArray(value)) {
    return value.flatMap((entry: unknown, at) => {
      if (!edits.has(at)) return [entry]
      const edit = edits.get(at)
      return edit === undefined ? [] : [edited(entry, edit)]
    })
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]: [string, unknown]): [string, unknown][] => {
      if (!edits.has(key)) return [[key, member]]
      const edit = edits.get(key)
      return edit === undefined ? [] : [[key, edited(member, edit)]]
    }),
  )
}

function edited(value: unknown, edit: string | Edits): unknown {
  return typeof edit === 'string' ? JSON.parse(edit) : editNested(value, edit)
}

/** The position of a value. */
interface Place {
  readonly valueStart: number
  readonly end: number
}

/** A member of an object, or an entry of a list. `start` is that of the key. */
interface Piece extends Place {
  readonly key: string | number
  readonly start: number
}

type Cut = (start: number, end: number, instead?: string) => void

/** Reports the cuts of one object or list in the order of their positions. */
function cutWithin(text: Buffer, place: Place, edits: Edits, cut: Cut): void {
  const pieces = piecesOf(text, place)
  const lastOf = new Map(pieces.map((piece) => [piece.key, piece]))
  const isRemoved = ({ key }: Piece) => edits.has(key) && edits.get(key) === undefined
  const kept = pieces.findIndex((piece) => !isRemoved(piece))
  const firstKept = kept < 0 ? pieces.length : kept
  for (const [at, piece] of pieces.entries()) {
    const edit = edits.get(piece.key)
    if (isRemoved(piece)) {
      // The comma before a piece goes with it; the one behind it where no piece remains before.
      if (at < firstKept) cut(piece.start, pieces[at + 1]?.start ?? piece.end)
      else cut(pieces[at - 1]?.end ?? piece.start, piece.end)
    } else if (edit !== undefined && lastOf.get(piece.key) === piece) {
      if (typeof edit === 'string') cut(piece.valueStart, piece.end, edit)
      else cutWithin(text, piece, edit, cut)
    }
  }
}

function piecesOf(text: Buffer, { valueStart, end }: Place): Piece[] {
  if (text[valueStart] === openBracket) {
    return (entriesOf(text, valueStart) ?? []).map((entry, key) => ({ ...entry, key, valueStart: entry.start }))
  }
  return (membersOf(text.subarray(valueStart, end)) ?? []).map((member) => ({
    key: member.key,
    start: valueStart + member.start,
    valueStart: valueStart + member.valueStart,
    end: valueStart + member.end,
  }))
}

const openBracket = 0x5b
