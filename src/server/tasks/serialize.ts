const last = new Map<number, Promise<unknown>>()

/**
 * Serializes the work on one task within this node: concurrent reports on it wait here, and not in transactions that wait for the lock of
 * its row and occupy connections.
 */
export async function serializeByTask<Result>(id: number, work: () => Promise<Result>): Promise<Result> {
  const previous = last.get(id) ?? Promise.resolve()
  const current = previous.then(work, work)
  last.set(id, current)
  try {
    return await current
  } finally {
    if (last.get(id) === current) last.delete(id)
  }
}
