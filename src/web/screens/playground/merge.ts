import type { Answer, Turn } from './turns.ts'

/** A conversation in two tabs: their common base, and the version of each. */
interface Versions<Item> {
  readonly base: readonly Item[]
  readonly mine: readonly Item[]
  readonly theirs: readonly Item[]
}

/**
 * Three-way merge: additions and changes of either tab stay, removals apply unless the other tab continued the turn. Items that
 * this tab has not changed are the same objects in `base` and `mine`.
 */
export function mergedTurns({ base, mine, theirs }: Versions<Turn>): readonly Turn[] {
  const turns = merged({ base, mine, theirs }, (was, own, other) => ({
    ...own,
    answers: mergedAnswers({ base: was?.answers ?? [], mine: own.answers, theirs: other.answers }),
  }))
  // Ids begin with the time.
  return turns.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

function mergedAnswers(versions: Versions<Answer>): readonly Answer[] {
  return merged(versions, (_was, own) => own).toSorted((one, other) => one.lane - other.lane)
}

function merged<Item extends { readonly id: string }>(
  { base, mine, theirs }: Versions<Item>,
  ofBoth: (was: Item | undefined, own: Item, other: Item) => Item,
): readonly Item[] {
  const ids = new Set([...mine, ...theirs].map(({ id }) => id))
  const byId = [base, mine, theirs].map((items) => new Map(items.map((item) => [item.id, item])))
  return [...ids].flatMap((id) => {
    const [was, own, other] = byId.map((items) => items.get(id))
    if (own && other) return own === was ? other : ofBoth(was, own, other)
    if (own) return own === was ? [] : own
    return was || !other ? [] : other
  })
}
