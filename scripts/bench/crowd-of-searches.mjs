// Many people search a long log at the same moment: how long the answers take, and how many are refused.

const daySeconds = 86_400

/** Searches that read much of the log, each person another one first. */
const searches = (endSeconds) => [
  '/api/log/?p=100000&page_size=100',
  '/api/log/?model_name=nothing-like-it',
  '/api/log/?username=user-7&token_name=none',
  '/api/log/?model_name=model-14&group=group-1&p=20',
  '/api/log/search?keyword=none',
  '/api/log/stat?token_name=x&model_name=y',
  '/api/log/stat',
  `/api/data/sums?by=user&grain=day&start_timestamp=${endSeconds - 29 * daySeconds}`,
]

/**
 * `people` admins search at once, `rounds` times, each round after the last answer of the one before. `headersOf` signs a user in.
 * @param {{ db: any, url: string, endSeconds: number, people: number, rounds: number, headersOf: (userId: number) => Promise<Record<string, string>> }} given
 */
export async function searchAtOnce({ db, url, endSeconds, people, rounds, headersOf }) {
  const ids = Array.from({ length: people }, (_, index) => index + 2)
  await db.updateTable('users').set({ role: 10 }).where('id', 'in', ids).execute()
  const everyone = await Promise.all(ids.map(headersOf))
  const paths = searches(endSeconds)
  const [answered, refused] = [[], []]
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      everyone.map(async (headers, person) => {
        const startedAt = performance.now()
        // A different client address each time: the rate limit is not measured.
        const address = `10.${round + 1}.${person >> 8}.${person & 255}`
        const path = url + paths[(round + person) % paths.length]
        const response = await fetch(path, { headers: { ...headers, 'x-forwarded-for': address } })
        const { code = '', message } = await response.json()
        const ms = performance.now() - startedAt
        if (code === '') answered.push(ms)
        else if (code === 'log_searches_busy') refused.push(ms)
        else throw new Error(`${path}: ${message}`)
      }),
    )
  }
  const told = [`${answered.length} answered (${spread(answered)})`, `${refused.length} refused (${spread(refused)})`]
  return `${people} searches at once, ${rounds} times: ${told.join(', ')}`
}

function spread(times) {
  if (times.length === 0) return 'none'
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share) => `${sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(0)} ms`
  return `fastest ${at(0)}, middle ${at(0.5)}, p90 ${at(0.9)}, slowest ${at(1)}`
}
