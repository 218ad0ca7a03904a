/** Whoever finds no free connection to the database for some seconds, as on a machine with much else to do, comes again. */
export async function patiently<Value>(attempt: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!/timeout exceeded when trying to connect/.test(String(error))) throw error
    }
  }
}
