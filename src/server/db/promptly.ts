const limitMs = 1500

/**
 * For what is found by an index while somebody waits: an answer that does not come soon will not come, and who asked is told so. The
 * statement itself ends at its own limit.
 */
export async function promptly<Result>(answer: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The database did not answer within ${limitMs} ms`)), limitMs)
  })
  try {
    return await Promise.race([answer, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
