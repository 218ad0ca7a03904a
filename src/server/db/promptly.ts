import { withinAwake } from '../lib/awake.ts'

const limitMs = 1500

/** The database is silent, or much too slow. */
export class NoAnswer extends Error {
  constructor() {
    super(`The database did not answer within ${limitMs} ms`)
    this.name = 'NoAnswer'
  }
}

/**
 * For what is found by an index while somebody waits: an answer that does not come soon will not come, and who asked is told so. The
 * statement itself ends at its own limit. Throws `NoAnswer`.
 */
export function promptly<Result>(answer: Promise<Result>): Promise<Result> {
  return withinAwake(limitMs, answer, () => {
    throw new NoAnswer()
  })
}
