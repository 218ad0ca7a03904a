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
export async function promptly<Result>(answer: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NoAnswer()), limitMs)
  })
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
