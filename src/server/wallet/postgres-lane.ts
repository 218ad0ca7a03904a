import type pg from 'pg'

/** Runs `work` on a connection of the pool, for at most `limitMs`. After a failure the connection is thrown away with what it was doing. */
export async function onConnection<T>(pool: pg.Pool, limitMs: number, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`PostgreSQL did not answer within ${limitMs} ms`)), limitMs)
  })
  try {
    const result = await Promise.race([work(client), late])
    client.release()
    return result
  } catch (error) {
    client.release(true)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** Whether PostgreSQL finds fault with the rows (data, constraints, limits) or waits for a row that another holds on to. */
export function isRefusal(error: unknown): boolean {
  return /^(22|23|54)|^55P03$/.test(sqlState(error))
}

/** Whether the statement was given up for the sake of another, and may simply be sent again. */
export function isConflict(error: unknown): boolean {
  return /^40/.test(sqlState(error))
}

function sqlState(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
