const last = new Map<number, Promise<unknown>>()

/**
 * Runs the works for one drawing one after the other, on this node: a flood of reports on it waits here, and not in transactions that
 * all want its row, with the connections that everybody needs.
 */
export async function oneAtATime<Result>(id: number, work: () => Promise<Result>): Promise<Result> {
  const before = last.get(id) ?? Promise.resolve()
  const mine = before.then(work, work)
  last.set(id, mine)
  try {
    return await mine
  } finally {
    if (last.get(id) === mine) last.delete(id)
  }
}
