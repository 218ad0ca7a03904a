/**
 * Caches the results of a pure function of a model name: each request looks a name up several times. Callers can invent names, so
 * that the size of the cache is bounded.
 */
export function rememberByName<Result extends object | string | number | boolean>(
  compute: (name: string) => Result,
): (name: string) => Result {
  const known = new Map<string, Result>()
  return (name) => {
    const kept = known.get(name)
    if (kept !== undefined) return kept
    const result = compute(name)
    if (known.size >= namesMax) known.clear()
    // A long name would be held for longer than its request.
    if (name.length <= nameMax) known.set(name, result)
    return result
  }
}

const namesMax = 1_000
const nameMax = 200
