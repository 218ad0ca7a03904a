/** Errors of an overloaded database: no free connection for some seconds, a row or table that others keep locked. */
const undone = /timeout exceeded when trying to connect|The database is unavailable/

/** Retries while the database is overloaded, as on a busy machine. */
export async function retryWhileBusy<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!undone.test(String(error))) throw error
    }
  }
}
