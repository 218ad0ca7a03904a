import { withActiveTimeout } from '../lib/time/active-time.ts'

const limitMs = 1500

/** The database did not answer in time. */
export class DatabaseTimeout extends Error {
  constructor() {
    super(`The database did not answer within ${limitMs} ms`)
    this.name = 'DatabaseTimeout'
  }
}

/**
 * Limits how long a caller waits for a query that uses an index: 1.5 seconds. The statement itself is not cancelled; it ends at its own
 * limit. Throws `DatabaseTimeout`.
 */
export function withDatabaseTimeout<Result>(answer: Promise<Result>): Promise<Result> {
  return withActiveTimeout(limitMs, answer, () => {
    throw new DatabaseTimeout()
  })
}
