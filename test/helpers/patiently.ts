/** What is left undone when there is too much to do: no free connection for some seconds, a row or table that others keep locked. */
const undone = /timeout exceeded when trying to connect|The database is unavailable/

/** Whoever finds the database too busy, as on a machine with much else to do, comes again. */
export async function patiently<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!undone.test(String(error))) throw error
    }
  }
}
