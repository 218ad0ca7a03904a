import { expect } from 'vitest'
import { randomsOf } from '../helpers/randoms.ts'
import { answeringUpstream } from './stage.ts'
import { type FormatPair, healthyAnswer, readAnswer, reported, type Trust } from './trust-stage.ts'

/**
 * Sends requests to four channels, each of which fails half of the time: at least `goodLeast` must succeed, each charged once, and
 * the others get a clear error free of charge. The server must allow as many retries as channels.
 */
export async function requireMostAnswered(
  trust: Trust,
  pair: FormatPair,
  { rounds, together, goodLeast }: { rounds: number; together: number; goodLeast: number },
): Promise<void> {
  const random = randomsOf(7)
  const { url: flaky } = await answeringUpstream(({ body }) => {
    if (random() < 0.5) return { bytes: '{}', status: 500 }
    const answer = healthyAnswer(pair.speaks, body, 'four five six')
    return { bytes: answer.body, type: answer.type }
  })
  const first = await trust.lane(pair, flaky)
  for (let more = 0; more < 3; more++) await trust.lane(pair, flaky, {}, first)
  let good = 0
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(Array.from({ length: together }, (_, index) => first.ask(index % 2 === 0)))
    for (const answer of answers) {
      const { said, ending } = readAnswer(pair.asks, answer)
      if (answer.status === 200) good++
      expect([said, ending]).toEqual(answer.status === 200 ? ['four five six', 'done'] : ['', 'error'])
    }
  }
  expect([pair.name, good, good >= goodLeast]).toEqual([pair.name, good, true])
  const rows = await first.charged()
  expect(rows).toHaveLength(good)
  for (const row of rows) expect(row).toMatchObject({ ...reported, quota: reported.prompt + reported.completion })
}
